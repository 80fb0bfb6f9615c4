foreach(noun option resolve yaml rank path docs)
  perftrace_unit_test(test_config_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_config_${noun}.c
                      ROOMS base config)
endforeach()
perftrace_fuzz_test(config SOURCES ${CMAKE_CURRENT_LIST_DIR}/../fuzz/fuzz_config.c ROOMS base config)
