foreach(noun spans rules results store)
  perftrace_unit_test(test_analyze_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_analyze_${noun}.c
                      ROOMS base json common trace analyze)
endforeach()

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test analyze
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_analyze.c
               ROOMS base json common trace analyze)
