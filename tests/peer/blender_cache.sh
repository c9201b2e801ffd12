#!/usr/bin/env bash
# Blender reads our point caches and glbs to the same vertices. Heavy: only `./run peer` installs it.
# usage: blender_cache.sh BAKE_PROGRAM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v blender >/dev/null 2>&1 || { echo "skipped: no blender here (./run peer installs it)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" arm flex "$work"
blender --background --factory-startup --python "$here/blender_cache.py" -- "$work" \
  "$here/../../docs/bake.md"
