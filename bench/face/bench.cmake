derm_bench(face detail_bench.cpp landmarks_bench.cpp registration_bench.cpp retarget_bench.cpp shapes_bench.cpp)
