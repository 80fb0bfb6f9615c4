perftrace_unit_test(test_drain_merge SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_drain_merge.c
                    ROOMS base record ring sink drain)
perftrace_unit_test(test_drain_sweep
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_drain_sweep.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms})
