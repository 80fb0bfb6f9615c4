perftrace_unit_test(test_live_judge SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_live_judge.c
                    ROOMS base common record ring live)
perftrace_unit_test(test_live_event SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_live_event.c
                    ROOMS base common record ring live)
cmake_language(DEFER CALL perftrace_fuzz_test live_ring
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_live_ring.c
               ROOMS base common json record ring live)
