if(TARGET derm_cli)
  derm_test(cli cli
    auto_test.cpp
    face_coefficients_test.cpp
    face_evaluate_test.cpp
    face_points_test.cpp
    face_retarget_test.cpp
    face_shapes_test.cpp
    face_verb_test.cpp
    implicit_verb_test.cpp
    repro_test.cpp
    run_program.cpp
    scene_verbs_test.cpp
    studio_test.cpp
    verbs_test.cpp
    volume_verb_test.cpp)
  target_link_libraries(derm_test_cli_cli PRIVATE nlohmann_json::nlohmann_json)
  if(DERM_WITH_OPENCV AND DERM_WITH_FILMS AND DERM_WITH_IMAGES)
    target_sources(derm_test_cli_cli PRIVATE cli/face_track_test.cpp)
    target_link_libraries(derm_test_cli_cli PRIVATE derm_test_marked_film derm::io)
  endif()
  if(DERM_WITH_IMAGES)
    target_sources(derm_test_cli_cli PRIVATE cli/face_detail_test.cpp)
    target_link_libraries(derm_test_cli_cli PRIVATE derm::io derm::face)
  endif()
  target_compile_definitions(derm_test_cli_cli PRIVATE DERM_CLI="$<TARGET_FILE:derm_cli>")
  add_dependencies(derm_test_cli_cli derm_cli)
  add_test(NAME cli.docs_are_current COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/docs_test.sh
    $<TARGET_FILE:derm_cli> ${PROJECT_SOURCE_DIR})
  set_tests_properties(cli.docs_are_current PROPERTIES LABELS cli)
endif()
