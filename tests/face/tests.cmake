derm_test(face unit
  expression_names_test.cpp
  expressions_test.cpp
  face_features_test.cpp
  face_points_test.cpp
  head_correspondence_test.cpp
  profile_landmarks_test.cpp
  watershed_landmarks_test.cpp
  watershed_test.cpp)
target_link_libraries(derm_test_face_unit PRIVATE derm::cast)
# Depth maps and basins are looked at one by one.
target_include_directories(derm_test_face_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(face paper
  profile_landmarks_paper_test.cpp
  watershed_landmarks_paper_test.cpp)
target_link_libraries(derm_test_face_paper PRIVATE derm::cast)
