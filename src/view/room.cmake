derm_room(view
  SOURCES character_look.cpp film_strip.cpp mesh_film.cpp report_plots.cpp scene_view.cpp
  ROOMS base math image mesh anim character deform io render scene)
