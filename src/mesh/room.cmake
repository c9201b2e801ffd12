derm_room(mesh
  SOURCES adjacency.cpp closedness.cpp measures.cpp morph_target.cpp normals.cpp tri_mesh.cpp weld.cpp
  ROOMS base math)
