# libderm.so: the C interface (derm/derm.h) with everything inside, for programs that know no C++;
# and derm.pc for pkg-config.
include(GNUInstallDirs)
add_library(derm_shared SHARED $<TARGET_OBJECTS:derm_capi>)
set_target_properties(derm_shared PROPERTIES OUTPUT_NAME derm VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}  # before 1.0 a minor version may break
  LINKER_LANGUAGE CXX)
target_include_directories(derm_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
derm_rooms_of(capi derm_capi_rooms)
list(TRANSFORM derm_capi_rooms PREPEND derm::)
target_link_libraries(derm_shared PRIVATE ${derm_capi_rooms} nlohmann_json::nlohmann_json
  derm_build_flags)
set(derm_exports ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
target_link_options(derm_shared PRIVATE -Wl,--version-script=${derm_exports})
set_property(TARGET derm_shared APPEND PROPERTY LINK_DEPENDS ${derm_exports})

if(PROJECT_IS_TOP_LEVEL)
  # The way from derm.pc to the prefix, so that an installed tree can be moved.
  file(RELATIVE_PATH derm_pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/derm.pc.in ${PROJECT_BINARY_DIR}/derm.pc @ONLY)
  install(TARGETS derm_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_BINARY_DIR}/derm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
