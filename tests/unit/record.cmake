foreach(noun sites decode)
  perftrace_unit_test(test_record_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_record_${noun}.c
                      ROOMS base record)
endforeach()
