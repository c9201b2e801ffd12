derm_room(face
  SOURCES depth_map.cpp depth_matches.cpp head_correspondence.cpp profile_alignment.cpp
    profile_landmarks.cpp watershed.cpp watershed_landmarks.cpp)
