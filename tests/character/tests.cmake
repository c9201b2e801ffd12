derm_test(character unit character_test.cpp)
