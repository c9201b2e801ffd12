# The packages that rooms use, as targets.
if(EMSCRIPTEN)
  # Debian's headers lie among glibc's, which must not be seen here: a folder of links to those that
  # need no library. Highway has one target in WebAssembly, so it dispatches statically; fmt can be
  # had without its library.
  set(derm_headers ${PROJECT_BINARY_DIR}/headers)
  file(MAKE_DIRECTORY ${derm_headers})
  function(derm_header_package target header)
    string(MAKE_C_IDENTIFIER "DERM_PATH_${target}" path)
    find_path(${path} ${header} HINTS /usr/local/include /usr/include PATH_SUFFIXES eigen3
      NO_CMAKE_FIND_ROOT_PATH REQUIRED)
    string(REGEX MATCH "^[^/]+" folder ${header})
    file(CREATE_LINK ${${path}}/${folder} ${derm_headers}/${folder} SYMBOLIC)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${derm_headers})
  endfunction()
  derm_header_package(Eigen3::Eigen Eigen/Core)
  derm_header_package(hwy::hwy hwy/highway.h)
  derm_header_package(nlohmann_json::nlohmann_json nlohmann/json.hpp)
  derm_header_package(derm_toml toml++/toml.h)
  derm_header_package(fmt::fmt fmt/format.h)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
else()
  find_package(Eigen3 3.4 REQUIRED NO_MODULE)
  find_package(hwy REQUIRED)
  find_package(nlohmann_json 3.11 REQUIRED)
  find_package(fmt REQUIRED)
  # toml++ is used header-only, so nothing has to be linked.
  find_path(DERM_TOML_INCLUDE toml++/toml.h REQUIRED)
  add_library(derm_toml INTERFACE IMPORTED)
  target_include_directories(derm_toml SYSTEM INTERFACE ${DERM_TOML_INCLUDE})
endif()

if(DERM_WITH_TBB)
  find_package(TBB REQUIRED)
  include(DermOpenVdb)
else()
  set(DERM_WITH_OPENVDB OFF)  # which has threads of its own, by TBB
endif()
if(DERM_WITH_IMAGES)
  find_package(PNG REQUIRED)
  find_package(JPEG REQUIRED)
endif()
