perftrace_unit_test(test_drain_merge SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_drain_merge.c
                    ROOMS base record ring sink drain)
