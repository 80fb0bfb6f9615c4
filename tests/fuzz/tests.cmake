# Fuzz targets: each is a file fuzz_NOUN.c with LLVMFuzzerTestOneInput. In every build it is a test
# that replays the target's corpus; with PERFTRACE_FUZZ (clang) it is a libFuzzer program, which
# tests/stages/fuzz.sh runs for a while.
option(PERFTRACE_FUZZ "Build the fuzz targets with libFuzzer instead of the replaying main" OFF)

if(PERFTRACE_FUZZ)
  add_custom_target(fuzzers)
endif()

# perftrace_fuzz_test(NOUN SOURCES a.c ... ROOMS room ... [LIBS target ...] [CORPUS folder])
# SOURCES are relative to tests/. CORPUS: tests/fuzz/corpus/NOUN unless given.
function(perftrace_fuzz_test noun)
  cmake_parse_arguments(F "" "CORPUS" "SOURCES;ROOMS;LIBS" ${ARGN})
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  if(NOT F_CORPUS)
    set(F_CORPUS ${here}/corpus/${noun})
  endif()
  set(name fuzz_${noun})
  add_executable(${name} ${F_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  # libFuzzer declares its entry points nowhere in C.
  target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
  target_link_libraries(${name} PRIVATE perftrace_flags ${F_LIBS} m)
  perftrace_use_rooms(${name} ${F_ROOMS})
  perftrace_link_rooms(${name} ${F_ROOMS})
  if(PERFTRACE_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
    set_property(GLOBAL APPEND PROPERTY PERFTRACE_FUZZERS "${name} ${F_CORPUS}")
  else()
    target_sources(${name} PRIVATE ${here}/replay_main.c)
    add_test(NAME fuzz.${noun} COMMAND ${name} ${F_CORPUS})
    set_tests_properties(fuzz.${noun} PROPERTIES TIMEOUT 120)
  endif()
endfunction()

# The list that tests/stages/fuzz.sh reads: a line for each fuzzer, its name and its corpus.
function(perftrace_write_fuzzer_list)
  get_property(fuzzers GLOBAL PROPERTY PERFTRACE_FUZZERS)
  list(JOIN fuzzers "\n" text)
  file(WRITE ${PROJECT_BINARY_DIR}/fuzzers.txt "${text}\n")
endfunction()
# At the end of the whole project: targets may be added by deferred calls, too.
if(PERFTRACE_FUZZ)
  cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL perftrace_write_fuzzer_list)
endif()
