if(PERFTRACE_NET)
  foreach(noun clock file sender tcp)
    perftrace_unit_test(test_forward_${noun}
                        SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_forward_${noun}.c
                        ROOMS base json record sink stream forward_sender)
  endforeach()
  target_link_options(test_forward_tcp PRIVATE -Wl,--wrap=getaddrinfo)
  # Its time is the test's: pauses last no time.
  target_link_options(test_forward_sender PRIVATE -Wl,--wrap=perftrace__os_mono_ns
                      -Wl,--wrap=poll)
  perftrace_unit_test(test_forward_key SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_forward_key.c
                      ROOMS forward_book recover_tree common base json record ring sink drain writer
                            session recover stream forward_sender)
endif()
