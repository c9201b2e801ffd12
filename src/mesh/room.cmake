derm_room(mesh
  SOURCES adjacency.cpp butterfly.cpp closedness.cpp coarsening.cpp cotangent.cpp geodesic.cpp local_refinement.cpp measured_surface.cpp measures.cpp morph_target.cpp
    normal_update.cpp normals.cpp particles.cpp refinement_rules.cpp surface_point.cpp tri_mesh.cpp triangle_tree.cpp uv_raster.cpp weld.cpp winding_columns.cpp winding_number.cpp)
