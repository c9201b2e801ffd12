#!/usr/bin/env bash
# The example programs run on a character, and say what is wrong with one that is none.
# usage: examples_test.sh DERM EXAMPLE…
set -euo pipefail
derm=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$derm" cast cat -o "$work/cat.glb" >/dev/null
echo "none" >"$work/none.glb"
for example in "$@"; do
  "$example" "$work/cat.glb" | grep -q volume || { echo "$example says nothing of the volume"; exit 1; }
  if "$example" "$work/none.glb" 2>"$work/said"; then echo "$example takes what is no glb"; exit 1; fi
  grep -q none.glb "$work/said" || { echo "$example does not name the file"; exit 1; }
done
