derm_bench(deform stack_bench.cpp)
