# The programs of tests/bench/run.sh. ctest only checks that each runs, with tiny counts: nothing
# that is timed can be a test.
add_custom_target(bench)
set(perftrace_bench_work ${PROJECT_BINARY_DIR}/tests/bench/work)

# perftrace_bench(NAME [LIBS target ...] [ARGS argument ...]): bench_NAME.c, run with ARGS in ctest.
function(perftrace_bench name)
  cmake_parse_arguments(B "" "" "LIBS;ARGS" ${ARGN})
  set(target bench_${name})
  add_executable(${target} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${target}.c)
  target_link_libraries(${target} PRIVATE perftrace_flags perftrace::perftrace Threads::Threads
                        ${B_LIBS})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
  add_dependencies(bench ${target})
  add_test(NAME bench.${name} COMMAND ${target} ${B_ARGS})
  set_tests_properties(bench.${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
endfunction()

perftrace_bench(scope ARGS --rounds 1 --count 100 --dir ${perftrace_bench_work}/scope)
perftrace_bench(cold ARGS --rounds 1 --count 20 --dir ${perftrace_bench_work}/cold)
perftrace_bench(off ARGS --rounds 1 --count 100 --dir ${perftrace_bench_work}/off)
perftrace_bench(threads ARGS --rounds 1 --count 100 --dir ${perftrace_bench_work}/threads)
