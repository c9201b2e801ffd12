derm_room(volume
  SOURCES cubic_root.cpp joint_tree.cpp region_labels.cpp region_merging.cpp region_rings.cpp
    region_volumes.cpp ring_kernels.cpp section_correction.cpp section_gains.cpp section_kernels.cpp
    section_plan.cpp section_solver.cpp section_sums.cpp share_smoothing.cpp volume_correctors.cpp
    volume_fields.cpp volume_frame.cpp volume_laplacian.cpp volume_layer.cpp volume_line.cpp
    volume_mask.cpp volume_methods.cpp volume_regions.cpp volume_solver.cpp volume_swell.cpp
  PRIVATE hwy::hwy)
if(EMSCRIPTEN)
  # Highway 1.0.3 has no doubles in WebAssembly's registers; row_vectors-inl.h has them.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/volume/section_kernels.cpp PROPERTIES
    COMPILE_DEFINITIONS HWY_COMPILE_ONLY_EMU128)
endif()
