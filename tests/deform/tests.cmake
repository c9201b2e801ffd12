derm_test(deform unit
  fold_curve_test.cpp wrinkles_bad_input_test.cpp wrinkles_test.cpp
  flesh_contact_test.cpp flesh_kernels_test.cpp flesh_layer_test.cpp flesh_motion_test.cpp
  flesh_slope_test.cpp flesh_weights_test.cpp
  basic_layers_test.cpp skin_frame_test.cpp skinning_kernels_test.cpp skinning_test.cpp stack_test.cpp
  centre_skinning_test.cpp dual_quat_test.cpp
  live_runner_test.cpp rebind_test.cpp shape_layers_test.cpp)
derm_test(deform det flesh_det_test.cpp playback_test.cpp skinning_det_test.cpp)
derm_test(deform property
  fold_curve_property_test.cpp wrinkles_property_test.cpp
  flesh_property_test.cpp skinning_property_test.cpp)
derm_test(deform paper fold_curve_paper_test.cpp skinning_paper_test.cpp)
# Some rigs are the cast's, real characters come from files, and centres are looked at through the
# volume layer too.
target_link_libraries(derm_test_deform_property PRIVATE derm::io)
foreach(label unit property paper)
  target_link_libraries(derm_test_deform_${label} PRIVATE derm::cast derm::volume)
endforeach()
# Kernels, and the motion and weights of flesh, are looked at one by one.
foreach(label unit property)
  target_include_directories(derm_test_deform_${label} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()
# What the kernels are held to.
add_library(derm_test_skinning_reference STATIC deform/skinning_reference.cpp)
target_link_libraries(derm_test_skinning_reference PRIVATE derm_test_support derm::deform)
foreach(label unit det property paper)
  target_link_libraries(derm_test_deform_${label} PRIVATE derm_test_skinning_reference)
endforeach()
