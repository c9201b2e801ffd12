# The recipes of examples/recipes, as text in the library.
set(shipped_recipes)
foreach(recipe arm_twist cat_belly_and_folds cat_belly_jump cat_belly_run cat_jump forehead
    mushroom_hop trousers wrinkle_maps wrist)
  set(file ${PROJECT_SOURCE_DIR}/examples/recipes/${recipe}.toml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(APPEND shipped_recipes "    {\"${recipe}\", R\"derm(${text})derm\"},\n")
endforeach()
set(capi_generated ${PROJECT_BINARY_DIR}/generated)
configure_file(${PROJECT_SOURCE_DIR}/src/capi/shipped_recipes.h.in
  ${capi_generated}/capi/shipped_recipes.h @ONLY)

derm_room(capi
  SOURCES derm.cpp face_tools.cpp field_json.cpp frame_json.cpp json_text.cpp liquid_session.cpp proposals.cpp
    scene_session.cpp
  PRIVATE nlohmann_json::nlohmann_json)
target_include_directories(derm_capi PRIVATE ${capi_generated})
target_compile_definitions(derm_capi PRIVATE DERM_VERSION_TEXT="${PROJECT_VERSION}")
