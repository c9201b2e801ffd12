derm_room(contact
  SOURCES contact_body.cpp contact_grid.cpp contact_layer.cpp contact_solver.cpp)
