derm_test(repro unit report_test.cpp)
target_link_libraries(derm_test_repro_unit PRIVATE nlohmann_json::nlohmann_json)
# Every number of the five documents, computed anew.
derm_test(repro paper documents_paper_test.cpp)
