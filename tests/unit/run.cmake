foreach(noun profile plan parts)
  perftrace_unit_test(test_run_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_run_${noun}.c
                      ROOMS base common config run)
endforeach()
if(TARGET perftrace_room_launch)
  perftrace_unit_test(test_run_launch SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_run_launch.c
                      ROOMS base common config run launch)
endif()

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test run_profile
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_run_profile.c
               ROOMS base common config run)
