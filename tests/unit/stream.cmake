if(PERFTRACE_NET)
  foreach(noun message pack)
    perftrace_unit_test(test_stream_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_stream_${noun}.c
                        ROOMS base json stream)
  endforeach()

  cmake_language(DEFER CALL perftrace_fuzz_test stream_message
                 SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_stream_message.c
                 ROOMS base json stream)
endif()
