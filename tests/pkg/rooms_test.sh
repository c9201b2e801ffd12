#!/usr/bin/env bash
# The dependency rule holds, and the checker really finds a forbidden include.
# usage: rooms_test.sh SOURCE_DIR
set -euo pipefail
source=$1
"$source/tools/check_rooms.sh" "$source"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/include/derm/mesh" "$work/src" "$work/apps"
cp "$source/tools/rooms.txt" "$work/tools/"
must_fail() {
  echo "$1" >"$work/include/derm/mesh/bad.h"
  if "$source/tools/check_rooms.sh" "$work"; then
    echo "not found: $1" >&2
    exit 1
  fi
}
must_fail '#include "derm/anim/skeleton.h"'
must_fail '#include <tbb/parallel_for.h>'
must_fail '  #  include <fstream>'
echo '#include "derm/math/vec.h"' >"$work/include/derm/mesh/bad.h"
"$source/tools/check_rooms.sh" "$work"
