# The converted trace of the training example in a real viewer in a real browser.
if(TARGET train_fork AND TARGET perf-trace-convert AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME browser.speedscope
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/browser.sh ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR}/tests/browser
                   ${PROJECT_BINARY_DIR}/tests/examples/train_fork/trace.json trainer)
  set_tests_properties(browser.speedscope PROPERTIES LABELS outside TIMEOUT 300
                       SKIP_RETURN_CODE 77 FIXTURES_REQUIRED train_trace)
endif()
