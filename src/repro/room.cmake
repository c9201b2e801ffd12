# The recipes of examples/recipes that are exhibits, as text.
set(repro_recipes)
foreach(recipe cat_belly_and_folds cat_belly_jump cat_belly_run forehead man_forehead mushroom_hop
    trousers wrinkle_maps wrist)
  set(file ${PROJECT_SOURCE_DIR}/examples/recipes/${recipe}.toml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(TOUPPER ${recipe} name)
  set(DERM_${name}_RECIPE "${text}")
endforeach()
set(repro_generated ${PROJECT_BINARY_DIR}/generated)
configure_file(${PROJECT_SOURCE_DIR}/src/repro/example_recipes.h.in
  ${repro_generated}/repro/example_recipes.h @ONLY)

derm_room(repro
  SOURCES bent_cylinder.cpp elbow.cpp exhibit.cpp furrowed_skin.cpp measuring.cpp report.cpp
    report_html.cpp repro_000_flesh.cpp repro_000_fold_curve.cpp repro_000_wrinkles.cpp
    repro_001_cylinder.cpp repro_001_elbow.cpp repro_001_volume.cpp repro_002_expressions.cpp
    repro_002_faces.cpp repro_002_rigs.cpp repro_002_wrinkle_maps.cpp repro_003_implicit.cpp
    repro_004_skinning.cpp rigged_head.cpp tube.cpp
  PRIVATE nlohmann_json::nlohmann_json)
target_include_directories(derm_repro PRIVATE ${repro_generated})
