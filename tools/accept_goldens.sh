#!/usr/bin/env bash
# Takes the pictures that this tree draws now as the golden ones. Look at them before committing.
# usage: accept_goldens.sh [BUILD_DIR]   (default build/dev)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build/dev}
program=$build/bin/derm_test_render_golden
if [[ ! -x $program ]]; then
  echo "$program is not built: cmake --build $build --target derm_test_render_golden" >&2
  exit 1
fi
DERM_ACCEPT_GOLDENS=1 "$program" --gtest_filter='Pictures/*'
git -C "$root" status --short tests/golden || true
