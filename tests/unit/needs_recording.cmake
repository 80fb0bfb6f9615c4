perftrace_unit_test(test_needs_recording
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/needs_recording.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms})
