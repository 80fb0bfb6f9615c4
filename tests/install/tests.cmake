# Installs this build and builds three consumers against it. A sanitizer's runtime would be theirs
# to link, and a cross build's programs are for another machine.
if(TARGET perftrace AND TARGET perf-trace-convert AND NOT PERFTRACE_SANITIZE
   AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME install.consumers
           COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_SOURCE_DIR}
                   ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/install)
  set_tests_properties(install.consumers PROPERTIES LABELS outside TIMEOUT 300)
endif()
