# The pure parts of perf-trace-stacks; the whole of it is in tests/cli and tests/browser.
foreach(noun view sums chain text)
  perftrace_unit_test(test_stacks_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_stacks_${noun}.c
                      ROOMS base json common page profile stacks stacks_html_asset)
endforeach()
