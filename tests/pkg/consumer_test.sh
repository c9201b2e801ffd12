#!/usr/bin/env bash
# Installs a build into a fresh folder and builds the consumer project against it.
# usage: consumer_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$source/tests/pkg/consumer" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/build"
"$work/build/consumer" "$work/cylinder.glb"
"$work/prefix/bin/derm" --version
# Who deforms alone is not asked for pictures, drawing or files.
mkdir "$work/small"
cat >"$work/small/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
find_package(derm REQUIRED COMPONENTS deform)
add_executable(small main.cpp)
target_link_libraries(small PRIVATE derm::deform)
END
cat >"$work/small/main.cpp" <<'END'
#include "derm/deform/basic_layers.h"
int main() { return derm::morphLayer() ? 0 : 1; }
END
without=()
for package in PNG JPEG assimp OpenVDB OpenCV nlohmann_json fmt PkgConfig; do
  without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
cmake -S "$work/small" -B "$work/small/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$work/prefix" "${without[@]}" >/dev/null
cmake --build "$work/small/build" >/dev/null
"$work/small/build/small"
# A program in C, by pkg-config and the shared library alone.
if command -v pkg-config >/dev/null 2>&1 && command -v cc >/dev/null 2>&1; then
  folder=$(dirname "$(find "$work/prefix" -name derm.pc)")
  flags=$(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs derm)
  # shellcheck disable=SC2086  # several words
  cc -std=c99 "$source/examples/c_player.c" $flags -o "$work/c_player"
  LD_LIBRARY_PATH=$(dirname "$folder") "$work/c_player" "$source/examples/recipes/wrist.toml"
fi
