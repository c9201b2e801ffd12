include(GNUInstallDirs)
if(DERM_WITH_TBB)
  set(derm_parallel_source parallel.cpp)
  set(derm_parallel_library TBB::tbb)
else()
  set(derm_parallel_source parallel_serial.cpp)
  set(derm_parallel_library)
endif()

derm_room(base
  SOURCES assert.cpp cache_line_vector.cpp deferred.cpp diagnostics.cpp markup_text.cpp module.cpp nearest_name.cpp
    number_format.cpp number_text.cpp ${derm_parallel_source} result.cpp utf8.cpp
  PRIVATE ${derm_parallel_library} ${CMAKE_DL_LIBS})
# Where optional parts lie: seen from the folder above the program's, and where they are installed.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/module.cpp PROPERTIES
  COMPILE_DEFINITIONS
  "DERM_MODULE_FOLDER=\"${CMAKE_INSTALL_LIBDIR}/derm\";DERM_INSTALLED_MODULES=\"${CMAKE_INSTALL_FULL_LIBDIR}/derm\"")
