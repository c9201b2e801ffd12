derm_room(base
  SOURCES assert.cpp cache_line_vector.cpp diagnostics.cpp nearest_name.cpp number_format.cpp number_text.cpp
    parallel.cpp result.cpp
  PRIVATE TBB::tbb)
