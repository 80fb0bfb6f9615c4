# Programs are killed in every way and their traces are recovered. With PERFTRACE_TEST_POINTS at
# every named point too (tests/run.sh --stage points); the other kills need no special build and run
# in the plain one only (label outside), since sanitizers would say nothing about them.
if(TARGET perf-trace-recover AND NOT CMAKE_CROSSCOMPILING)
  add_executable(crash_writer ${CMAKE_CURRENT_LIST_DIR}/crash_writer.c)
  target_link_libraries(crash_writer PRIVATE perftrace_flags perftrace::perftrace Threads::Threads)
  add_executable(crash_test ${CMAKE_CURRENT_LIST_DIR}/crash_test.c
    ${CMAKE_CURRENT_LIST_DIR}/crash_run.c ${CMAKE_CURRENT_LIST_DIR}/crash_check.c
    ${CMAKE_CURRENT_LIST_DIR}/crash_sessions.c)
  target_link_libraries(crash_test PRIVATE perftrace_flags m)
  target_compile_options(crash_test PRIVATE "SHELL:-iquote ${CMAKE_CURRENT_LIST_DIR}")
  perftrace_use_rooms(crash_test base json)
  perftrace_link_rooms(crash_test base json)

  set(perftrace_crash_convert -)
  if(TARGET perf-trace-convert)
    set(perftrace_crash_convert $<TARGET_FILE:perf-trace-convert>)
  endif()
  function(perftrace_crash_test mode)
    add_test(NAME crash.${mode}
             COMMAND bash ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/crash.sh ${PROJECT_SOURCE_DIR}
                     ${PROJECT_BINARY_DIR}/tests/crash/${mode} ${mode} $<TARGET_FILE:crash_test>
                     $<TARGET_FILE:crash_writer> $<TARGET_FILE:perf-trace-recover>
                     ${perftrace_crash_convert} ${ARGN})
    set_tests_properties(crash.${mode} PROPERTIES TIMEOUT 300)
  endfunction()
  perftrace_crash_test(endings)
  perftrace_crash_test(others)
  perftrace_crash_test(random 300)
  perftrace_crash_test(halfway 50)
  set_tests_properties(crash.endings crash.others crash.random crash.halfway
                       PROPERTIES LABELS outside)
  if(PERFTRACE_TEST_POINTS)
    perftrace_crash_test(points)
    # What that test needs, and so the stage.
    add_custom_target(crash_points DEPENDS crash_test crash_writer perf-trace-recover)
    if(TARGET perf-trace-convert)
      add_dependencies(crash_points perf-trace-convert)
    endif()
  endif()
endif()
