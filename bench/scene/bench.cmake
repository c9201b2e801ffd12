derm_bench(scene bake_bench.cpp bind_bench.cpp frame_bench.cpp)
