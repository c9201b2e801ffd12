derm_room(anim
  SOURCES clip.cpp skeleton.cpp skin.cpp
  ROOMS base math)
