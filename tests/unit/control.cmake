if(PERFTRACE_NET)
  # The pure files of the room: the others need all of the library (see tests/control).
  foreach(noun guard route)
    perftrace_unit_test(test_control_${noun}
                        SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_control_${noun}.c
                                ${PROJECT_SOURCE_DIR}/src/control/control_${noun}.c
                        ROOMS base net)
    perftrace_use_rooms(test_control_${noun} control)
  endforeach()
  perftrace_unit_test(test_endpoint
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_endpoint.c
                              ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                      ROOMS ${perftrace_whole_rooms}
                            no_service json json_doc endpoint)
endif()
