set(io_unit_tests
  bvh_test.cpp
  character_file_test.cpp
  file_bytes_test.cpp
  file_overlay_test.cpp
  file_ending_test.cpp
  gltf_accessor_test.cpp
  gltf_data_test.cpp
  gltf_error_test.cpp
  gltf_extras_test.cpp
  gltf_playback_test.cpp
  gltf_reader_test.cpp
  gltf_writer_test.cpp
  import_answer_test.cpp
  memory_files_test.cpp
  obj_test.cpp
  off_test.cpp
  particle_file_test.cpp
  ply_test.cpp
  point_cache_test.cpp
  point_file_test.cpp
  point_tracks_file_test.cpp
  retarget_data_test.cpp
  shape_tracks_file_test.cpp
  stl_test.cpp
  external_images_test.cpp)
if(DERM_WITH_ASSIMP)
  list(APPEND io_unit_tests assimp_test.cpp)
endif()
if(DERM_WITH_IMAGES)
  list(APPEND io_unit_tests image_file_test.cpp photo_file_test.cpp plain_png_test.cpp png_test.cpp)
endif()
if(DERM_WITH_IMAGES AND DERM_WITH_FILMS)
  list(APPEND io_unit_tests film_reader_test.cpp film_test.cpp)
endif()
if(NOT DERM_WITH_IMAGES AND NOT DERM_WITH_FILMS)
  list(APPEND io_unit_tests absent_parts_test.cpp)
endif()
derm_test(io unit ${io_unit_tests})
if(DERM_WITH_ASSIMP)
  # The tests write their own FBX and DAE files with assimp's exporters.
  target_link_libraries(derm_test_io_unit PRIVATE assimp::assimp)
endif()
if(DERM_WITH_IMAGES)
  # The picture tests make their own files with the libraries the readers use.
  target_link_libraries(derm_test_io_unit PRIVATE PNG::PNG JPEG::JPEG)
endif()
target_include_directories(derm_test_io_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
