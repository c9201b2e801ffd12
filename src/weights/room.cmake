derm_room(weights
  SOURCES auto_weights.cpp bone_segments.cpp bone_sources.cpp character_weights.cpp weight_smoothing.cpp
    weights_by_distance.cpp weights_by_geodesic.cpp weights_by_heat.cpp welded_surface.cpp)
