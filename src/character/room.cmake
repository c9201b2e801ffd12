derm_room(character
  SOURCES character.cpp
  ROOMS base math mesh anim)
