#!/usr/bin/env bash
# Every recipe of examples/recipes can be baked. usage: recipes_test.sh DERM_PROGRAM SOURCE_FOLDER
set -euo pipefail
derm=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for recipe in "$2"/examples/recipes/*.toml; do
  "$derm" bake "$recipe" --range 0 0.2 --report "$folder/report.json" -o "$folder/out.pc2"
done
