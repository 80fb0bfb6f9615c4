foreach(noun scan number fraction string split repair doc cases)
  perftrace_unit_test(test_json_${noun} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_json_${noun}.c
                      ROOMS base json json_doc)
endforeach()
perftrace_unit_test(test_json_property
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_json_property.c
          ${CMAKE_CURRENT_LIST_DIR}/../fuzz/fuzz_json_scan.c
  ROOMS base json json_doc)

# The code for processors whose vectors are not used.
file(GLOB json_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/json/*.c)
perftrace_unit_test(test_json_portable
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_json_fraction.c ${json_sources} ROOMS base)
perftrace_use_rooms(test_json_portable json)
target_compile_options(test_json_portable PRIVATE -U__SSE2__ -U__ARM_NEON)

# The function comes with the fuzz folder, which is included after this file.
cmake_language(DEFER CALL perftrace_fuzz_test json_scan SOURCES ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_json_scan.c
               ROOMS base json json_doc)

# A program to be run by hand on a file; see its first lines.
add_executable(bench_json_scan ${CMAKE_CURRENT_LIST_DIR}/../bench/bench_json_scan.c)
target_link_libraries(bench_json_scan PRIVATE perftrace_flags)
perftrace_use_rooms(bench_json_scan base json json_doc)
perftrace_link_rooms(bench_json_scan base json json_doc)
