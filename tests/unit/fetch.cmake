perftrace_unit_test(test_fetch SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_fetch.c
                    ROOMS base common json fetch)
perftrace_unit_test(test_fetch_child SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_fetch_child.c
                    ROOMS base common json fetch)

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test bucket_list
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_bucket_list.c
               ROOMS base common json fetch)
