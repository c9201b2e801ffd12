#!/usr/bin/env bash
# Headless Chromium plays an exported face with the shader of examples/three-wrinkle-maps.
# usage: wrinkle_maps.sh DERM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no chromium here"; exit 77; }
three=$here/../../tools/node/node_modules/three
[ -d "$three" ] || { echo "skipped: no three here (npm ci in tools/node)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/../../examples/three-wrinkle-maps/* "$work"
ln -s "$(cd "$three" && pwd)" "$work/three"
"$1" face detail export "$here/../../examples/recipes/wrinkle_maps.toml" -o "$work/face.glb"
# At rest, surprised, angry.
"$here/node.sh" wrinkle_maps.mjs "$browser" "$work" 0 5.7 9.1
