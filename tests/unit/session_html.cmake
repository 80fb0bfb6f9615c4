foreach(noun sample level data)
  perftrace_unit_test(test_session_html_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_session_html_${noun}.c
                      ROOMS base json record sink writer session common page trace sessions session_html session_html_asset)
endforeach()
# Brings its own fixed parts: those of a build that found no chart library.
perftrace_unit_test(test_session_html_without SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_session_html_without.c
                    ROOMS base json record sink writer session common page trace sessions session_html)
