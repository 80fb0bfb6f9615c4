foreach(noun utf8 number hashmap json os address)
  perftrace_unit_test(test_base_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_base_${noun}.c
                      ROOMS base json)
endforeach()
