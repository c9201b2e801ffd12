derm_room(deform
  SOURCES
    skinning.cpp skinning_blocks.cpp skinning_kernels.cpp skinning_palette.cpp rotation_centres.cpp twist_spread.cpp
    flesh.cpp flesh_auto.cpp flesh_bulges.cpp flesh_contact.cpp flesh_kernels.cpp flesh_layer.cpp flesh_motion.cpp
    flesh_slope.cpp flesh_weights.cpp
    basic_layers.cpp channel_groups.cpp fold_curve.cpp fold_profile.cpp layer.cpp live_runner.cpp refined_vertices.cpp morphs.cpp playback.cpp pose_character.cpp skin_frame.cpp skin_squeeze.cpp stack.cpp
    wrinkle_line.cpp wrinkle_patch.cpp wrinkle_proposal.cpp wrinkle_surface.cpp wrinkle_tool.cpp wrinkles.cpp
  PRIVATE hwy::hwy)
