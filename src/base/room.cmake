derm_room(base
  SOURCES assert.cpp diagnostics.cpp nearest_name.cpp parallel.cpp result.cpp
  PRIVATE TBB::tbb)
