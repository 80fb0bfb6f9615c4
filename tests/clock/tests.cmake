# Clocks of machines that were measured over a busy loopback: ranks whose clocks a shim skews.
if(PERFTRACE_NODE AND TARGET perf-trace-collect AND TARGET perf-trace-convert AND NOT PERFTRACE_SANITIZE)
  add_library(clock_shim MODULE ${CMAKE_CURRENT_LIST_DIR}/clock_shim.c)
  target_compile_definitions(clock_shim PRIVATE _GNU_SOURCE)
  target_link_libraries(clock_shim PRIVATE perftrace_flags ${CMAKE_DL_LIBS})
  add_executable(clock_worker ${CMAKE_CURRENT_LIST_DIR}/clock_worker.c)
  target_compile_definitions(clock_worker PRIVATE _GNU_SOURCE)
  target_link_libraries(clock_worker PRIVATE perftrace_flags perftrace_static)
  add_test(NAME clock.forward COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_LIST_DIR}/clock_forward.test.js)
  set_tests_properties(clock.forward PROPERTIES LABELS outside TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "${perftrace_node_skips}"
    ENVIRONMENT "PERFTRACE_COLLECT=$<TARGET_FILE:perf-trace-collect>;PERFTRACE_CONVERT=$<TARGET_FILE:perf-trace-convert>;PERFTRACE_CLOCK_WORKER=$<TARGET_FILE:clock_worker>;PERFTRACE_CLOCK_SHIM=$<TARGET_FILE:clock_shim>")
endif()
