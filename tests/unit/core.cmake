foreach(noun scopes names threads left laps sessions bindings)
  perftrace_unit_test(test_core_${noun}
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_core_${noun}.c
                              ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                      ROOMS ${perftrace_whole_rooms})
endforeach()
