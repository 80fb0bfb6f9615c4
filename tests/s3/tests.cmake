# perf-trace-fetch with a real server and the real aws CLI.
if(NOT TARGET perf-trace-fetch OR NOT PERFTRACE_NODE OR CMAKE_CROSSCOMPILING)
  return()
endif()
foreach(noun copy logs resume)
  add_test(NAME s3.${noun} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/s3.sh ${PROJECT_SOURCE_DIR}
                                   ${PROJECT_BINARY_DIR}/tests/s3 fetch_${noun}.test.js)
  set_tests_properties(s3.${noun} PROPERTIES LABELS outside TIMEOUT 600 SKIP_RETURN_CODE 77
                       RESOURCE_LOCK s3 ENVIRONMENT "PERFTRACE_FETCH=$<TARGET_FILE:perf-trace-fetch>")
endforeach()
