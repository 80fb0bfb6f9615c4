cmake_language(DEFER CALL perftrace_fuzz_test ring_recover
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_ring_recover.c
               ROOMS base record ring sink drain writer recover json)
