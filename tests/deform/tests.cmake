derm_test(deform unit auto_weights_test.cpp bone_segments_test.cpp character_weights_test.cpp
  fold_curve_test.cpp wrinkles_bad_input_test.cpp wrinkles_test.cpp
  flesh_contact_test.cpp flesh_layer_test.cpp flesh_motion_test.cpp flesh_weights_test.cpp
  basic_layers_test.cpp skin_frame_test.cpp skinning_kernels_test.cpp skinning_test.cpp stack_test.cpp
  volume_methods_test.cpp volume_where_test.cpp centre_skinning_test.cpp region_volumes_test.cpp
  section_input_test.cpp section_kernels_test.cpp region_rings_test.cpp twist_spread_test.cpp)
derm_test(deform det flesh_det_test.cpp playback_test.cpp skinning_det_test.cpp)
derm_test(deform property auto_weights_data_test.cpp auto_weights_property_test.cpp
  fold_curve_property_test.cpp wrinkles_property_test.cpp
  flesh_property_test.cpp skinning_property_test.cpp volume_layer_property_test.cpp
  volume_morphs_test.cpp
  volume_methods_property_test.cpp)
# Real characters come from files.
target_link_libraries(derm_test_deform_property PRIVATE derm::io)
derm_test(deform paper auto_weights_paper_test.cpp fold_curve_paper_test.cpp skinning_paper_test.cpp
  volume_local_paper_test.cpp volume_methods_paper_test.cpp section_paper_test.cpp)
# The volume tables are those of the cast's cylinders, and look at the Laplacian's own matrix.
target_link_libraries(derm_test_deform_unit PRIVATE derm::cast)
target_link_libraries(derm_test_deform_property PRIVATE derm::cast)
target_link_libraries(derm_test_deform_paper PRIVATE derm::cast)
target_include_directories(derm_test_deform_paper PRIVATE ${PROJECT_SOURCE_DIR}/src)
# Kernels are looked at one by one.
target_include_directories(derm_test_deform_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(deform slow motion_data_test.cpp volume_data_test.cpp)
target_link_libraries(derm_test_deform_slow PRIVATE derm::io)
# What the kernels are held to.
add_library(derm_test_skinning_reference STATIC deform/skinning_reference.cpp)
target_link_libraries(derm_test_skinning_reference PRIVATE derm_test_support derm::deform)
foreach(label unit det property paper slow)
  target_link_libraries(derm_test_deform_${label} PRIVATE derm_test_skinning_reference)
endforeach()
