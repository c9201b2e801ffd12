derm_test(face unit head_correspondence_test.cpp profile_landmarks_test.cpp
  watershed_test.cpp watershed_landmarks_test.cpp)
target_link_libraries(derm_test_face_unit PRIVATE derm::cast)
# Depth maps and basins are looked at one by one.
target_include_directories(derm_test_face_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(face paper profile_landmarks_paper_test.cpp watershed_landmarks_paper_test.cpp)
target_link_libraries(derm_test_face_paper PRIVATE derm::cast)
