# The other configurations as tests of the main build: each builds its own folder and runs its own
# ctest. Only tests/run.sh asks for them: an ordinary ctest would otherwise take half an hour.
option(PERFTRACE_TEST_STAGES "Register the other build configurations as tests" OFF)
if(PERFTRACE_TEST_STAGES)
  foreach(stage clang asan tsan nonet points aarch64 valgrind format tidy fuzz)
    add_test(NAME stage.${stage}
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/stage.sh ${stage})
    set_tests_properties(stage.${stage} PROPERTIES LABELS stage TIMEOUT 1500 RUN_SERIAL ON
                         SKIP_RETURN_CODE 77)
  endforeach()
endif()
