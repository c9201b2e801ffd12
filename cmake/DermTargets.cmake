# How a derm target is compiled, and how a room is declared.

add_library(derm_build_flags INTERFACE)
target_compile_options(derm_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  -ffp-contract=off  # the same bits from every compiler; kernels ask for FMA by name
  # g++ 12 sees overlapping copies in "text" + std::string at -O3 that are not there (bug 105651)
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${DERM_WERROR}>:-Werror>)
if(DERM_SANITIZE)
  target_compile_options(derm_build_flags INTERFACE
    -fsanitize=${DERM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(derm_build_flags INTERFACE -fsanitize=${DERM_SANITIZE})
endif()

# derm_room(NAME SOURCES a.cpp … ROOMS base … PUBLIC Lib::A … PRIVATE Lib::B …)
# One static library per room: headers in include/derm/NAME, sources in src/NAME.
function(derm_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;PUBLIC;PRIVATE" ${ARGN})
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
  list(TRANSFORM ARG_ROOMS PREPEND derm::)
  target_link_libraries(derm_${name} PUBLIC ${ARG_ROOMS} ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:derm_build_flags>)
  set(DERM_ROOM_TARGETS ${DERM_ROOM_TARGETS} derm::${name} PARENT_SCOPE)
  set(DERM_ROOM_LIBRARIES ${DERM_ROOM_LIBRARIES} derm_${name} PARENT_SCOPE)
endfunction()
