foreach(noun text message option paths ordered)
  perftrace_unit_test(test_common_${noun}
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_common_${noun}.c ROOMS base common)
endforeach()
