foreach(noun sites decode)
  perftrace_unit_test(test_record_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_record_${noun}.c
                      ROOMS base record)
endforeach()

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test record_decode
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_record_decode.c
               ROOMS base record ring sink drain writer json)
