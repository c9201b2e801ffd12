derm_room(deform
  SOURCES auto_weights.cpp bone_segments.cpp bone_sources.cpp character_weights.cpp weight_smoothing.cpp
    weights_by_distance.cpp weights_by_geodesic.cpp weights_by_heat.cpp welded_surface.cpp
    skinning.cpp skinning_blocks.cpp skinning_kernels.cpp skinning_palette.cpp
    joint_tree.cpp region_labels.cpp region_merging.cpp region_volumes.cpp rotation_centres.cpp
    section_correction.cpp section_gains.cpp section_kernels.cpp section_plan.cpp section_solver.cpp section_sums.cpp
    share_smoothing.cpp
    volume_correctors.cpp volume_frame.cpp volume_layer.cpp volume_regions.cpp
    line_root.cpp region_rings.cpp ring_kernels.cpp volume_fields.cpp volume_laplacian.cpp volume_line.cpp volume_methods.cpp volume_solver.cpp
    volume_swell.cpp volume_where.cpp twist_spread.cpp
    flesh.cpp flesh_auto.cpp flesh_contact.cpp flesh_kernels.cpp flesh_layer.cpp flesh_motion.cpp
    flesh_weights.cpp
    basic_layers.cpp fold_curve.cpp fold_profile.cpp morphed_rest.cpp morphs.cpp playback.cpp pose_character.cpp skin_frame.cpp skin_squeeze.cpp stack.cpp
    wrinkle_line.cpp wrinkle_patch.cpp wrinkle_proposal.cpp wrinkle_surface.cpp wrinkle_tool.cpp wrinkles.cpp
  ROOMS base math mesh anim character
  PRIVATE hwy::hwy)
