# perftrace_browser_test(NAME SCRIPT ARGUMENT...): SCRIPT of this folder, in a real browser. One at a
# time: the first one fetches the npm packages.
function(perftrace_browser_test name script)
  add_test(NAME browser.${name}
           COMMAND bash ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/browser.sh ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR}/tests/browser ${script} ${ARGN})
  set_tests_properties(browser.${name} PROPERTIES LABELS outside TIMEOUT 600
                       SKIP_RETURN_CODE 77 RESOURCE_LOCK browser)
endfunction()

# The converted trace of the training example in a viewer.
if(TARGET train_fork AND TARGET perf-trace-convert AND NOT CMAKE_CROSSCOMPILING)
  perftrace_browser_test(speedscope open_in_speedscope.js
                         ${PROJECT_BINARY_DIR}/tests/examples/train_fork/trace.json
                         ${PROJECT_BINARY_DIR}/tests/browser trainer)
  set_tests_properties(browser.speedscope PROPERTIES FIXTURES_REQUIRED train_trace)
endif()

# The page of sessions, for which the build needs the chart library.
if(TARGET perf-trace-sessions AND PERFTRACE_CHART_JS AND NOT CMAKE_CROSSCOMPILING)
  perftrace_browser_test(sessions open_sessions_page.js $<TARGET_FILE:perf-trace-sessions>
                         ${PROJECT_BINARY_DIR}/tests/browser/sessions)
endif()

# The page of an analysis, likewise.
if(TARGET perf-trace-analyze AND PERFTRACE_CHART_JS AND NOT CMAKE_CROSSCOMPILING)
  perftrace_browser_test(analysis open_analysis_page.js $<TARGET_FILE:perf-trace-analyze>
                         ${PROJECT_BINARY_DIR}/tests/browser/analysis)
endif()

# What the tool for stacks writes: in a viewer, and its own page, for which the build needs D3.
if(TARGET perf-trace-stacks AND NOT CMAKE_CROSSCOMPILING)
  perftrace_browser_test(stacks_speedscope open_stacks_in_speedscope.js $<TARGET_FILE:perf-trace-stacks>
                         ${PROJECT_BINARY_DIR}/tests/browser/stacks_speedscope)
  if(PERFTRACE_D3_JS)
    perftrace_browser_test(stacks open_stacks_page.js $<TARGET_FILE:perf-trace-stacks>
                           ${PROJECT_BINARY_DIR}/tests/browser/stacks)
  endif()
endif()
