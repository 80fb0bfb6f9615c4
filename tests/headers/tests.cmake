# The public headers under strict flags, both compilers, C and C++.
add_test(NAME headers.strict
         COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/headers.sh ${PROJECT_SOURCE_DIR}
                 ${PROJECT_BINARY_DIR}/tests/headers)
set_tests_properties(headers.strict PROPERTIES LABELS outside TIMEOUT 300)
