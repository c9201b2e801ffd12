# Measures what methods do to the skin of a character in motion; tools/quality.sh makes a page of it.
add_executable(derm_quality quality/main.cpp quality/part_volumes.cpp quality/skin_measures.cpp)
target_include_directories(derm_quality PRIVATE ${PROJECT_SOURCE_DIR}/bench)
target_link_libraries(derm_quality PRIVATE derm::contact derm::volume derm::weights derm::io
  derm_build_flags)
derm_precompile(derm_quality)
