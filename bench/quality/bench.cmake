# Measures what methods do to the skin of a character in motion; tools/quality.sh makes a page of it.
add_executable(derm_quality quality/main.cpp)
target_link_libraries(derm_quality PRIVATE derm::contact derm::volume derm::io derm_build_flags)
derm_precompile(derm_quality)
