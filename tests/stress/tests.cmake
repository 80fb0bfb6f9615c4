# Sessions under load: 64 threads pass 200,000 sessions on to one another; kills at random. The
# names are among those that the ThreadSanitizer stage takes.
if(NOT CMAKE_CROSSCOMPILING)
  set(here ${CMAKE_CURRENT_LIST_DIR})
  add_executable(stress_sessions ${here}/stress_sessions.c ${here}/session_load.c
                 ${here}/session_check.c)
  target_compile_options(stress_sessions PRIVATE "SHELL:-iquote ${here}")
  target_link_libraries(stress_sessions PRIVATE perftrace_flags perftrace::perftrace
                        PkgConfig::CJSON Threads::Threads)
  set(sessions 200000)
  if(PERFTRACE_SANITIZE)
    set(sessions 20000)
  endif()
  set(work ${PROJECT_BINARY_DIR}/tests/stress)
  add_test(NAME stress.sessions
           COMMAND sh -c "rm -rf '${work}/whole' && mkdir -p '${work}/whole' && \
\"$1\" whole '${work}/whole' 64 ${sessions} && rm -rf '${work}/whole'" stress
           $<TARGET_FILE:stress_sessions>)
  set_tests_properties(stress.sessions PROPERTIES TIMEOUT 300)
  if(TARGET perf-trace-recover AND NOT PERFTRACE_SANITIZE)
    add_test(NAME stress.session_kills
             COMMAND sh -c "rm -rf '${work}/kills' && mkdir -p '${work}/kills' && \
\"$1\" kill '${work}/kills' 64 200000 \"$2\" 20 && rm -rf '${work}/kills'" stress
             $<TARGET_FILE:stress_sessions> $<TARGET_FILE:perf-trace-recover>)
    set_tests_properties(stress.session_kills PROPERTIES TIMEOUT 300 LABELS outside)
  endif()
endif()
