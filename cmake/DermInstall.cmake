# `cmake --install` gives headers, libraries, the program and a package for find_package(derm).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/derm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ${DERM_ROOM_LIBRARIES} derm EXPORT derm_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
get_property(derm_modules GLOBAL PROPERTY DERM_MODULE_TARGETS)
if(derm_modules)
  install(TARGETS ${derm_modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/derm)
endif()
get_property(derm_module_programs GLOBAL PROPERTY DERM_MODULE_PROGRAMS)
if(derm_module_programs)
  install(TARGETS ${derm_module_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/derm)
endif()
if(TARGET derm_cli)
  install(TARGETS derm_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT derm_targets NAMESPACE derm:: FILE derm-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/derm)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/derm-config.cmake.in
  ${PROJECT_BINARY_DIR}/derm-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/derm)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/derm-config-version.cmake
  COMPATIBILITY SameMinorVersion)  # before 1.0 a minor version may break
install(FILES ${PROJECT_BINARY_DIR}/derm-config.cmake
  ${PROJECT_BINARY_DIR}/derm-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/derm)
