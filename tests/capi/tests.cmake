derm_test(capi unit derm_test.cpp)
target_link_libraries(derm_test_capi_unit PRIVATE nlohmann_json::nlohmann_json)
