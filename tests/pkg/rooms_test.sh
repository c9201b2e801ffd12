#!/usr/bin/env bash
# The dependency rule holds, and the checker really finds what is forbidden or not used.
# Public headers include the standard headers that they use, and that checker finds one, too.
# usage: rooms_test.sh SOURCE_DIR
set -euo pipefail
source=$1
"$source/tools/check_rooms.sh" "$source"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/include/derm/mesh" "$work/include/derm/math" "$work/src" "$work/apps"
echo '#include <vector>' >"$work/include/derm/math/vec.h"
printf '%s\n' 'math:' 'mesh: math' '!tbb/:' '!fstream:' >"$work/tools/rooms.txt"
check() {
  printf '%s\n' "$@" >"$work/include/derm/mesh/tested.h"
  "$source/tools/check_rooms.sh" "$work"
}
must_fail() {
  if check "$@"; then
    echo "not found: $*" >&2
    exit 1
  fi
}
used='#include "derm/math/vec.h"'
check "$used"
must_fail "$used" '#include "derm/anim/skeleton.h"'
must_fail "$used" '#include <tbb/parallel_for.h>'
must_fail "$used" '  #  include <fstream>'
must_fail '#include <vector>'  # what is permitted is used

"$source/tools/check_includes.sh" "$source"
printf '%s\n' '#include <span>' 'std::span<int> a;' 'std::vector<int> b;' >"$work/include/derm/mesh/tested.h"
if "$source/tools/check_includes.sh" "$work" 2>"$work/said"; then
  echo "not found: std::vector without <vector>" >&2
  exit 1
fi
grep -q 'tested.h:3: <vector> is not included' "$work/said"
