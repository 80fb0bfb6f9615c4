# The queries of docs/QUERY.md, by DuckDB and jq, compared with our tools and with figures of their own.
if(NOT TARGET perf-trace-collect OR NOT TARGET perf-trace-analyze OR NOT TARGET rollout OR NOT TARGET train_fork
   OR NOT TARGET example_08_hang OR NOT TARGET perf-trace-recover OR NOT PERFTRACE_NODE OR CMAKE_CROSSCOMPILING)
  return()
endif()
set(perftrace_query_environment
    PERFTRACE_ANALYZE=$<TARGET_FILE:perf-trace-analyze> PERFTRACE_CONVERT=$<TARGET_FILE:perf-trace-convert>
    PERFTRACE_SESSIONS=$<TARGET_FILE:perf-trace-sessions> PERFTRACE_COLLECT=$<TARGET_FILE:perf-trace-collect>
    PERFTRACE_RECOVER=$<TARGET_FILE:perf-trace-recover> PERFTRACE_TEST_HANG=$<TARGET_FILE:example_08_hang>
    PERFTRACE_TEST_TRAIN=$<TARGET_FILE:train_fork> PERFTRACE_TEST_ROLLOUT=$<TARGET_FILE:rollout>)
foreach(noun text train rollout lines killed collected)
  add_test(NAME query.${noun} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/query.sh ${PROJECT_SOURCE_DIR}
                                      ${PROJECT_BINARY_DIR}/tests/query ${noun}.test.js)
  set_tests_properties(query.${noun} PROPERTIES LABELS outside TIMEOUT 600 SKIP_RETURN_CODE 77
    RESOURCE_LOCK query
    ENVIRONMENT "${perftrace_query_environment}")
endforeach()
