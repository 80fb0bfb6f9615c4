# The dependency rule of the house. A room is an object library that publishes only its own folder,
# by -iquote, and only to the rooms that name it here: headers are included by basename, basenames
# are unique, so an include in the wrong direction does not compile.

add_library(perftrace_flags INTERFACE)
target_compile_definitions(perftrace_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(perftrace_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wwrite-strings -Wundef -fno-strict-overflow)
if(PERFTRACE_WERROR)
  target_compile_options(perftrace_flags INTERFACE -Werror)
endif()
if(PERFTRACE_TEST_POINTS)
  target_compile_definitions(perftrace_flags INTERFACE PERFTRACE__TEST_POINTS=1)
endif()
if(PERFTRACE_SANITIZE)
  add_compile_options(-fsanitize=${PERFTRACE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PERFTRACE_SANITIZE})
endif()

# perftrace_room(NAME SOURCES a.c b.c [DEPS room ...] [LIBS target ...])
function(perftrace_room name)
  cmake_parse_arguments(R "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  set(target perftrace_room_${name})
  add_library(${target} OBJECT ${R_SOURCES})
  target_link_libraries(${target} PRIVATE perftrace_flags Threads::Threads ${R_LIBS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE "SHELL:-iquote ${CMAKE_CURRENT_SOURCE_DIR}")
  # The library itself holds the one definition of the thread's slot (inline.h).
  target_compile_definitions(${target} PRIVATE PERFTRACE_I_LIBRARY=1)
  set_target_properties(${target} PROPERTIES
    PERFTRACE_ROOM_DIR "${CMAKE_CURRENT_SOURCE_DIR}" PERFTRACE_ROOM_LIBS "${R_LIBS}")
  perftrace_use_rooms(${target} ${R_DEPS})
endfunction()

# Lets a target include the headers of the named rooms. Objects are not linked: see
# perftrace_link_rooms.
function(perftrace_use_rooms target)
  foreach(dep ${ARGN})
    get_target_property(dir perftrace_room_${dep} PERFTRACE_ROOM_DIR)
    target_compile_options(${target} PRIVATE "SHELL:-iquote ${dir}")
  endforeach()
endfunction()

# Links the objects of the named rooms into an executable or library, with what they need.
function(perftrace_link_rooms target)
  foreach(dep ${ARGN})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:perftrace_room_${dep}>)
    get_target_property(libs perftrace_room_${dep} PERFTRACE_ROOM_LIBS)
    if(libs)
      target_link_libraries(${target} PRIVATE ${libs})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()
