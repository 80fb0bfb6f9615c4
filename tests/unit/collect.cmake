if(TARGET perf-trace-collect)
  foreach(noun names tally wire entry)
    perftrace_unit_test(test_collect_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_collect_${noun}.c
                        ROOMS base common json net stream collect)
  endforeach()

  # The function comes with the fuzz folder, which is included after this file.
  cmake_language(DEFER CALL perftrace_fuzz_test collect_wire
                 SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_collect_wire.c
                 ROOMS base common json net stream collect)
endif()
