#!/usr/bin/env bash
# ./run configures a tree again when packages came since it was configured, as what was left out may be
# there now, and only then. What films need is installed for the demo already.
# usage: run_test.sh SOURCE_DIR
set -euo pipefail
source=$1
grep -q '^ffmpeg' "$source/tools/packages.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/build/release" "$work/bin"
cp "$source/run" "$work/"
echo 'bash' >"$work/tools/packages.txt"
printf '#!/bin/sh\necho "$*" >>"%s/calls"\n' "$work" >"$work/bin/cmake"
chmod +x "$work/bin/cmake"
configured() {  # after one ./run build
  : >"$work/calls"
  (cd "$work" && PATH=$work/bin:$PATH ./run build >/dev/null)
  grep -q -- '--build build/release' "$work/calls"
  grep -q -- '--preset release' "$work/calls"
}
configured || { echo "a tree that is not there was not configured" >&2; exit 1; }
touch "$work/build/release/build.ninja"
touch -d '1 hour ago' "$work"/build/.packages-*
! configured || { echo "configured again without need" >&2; exit 1; }
touch -d '1 hour' "$work"/build/.packages-*
configured || { echo "packages came, and the tree was not configured again" >&2; exit 1; }
