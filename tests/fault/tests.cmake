# Disks, directories, signals and ends of every kind. The scripts run in the plain build only (label
# outside): sanitizers would tell nothing new but late_events, which is for them.
include(CheckLanguage)
check_language(CXX)
if(TARGET perf-trace-recover AND TARGET perf-trace-convert AND NOT CMAKE_CROSSCOMPILING)
  add_executable(fault_prog ${CMAKE_CURRENT_LIST_DIR}/fault_prog.c)
  target_link_libraries(fault_prog PRIVATE perftrace_flags perftrace::perftrace Threads::Threads)
  # Not with the common flags: it defines pwrite and pwrite64, which they make one.
  add_library(fault_shim MODULE ${CMAKE_CURRENT_LIST_DIR}/fault_shim.c)
  target_compile_definitions(fault_shim PRIVATE _GNU_SOURCE)
  target_compile_options(fault_shim PRIVATE -Wall -Wextra -fvisibility=default)

  foreach(name exits stall slow_disk places locks full_disk vanish alive descriptors memory)
    add_test(NAME fault.${name}
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_SOURCE_DIR}
                     ${PROJECT_BINARY_DIR}/tests/fault/${name} $<TARGET_FILE:fault_prog>
                     $<TARGET_FILE:fault_shim> $<TARGET_FILE:perf-trace-recover>
                     $<TARGET_FILE:perf-trace-convert>)
    set_tests_properties(fault.${name} PROPERTIES TIMEOUT 120 LABELS outside SKIP_RETURN_CODE 77)
  endforeach()
endif()

if(CMAKE_CXX_COMPILER AND NOT CMAKE_CROSSCOMPILING)
  enable_language(CXX)
  add_executable(late_events ${CMAKE_CURRENT_LIST_DIR}/late_events.cpp)
  set_target_properties(late_events PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  target_link_libraries(late_events PRIVATE perftrace::perftrace Threads::Threads)
  # Where it can find most: in the plain build and under sanitizers.
  set(perftrace_late_runs 50)
  if(PERFTRACE_SANITIZE)
    set(perftrace_late_runs 200) # several times slower each; in brief half of them
    set(perftrace_late_brief 100)
  elseif(CMAKE_C_COMPILER_ID STREQUAL GNU AND PERFTRACE_NET AND NOT PERFTRACE_TEST_POINTS)
    set(perftrace_late_runs 500)
  endif()
  add_test(NAME stress.late_events
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/late_events.sh
                   ${PROJECT_BINARY_DIR}/tests/fault/late_events $<TARGET_FILE:late_events>
                   ${PROJECT_SOURCE_DIR}/tests/checker/check_jsonl.js
                   ${perftrace_late_runs} ${perftrace_late_brief})
  set_tests_properties(stress.late_events PROPERTIES TIMEOUT 600)
endif()
