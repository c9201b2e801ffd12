# The target derm_openvdb, where OpenVDB is installed: Debian's package has no CMake files. Used by
# the build and by the installed package, so that the latter names no path of the machine that
# built it.
find_path(DERM_OPENVDB_INCLUDE_DIR openvdb/openvdb.h)
find_library(OPENVDB_LIBRARY openvdb)
find_library(IMATH_LIBRARY NAMES Imath Imath-3_1 Imath-3_0)
if(DERM_OPENVDB_INCLUDE_DIR AND OPENVDB_LIBRARY AND NOT TARGET derm_openvdb)
  add_library(derm_openvdb INTERFACE IMPORTED GLOBAL)
  target_include_directories(derm_openvdb SYSTEM INTERFACE ${DERM_OPENVDB_INCLUDE_DIR})
  target_link_libraries(derm_openvdb INTERFACE ${OPENVDB_LIBRARY} TBB::tbb)
  if(IMATH_LIBRARY)
    target_link_libraries(derm_openvdb INTERFACE ${IMATH_LIBRARY})
  endif()
endif()
