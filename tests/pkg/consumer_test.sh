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
