if(PERFTRACE_NET)
  foreach(noun http_guard http_parse listen_address socket_file)
    perftrace_unit_test(test_net_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_net_${noun}.c
                        ROOMS base net)
  endforeach()

  # The function comes with the fuzz folder, which is included after this file.
  cmake_language(DEFER CALL perftrace_fuzz_test http_parse
                 SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_http_parse.c ROOMS base net)
endif()
