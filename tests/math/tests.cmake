derm_test(math unit dual_quat_test.cpp polar_test.cpp sparse_ldl_test.cpp spring_test.cpp
  transform_test.cpp)
