foreach(noun life overflow fork late sigterm sessions)
  perftrace_unit_test(test_runtime_${noun}
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_runtime_${noun}.c
                              ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                      ROOMS ${perftrace_whole_rooms})
  # Hundreds of processes, on a busy machine with a sanitizer.
  set_tests_properties(test_runtime_${noun} PROPERTIES TIMEOUT 400)
endforeach()
set_tests_properties(test_runtime_fork PROPERTIES TIMEOUT 600)
# test_runtime_fork counts what the forked child asks of the allocator.
target_link_options(test_runtime_fork PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free)
# test_runtime_sigterm stands between the library, the system and the drain.
target_link_options(test_runtime_sigterm PRIVATE -Wl,--wrap=sigaction
                    -Wl,--wrap=perftrace__drain_wake,--wrap=perftrace__drain_free)
