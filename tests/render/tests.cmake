derm_test(render unit camera_test.cpp draw_list_test.cpp offscreen_renderer_test.cpp
  overlays_test.cpp)
derm_test(render golden golden_test.cpp golden_scenes.cpp)
target_link_libraries(derm_test_render_golden PRIVATE derm::io)
target_compile_definitions(derm_test_render_golden PRIVATE
  DERM_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden"
  DERM_GOLDEN_OUT="${PROJECT_BINARY_DIR}/golden")
