#!/usr/bin/env bash
# Contact sheets of shoulders, elbows, hips and knees, the whole stack on: one picture per character
# and motion, to be looked at. Characters bring their own clips; recordings (BVH) are carried over.
# usage: contact_sheets.sh DERM OUT [CHARACTER…]
# Without characters: the bodies and recordings of the test data (DERM_DATA, default ../shared/data),
# as far as they are there. SIDE=R looks at the right side, INSTANTS=8 takes that many.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
derm=$(realpath "${1:?usage: contact_sheets.sh DERM OUT [CHARACTER…]}")
out=${2:?usage: contact_sheets.sh DERM OUT [CHARACTER…]}
shift 2
characters=("$@")
data=${DERM_DATA:-$root/../shared/data}
side=${SIDE:-L}
[ "$side" = L ] && long=Left || long=Right
instants=${INSTANTS:-6}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

if [ ${#characters[@]} -eq 0 ]; then
  if [ -f "$data/makehuman/makehuman.tar.zst" ]; then
    tar --zstd -xf "$data/makehuman/makehuman.tar.zst" -C "$work"
    characters+=("$work"/makehuman/*.glb)
  fi
  for name in CesiumMan KayKit_Knight RiggedFigure; do
    [ ! -f "$data/gltf-characters/$name.glb" ] || characters+=("$data/gltf-characters/$name.glb")
  done
fi
if [ ${#characters[@]} -eq 0 ]; then
  echo "no characters: none given, and no test data in $data" >&2
  exit 0
fi

# A joint by the ways that rigs write it, the first that this one has.
declare -A ways=(
  [shoulder]="upperarm01.$side ${long}Arm upperarm.${side,} upper_arm.$side Skeleton_arm_joint_${side}__4_"
  [elbow]="lowerarm01.$side ${long}ForeArm lowerarm.${side,} forearm.$side Skeleton_arm_joint_${side}__3_"
  [hip]="upperleg01.$side ${long}UpLeg upperleg.${side,} thigh.$side leg_joint_${side}_1"
  [knee]="lowerleg01.$side ${long}Leg lowerleg.${side,} shin.$side leg_joint_${side}_2"
)
# yaw and pitch [deg] from which its skin is seen
declare -A views=([shoulder]="35 15" [elbow]="50 20" [hip]="60 0" [knee]="75 5")

# sheet NAME CHARACTER RECIPE [OPTIONS…]: a strip per joint, below each other.
sheet() {
  local name=$1 character=$2 recipe=$3 rows=() part joint yaw pitch
  shift 3
  for part in shoulder elbow hip knee; do
    read -r yaw pitch <<<"${views[$part]}"
    [ "$side" = L ] || yaw=-$yaw
    for joint in ${ways[$part]}; do
      if "$derm" render "$character" --recipe "$recipe" "$@" --strip "$instants" --camera follow \
        --look-at "$joint" --zoom "${ZOOM:-4}" --yaw "$yaw" --pitch "$pitch" --size "$((instants * 260))x260" \
        --label "$part" -o "$work/$part.png" >/dev/null 2>"$work/error"; then
        rows+=(-i "$work/$part.png")
        break
      fi
    done
  done
  if [ ${#rows[@]} -eq 0 ]; then
    echo "$name: $(tail -1 "$work/error")" >&2
    return
  fi
  local stack=null
  [ ${#rows[@]} -eq 2 ] || stack="vstack=inputs=$((${#rows[@]} / 2))"
  ffmpeg -nostdin -loglevel error -y "${rows[@]}" -filter_complex "$stack" "$out/$name.png"
  echo "$out/$name.png"
}

for character in "${characters[@]}"; do
  stem=$(basename "${character%.*}")
  recipe=$work/$stem.toml
  # Skinning about centres, flesh where there is any to be found, then the volume layer.
  "$derm" flesh auto "$character" -o "$recipe" >/dev/null 2>&1 ||
    printf 'character = "%s"\n\n' "$(realpath "$character")" >"$recipe"
  sed -i '0,/^$/s//\n[skinning]\nmethod = "centre"\n/' "$recipe"
  printf '\n[[layer]]\ntype = "volume"\n' >>"$recipe"
  while read -r clip; do
    [ -n "$clip" ] || continue
    # And folds where this clip squeezes the skin: the layers alone, behind the character's lines.
    cp "$recipe" "$work/clip.toml"
    ! "$derm" wrinkles auto "$character" --clip "$clip" -o "$work/folds.toml" >/dev/null 2>&1 ||
      sed -n '/^\[\[layer/,$p' "$work/folds.toml" >>"$work/clip.toml"
    sheet "$stem-$clip" "$character" "$work/clip.toml" --clip "$clip"
  done < <("$derm" info "$character" | sed -n 's/^\(clips\)\? *[0-9]\+ "\([^"]*\)", .*/\2/p' | head -5)
  for motion in "$data"/mocap-cmu-bvh/*.bvh; do
    [ ! -f "$motion" ] || sheet "$stem-$(basename "${motion%.*}")" "$character" "$recipe" --motion "$motion"
  done
done
