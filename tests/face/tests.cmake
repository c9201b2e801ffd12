derm_test(face unit
  control_points_test.cpp
  expression_names_test.cpp
  expressions_test.cpp
  face_features_test.cpp
  face_points_test.cpp
  face_rig_data_test.cpp
  face_rig_test.cpp
  face_weights_test.cpp
  head_correspondence_test.cpp)
derm_test(face paper face_rig_paper_test.cpp)
foreach(label unit paper)
  target_link_libraries(derm_test_face_${label} PRIVATE derm::cast derm::deform derm::io)
endforeach()
derm_test(face property head_registration_test.cpp)
target_link_libraries(derm_test_face_property PRIVATE derm::cast)
