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
# A program in C, by pkg-config and the shared library alone.
if command -v pkg-config >/dev/null 2>&1 && command -v cc >/dev/null 2>&1; then
  folder=$(dirname "$(find "$work/prefix" -name derm.pc)")
  flags=$(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs derm)
  # shellcheck disable=SC2086  # several words
  cc -std=c99 "$source/examples/c_player.c" $flags -o "$work/c_player"
  LD_LIBRARY_PATH=$(dirname "$folder") "$work/c_player" "$source/examples/recipes/wrist.toml"
fi
