derm_room(scene
  SOURCES bake.cpp bake_correctives.cpp bake_output.cpp bake_report.cpp baked_frames.cpp
    cache_character.cpp corrective_basis.cpp corrective_keys.cpp
    corrective_morphs.cpp corrective_player.cpp correctives.cpp detail_parameters.cpp flesh_parameters.cpp layer_types.cpp
    face_motion_input.cpp motion.cpp motion_ground.cpp motion_samples.cpp normal_map.cpp linear_reference.cpp recipe.cpp recipe_fields.cpp recipe_text.cpp recipe_value.cpp scene.cpp toml_edit.cpp
    toml_layout.cpp toml_text.cpp toml_value_edit.cpp
    volume_meter.cpp volume_parameters.cpp volume_study.cpp volume_study_output.cpp
    wrinkle_recipe.cpp wrinkles_parameters.cpp
  PRIVATE nlohmann_json::nlohmann_json $<BUILD_INTERFACE:derm_toml>)
