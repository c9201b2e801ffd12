derm_test(face unit
  arkit_shapes_test.cpp
  control_points_test.cpp
  detail_acquisition_test.cpp
  drawn_wrinkles_test.cpp
  expression_names_test.cpp
  expressions_test.cpp
  face_features_test.cpp
  face_mix_test.cpp
  face_motion_test.cpp
  face_points_test.cpp
  face_regions_test.cpp
  face_retarget_test.cpp
  face_rig_data_test.cpp
  face_rig_test.cpp
  face_slits_test.cpp
  face_weights_test.cpp
  head_correspondence_test.cpp
  head_proxy_test.cpp
  map_transfer_test.cpp
  modulation_fit_test.cpp
  photo_light_test.cpp
  profile_landmarks_test.cpp
  rig_transfer_test.cpp
  shape_fit_test.cpp
  shape_motion_test.cpp
  shape_transfer_test.cpp
  watershed_landmarks_test.cpp
  watershed_test.cpp
  wrinkle_poses_test.cpp)
# Depth maps and basins are looked at one by one.
target_include_directories(derm_test_face_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(face paper
  detail_acquisition_paper_test.cpp
  face_retarget_paper_test.cpp
  face_rig_paper_test.cpp
  profile_landmarks_paper_test.cpp
  retarget_evaluation_paper_test.cpp
  watershed_landmarks_paper_test.cpp)
derm_test(face property
  control_point_search_test.cpp
  detail_skin_data_test.cpp
  face_retarget_data_test.cpp
  head_registration_test.cpp
  shape_motion_data_test.cpp
  shape_transfer_data_test.cpp)
# Photos are made and looked at with the filters of the acquisition.
target_include_directories(derm_test_face_property PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(derm_test_face_paper PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(face slow head_registration_data_test.cpp head_registration_slow_test.cpp)
# Heads that are formulas, and real ones from files.
foreach(label unit paper property slow)
  target_link_libraries(derm_test_face_${label} PRIVATE derm::cast derm::deform derm::io)
endforeach()
