# The Python package, under each Python there is (3.9 and newer), warnings as errors.
if(NOT TARGET perftrace OR PERFTRACE_SANITIZE)
  return() # a sanitizer's runtime cannot be loaded into an interpreter without it
endif()
file(GLOB perftrace_python_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
set(perftrace_pythons_seen)
# The system's own first: it is the one that has torch.
set(perftrace_pythons /usr/bin/python3)
foreach(name python3 python3.9 python3.10 python3.11 python3.12 python3.13)
  find_program(PERFTRACE_PYTHON_${name} NAMES ${name})
  if(PERFTRACE_PYTHON_${name})
    list(APPEND perftrace_pythons ${PERFTRACE_PYTHON_${name}})
  endif()
endforeach()
foreach(python ${perftrace_pythons})
  execute_process(COMMAND ${python} -c "import sys; print('%d.%d' % sys.version_info[:2])"
                  OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR version VERSION_LESS 3.9 OR version IN_LIST perftrace_pythons_seen)
    continue()
  endif()
  list(APPEND perftrace_pythons_seen ${version})
  foreach(file ${perftrace_python_tests})
    get_filename_component(noun ${file} NAME_WE)
    string(REPLACE "test_" "" noun ${noun})
    add_test(NAME python${version}.${noun} COMMAND ${python} -X dev -W error -B ${file})
    set_tests_properties(python${version}.${noun} PROPERTIES LABELS outside TIMEOUT 600
      SKIP_REGULAR_EXPRESSION "OK \\(skipped=" # what was left out is told at the end of the run
      ENVIRONMENT
      "PYTHONPATH=${PROJECT_SOURCE_DIR}/src/bindings/python:${CMAKE_CURRENT_LIST_DIR};PERFTRACE_LIBRARY=$<TARGET_FILE:perftrace>;PERFTRACE_RECOVER=$<TARGET_FILE:perf-trace-recover>;PERFTRACE_CONVERT=$<TARGET_FILE:perf-trace-convert>;PERFTRACE_SESSIONS=$<TARGET_FILE:perf-trace-sessions>;PERFTRACE_BROWSER_WORK=${PROJECT_BINARY_DIR}/tests/browser")
  endforeach()
  set_tests_properties(python${version}.example PROPERTIES RESOURCE_LOCK browser) # see tests/browser
  # Which of the C library's arenas the threads of a round take is chance, and a megabyte each.
  set_property(TEST python${version}.leak APPEND PROPERTY ENVIRONMENT MALLOC_ARENA_MAX=1)
endforeach()
