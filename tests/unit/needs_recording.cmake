perftrace_unit_test(test_needs_recording
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/needs_recording.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS base record ring sink core drain writer session config recover runtime no_service json json_doc)
