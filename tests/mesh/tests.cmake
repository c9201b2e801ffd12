derm_test(mesh unit measured_surface_test.cpp measures_test.cpp surface_test.cpp topology_test.cpp
  butterfly_test.cpp coarsening_test.cpp cotangent_test.cpp geodesic_test.cpp normal_update_test.cpp surface_point_test.cpp triangle_tree_test.cpp uv_raster_test.cpp)
derm_test(mesh property local_refinement_property_test.cpp)
