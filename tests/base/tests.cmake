derm_test(base unit diagnostics_test.cpp disjoint_sets_test.cpp hash_test.cpp nearest_name_test.cpp number_text_test.cpp parallel_test.cpp result_test.cpp)
