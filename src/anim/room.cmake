derm_room(anim
  SOURCES body_plan.cpp clip.cpp joint_map.cpp joint_names.cpp retarget.cpp skeleton.cpp skin.cpp)
