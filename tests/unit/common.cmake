find_package(ZLIB REQUIRED)
foreach(noun text message option paths input output deflate ordered table)
  perftrace_unit_test(test_common_${noun}
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_common_${noun}.c ROOMS base common)
endforeach()
# These make gzip data with zlib itself, to compare with.
foreach(noun input deflate)
  target_include_directories(test_common_${noun} PRIVATE ${ZLIB_INCLUDE_DIRS})
endforeach()
perftrace_fuzz_test(gzip_input SOURCES ${CMAKE_CURRENT_LIST_DIR}/../fuzz/fuzz_gzip_input.c
                    ROOMS base common)
