derm_room(math
  SOURCES transform.cpp
  ROOMS base
  PUBLIC Eigen3::Eigen)
