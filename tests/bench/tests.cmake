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
  set_tests_properties(bench.${name} PROPERTIES LABELS bench TIMEOUT 120 SKIP_RETURN_CODE 77
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
endfunction()

foreach(name scope cold off threads tail memory)
  perftrace_bench(${name} ARGS --rounds 1 --count 100 --dir ${perftrace_bench_work}/${name})
endforeach()
perftrace_bench(sustained LIBS ${CMAKE_DL_LIBS} ARGS --rounds 1 --count 20000 --dir ${perftrace_bench_work}/sustained)
perftrace_bench(stall LIBS ${CMAKE_DL_LIBS}
                ARGS --rounds 1 --count 20 --dir ${perftrace_bench_work}/stall)
if(PERFTRACE_NET)
  perftrace_bench(control ARGS --rounds 1 --count 20 --dir ${perftrace_bench_work}/control)
endif()
if(TARGET perftrace_nvtx)
  perftrace_bench(nvtx LIBS ${CMAKE_DL_LIBS}
                  ARGS --rounds 1 --count 100 --dir ${perftrace_bench_work}/nvtx)
  target_include_directories(bench_nvtx PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../nvtx)
  target_compile_definitions(bench_nvtx PRIVATE NVTX_LIBRARY="$<TARGET_FILE:perftrace_nvtx>")
  add_dependencies(bench_nvtx perftrace_nvtx)
endif()
if(TARGET perf-trace-ctl AND PERFTRACE_NODE)
  add_test(NAME bench.ctl COMMAND ${PERFTRACE_NODE} ${CMAKE_CURRENT_LIST_DIR}/bench_ctl.js
           $<TARGET_FILE:perf-trace-ctl> 1)
  set_tests_properties(bench.ctl PROPERTIES LABELS bench TIMEOUT 120)
endif()
file(MAKE_DIRECTORY ${perftrace_bench_work}/sessions)
perftrace_bench(sessions LIBS m ARGS --dir ${perftrace_bench_work}/sessions --count 100 --ranks 2)
file(MAKE_DIRECTORY ${perftrace_bench_work}/stacks)
perftrace_bench(stacks ARGS --file ${perftrace_bench_work}/stacks/lines.txt --bytes 100000)
perftrace_bench(generate ARGS --dir ${perftrace_bench_work}/generate --bytes 100000 --ranks 2)

add_library(bench_shim SHARED ${CMAKE_CURRENT_LIST_DIR}/shim.c)
target_link_libraries(bench_shim PRIVATE perftrace_flags ${CMAKE_DL_LIBS})
add_executable(bench_measure ${CMAKE_CURRENT_LIST_DIR}/measure.c)
target_link_libraries(bench_measure PRIVATE perftrace_flags)
set_target_properties(bench_measure PROPERTIES OUTPUT_NAME measure)
set_target_properties(bench_shim bench_measure PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
add_dependencies(bench bench_shim bench_measure)
if(NOT PERFTRACE_SANITIZE) # a sanitizer must be loaded before anything else
  set_tests_properties(bench.stall PROPERTIES ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:bench_shim>)
endif()

# LTTng's headers are not written for our warnings, so this one is built without them.
include(CheckIncludeFile)
check_include_file(lttng/tracepoint.h PERFTRACE_HAVE_LTTNG_UST)
if(PERFTRACE_HAVE_LTTNG_UST)
  add_executable(bench_lttng EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_lttng.c)
  target_compile_definitions(bench_lttng PRIVATE _GNU_SOURCE)
  target_include_directories(bench_lttng PRIVATE ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(bench_lttng PRIVATE perftrace::perftrace lttng-ust ${CMAKE_DL_LIBS})
  set_target_properties(bench_lttng PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
  add_dependencies(bench bench_lttng)
endif()

# Of the library's rooms, not of its calls.
perftrace_bench(session_fold ARGS --rounds 1 --count 100)
perftrace_use_rooms(bench_session_fold base record sink session)
perftrace_link_rooms(bench_session_fold base json record sink writer session)

if(PERFTRACE_NET)
  # Ranks that are there in their messages and files only, for the figures of many of them.
  foreach(name ranks rank_files)
    add_executable(bench_${name} ${CMAKE_CURRENT_LIST_DIR}/bench_${name}.c)
    target_link_libraries(bench_${name} PRIVATE perftrace_flags)
    perftrace_use_rooms(bench_${name} base json stream)
    perftrace_link_rooms(bench_${name} base json stream)
    set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
    add_dependencies(bench bench_${name})
  endforeach()

  if(PERFTRACE_ISAL AND TARGET PkgConfig::LIBISAL)
    target_link_libraries(bench_ranks PRIVATE PkgConfig::LIBISAL)
    target_compile_definitions(bench_ranks PRIVATE BENCH_ISAL=1)
  endif()

  add_executable(bench_forward ${CMAKE_CURRENT_LIST_DIR}/bench_forward.c)
  target_link_libraries(bench_forward PRIVATE perftrace_flags perftrace::perftrace Threads::Threads)
  set_target_properties(bench_forward PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
  add_dependencies(bench bench_forward)
  if(TARGET PkgConfig::NATS)
    add_executable(bench_request ${CMAKE_CURRENT_LIST_DIR}/bench_request.c)
    target_link_libraries(bench_request PRIVATE perftrace_flags PkgConfig::NATS)
    set_target_properties(bench_request PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
    add_dependencies(bench bench_request)
  endif()
endif()
