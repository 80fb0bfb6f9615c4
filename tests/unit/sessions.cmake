foreach(noun reader model tasks stats)
  perftrace_unit_test(test_sessions_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_sessions_${noun}.c
                      ROOMS base json record sink writer session common trace sessions)
endforeach()

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test session_record
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_session_record.c
               ROOMS base json record sink writer session common trace sessions)
