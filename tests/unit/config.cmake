foreach(noun option resolve yaml rank path docs)
  perftrace_unit_test(test_config_${noun} SOURCES unit/test_config_${noun}.c ROOMS base config)
endforeach()
