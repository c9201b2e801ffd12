#!/usr/bin/env bash
# Runs the commands of docs/tutorial-artist.md on a body and a motion of the test data; then three.js,
# and Blender where it is, play what was baked: no vertex may be further off than the bake said.
# usage: tutorial.sh DERM DATA
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
derm=$(realpath "$1")
bodies=$2/makehuman/makehuman.tar.zst
motion=$2/mocap-cmu-bvh/02_01.bvh
[ -f "$bodies" ] && [ -f "$motion" ] || { echo "skipped: no body or motion in $2"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --zstd -xf "$bodies" -C "$work"
cp "$work"/makehuman/mh_B_*rig163.glb "$work/body.glb"
cp "$motion" "$work/walk.bvh"
mkdir "$work/bin" && ln -s "$derm" "$work/bin/derm"
{
  echo "set -e"
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../../docs/tutorial-artist.md"
} >"$work/tutorial.sh"
(cd "$work" && PATH=$work/bin:$PATH bash tutorial.sh)
for made in look.toml look.mp4 look.png alive.glb alive.pc2 alive.json; do
  [ -s "$work/$made" ] || { echo "FAIL the page promises $made"; exit 1; }
done
"$here/node.sh" tutorial.mjs "$work"
if command -v blender >/dev/null 2>&1; then
  blender --background --factory-startup --python "$here/tutorial_blender.py" -- "$work"
else
  echo "(no blender here: ./run peer installs it)"
fi
