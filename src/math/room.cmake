derm_room(math
  SOURCES dense_kernels.cpp dual_quat.cpp polar.cpp sparse_ldl.cpp spring.cpp transform.cpp
  ROOMS base
  PUBLIC Eigen3::Eigen
  PRIVATE hwy::hwy)
