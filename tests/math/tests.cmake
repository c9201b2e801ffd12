derm_test(math unit decompositions_test.cpp dense_kernels_test.cpp polar_test.cpp rbf_test.cpp sparse_ldl_test.cpp
  spring_test.cpp transform_test.cpp weighted_gram_test.cpp)
derm_test(math paper rbf_paper_test.cpp)
# Kernels are looked at one by one.
target_include_directories(derm_test_math_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
