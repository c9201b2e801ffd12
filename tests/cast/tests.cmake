derm_test(cast unit heads_test.cpp liquids_test.cpp members_test.cpp sculpting_test.cpp synthetic_head_test.cpp)
# The modelling tools are private to the room; their tests reach into it.
target_include_directories(derm_test_cast_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(cast property properties_test.cpp refinement_test.cpp skinning_test.cpp)
target_link_libraries(derm_test_cast_property PRIVATE derm::deform)
derm_test(cast det determinism_test.cpp)
derm_test(cast paper cylinder_test.cpp)
derm_test(cast slow volume_test.cpp)
target_link_libraries(derm_test_cast_slow PRIVATE derm::volume)
