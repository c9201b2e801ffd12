derm_test(face unit
  expression_names_test.cpp
  expressions_test.cpp
  face_features_test.cpp
  face_points_test.cpp
  head_correspondence_test.cpp)
derm_test(face property head_registration_test.cpp)
target_link_libraries(derm_test_face_property PRIVATE derm::cast)
