derm_test(implicit unit active_skin_test.cpp particle_system_test.cpp band_grid_test.cpp block_map_test.cpp build_potential_test.cpp
  cell_table_test.cpp band_kernels_test.cpp mesh_union_test.cpp quantised_potential_test.cpp polygonise_test.cpp potential_test.cpp targets_test.cpp)
# Kernels and tables are private to the room.
target_include_directories(derm_test_implicit_unit PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(implicit paper skin_paper_test.cpp)
target_include_directories(derm_test_implicit_paper PRIVATE ${PROJECT_SOURCE_DIR}/src)
# Minutes: the grid of parameters, 5,000 steps, swinging drops.
derm_test(implicit slow skin_slow_test.cpp)
target_include_directories(derm_test_implicit_slow PRIVATE ${PROJECT_SOURCE_DIR}/src)
derm_test(implicit det skin_det_test.cpp)
derm_test(implicit property abandoned_bodies_test.cpp real_particles_test.cpp thin_matter_test.cpp vdb_test.cpp)
# Real particles come from files.
target_link_libraries(derm_test_implicit_property PRIVATE derm::io)
if(DERM_WITH_OPENVDB)
  # The same files through OpenVDB itself.
  target_sources(derm_test_implicit_property PRIVATE ${PROJECT_SOURCE_DIR}/tests/implicit/vdb_peer_test.cpp)
  target_link_libraries(derm_test_implicit_property PRIVATE derm_openvdb)
endif()
