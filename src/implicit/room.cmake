derm_room(implicit
  SOURCES active_skin.cpp band_grid.cpp band_kernels.cpp band_layers.cpp band_stepper.cpp block_map.cpp
    block_tile.cpp body_tracker.cpp build_potential.cpp cell_table.cpp surface_particles.cpp edge_index.cpp
    edge_speeds.cpp lattice_surface.cpp level_set_exchange.cpp mesh_openings.cpp mesh_parts.cpp
    mesh_potential.cpp quantised_potential.cpp particle_system.cpp particle_target.cpp polygonise.cpp
    potential.cpp potential_target.cpp shape_targets.cpp sign_flood.cpp
    skin_births.cpp skin_control.cpp skin_inertia.cpp skin_report.cpp
  PRIVATE hwy::hwy)
