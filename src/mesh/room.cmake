derm_room(mesh
  SOURCES adjacency.cpp closedness.cpp cotangent.cpp geodesic.cpp measured_surface.cpp measures.cpp morph_target.cpp
    normal_update.cpp normals.cpp tri_mesh.cpp triangle_tree.cpp weld.cpp winding_number.cpp
  ROOMS base math)
