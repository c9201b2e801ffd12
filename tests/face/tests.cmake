derm_test(face unit head_correspondence_test.cpp)
