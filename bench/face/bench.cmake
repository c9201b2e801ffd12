derm_bench(face landmarks_bench.cpp)
