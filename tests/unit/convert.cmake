perftrace_unit_test(test_convert_edit SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_convert_edit.c
                    ROOMS base json common trace convert)
perftrace_unit_test(test_convert_sessions SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_convert_sessions.c
                    ROOMS base json common trace convert)
