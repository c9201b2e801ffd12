derm_bench(scene bake_bench.cpp)
