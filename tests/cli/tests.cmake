# Tests of the command line tools from the outside, by node (see tests/checker).
# perftrace_cli_test(NAME FILE VARIABLE tool): FILE's tests, told by VARIABLE where the tool is.
function(perftrace_cli_test name file variable tool)
  if(NOT PERFTRACE_NODE OR NOT TARGET ${tool})
    return()
  endif()
  add_test(NAME cli.${name} COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${file})
  set_tests_properties(cli.${name} PROPERTIES LABELS outside TIMEOUT 600
                       SKIP_REGULAR_EXPRESSION "${perftrace_node_skips}"
                       ENVIRONMENT "${variable}=$<TARGET_FILE:${tool}>")
endfunction()

foreach(noun needs lines clocks corpus golden extremes input mixed parts sessions torch areal viewer)
  perftrace_cli_test(convert_${noun} convert_${noun}.test.js PERFTRACE_CONVERT perf-trace-convert)
endforeach()

if(TEST cli.convert_parts)
  set_property(TEST cli.convert_parts APPEND PROPERTY
               ENVIRONMENT "PERFTRACE_ANALYZE=$<TARGET_FILE:perf-trace-analyze>"
                           "PERFTRACE_SESSIONS=$<TARGET_FILE:perf-trace-sessions>")
endif()

foreach(noun clocks golden corpus lines input traces report compare page)
  perftrace_cli_test(sessions_${noun} sessions_${noun}.test.js PERFTRACE_SESSIONS perf-trace-sessions)
endforeach()

foreach(noun clocks corpus figures operators needs merge reference input format golden)
  perftrace_cli_test(analyze_${noun} analyze_${noun}.test.js PERFTRACE_ANALYZE perf-trace-analyze)
endforeach()
if(TEST cli.analyze_needs)
  set_property(TEST cli.analyze_needs APPEND PROPERTY
               ENVIRONMENT "PERFTRACE_CONVERT=$<TARGET_FILE:perf-trace-convert>")
endif()

if(TARGET perf-trace-describe)
  add_executable(describe_name ${CMAKE_CURRENT_LIST_DIR}/describe_name.c)
  target_link_libraries(describe_name PRIVATE perftrace_flags perftrace_static)
  perftrace_cli_test(describe describe.test.js PERFTRACE_DESCRIBE perf-trace-describe)
  perftrace_cli_test(describe_golden describe_golden.test.js PERFTRACE_DESCRIBE perf-trace-describe)
  if(TEST cli.describe)
    set_property(TEST cli.describe APPEND PROPERTY
                 ENVIRONMENT "PERFTRACE_TEST_NAME=$<TARGET_FILE:describe_name>")
  endif()
endif()

perftrace_cli_test(ctl ctl.test.js PERFTRACE_CTL perf-trace-ctl)
perftrace_cli_test(ctl_gather ctl_gather.test.js PERFTRACE_CTL perf-trace-ctl)

perftrace_cli_test(fetch_golden fetch_golden.test.js PERFTRACE_FETCH perf-trace-fetch)

# The traced worker is for one test; the others start what is everywhere.
if(TARGET perf-trace-run)
  add_executable(run_worker ${CMAKE_CURRENT_LIST_DIR}/run_worker.c)
  target_link_libraries(run_worker PRIVATE perftrace_flags perftrace_static)
  add_executable(run_steps_worker ${CMAKE_CURRENT_LIST_DIR}/run_steps_worker.c)
  target_link_libraries(run_steps_worker PRIVATE perftrace_flags perftrace_static)
  add_executable(run_http_worker ${CMAKE_CURRENT_LIST_DIR}/run_http_worker.c)
  target_link_libraries(run_http_worker PRIVATE perftrace_flags perftrace_static)
  foreach(noun golden launch mpi perf reports)
    perftrace_cli_test(run_${noun} run_${noun}.test.js PERFTRACE_TEST_RUN perf-trace-run)
    if(TEST cli.run_${noun})
      set_property(TEST cli.run_${noun} APPEND PROPERTY
                   ENVIRONMENT "PERFTRACE_TEST_WORKER=$<TARGET_FILE:run_worker>"
                               "PERFTRACE_TEST_STEPS_WORKER=$<TARGET_FILE:run_steps_worker>"
                               "PERFTRACE_TEST_HTTP_WORKER=$<TARGET_FILE:run_http_worker>")
    endif()
  endforeach()
  if(TEST cli.run_mpi AND TARGET perf-trace-ctl)
    set_property(TEST cli.run_mpi APPEND PROPERTY
                 ENVIRONMENT "PERFTRACE_CTL=$<TARGET_FILE:perf-trace-ctl>")
  endif()
endif()

foreach(noun tables corpus edges convert needs golden page format)
  perftrace_cli_test(stacks_${noun} stacks_${noun}.test.js PERFTRACE_STACKS perf-trace-stacks)
endforeach()

if(TARGET perf-trace-live)
  add_executable(live_worker ${CMAKE_CURRENT_LIST_DIR}/live_worker.c)
  target_link_libraries(live_worker PRIVATE perftrace_flags perftrace_static)
  foreach(noun golden state hang busy view)
    perftrace_cli_test(live_${noun} live_${noun}.test.js PERFTRACE_LIVE perf-trace-live)
    if(TEST cli.live_${noun})
      set_property(TEST cli.live_${noun} APPEND PROPERTY
                   ENVIRONMENT "PERFTRACE_TEST_LIVE_WORKER=$<TARGET_FILE:live_worker>")
    endif()
  endforeach()
endif()

perftrace_cli_test(collect collect.test.js PERFTRACE_COLLECT perf-trace-collect)
foreach(noun golden nats faults gone show one parts)
  perftrace_cli_test(collect_${noun} collect_${noun}.test.js PERFTRACE_COLLECT perf-trace-collect)
endforeach()
if(TEST cli.collect_parts)
  set_property(TEST cli.collect_parts APPEND PROPERTY
               ENVIRONMENT "PERFTRACE_CONVERT=$<TARGET_FILE:perf-trace-convert>")
endif()

if(TARGET perf-trace-forward AND TARGET perf-trace-live)
  foreach(noun "" _life _golden)
    perftrace_cli_test(forward${noun} forward${noun}.test.js PERFTRACE_TEST_FORWARD perf-trace-forward)
    if(TEST cli.forward${noun})
      set_property(TEST cli.forward${noun} APPEND PROPERTY
                   ENVIRONMENT "PERFTRACE_TEST_LIVE_WORKER=$<TARGET_FILE:live_worker>"
                               "PERFTRACE_COLLECT=$<TARGET_FILE:perf-trace-collect>")
    endif()
  endforeach()
endif()
