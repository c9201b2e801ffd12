#!/usr/bin/env bash
# Makes docs/quality.md: what linear skinning, dual quaternions and derm do to the skin of real
# characters in motion. Takes its characters and motions from the test data (DERM_DATA, default
# ../shared/data), as far as they are there.
# usage: quality.sh DERM_QUALITY [FRAMES]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tool=$(realpath "${1:?usage: quality.sh DERM_QUALITY [FRAMES]}")
frames=${2:-8}
data=${DERM_DATA:-$root/../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

motions=()
for motion in "$data"/mocap-cmu-bvh/*.bvh; do
  [ ! -f "$motion" ] || motions+=("$motion")
done
characters=()
if [ -f "$data/makehuman/makehuman.tar.zst" ]; then
  tar --zstd -xf "$data/makehuman/makehuman.tar.zst" -C "$work"
  characters+=("$work"/makehuman/*rig163.glb)
fi
for name in CesiumMan Fox KayKit_Knight; do
  [ ! -f "$data/gltf-characters/$name.glb" ] || characters+=("$data/gltf-characters/$name.glb")
done

{
  cat <<'EOF'
# Quality

What methods do to the skin of characters that derm's authors did not make. Made by `tools/quality.sh`; do not edit. Means over some frames of each motion:

- **turned**: triangles that face against linear skinning
- **inside**: thousandths of the skin's area that lie inside other skin, and do not at rest
- **curves**: length of the curves in which skin crosses skin, over the root of the skin's area (1.37 m on a grown-up)
- **folded**: edges with more than 150 degrees between the normals beside them
- **ms**: one frame, seen twice, on the machine that made this page

`derm` is `centre` skinning, the flesh that `derm flesh auto` proposes, [contact](contact.md) and [volume](volume.md); `without contact` the same without that layer.

| character | motion | method | turned | inside | curves | folded | ms |
|---|---|---|---|---|---|---|---|
EOF
  for character in "${characters[@]}"; do
    "$tool" --frames "$frames" "$character" "${motions[@]}"
  done
} >"$work/quality.md"
mv "$work/quality.md" "$root/docs/quality.md"
