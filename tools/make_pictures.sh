#!/usr/bin/env bash
# Makes the manual's pictures with derm itself, small enough to be committed: docs/pictures/*.
# usage: tools/make_pictures.sh [DERM] [NAME…]   NAME: only these (default: all)
# Needs ffmpeg, to join pictures and to write WebP. Pictures of scanned heads need FACES, the unpacked
# data set faces-ict, and those of a recorded face MOTION, the table of face-motion-arkit
# (docs/test-data.md); without them they are left as they are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
derm=${1:-build/release/bin/derm}
[ $# -eq 0 ] || shift
wanted=("$@")
out=docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# picture NAME: whether it is wanted; says so.
picture() {
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]] || return 1
  echo "$1"
}

# recipe FILE: a recipe from standard input.
recipe() { cat >"$work/$1.toml"; }

# show NAME RECIPE [OPTIONS…]: one panel.
show() {
  local name=$1 recipe=$2
  shift 2
  "$derm" render "$recipe" -o "$work/$name.png" "$@" >/dev/null
}

# join NAME COLUMNS PANEL…: panels beside and below each other, as WebP.
join() {
  local name=$1 columns=$2 inputs=() layout="" i=0
  shift 2
  for panel in "$@"; do
    inputs+=(-i "$work/$panel.png")
    local x=0 y=0 k
    for ((k = 0; k < i % columns; ++k)); do x="$x+w$k"; done
    for ((k = 0; k < i / columns; ++k)); do y="$y+h$((k * columns))"; done
    layout+="${layout:+|}${x#0+}_${y#0+}"
    i=$((i + 1))
  done
  local filter=null
  [ $# -eq 1 ] || filter="xstack=inputs=$#:layout=$layout"
  ffmpeg -loglevel error -y "${inputs[@]}" -filter_complex "$filter" -c:v libwebp -quality 82 \
    "$out/$name.webp"
}

if picture readme-twist; then # it moves
  "$derm" render examples/recipes/arm_twist.toml --compare side --film "$out/readme-twist.webp" \
    --size 800x280 --fps 10 --yaw 20 --pitch 20 >/dev/null
fi

if picture readme-faces; then # expressions of the cast's heads, moving
  for head in woman man toon; do
    "$derm" render "cast:$head" --clip expressions --range 0 8 --fps 8 --yaw 14 --pitch 3 --zoom 1.25 \
      --size 300x330 --film "$work/$head.mp4" >/dev/null
  done
  ffmpeg -loglevel error -y -i "$work/woman.mp4" -i "$work/man.mp4" -i "$work/toon.mp4" -filter_complex hstack=3 \
    -c:v libwebp_anim -loop 0 -quality 70 "$out/readme-faces.webp"
fi

if picture readme; then
  for t in 0 0.50 0.70 1.47; do # stands, crouches, takes off, lands
    show "jump$t" examples/recipes/cat_jump.toml --time "$t" --size 317x300 --yaw 60 --pitch 12
  done
  show twist examples/recipes/arm_twist.toml --compare side --time 2 --yaw 20 --pitch 20 --size 640x220
  show knee examples/recipes/trousers.toml --time 0.8 --look-at shin_left --yaw 200 --pitch 15 --zoom 2.5 --size 316x220
  "$derm" implicit particles cast:two-drops-merge --volume exact --size 1276x444 --instants 8 --strip "$work/drops.png" >/dev/null
  # Panels of the upper row end where those of the lower one do; the drops meet in the strip's second.
  ffmpeg -loglevel error -y -i "$work/jump0.png" -i "$work/jump0.50.png" -i "$work/jump0.70.png" -i "$work/jump1.47.png" \
    -i "$work/twist.png" -i "$work/knee.png" -i "$work/drops.png" -filter_complex \
    "[0]pad=iw+4:ih:0:0:white[s];[1]pad=iw+4:ih:0:0:white[t];[2]pad=iw+4:ih:0:0:white[u];[s][t][u][3]hstack=4,pad=iw:ih+4:0:0:white[top];[4]pad=iw+4:ih:0:0:white[a];[5]pad=iw+4:ih:0:0:white[b];[6]crop=316:220:320:0[c];[a][b][c]hstack=3[row];[top][row]vstack" \
    -c:v libwebp -quality 82 "$out/readme.webp"
fi

bent() { # bent NAME METHOD [KEYS…]: the volume report's cylinder, bent, with a volume layer
  local name=$1 method=$2
  shift 2
  {
    printf 'character = "cast:cylinder"\nclip = "bend"\n[skinning]\nmethod = "linear"\n'
    printf '[[layer]]\ntype = "volume"\npreset = "fidelity"\nregions = "whole"\nmethod = "%s"\n' "$method"
    printf '%s\n' "$@"
  } | recipe "$name"
}
bend=(--time 3 --yaw 45 --pitch 82 --size 480x400 --look-at j1)

if picture heads; then # at rest, then as the clip `expressions` plays: joy, surprise, fear
  i=0
  times=(0.7 5.8 7.5)
  for head in woman man toon; do
    show "$head" "cast:$head" --time 0 --yaw 28 --pitch 4 --size 420x480
    show "$head-plays" "cast:$head" --time "${times[$i]}" --yaw 12 --pitch 3 --size 420x480
    i=$((i + 1))
  done
  join heads 3 woman man toon woman-plays man-plays toon-plays
fi

close=(--look-at fp_9_3_nose_tip --pitch 0 --size 300x330)
if picture faces-rig; then # expressions by the control rig, from the front and from the side
  panels=()
  for head in woman man toon; do
    "$derm" face rig "cast:$head" -o "$work/$head.glb" >/dev/null
    for clip in joy surprise blink; do
      time=0.4
      [ "$clip" != blink ] || time=0.1
      show "$head-$clip" "$work/$head.glb" --clip "$clip" --time "$time" --yaw 12 "${close[@]}" --zoom 1.5
      panels+=("$head-$clip")
    done
    show "$head-side" "$work/$head.glb" --clip joy --time 0.4 --yaw 40 "${close[@]}" --zoom 1.5
    panels+=("$head-side")
  done
  join faces-rig 4 "${panels[@]}"
fi

if picture faces-shapes; then # ARKit's shapes by control points
  panels=()
  for head in woman man toon; do
    "$derm" face shapes "cast:$head" -o "$work/$head.glb" >/dev/null
    show "$head-smile" "$work/$head.glb" --shape mouthSmileLeft --shape mouthSmileRight --yaw 12 "${close[@]:2}" --zoom 1.5
    show "$head-jaw" "$work/$head.glb" --shape jawOpen --yaw 12 "${close[@]:2}" --zoom 1.5
    show "$head-pucker" "$work/$head.glb" --shape mouthPucker --yaw 12 "${close[@]:2}" --zoom 1.5
    show "$head-funnel" "$work/$head.glb" --shape mouthFunnel --yaw 12 "${close[@]:2}" --zoom 1.5
    panels+=("$head-smile" "$head-jaw" "$head-pucker" "$head-funnel")
  done
  join faces-shapes 4 "${panels[@]}"
fi

# Heads of faces-ict, in its spelling.
scans=(generic id_A id_B id_C id_sample)

if [ -n "${FACES:-}" ] && picture faces-transfer; then # the rig of two heads of the cast on all other heads
  panels=()
  for source in man woman; do
    for target in man woman toon "${scans[@]}"; do
      head=(cast:"$target") zoom=1.5
      [ -f "$FACES/${target}_neutral.obj" ] && head=("$FACES/${target}_neutral.obj" --unit cm) zoom=2.4
      if [ "$source" = "$target" ]; then
        "$derm" face rig "cast:$source" -o "$work/$source-$target.glb" >/dev/null
      else
        "$derm" face transfer "cast:$source" "${head[@]}" -o "$work/$source-$target.glb" >/dev/null 2>&1
      fi
      for clip in joy jawOpen blink; do
        time=0.4
        [ "$clip" != blink ] || time=0.1
        show "$source-$target-$clip" "$work/$source-$target.glb" --clip "$clip" --time "$time" --quick \
          --yaw 12 "${close[@]:0:4}" --size 150x165 --zoom "$zoom"
      done
    done
    for clip in joy jawOpen blink; do
      for target in man woman toon "${scans[@]}"; do panels+=("$source-$target-$clip"); done
    done
  done
  join faces-transfer 8 "${panels[@]}"
fi

if [ -n "${MOTION:-}" ] && picture faces-arkit; then # instants of a recording, on every head of the cast
  panels=()
  for head in woman man toon; do
    "$derm" face retarget "$MOTION" "cast:$head" --name take -o "$work/$head.glb" >/dev/null 2>&1
    for time in 15.13 60.58 69.98 72.65 79.58 120.57; do
      show "$head-$time" "$work/$head.glb" --clip take --time "$time" --yaw 10 --pitch 0 --size 200x220 --zoom 1.4
      panels+=("$head-$time")
    done
  done
  join faces-arkit 6 "${panels[@]}"
fi

if picture wrinkle-maps; then # figures 5.14 and 5.15 of the face thesis
  "$derm" face detail preview examples/recipes/wrinkle_maps.toml --size 240x272 -o "$work/sheet.png" >/dev/null
  join wrinkle-maps 1 sheet
fi

if picture wrinkle-film; then # the same in motion
  "$derm" render examples/recipes/wrinkle_maps.toml --range 0 4 --fps 10 --yaw 5 --pitch 3 --zoom 1.4 \
    --size 320x360 --film "$out/wrinkle-film.webp" >/dev/null
fi

if picture one-brow; then # figure 5.10
  view=(--yaw 5 --pitch 5 --zoom 1.6 --size 400x400)
  show rest examples/recipes/one_brow.toml --time 0 "${view[@]}"
  show raised examples/recipes/one_brow.toml --time 1.5 "${view[@]}"
  show where examples/recipes/one_brow.toml --time 1.5 "${view[@]}" --channel lines.stretch
  join one-brow 3 rest raised where
fi

if picture render; then # what the page on pictures opens with
  view=(--time 1.4 --yaw 62 --pitch 10 --size 640x400)
  show clay examples/recipes/cat_jump.toml "${view[@]}" --label "render"
  show bones examples/recipes/cat_jump.toml "${view[@]}" --skeleton --label "--skeleton"
  show ghost examples/recipes/cat_jump.toml "${view[@]}" --compare ghost
  show heat examples/recipes/cat_jump.toml "${view[@]}" --displacement 0
  join render 2 clay bones ghost heat
fi

if picture channels; then # where layers work
  view=(--time 0.6 --yaw 62 --pitch 10 --size 480x340)
  show volume examples/recipes/cat_jump.toml "${view[@]}" --channel volume
  show belly examples/recipes/cat_belly_and_folds.toml "${view[@]}" --channel belly
  show fold examples/recipes/cat_belly_and_folds.toml "${view[@]}" --channel "hind leg"
  join channels 3 volume belly fold
fi

if picture volume-ghost; then # Figures 4.5 and 4.6 of the volume report
  bent thirds axes-exact 'mask = "everywhere"'
  show ghost "$work/thirds.toml" "${bend[@]}" --zoom 2.4 --compare ghost
  show linear cast:cylinder --clip bend "${bend[@]}" --zoom 2.4 --label "linear skinning" --wireframe
  show thirds "$work/thirds.toml" "${bend[@]}" --zoom 2.4 --label "exact, all vertices" --wireframe --displacement 120
  join volume-ghost 3 ghost linear thirds
fi

if picture volume-mask; then # Figures 4.9 and 4.11: where the correction moves
  i=0
  for ab in "15 8" "5 5" "0.2 0.2" "8 15"; do
    read -r a b <<<"$ab"
    bent "mask$i" axes-exact 'mask = "weights"' "a = $a" "b = $b"
    show "mask$i" "$work/mask$i.toml" "${bend[@]}" --label "a = $a, b = $b" --wireframe --zoom 1.8 --displacement 400
    i=$((i + 1))
  done
  join volume-mask 4 mask0 mask1 mask2 mask3
fi

if picture volume-directions; then # Figure 4.13 and the other directions
  panels=()
  for method in gradient normal laplacian; do
    bent "$method" "$method" 'mask = "weights"'
    show "$method" "$work/$method.toml" "${bend[@]}" --label "$method" --wireframe --zoom 1.8 --displacement 400
    panels+=("$method")
  done
  printf 'character = "cast:cylinder"\nclip = "bend"\n[skinning]\nmethod = "centre"\n[[layer]]\ntype = "volume"\npreset = "tube"\n' | recipe section
  show section "$work/section.toml" "${bend[@]}" --label "centre + section" --wireframe --zoom 1.8 --displacement 400
  join volume-directions 4 "${panels[@]}" section
fi

# held NAME CHARACTER CLIP: derm's default, centre skinning and the section correction
held() {
  printf 'character = "%s"\nclip = "%s"\n[skinning]\nmethod = "centre"\n[[layer]]\ntype = "volume"\n' "$2" "$3" |
    recipe "$1"
}

if picture volume-elbow; then # the same pose by every method
  held flex cast:arm flex
  view=(--time 2 --yaw 120 --pitch 60 --size 400x400)
  show linear cast:arm --clip flex "${view[@]}" --label "linear skinning"
  show dual cast:arm --clip flex --method dual-quaternion "${view[@]}" --label "dual quaternion"
  show centre cast:arm --clip flex --method centre "${view[@]}" --label "centre skinning"
  show held "$work/flex.toml" "${view[@]}" --label "centre + volume, exact"
  join volume-elbow 4 linear dual centre held
fi

if picture volume-twist; then # a forearm twisted by 170 degrees
  held twist cast:arm twist
  view=(--time 2 --yaw 20 --pitch 20 --size 480x300)
  show linear cast:arm --clip twist "${view[@]}" --label "linear skinning"
  show dual cast:arm --clip twist --method dual-quaternion "${view[@]}" --label "dual quaternion"
  show held "$work/twist.toml" "${view[@]}" --label "derm"
  join volume-twist 3 linear dual held
fi

if picture volume-cat; then # Figure 5.1
  held cat cast:cat jump
  view=(--time 1.4 --yaw 70 --pitch 10 --size 640x440)
  show ghost "$work/cat.toml" "${view[@]}" --compare ghost
  show held "$work/cat.toml" "${view[@]}" --displacement 8
  join volume-cat 2 ghost held
fi

if picture volume-regions; then # what keeps its volume on its own
  held regions cast:arm flex
  held apart cast:arm flex
  printf 'beta = 0.7\n' >>"$work/apart.toml"
  view=(--time 1.2 --yaw 120 --pitch 60 --size 640x480)
  show regions "$work/regions.toml" "${view[@]}" --show regions --label "regions, beta = 0.3"
  show apart "$work/apart.toml" "${view[@]}" --show regions --label "regions, beta = 0.7"
  join volume-regions 2 regions apart
fi

if picture volume-prisms; then # how that is measured
  held prisms cast:arm flex
  show prisms "$work/prisms.toml" --time 1.2 --yaw 120 --pitch 60 --size 960x720 --show prisms
  join volume-prisms 1 prisms
fi

if picture flesh-mushroom; then # Figure 15 of the flesh and folds report
  show strip examples/recipes/mushroom_hop.toml --strip 6 --field --size 1200x400
  join flesh-mushroom 1 strip
fi

if picture flesh-cat; then # Figure 16
  show strip examples/recipes/cat_belly_run.toml --strip 6 --field --field-scale 3 --yaw 80 --size 1200x400
  join flesh-cat 1 strip
fi

if picture wrinkles; then # Figures 18 and 19
  show wrist examples/recipes/wrist.toml --compare side --time 2.6 --look-at hand --yaw 20 --pitch 45 --zoom 2 --size 960x440
  show trousers examples/recipes/trousers.toml --compare side --time 0.8 --look-at shin_left --yaw 200 --pitch 15 --zoom 2.5 --size 960x440
  join wrinkles 1 wrist trousers
fi

if picture wrinkles-strategies; then # which folds come first where the skin is squeezed in one place
  for strategy in from-a symmetric simultaneous squeezed; do
    recipe "$strategy" <<EOF
character = "cast:cylinder"
clip = "bend"

[skinning]
method = "centre"

[[layer]]
type = "wrinkles"
name = "folds"
from = [1.0, 0.0, 4.0]
to = [1.0, 0.0, 16.0]
width_m = 2.0
points = 13
spacing = 0
h_max_m = 0.3
profile = "round"
strategy = "$strategy"
EOF
    show "$strategy" "$work/$strategy.toml" --time 1.1 --yaw 75 --pitch 20 --zoom 1.15 --size 640x360 --label "$strategy"
  done
  join wrinkles-strategies 2 from-a symmetric simultaneous squeezed
fi

if picture wrinkles-levels; then # how often triangles are cut under a tool
  show wrist examples/recipes/wrist.toml --show levels --time 2.6 --look-at hand --yaw 20 --pitch 45 --zoom 2 --size 640x480
  show knee examples/recipes/trousers.toml --show levels --time 0.8 --look-at shin_left --yaw 200 --pitch 15 --zoom 2.5 --size 640x480
  join wrinkles-levels 2 wrist knee
fi

if picture implicit; then # morphs and liquids
  "$derm" implicit morph cast:cat cast:torus cast:letter-d --resolution 90 --seconds 1.2 --size 1280x440 \
    --strip "$work/morph.png" >/dev/null
  "$derm" implicit particles cast:pour --volume exact --size 1280x400 --strip "$work/liquid.png" >/dev/null
  ffmpeg -loglevel error -y -i "$work/liquid.png" -vf "pad=iw:ih+4:0:4:white" "$work/pour.png"
  join implicit 1 morph pour
fi
