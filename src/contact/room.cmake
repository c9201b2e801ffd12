derm_room(contact
  SOURCES contact_binding.cpp contact_body.cpp contact_field.cpp contact_grid.cpp contact_layer.cpp contact_search.cpp
          contact_solver.cpp crease_rounding.cpp limb_clearance.cpp)
