# The macros in C++17: static and thread_local destructors, exceptions, lambdas, templates (PT-52 of
# the list of needs: everything traces while the process is taken down).
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  add_executable(cpp_life ${CMAKE_CURRENT_LIST_DIR}/cpp_life.cpp)
  set_target_properties(cpp_life PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON
                        CXX_EXTENSIONS OFF)
  target_compile_options(cpp_life PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  if(PERFTRACE_WERROR)
    target_compile_options(cpp_life PRIVATE -Werror)
  endif()
  target_link_libraries(cpp_life PRIVATE perftrace::perftrace Threads::Threads)
  set(runs 500)
  if(PERFTRACE_SANITIZE)
    set(runs 50)
  endif()
  # The name is one of those that the ThreadSanitizer stage takes.
  add_test(NAME stress.cpp_life COMMAND cpp_life ${runs})
  set_tests_properties(stress.cpp_life PROPERTIES TIMEOUT 300)
endif()
