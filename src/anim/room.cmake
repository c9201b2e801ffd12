derm_room(anim
  SOURCES clip.cpp joint_names.cpp retarget.cpp skeleton.cpp skin.cpp
  ROOMS base math)
