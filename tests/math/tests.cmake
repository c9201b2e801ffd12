derm_test(math unit transform_test.cpp)
