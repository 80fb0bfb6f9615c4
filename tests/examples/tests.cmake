# Every example runs, loses nothing, and what it leaves converts to a strict trace.
# perftrace_example_test(NAME FILES COMMAND...): FILES trace files are expected.
# PERFTRACE_EXAMPLE_SCRIPT: what checks it, example.sh unless set.
function(perftrace_example_test name files)
  set(script example.sh)
  if(PERFTRACE_EXAMPLE_SCRIPT)
    set(script ${PERFTRACE_EXAMPLE_SCRIPT})
  endif()
  add_test(NAME example.${name}
           COMMAND bash ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script} ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR}/tests/examples/${name} $<TARGET_FILE:perf-trace-convert>
                   ${files} ${ARGN})
  set_tests_properties(example.${name} PROPERTIES TIMEOUT 300)
endfunction()

if(TARGET example_01_first_trace AND TARGET perf-trace-convert AND NOT CMAKE_CROSSCOMPILING)
  foreach(name 01_first_trace 02_args_and_counters 03_laps 04_flows_and_async 06_from_cpp
               07_profiled_steps)
    if(TARGET example_${name})
      perftrace_example_test(${name} 1 $<TARGET_FILE:example_${name}>)
    endif()
  endforeach()
  perftrace_example_test(05_threads_and_fork 2 $<TARGET_FILE:example_05_threads_and_fork>)

  add_test(NAME example.train_gradients COMMAND train_gradient_check)
  # The repository's own words are what it learns.
  file(GLOB perftrace_training_text ${PROJECT_SOURCE_DIR}/include/perftrace/*.h)
  list(APPEND perftrace_training_text ${PROJECT_SOURCE_DIR}/LICENSE)
  set(perftrace_training_steps 60)
  if(PERFTRACE_SANITIZE)
    set(perftrace_training_steps 30) # the arithmetic is slow there
  endif()
  perftrace_example_test(train_fork 4 $<TARGET_FILE:train_fork> --ranks 4
                         --steps ${perftrace_training_steps}
                         --checkpoint checkpoint.bin ${perftrace_training_text})
  set_tests_properties(example.train_fork PROPERTIES FIXTURES_SETUP train_trace PROCESSORS 2)

  set(PERFTRACE_EXAMPLE_SCRIPT rollout.sh)
  perftrace_example_test(rollout 2 $<TARGET_FILE:rollout> --ranks 2 --tasks 6
                         ${perftrace_training_text})
  set_tests_properties(example.rollout PROPERTIES PROCESSORS 2
    ENVIRONMENT "PERFTRACE_SESSIONS=$<TARGET_FILE:perf-trace-sessions>")
  unset(PERFTRACE_EXAMPLE_SCRIPT)
  if(TARGET perf-trace-ctl)
    set(perftrace_profiled_steps 200)
    if(PERFTRACE_SANITIZE)
      set(perftrace_profiled_steps 100)
    endif()
    add_test(NAME example.profile_on_request
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/profile.sh ${PROJECT_SOURCE_DIR}
                     ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/examples/profile_on_request
                     ${perftrace_profiled_steps})
    set_tests_properties(example.profile_on_request PROPERTIES TIMEOUT 300 PROCESSORS 2)
  endif()
  if(TARGET perf-trace-live)
    add_test(NAME example.hang
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/hang.sh ${PROJECT_SOURCE_DIR}
                     ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/examples/hang)
    set_tests_properties(example.hang PROPERTIES TIMEOUT 120)
  endif()
  if(TARGET train_mpi AND TARGET perftrace_nats AND TARGET perf-trace-collect)
    add_test(NAME example.three_nodes
             COMMAND bash ${PROJECT_SOURCE_DIR}/examples/three_nodes.sh
                     ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/examples/three_nodes)
    set_tests_properties(example.three_nodes PROPERTIES TIMEOUT 600 LABELS outside SKIP_RETURN_CODE 77)
  endif()
  if(TARGET train_mpi)
    perftrace_example_test(train_mpi 4 ${MPIEXEC_EXECUTABLE} --oversubscribe -n 4
                           $<TARGET_FILE:train_mpi> --steps 60 ${perftrace_training_text})
    set_tests_properties(example.train_mpi PROPERTIES PROCESSORS 2
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
  endif()
endif()
