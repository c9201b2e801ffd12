derm_test(track unit track_filter_test.cpp)
if(DERM_WITH_OPENCV)
  # A film of a head whose every marker is known; drawn in the test, so it needs no OpenGL.
  add_library(derm_test_marked_film STATIC track/marked_film.cpp)
  target_include_directories(derm_test_marked_film PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(derm_test_marked_film PUBLIC derm::track derm::cast derm::face
    PRIVATE derm_build_flags)
  derm_precompile(derm_test_marked_film)
  target_sources(derm_test_track_unit PRIVATE track/head_motion_test.cpp
    track/marker_detection_test.cpp track/marker_tracker_test.cpp)
  derm_test(track paper marked_film_test.cpp)
  foreach(label unit paper)
    target_link_libraries(derm_test_track_${label} PRIVATE derm_test_marked_film)
  endforeach()
else()
  target_sources(derm_test_track_unit PRIVATE track/vision_absent_test.cpp)
endif()
