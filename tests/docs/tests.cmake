# The documents against the sources: manual pages, links, names of files and functions, examples.
foreach(part manual examples files threading problems)
  add_test(NAME docs.${part}
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/docs.sh ${part} ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR}/tests/docs/${part} ${CMAKE_C_COMPILER})
  set_tests_properties(docs.${part} PROPERTIES LABELS outside TIMEOUT 120)
endforeach()
