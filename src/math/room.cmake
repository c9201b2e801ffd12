derm_room(math
  SOURCES dense_kernels.cpp polar.cpp sparse_ldl.cpp spring.cpp transform.cpp
  PUBLIC Eigen3::Eigen
  PRIVATE hwy::hwy)
