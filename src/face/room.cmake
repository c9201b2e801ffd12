derm_room(face
  SOURCES
    expression_names.cpp
    expressions.cpp
    face_features.cpp
    face_points.cpp
    head_correspondence.cpp)
