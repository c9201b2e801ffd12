derm_room(math
  SOURCES decompositions.cpp dense_kernels.cpp polar.cpp rbf.cpp rbf_kernels.cpp sparse_ldl.cpp spring.cpp transform.cpp
    weighted_gram.cpp
  PUBLIC Eigen3::Eigen
  PRIVATE hwy::hwy)
if(EMSCRIPTEN)
  # Highway 1.0.3 has no doubles in WebAssembly's registers.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/math/dense_kernels.cpp PROPERTIES
    COMPILE_DEFINITIONS HWY_COMPILE_ONLY_EMU128)
endif()
if(DERM_BUILD_FUZZ)
  # No parser calls them, and instrumented they take two minutes to compile. Alone, so that they do
  # not take the parsers' own helpers along.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/math/decompositions.cpp
    ${PROJECT_SOURCE_DIR}/src/math/rbf.cpp ${PROJECT_SOURCE_DIR}/src/math/rbf_kernels.cpp
    PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all;-O0" SKIP_UNITY_BUILD_INCLUSION ON
    SKIP_PRECOMPILE_HEADERS ON)
endif()
