perftrace_unit_test(test_timer
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_timer.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms})
