# Tests of the command line tools from the outside, by node (see tests/checker).
find_program(PERFTRACE_NODE NAMES node nodejs)

# perftrace_cli_test(NAME FILE VARIABLE tool): FILE's tests, told by VARIABLE where the tool is.
function(perftrace_cli_test name file variable tool)
  if(NOT PERFTRACE_NODE OR NOT TARGET ${tool})
    return()
  endif()
  add_test(NAME cli.${name} COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${file})
  set_tests_properties(cli.${name} PROPERTIES LABELS outside TIMEOUT 600
                       ENVIRONMENT "${variable}=$<TARGET_FILE:${tool}>")
endfunction()

foreach(noun needs lines corpus golden extremes input sessions torch areal)
  perftrace_cli_test(convert_${noun} convert_${noun}.test.js PERFTRACE_CONVERT perf-trace-convert)
endforeach()

foreach(noun golden corpus lines input traces report compare page)
  perftrace_cli_test(sessions_${noun} sessions_${noun}.test.js PERFTRACE_SESSIONS perf-trace-sessions)
endforeach()
