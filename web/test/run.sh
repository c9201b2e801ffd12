#!/usr/bin/env bash
# Tests the WebAssembly module and the package around it, as ./run web leaves them.
# usage: web/test/run.sh BUILD PROGRAM TEST…   (build/web, the native program to compare with; tests
# are the files *_test.mjs of this folder)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$1
export DERM_PROGRAM=$2 DERM_PACKAGE=$build/package
shift 2
command -v node >/dev/null 2>&1 || { echo "skipped: no node here"; exit 77; }
[ -e "$DERM_PACKAGE/package.json" ] || { echo "skipped: no package (./run web makes it)"; exit 77; }
for test in "$@"; do
  node "web/test/${test}_test.mjs"
done
