set(profiler_rooms base record ring core trace_names profiler)
foreach(noun finish inside names ranks request schedule stage threads window)
  perftrace_unit_test(test_profiler_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_${noun}.c
                      ROOMS ${profiler_rooms})
endforeach()
perftrace_unit_test(test_profiler_perf_outside
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_perf_outside.c
                    ROOMS ${profiler_rooms})
perftrace_unit_test(test_profiler_perf SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_perf.c
                    ROOMS ${profiler_rooms})
perftrace_unit_test(test_profiler_clash SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_clash.c
                    ROOMS ${profiler_rooms})
target_link_options(test_profiler_clash PRIVATE -Wl,--wrap=perftrace__os_pid)
perftrace_unit_test(test_local_time SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_local_time.c
                    ROOMS base trace_names)
target_link_options(test_local_time PRIVATE -Wl,--wrap=localtime_r,--wrap=mktime)

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

# A profiler that takes NVTX ranges; the same with the types of NVTX's own headers where these are.
find_path(PERFTRACE_NVTX_INCLUDE nvtx3/nvToolsExt.h PATHS /usr/local/cuda/include /opt/cuda/include)
add_library(fake_nvtx MODULE ${CMAKE_CURRENT_LIST_DIR}/fake_nvtx.c)
set(fake_nvtx_defs FAKE_NVTX="$<TARGET_FILE:fake_nvtx>" FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
set(fake_nvtx_libraries fake_nvtx fake_cuda)
if(PERFTRACE_NVTX_INCLUDE)
  add_library(fake_nvtx_real MODULE ${CMAKE_CURRENT_LIST_DIR}/fake_nvtx.c)
  target_include_directories(fake_nvtx_real SYSTEM PRIVATE ${PERFTRACE_NVTX_INCLUDE})
  target_compile_definitions(fake_nvtx_real PRIVATE FAKE_NVTX_HEADERS=1)
  list(APPEND fake_nvtx_defs FAKE_NVTX_REAL="$<TARGET_FILE:fake_nvtx_real>")
  list(APPEND fake_nvtx_libraries fake_nvtx_real)
endif()
if(TARGET perftrace_nvtx)
  list(APPEND fake_nvtx_defs OWN_NVTX="$<TARGET_FILE:perftrace_nvtx>")
  list(APPEND fake_nvtx_libraries perftrace_nvtx)
endif()
foreach(library ${fake_nvtx_libraries})
  if(NOT library STREQUAL "perftrace_nvtx")
    set_target_properties(${library} PROPERTIES C_VISIBILITY_PRESET default)
  endif()
endforeach()
perftrace_unit_test(test_profiler_nvtx
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_profiler_nvtx.c
                            ${CMAKE_CURRENT_LIST_DIR}/traced_child.c
                    ROOMS ${perftrace_whole_rooms} profiler
                    DEFS ${fake_nvtx_defs})
add_dependencies(test_profiler_nvtx ${fake_nvtx_libraries})
