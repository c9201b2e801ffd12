# Every room, lowest first. Who may include whom is written in tools/check_rooms.sh and tested.

derm_room(base
  SOURCES assert.cpp diagnostics.cpp nearest_name.cpp parallel.cpp result.cpp
  PRIVATE TBB::tbb)

derm_room(math
  SOURCES transform.cpp
  ROOMS base
  PUBLIC Eigen3::Eigen)

derm_room(mesh
  SOURCES adjacency.cpp closedness.cpp measures.cpp morph_target.cpp normals.cpp tri_mesh.cpp weld.cpp
  ROOMS base math)

derm_room(anim
  SOURCES clip.cpp skeleton.cpp skin.cpp
  ROOMS base math)

derm_room(character
  SOURCES character.cpp
  ROOMS base math mesh anim)

# (deform, cast, io follow as they are built)
