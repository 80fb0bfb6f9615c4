perftrace_unit_test(test_writer_lines SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_writer_lines.c
                    ROOMS base record sink writer json json_doc)
perftrace_unit_test(test_writer_file
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_writer_file.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms})
perftrace_unit_test(test_writer_times SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_writer_times.c
                    ROOMS base record sink writer json)
