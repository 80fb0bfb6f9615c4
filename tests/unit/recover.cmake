cmake_language(DEFER CALL perftrace_fuzz_test ring_recover
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_ring_recover.c
               ROOMS base record ring sink drain writer session recover json)
perftrace_unit_test(test_recover_list SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_recover_list.c
                    ROOMS base json record ring sink drain writer session recover)
# Allocations fail at will.
target_link_options(test_recover_list PRIVATE -Wl,--wrap=malloc,--wrap=realloc)
perftrace_unit_test(test_recover_sessions
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_recover_sessions.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms})
