# The library as compiled programs see it: structures, symbols, loading.
add_executable(abi_layout ${CMAKE_CURRENT_LIST_DIR}/abi_layout.c)
target_include_directories(abi_layout PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(abi_layout PRIVATE perftrace_flags)
add_test(NAME abi.layout COMMAND abi_layout)

if(TARGET perftrace)
  add_test(NAME abi.symbols
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/symbols.sh $<TARGET_FILE:perftrace>
                   ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
  set_tests_properties(abi.symbols PROPERTIES TIMEOUT 60)

  # A sanitizer's runtime wants to be loaded first, which a plain program does not do.
  add_executable(abi_load ${CMAKE_CURRENT_LIST_DIR}/abi_load.c)
  target_include_directories(abi_load PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(abi_load PRIVATE perftrace_flags Threads::Threads ${CMAKE_DL_LIBS})
  add_test(NAME abi.load COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/load.sh $<TARGET_FILE:abi_load>
                                 $<TARGET_FILE:perftrace>)
  set_tests_properties(abi.load PROPERTIES TIMEOUT 60)

  add_library(abi_module MODULE ${CMAKE_CURRENT_LIST_DIR}/module.c)
  target_link_libraries(abi_module PRIVATE perftrace_flags perftrace)
  perftrace_unit_test(test_runtime_module
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_runtime_module.c
            ${CMAKE_CURRENT_LIST_DIR}/../unit/traced_child.c
    ROOMS base json json_doc LIBS perftrace ${CMAKE_DL_LIBS}
    DEFS PERFTRACE_TEST_MODULE="$<TARGET_FILE:abi_module>")
  target_include_directories(test_runtime_module PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../unit)
  add_dependencies(test_runtime_module abi_module)
endif()
