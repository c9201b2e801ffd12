#!/usr/bin/env bash
# Headless Chromium plays folds as normal maps with examples/three_folds, and sees what the folded
# mesh itself looks like. usage: three_folds.sh DERM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no chromium here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recipe=$here/../../examples/recipes/wrist.toml
"$1" bake "$recipe" --as normal-maps --error-mm 0.2 --map-size 512 --report "$work/maps.json" -o "$work/maps.glb"
"$1" bake "$recipe" -o "$work/mesh.glb"
"$here/node.sh" validate_gltf.mjs "$work/maps.glb"
"$here/node.sh" three_folds.mjs "$browser" "$work"
