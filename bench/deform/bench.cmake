derm_bench(deform flesh_bench.cpp skinning_bench.cpp skinning_scenes.cpp stack_bench.cpp volume_bench.cpp section_bench.cpp)
