# The documents against the sources: manual pages, links, names of files and functions, examples.
foreach(part manual examples files threading problems)
  add_test(NAME docs.${part}
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/docs.sh ${part} ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR}/tests/docs/${part} ${CMAKE_C_COMPILER})
  set_tests_properties(docs.${part} PROPERTIES LABELS outside TIMEOUT 120)
endforeach()

# The commands of the pages about many machines, run as they stand there.
if(TARGET perf-trace-collect AND TARGET perf-trace-forward AND TARGET perf-trace-run AND TARGET perf-trace-live AND
   TARGET example_08_hang AND TARGET example_01_first_trace AND PERFTRACE_NODE AND NOT CMAKE_CROSSCOMPILING)
  set(perftrace_commands_env "PERFTRACE_TEST_BIN=$<TARGET_FILE_DIR:perf-trace-live>"
      "PERFTRACE_TEST_TRAIN=$<TARGET_FILE:example_01_first_trace>" "PERFTRACE_TEST_HANG=$<TARGET_FILE:example_08_hang>"
      "STREAM_WORKER=$<TARGET_FILE:stream_worker>")
  find_program(PERFTRACE_NATS_SERVER nats-server PATHS /usr/sbin)
  if(TARGET perftrace_nats AND PERFTRACE_NATS_SERVER)
    list(APPEND perftrace_commands_env "STREAM_NATS_SERVER=${PERFTRACE_NATS_SERVER}"
         "STREAM_NATS_LIBRARY=$<TARGET_FILE:perftrace_nats>")
  endif()
  add_test(NAME docs.commands
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/commands.sh ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR}/tests/docs/commands)
  set_tests_properties(docs.commands PROPERTIES LABELS outside TIMEOUT 600 SKIP_RETURN_CODE 77
                       ENVIRONMENT "${perftrace_commands_env}")
endif()
