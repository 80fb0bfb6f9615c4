# Traced processes, collectors and servers together, each the real one.
if(TARGET perf-trace-collect AND TARGET perf-trace-forward AND TARGET perf-trace-run AND PERFTRACE_NODE AND NOT CMAKE_CROSSCOMPILING)
  add_executable(stream_worker ${CMAKE_CURRENT_LIST_DIR}/stream_worker.c)
  target_link_libraries(stream_worker PRIVATE perftrace_flags perftrace::perftrace Threads::Threads)
  add_executable(stream_life ${CMAKE_CURRENT_LIST_DIR}/stream_life.c)
  target_link_libraries(stream_life PRIVATE perftrace_flags perftrace::perftrace Threads::Threads)
  find_program(PERFTRACE_NATS_SERVER nats-server PATHS /usr/sbin)
  set(perftrace_stream_sanitized 0)
  set(perftrace_stream_threads 0)
  if(PERFTRACE_SANITIZE)
    set(perftrace_stream_sanitized 1)
  endif()
  if(PERFTRACE_SANITIZE MATCHES "thread")
    set(perftrace_stream_threads 1)
  endif()
  set(perftrace_stream_env "STREAM_WORKER=$<TARGET_FILE:stream_worker>" "STREAM_LIFE=$<TARGET_FILE:stream_life>"
      "STREAM_RUN=$<TARGET_FILE:perf-trace-run>" "STREAM_SANITIZED=${perftrace_stream_sanitized}"
      "STREAM_THREAD_SANITIZER=${perftrace_stream_threads}"
      "PERFTRACE_COLLECT=$<TARGET_FILE:perf-trace-collect>"
      "PERFTRACE_FORWARD_TOOL=$<TARGET_FILE:perf-trace-forward>"
      "PERFTRACE_RECOVER=$<TARGET_FILE:perf-trace-recover>")
  if(TARGET perftrace_nats AND PERFTRACE_NATS_SERVER)
    list(APPEND perftrace_stream_env "STREAM_NATS_SERVER=${PERFTRACE_NATS_SERVER}"
         "STREAM_NATS_LIBRARY=$<TARGET_FILE:perftrace_nats>")
  endif()
  if(TARGET fault_shim)
    list(APPEND perftrace_stream_env "STREAM_FAULT_SHIM=$<TARGET_FILE:fault_shim>")
  endif()
  foreach(name tcp nats credentials faults partition disks life)
    add_test(NAME stream.${name}
             COMMAND ${PERFTRACE_NODE} --test ${CMAKE_CURRENT_LIST_DIR}/${name}.test.js)
    set_tests_properties(stream.${name} PROPERTIES TIMEOUT 600 LABELS outside
      SKIP_REGULAR_EXPRESSION "${perftrace_node_skips}" ENVIRONMENT "${perftrace_stream_env}")
  endforeach()
  if(perftrace_stream_threads)
    set_tests_properties(stream.life PROPERTIES LABELS "") # what the sender's thread does, and forks
  endif()
  # Figures (tests/bench/run.sh stream): here only whether all of it runs.
  add_test(NAME bench.stream
           COMMAND ${PERFTRACE_NODE} ${CMAKE_CURRENT_LIST_DIR}/../bench/bench_stream.js
                   ${perftrace_bench_work}/stream 1 250 forward rate ranks many)
  set_tests_properties(bench.stream PROPERTIES LABELS bench TIMEOUT 300
    ENVIRONMENT "${perftrace_stream_env};STREAM_BENCH=${PROJECT_BINARY_DIR}/tests/bench")
endif()
