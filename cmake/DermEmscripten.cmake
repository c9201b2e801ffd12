# Toolchain of preset `web`: emscripten's own, found beside em++.
find_program(DERM_EMCC em++ REQUIRED)
file(REAL_PATH ${DERM_EMCC} derm_emcc)
cmake_path(GET derm_emcc PARENT_PATH derm_emscripten)
include(${derm_emscripten}/cmake/Modules/Platform/Emscripten.cmake)
