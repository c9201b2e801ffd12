# How a derm target is compiled, and how a room and an optional part are declared.

add_library(derm_build_flags INTERFACE)
target_compile_options(derm_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  $<$<NOT:$<PLATFORM_ID:Emscripten>>:-fPIC>  # libraries and programs alike, so that they share precompiled headers
  -ffp-contract=off  # the same bits from every compiler; kernels ask for FMA by name
  # g++ 12 sees overlaps and overruns in "text" + std::string that are not there (bug 105651)
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>
  # what g++ says of a class with a member of its own file's anonymous namespace in any included file
  $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
  # g++ tidies its memory whenever it doubles; a batch of sources ends before a gigabyte needs it
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>
  # what clang says of a name in one source's anonymous namespace when another source of its batch
  # has it, too; g++ tells of every shadow in one source
  $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>
  $<$<BOOL:${DERM_WERROR}>:-Werror>)
if(EMSCRIPTEN)
  target_compile_options(derm_build_flags INTERFACE -msimd128 -fno-exceptions)
endif()
# A hundred test programs are linked in a quarter of the time.
find_program(DERM_LLD ld.lld)
if(DERM_LLD AND NOT EMSCRIPTEN)
  target_link_options(derm_build_flags INTERFACE -fuse-ld=lld)
endif()
if(DERM_SANITIZE)
  target_compile_options(derm_build_flags INTERFACE
    -fsanitize=${DERM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(derm_build_flags INTERFACE -fsanitize=${DERM_SANITIZE})
endif()

# What most sources include, parsed once per build instead of once per file: half of the time that
# compiling takes. Sources do not rely on it: -DDERM_PCH=OFF compiles without.
option(DERM_PCH "Precompile the headers that most sources use" ON)
set(derm_pch_headers <algorithm> <array> <cmath> <cstdint> <functional> <memory> <optional> <span>
  <string> <string_view> <variant> <vector> <Eigen/Core> <Eigen/Geometry>)

# derm_precompile(TARGET [HEADERS <a.h> … LIBRARIES Lib::A …]): gives the target those headers, and
# some of libraries, precompiled; one file for all targets with the same.
function(derm_precompile target)
  if(NOT DERM_PCH)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBRARIES" ${ARGN})
  # Levels of optimisation see different macros, so they cannot share the file.
  get_target_property(level ${target} COMPILE_OPTIONS)
  if(level)
    list(FILTER level INCLUDE REGEX "^-O.$")
  else()
    set(level)
  endif()
  string(MAKE_C_IDENTIFIER "derm_pch${ARG_HEADERS}${level}" pch)
  if(NOT TARGET ${pch})
    set(empty ${PROJECT_BINARY_DIR}/${pch}.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(${pch} OBJECT ${empty})
    target_link_libraries(${pch} PRIVATE Eigen3::Eigen ${ARG_LIBRARIES} derm_build_flags)
    target_compile_options(${pch} PRIVATE ${level})
    target_precompile_headers(${pch} PRIVATE ${derm_pch_headers} ${ARG_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# Several sources of a target are compiled as one: headers and templates are then parsed and made
# once per batch. Sources do not rely on that either: -DDERM_UNITY=OFF compiles one by one.
option(DERM_UNITY "Compile the sources of a target in batches" ON)

# derm_batch(TARGET): compiles the target's sources in batches of about equal size.
function(derm_batch target)
  if(NOT DERM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  # Highway compiles these once per instruction set by including them again.
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")
  set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  list(LENGTH kernels alone)
  list(LENGTH sources count)
  set(size 8)
  math(EXPR batches "(${count} - ${alone} + ${size} - 1) / ${size}")
  if(batches GREATER 1)
    math(EXPR size "(${count} - ${alone} + ${batches} - 1) / ${batches}")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# The rooms that a room may include, from tools/rooms.txt.
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/rooms.txt derm_room_rules REGEX "^[a-z]+:")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/rooms.txt)
function(derm_rooms_of name out)
  set(rooms)
  foreach(rule ${derm_room_rules})
    if(rule MATCHES "^${name}: *(.*)$")
      separate_arguments(rooms UNIX_COMMAND "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()

# derm_room(NAME SOURCES a.cpp … PUBLIC Lib::A … PRIVATE Lib::B … PRECOMPILE <b.h> …)
# One static library per room: headers in include/derm/NAME, sources in src/NAME. It links the rooms
# that tools/rooms.txt lets it include. PRECOMPILE: headers of private libraries that most of its
# sources include.
function(derm_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/)
  add_library(derm_${name} STATIC ${ARG_SOURCES})
  add_library(derm::${name} ALIAS derm_${name})
  set_target_properties(derm_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(derm_${name} PUBLIC cxx_std_20)
  target_include_directories(derm_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  if(DERM_CHECKED)
    target_compile_definitions(derm_${name} PUBLIC DERM_CHECKED)
  endif()
  derm_rooms_of(${name} rooms)
  list(TRANSFORM rooms PREPEND derm::)
  target_link_libraries(derm_${name} PUBLIC ${rooms} ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:derm_build_flags>)
  if(EMSCRIPTEN AND CMAKE_BUILD_TYPE STREQUAL "Release")
    # No frame waits for these. em++'s -Os inlines nothing at all: a tenth of the module's size, and
    # twenty times the time where Eigen computes, as faces do when they are opened.
    if(name MATCHES "^(character|track|io|scene|capi)$")
      target_compile_options(derm_${name} PRIVATE -Os)
    elseif(name MATCHES "^(image|weights|face)$")
      target_compile_options(derm_${name} PRIVATE -O2)
    endif()
  endif()
  derm_precompile(derm_${name} HEADERS ${ARG_PRECOMPILE} LIBRARIES ${ARG_PRIVATE})
  derm_batch(derm_${name})
  set(DERM_ROOM_TARGETS ${DERM_ROOM_TARGETS} derm::${name} PARENT_SCOPE)
  set(DERM_ROOM_LIBRARIES ${DERM_ROOM_LIBRARIES} derm_${name} PARENT_SCOPE)
endfunction()

# derm_module(NAME SOURCES a.cpp … INCLUDES dir … LIBRARIES b.so …)
# An optional part with a heavy library: the shared object libderm_NAME.so, which the rooms load when
# they first need it (derm/base/module.h) and never link. What it links of derm is a copy of its own:
# give it little. It lies beside the programs' folder, in the build tree as where it is installed.
function(derm_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES;LIBRARIES" ${ARGN})
  add_library(derm_${name} MODULE ${ARG_SOURCES})
  target_compile_features(derm_${name} PRIVATE cxx_std_20)
  target_include_directories(derm_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(derm_${name} SYSTEM PRIVATE ${ARG_INCLUDES})
  target_link_libraries(derm_${name} PRIVATE ${ARG_LIBRARIES} derm_build_flags)
  set_target_properties(derm_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/derm)
  set_property(GLOBAL APPEND PROPERTY DERM_MODULE_TARGETS derm_${name})
endfunction()

# derm_module_program(NAME OUTPUT file-name SOURCES a.cpp … LIBRARIES b.so …)
# A program that does a dangerous part of the work in a process of its own. It lies with the modules
# and is found as they are (findModuleProgram() in derm/base/module.h).
function(derm_module_program name)
  cmake_parse_arguments(ARG "" "OUTPUT" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(derm_${name} ${ARG_SOURCES})
  target_include_directories(derm_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(derm_${name} PRIVATE ${ARG_LIBRARIES} derm_build_flags)
  set_target_properties(derm_${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/derm)
  set_property(GLOBAL APPEND PROPERTY DERM_MODULE_PROGRAMS derm_${name})
endfunction()
