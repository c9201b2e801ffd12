#!/usr/bin/env bash
# Configures derm as a sub-project: only the libraries may be in it, and the parent stays in charge.
# usage: subproject_test.sh SOURCE_DIR
set -euo pipefail
source=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES CXX)
add_subdirectory("$source" derm)
add_executable(parent main.cpp)
target_link_libraries(parent PRIVATE derm::derm)
foreach(unwanted derm_cli derm_test_support derm_bench_deform)
  if(TARGET \${unwanted})
    message(FATAL_ERROR "\${unwanted} is built inside a parent project")
  endif()
endforeach()
EOF
echo 'int main() {}' >"$work/main.cpp"
cmake -S "$work" -B "$work/build" -G Ninja >/dev/null
