derm_test(view unit scene_view_test.cpp)
target_link_libraries(derm_test_view_unit PRIVATE derm::cast)
