#!/usr/bin/env bash
# Draws the manual's pictures with derm itself. usage: make_pictures.sh DERM_PROGRAM
set -euo pipefail
derm=$1
cd "$(dirname "$0")/.."
mkdir -p docs/pictures
"$derm" render examples/recipes/mushroom_hop.toml --strip 6 --field --size 1200x400 \
  -o docs/pictures/flesh_mushroom.png
"$derm" render examples/recipes/cat_belly_run.toml --strip 6 --field --yaw 80 --size 1200x400 \
  -o docs/pictures/flesh_cat.png
