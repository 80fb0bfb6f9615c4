foreach(noun names schedule)
  perftrace_unit_test(test_profiler_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_${noun}.c
                      ROOMS base record ring core profiler)
endforeach()
