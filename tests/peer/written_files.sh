#!/usr/bin/env bash
# Everything the program writes passes the Khronos validator with 0 errors: the cast, new weights,
# posed meshes, baked example recipes, real characters written again. usage: written_files.sh DERM_PROGRAM DATA_FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
derm=$1
data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in $("$derm" cast --list | awk '!/\(liquid\)/ { print $1 }'); do
  file=$work/$name.glb  # a head takes seconds to make, so it is made once
  "$derm" cast "$name" -o "$file"
  "$derm" pose "$file" --time 0.5 --method dual-quaternion -o "$work/$name-posed.glb"
  case $("$derm" info "$file") in
    *" 0 joints in the skin"*) ;; # a shape for morphing: no bones, no weights
    *) "$derm" weights "$file" -o "$work/$name-weights.glb" ;;
  esac
done
for name in cat wrist woman; do
  "$derm" cast "$name" -o "$work/$name.gltf"
done
for recipe in "$here"/../../examples/recipes/*.toml; do
  "$derm" bake "$recipe" --fps 8 -o "$work/recipe-$(basename "$recipe" .toml).glb"
done
for name in wrist trousers man_forehead; do
  "$derm" bake "$here/../../examples/recipes/$name.toml" --fps 8 --as correctives --error-mm 1 -o "$work/$name-folds.glb"
done
"$derm" bake "$here/../../examples/recipes/man_forehead.toml" --fps 8 --as normal-maps -o "$work/man-maps.glb"
"$derm" bake cast:cat --clip all --fps 8 --as correctives --error-mm 2 --influences 2 -o "$work/cat-all.glb"
for file in "$data"/gltf-characters/*.gl*; do
  [ -e "$file" ] || { echo "no characters at $data: only the cast is checked"; break; }
  name=$(basename "$file")
  "$derm" pose "$file" --time 0.5 -o "$work/$name-posed.glb" 2>/dev/null
  "$derm" weights "$file" --method inverse-distance -o "$work/$name-weights.glb" 2>/dev/null ||
    echo "(no weights for $name: it has no bones)"
done
"$here/node.sh" validate_gltf.mjs "$work"/*.glb "$work"/*.gltf
