derm_room(view
  SOURCES captions.cpp character_look.cpp detail_sheet.cpp film_strip.cpp framing.cpp layer_diagram.cpp mesh_film.cpp point_labels.cpp report_plots.cpp
    scene_view.cpp strip_layout.cpp)
