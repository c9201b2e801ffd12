derm_test(image unit colour_map_test.cpp compose_test.cpp difference_test.cpp draw_test.cpp float_image_test.cpp grey8_image_test.cpp normal_map_test.cpp outline_test.cpp
  plot_test.cpp rgba8_image_test.cpp srgb_test.cpp)
