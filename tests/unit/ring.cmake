perftrace_unit_test(test_ring_clock SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ring_clock.c
                    ROOMS base record ring)
perftrace_unit_test(test_ring_file
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ring_file.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms})
perftrace_unit_test(test_ring_stack SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ring_stack.c
                    ROOMS base record ring)
