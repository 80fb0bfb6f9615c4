foreach(noun model text chunks)
  perftrace_unit_test(test_profile_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profile_${noun}.c
                      ROOMS base json common profile)
endforeach()
target_link_options(test_profile_chunks PRIVATE -Wl,--wrap=pt_input_pread)

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test stacks
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_stacks.c
               ROOMS base json common profile)
