derm_bench(face landmarks_bench.cpp registration_bench.cpp)
