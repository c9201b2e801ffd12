derm_bench(implicit skin_bench.cpp openvdb_peer.cpp)
# OpenVDB is the peer here and nothing else: without it derm's own times are still printed.
if(TARGET derm_openvdb)
  target_compile_definitions(derm_bench_implicit PRIVATE DERM_BENCH_OPENVDB)
  target_link_libraries(derm_bench_implicit PRIVATE derm_openvdb)
endif()
