derm_bench(face landmarks_bench.cpp registration_bench.cpp retarget_bench.cpp shapes_bench.cpp)
