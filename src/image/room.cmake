derm_room(image
  SOURCES colour_map.cpp compose.cpp difference.cpp draw.cpp float_image.cpp grey8_image.cpp
    normal_kernels.cpp normal_map.cpp outline.cpp plot.cpp plot_surface.cpp rgba8_image.cpp srgb.cpp
    stroke_font.cpp
  PRIVATE hwy::hwy)
