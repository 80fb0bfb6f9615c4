# What `cmake --install` lays down: headers, libraries, the CMake package, the pkg-config file and
# the written man pages; each tool lays down itself and its pages (tools/CMakeLists.txt). The tree
# may be moved afterwards: nothing in it names its own place.
include(CMakePackageConfigHelpers)
set(perftrace_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perftrace)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/perftrace TYPE INCLUDE
        COMPONENT development FILES_MATCHING PATTERN "*.h")

# Two export sets: who links the shared library need not have what the static one is linked with.
if(TARGET perftrace)
  install(TARGETS perftrace EXPORT perftraceShared
          LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT perftraceShared NAMESPACE perftrace:: DESTINATION ${perftrace_package_dir}
          COMPONENT development)
endif()
if(TARGET perftrace_static)
  set_target_properties(perftrace_static PROPERTIES EXPORT_NAME static)
  install(TARGETS perftrace_static EXPORT perftraceStatic ARCHIVE COMPONENT development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT perftraceStatic NAMESPACE perftrace:: DESTINATION ${perftrace_package_dir}
          COMPONENT development)
endif()

# The pkg-config modules behind the static library's PkgConfig:: targets, found at configure time.
set(perftrace_static_modules yaml-0.1)
set(perftrace_pc_libs "-pthread")
if(PERFTRACE_NET)
  list(APPEND perftrace_static_modules libuv libcjson)
  set(perftrace_pc_libs "-lhttp_parser -pthread")
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/src/perftraceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/perftraceConfig.cmake INSTALL_DESTINATION ${perftrace_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/perftraceConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perftraceConfig.cmake
              ${PROJECT_BINARY_DIR}/perftraceConfigVersion.cmake
        DESTINATION ${perftrace_package_dir} COMPONENT development)

# From lib/pkgconfig (or lib/x86_64-linux-gnu/pkgconfig) up to the prefix.
file(RELATIVE_PATH perftrace_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" perftrace_pc_to_prefix "${perftrace_pc_to_prefix}")
set(perftrace_pc_modules ${perftrace_static_modules})
if(PERFTRACE_NET)
  # CMake knows zlib by its file, and the loader of libraries by its own name.
  list(APPEND perftrace_pc_modules zlib)
  string(APPEND perftrace_pc_libs " -ldl")
endif()
string(REPLACE ";" ", " perftrace_pc_requires "${perftrace_pc_modules}")
configure_file(${PROJECT_SOURCE_DIR}/src/perftrace.pc.in ${PROJECT_BINARY_DIR}/perftrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/perftrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
            COMPONENT documentation)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC COMPONENT documentation)
