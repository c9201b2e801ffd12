derm_room(character
  SOURCES character.cpp)
