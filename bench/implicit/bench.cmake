derm_bench(implicit skin_bench.cpp openvdb_peer.cpp)
# OpenVDB is the peer here and nothing else: without it derm's own times are still printed.
if(DERM_OPENVDB_FOUND)
  target_compile_definitions(derm_bench_implicit PRIVATE DERM_BENCH_OPENVDB)
  target_include_directories(derm_bench_implicit SYSTEM PRIVATE ${DERM_OPENVDB_INCLUDE_DIR})
  target_link_libraries(derm_bench_implicit PRIVATE ${DERM_OPENVDB_LIBRARIES})
endif()
