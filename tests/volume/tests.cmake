derm_test(volume unit volume_methods_test.cpp volume_mask_test.cpp region_volumes_test.cpp
  section_input_test.cpp section_kernels_test.cpp region_rings_test.cpp twist_spread_test.cpp)
derm_test(volume property volume_layer_property_test.cpp volume_morphs_test.cpp
  volume_methods_property_test.cpp)
derm_test(volume paper volume_local_paper_test.cpp volume_methods_paper_test.cpp
  section_paper_test.cpp)
derm_test(volume slow motion_data_test.cpp volume_data_test.cpp)
# The volume tables are those of the cast's cylinders; real characters come from files. Kernels and
# the Laplacian's own matrix are looked at one by one.
foreach(label unit property paper slow)
  target_link_libraries(derm_test_volume_${label} PRIVATE derm_test_skinning_reference derm::cast
    derm::io)
  target_include_directories(derm_test_volume_${label} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()
