derm_bench(contact contact_bench.cpp)
