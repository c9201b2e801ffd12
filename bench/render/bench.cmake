derm_bench(render detail_maps_bench.cpp)
