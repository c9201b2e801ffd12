derm_test(scene unit
  bake_target_test.cpp
  bake_test.cpp
  channels_test.cpp
  correctives_test.cpp
  detail_scene_test.cpp
  face_motion_test.cpp
  flesh_scene_test.cpp
  fold_length_test.cpp
  fold_maps_test.cpp
  motion_test.cpp
  recipe_edit_test.cpp
  recipe_manual_test.cpp
  recipe_tables_test.cpp
  recipe_test.cpp
  recipe_text_test.cpp
  scene_change_test.cpp
  scene_test.cpp
  stack_proposal_test.cpp
  toml_edit_test.cpp
  volume_parameters_test.cpp
  volume_study_test.cpp
  wrinkles_scene_test.cpp)
set_source_files_properties(scene/fold_length_test.cpp PROPERTIES COMPILE_DEFINITIONS
  DERM_EXAMPLES="${PROJECT_SOURCE_DIR}/examples")
target_link_libraries(derm_test_scene_unit PRIVATE nlohmann_json::nlohmann_json)
target_compile_definitions(derm_test_scene_unit
  PRIVATE DERM_EXAMPLE_RECIPES="${PROJECT_SOURCE_DIR}/examples/recipes"
          DERM_MANUAL="${PROJECT_SOURCE_DIR}/docs")
derm_test(scene property volume_cast_test.cpp)
derm_test(scene slow flesh_proposal_data_test.cpp random_stack_test.cpp)
target_include_directories(derm_test_scene_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
