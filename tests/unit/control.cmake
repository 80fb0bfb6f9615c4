if(PERFTRACE_NET)
  # The pure file of the room: the others need all of the library (see tests/control).
  perftrace_unit_test(test_control_route
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_control_route.c
                              ${PROJECT_SOURCE_DIR}/src/control/control_route.c
                      ROOMS base net)
  perftrace_use_rooms(test_control_route control)
  perftrace_unit_test(test_control_profile
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_control_profile.c
                              ${PROJECT_SOURCE_DIR}/src/control/profile_request.c
                      ROOMS ${perftrace_whole_rooms})
  perftrace_use_rooms(test_control_profile control)
  perftrace_unit_test(test_control_output_dir
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_control_output_dir.c
                              ${PROJECT_SOURCE_DIR}/src/control/output_dir.c
                      ROOMS base)
  perftrace_use_rooms(test_control_output_dir control)
  perftrace_unit_test(test_endpoint
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_endpoint.c
                              ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                      ROOMS ${perftrace_whole_rooms} endpoint)
endif()
