derm_test(contact unit contact_search_test.cpp contact_test.cpp crease_test.cpp limb_clearance_test.cpp)
derm_test(contact slow contact_data_test.cpp)
target_link_libraries(derm_test_contact_slow PRIVATE derm::volume derm::io)
target_include_directories(derm_test_contact_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
