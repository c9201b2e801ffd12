derm_room(anim
  SOURCES body_plan.cpp clip.cpp joint_map.cpp joint_names.cpp point_tracks.cpp
    pose.cpp retarget.cpp shape_tracks.cpp skeleton.cpp skin.cpp
    stances.cpp)
