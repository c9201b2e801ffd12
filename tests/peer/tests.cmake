# Other people's programs on our files. Skipped, with a word, where they or the data are absent
# (exit code 77).
add_executable(derm_dump_poses peer/dump_poses.cpp)
target_link_libraries(derm_dump_poses PRIVATE derm::derm derm_build_flags)

function(derm_peer name)
  add_test(NAME peer.${name} COMMAND ${ARGN})
  set_tests_properties(peer.${name} PROPERTIES LABELS peer SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

derm_peer(three_skinning ${CMAKE_CURRENT_SOURCE_DIR}/peer/node.sh three_skinning.mjs
  $<TARGET_FILE:derm_dump_poses> ${DERM_TEST_DATA}/gltf-characters)
if(TARGET derm_cli)
  derm_peer(gltf_validator ${CMAKE_CURRENT_SOURCE_DIR}/peer/written_files.sh
    $<TARGET_FILE:derm_cli> ${DERM_TEST_DATA})
  derm_peer(demo_page ${CMAKE_CURRENT_SOURCE_DIR}/peer/demo_page.sh $<TARGET_FILE:derm_cli>)
  derm_peer(wrinkle_maps ${CMAKE_CURRENT_SOURCE_DIR}/peer/wrinkle_maps.sh $<TARGET_FILE:derm_cli>)
  derm_peer(tutorial ${CMAKE_CURRENT_SOURCE_DIR}/peer/tutorial.sh $<TARGET_FILE:derm_cli>
    ${DERM_TEST_DATA})
  derm_peer(three_folds ${CMAKE_CURRENT_SOURCE_DIR}/peer/three_folds.sh $<TARGET_FILE:derm_cli>)
endif()

# A layer with a known result, baked in every way.
add_executable(derm_bake_bump peer/bake_bump.cpp)
target_link_libraries(derm_bake_bump PRIVATE derm::scene derm_build_flags
  nlohmann_json::nlohmann_json)
target_include_directories(derm_bake_bump PRIVATE ${PROJECT_SOURCE_DIR}/tests)
derm_peer(three_bake ${CMAKE_CURRENT_SOURCE_DIR}/peer/node.sh three_bake.mjs
  $<TARGET_FILE:derm_bake_bump>)
derm_peer(blender_cache ${CMAKE_CURRENT_SOURCE_DIR}/peer/blender_cache.sh
  $<TARGET_FILE:derm_bake_bump>)
