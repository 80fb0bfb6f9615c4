set(profiler_rooms base record ring core profiler)
foreach(noun names schedule stage threads window)
  perftrace_unit_test(test_profiler_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_${noun}.c
                      ROOMS ${profiler_rooms})
endforeach()
perftrace_unit_test(test_profiler_perf SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_perf.c
                    ROOMS ${profiler_rooms})

# Libraries that export what the GPU profilers' own do.
foreach(kind CUDA ROC)
  string(TOLOWER fake_${kind} library)
  add_library(${library} MODULE ${CMAKE_CURRENT_LIST_DIR}/fake_gpu.c)
  set_target_properties(${library} PROPERTIES C_VISIBILITY_PRESET default)
  target_compile_definitions(${library} PRIVATE FAKE_${kind}=1)
endforeach()
perftrace_unit_test(test_profiler_gpu SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_gpu.c
                    ROOMS ${profiler_rooms}
                    DEFS FAKE_CUDA="$<TARGET_FILE:fake_cuda>" FAKE_ROC="$<TARGET_FILE:fake_roc>")
add_dependencies(test_profiler_gpu fake_cuda fake_roc)

perftrace_unit_test(test_profiler_self
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_self.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms} profiler)
perftrace_fuzz_test(profiler SOURCES ${CMAKE_CURRENT_LIST_DIR}/../fuzz/fuzz_profiler.c
                    ROOMS ${profiler_rooms})
