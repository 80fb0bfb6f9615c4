# The independent strict checkers are themselves tested; other tests run them on what we write.
if(PERFTRACE_NODE)
  add_test(NAME checker.self
           COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_LIST_DIR}/test_check_trace.js
                   ${CMAKE_CURRENT_LIST_DIR}/test_check_jsonl.js)
  set_tests_properties(checker.self PROPERTIES LABELS outside TIMEOUT 120)
endif()
