derm_room(face
  SOURCES head_correspondence.cpp)
