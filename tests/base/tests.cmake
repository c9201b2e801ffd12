derm_test(base unit assert_test.cpp diagnostics_test.cpp disjoint_sets_test.cpp hash_test.cpp markup_text_test.cpp module_test.cpp nearest_name_test.cpp number_text_test.cpp
  parallel_test.cpp result_test.cpp utf8_test.cpp)
# The numbers of standard libraries without floating <charconv> are held to those with it.
target_include_directories(derm_test_base_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
