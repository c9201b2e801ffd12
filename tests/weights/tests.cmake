derm_test(weights unit auto_weights_test.cpp bone_segments_test.cpp character_weights_test.cpp)
derm_test(weights property auto_weights_data_test.cpp auto_weights_property_test.cpp)
derm_test(weights paper auto_weights_paper_test.cpp)
# Shelves of the cast, and real characters from files.
foreach(label unit property paper)
  target_link_libraries(derm_test_weights_${label} PRIVATE derm::cast derm::io)
endforeach()
