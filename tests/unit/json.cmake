foreach(noun scan number string split repair doc)
  perftrace_unit_test(test_json_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_json_${noun}.c
                      ROOMS base json)
endforeach()
