#!/usr/bin/env bash
# Headless Chromium opens the demo's page and sees the cat move.
# usage: demo_page.sh DERM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no chromium here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! "$1" demo -o "$work" --three "$here/../../tools/node/node_modules/three"; then
  # Without OpenGL there are no pictures to show.
  "$1" render cast:cylinder --size 16x16 -o "$work/probe.png" || { echo "skipped: no renderer"; exit 77; }
  exit 1
fi
"$here/node.sh" demo_page.mjs "$browser" "$work/index.html" "$work"
