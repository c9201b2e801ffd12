derm_test(view unit mesh_film_test.cpp scene_drawing_test.cpp scene_view_test.cpp)
target_link_libraries(derm_test_view_unit PRIVATE derm::cast)
