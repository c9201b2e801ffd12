#!/usr/bin/env bash
# Prints a hash of every frame's positions: all clips of the cast under each skinning method and the
# usual layers, the shipped recipes, and real characters where a folder of them is given. Equal
# outputs of two builds prove that a change of the code did not change a result.
# usage: frame_hashes.sh DERM [DATA_DIR]
set -euo pipefail
derm=$(realpath "$1")
data=${2:+$(realpath "$2")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# hash NAME BAKE_ARGUMENT…
hash() {
  local name=$1
  shift
  if "$derm" bake "$@" -o "$work/frames.pc2" --threads 2 >/dev/null 2>"$work/said"; then
    printf '%s  %s\n' "$(sha256sum "$work/frames.pc2" | cut -c 1-16)" "$name"
  else
    printf '%-16s  %s\n' failed "$name: $(head -n 1 "$work/said")"
  fi
}

for recipe in examples/recipes/*.toml; do hash "$(basename "$recipe")" "$recipe"; done

printf '[skinning]\nmethod = "centre"\n[[layer]]\ntype = "volume"\n' >"$work/volume.toml"
clips() { "$derm" info "$1" --json | python3 -c 'import json,sys
for c in json.load(sys.stdin)["clips"]: print(c["name"])'; }
for member in cylinder cylinder-m625 cylinder-m258 arm mushroom wrist trousers cat; do
  while read -r clip; do
    for method in linear dual-quaternion centre; do
      hash "$member $clip $method" "cast:$member" --clip "$clip" --fps 15 --method "$method"
    done
    hash "$member $clip centre volume" "cast:$member" --recipe "$work/volume.toml" --clip "$clip" --fps 15
  done < <(clips "cast:$member")
done

[ -n "$data" ] || exit 0
mkdir "$work/makehuman"
[ ! -e "$data/makehuman/makehuman.tar.zst" ] ||
  tar --zstd -xf "$data/makehuman/makehuman.tar.zst" -C "$work/makehuman" --strip-components=1
for file in "$data"/gltf-characters/*.gl* "$work"/makehuman/*rig163.glb; do
  [ -e "$file" ] || continue
  name=$(basename "$file")
  hash "$name linear" "$file" --fps 15
  hash "$name centre volume" "$file" --recipe "$work/volume.toml" --fps 15
  "$derm" flesh auto "$file" -o "$work/flesh.toml" >/dev/null 2>&1 &&
    hash "$name flesh auto" "$file" --recipe "$work/flesh.toml" --fps 15
done
