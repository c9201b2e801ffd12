derm_bench(math rbf_bench.cpp)
