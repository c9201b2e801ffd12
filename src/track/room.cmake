if(DERM_WITH_OPENCV)
  set(derm_vision_source vision.cpp)
else()
  set(derm_vision_source vision_absent.cpp)
endif()

derm_room(track
  SOURCES group_motion.cpp head_motion.cpp marker_detection.cpp marker_patches.cpp
    marker_tracker.cpp track_filter.cpp ${derm_vision_source})

# OpenCV itself is loaded when tracking begins, so that no other verb waits for its libraries.
if(DERM_WITH_OPENCV)
  derm_module(track_opencv
    SOURCES ${PROJECT_SOURCE_DIR}/src/track/opencv_module.cpp
    INCLUDES ${DERM_OPENCV_INCLUDE_DIR}
    LIBRARIES ${derm_opencv_libraries})
  add_dependencies(derm_track derm_track_opencv)
endif()
