# The control server from the outside: programs that are asked over HTTP.
if(PERFTRACE_NET AND PERFTRACE_NODE AND NOT CMAKE_CROSSCOMPILING)
  add_executable(control_prog ${CMAKE_CURRENT_LIST_DIR}/control_prog.c)
  target_link_libraries(control_prog PRIVATE perftrace_flags perftrace::perftrace Threads::Threads)
  set(perftrace_control_shim)
  if(TARGET perf-trace-recover AND TARGET perf-trace-convert) # as in tests/fault
    set(perftrace_control_shim $<TARGET_FILE:fault_shim>)
  endif()
  foreach(name routes clients life profile)
    add_test(NAME control.${name}
             COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_LIST_DIR}/${name}.test.js)
    set_tests_properties(control.${name} PROPERTIES TIMEOUT 300
      SKIP_REGULAR_EXPRESSION "${perftrace_node_skips}" ENVIRONMENT
      "CONTROL_PROG=$<TARGET_FILE:control_prog>;CONTROL_SANITIZED=${PERFTRACE_SANITIZE};CONTROL_SHIM=${perftrace_control_shim}")
  endforeach()
endif()
