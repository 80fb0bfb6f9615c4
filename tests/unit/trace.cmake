foreach(noun time touch lanes event shape reader source clock curve align flow plan track)
  perftrace_unit_test(test_trace_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_trace_${noun}.c
                      ROOMS base json common trace)
endforeach()

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test convert SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_convert.c
               ROOMS base json common trace convert)
cmake_language(DEFER CALL perftrace_fuzz_test clock SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_clock.c
               ROOMS base json common trace)
