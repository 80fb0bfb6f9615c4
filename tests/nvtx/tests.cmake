# Programs with NVTX ranges, traced by the library that NVTX loads. A sanitizer's runtime would have to
# be there before it.
if(TARGET perftrace_nvtx AND PERFTRACE_NODE AND NOT CMAKE_CROSSCOMPILING AND NOT PERFTRACE_SANITIZE)
  add_executable(nvtx_client ${CMAKE_CURRENT_LIST_DIR}/nvtx_client.c)
  target_link_libraries(nvtx_client PRIVATE perftrace_flags Threads::Threads ${CMAKE_DL_LIBS})
  set(perftrace_nvtx_env "NVTX_CLIENT=$<TARGET_FILE:nvtx_client>;NVTX_LIBRARY=$<TARGET_FILE:perftrace_nvtx>")
  find_path(PERFTRACE_NVTX_INCLUDE nvtx3/nvToolsExt.h PATHS /usr/local/cuda/include /opt/cuda/include)
  if(PERFTRACE_NVTX_INCLUDE)
    add_executable(nvtx_real ${CMAKE_CURRENT_LIST_DIR}/nvtx_real.c)
    target_include_directories(nvtx_real SYSTEM PRIVATE ${PERFTRACE_NVTX_INCLUDE})
    target_link_libraries(nvtx_real PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    list(APPEND perftrace_nvtx_env "NVTX_REAL=$<TARGET_FILE:nvtx_real>")
  endif()
  add_test(NAME nvtx.injection
           COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_LIST_DIR}/nvtx.test.js)
  set_tests_properties(nvtx.injection PROPERTIES TIMEOUT 120
    SKIP_REGULAR_EXPRESSION "${perftrace_node_skips}" ENVIRONMENT "${perftrace_nvtx_env}")
endif()
