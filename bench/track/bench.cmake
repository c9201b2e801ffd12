if(DERM_WITH_OPENCV)
  derm_bench(track tracker_bench.cpp)
endif()
