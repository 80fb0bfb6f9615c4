foreach(noun record order finish task memory property)
  perftrace_unit_test(test_session_fold_${noun}
                      SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_session_fold_${noun}.c
                      ROOMS base record sink writer session json)
endforeach()
target_link_options(test_session_fold_memory PRIVATE
                    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc)
foreach(noun ids replay round_trip)
  perftrace_unit_test(test_session_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_session_${noun}.c
                      ROOMS base record sink writer session json)
endforeach()
# cJSON is the judge of what the records say.
perftrace_unit_test(test_session_fold_corpus
                    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_session_fold_corpus.c
                    ROOMS base record sink writer session json LIBS PkgConfig::CJSON)

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test session_fold
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_session_fold.c
               ROOMS base record sink writer session json)
cmake_language(DEFER CALL perftrace_fuzz_test session_replay
               SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_session_replay.c
               ROOMS base record sink writer session json)
