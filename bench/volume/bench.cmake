derm_bench(volume section_bench.cpp volume_bench.cpp)
