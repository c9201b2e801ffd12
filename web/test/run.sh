#!/usr/bin/env bash
# Tests the WebAssembly module and the package around it.
# usage: web/test/run.sh BUILD PROGRAM   (build/web, and the native program to compare with)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$1
export DERM_PROGRAM=${2:-} DERM_PACKAGE=$build/package
command -v node >/dev/null 2>&1 || { echo "skipped: no node here"; exit 0; }
node web/build.mjs "$build/bin" "$build/package"
failed=0
for test in module native hostile package three examples demo; do
  echo "== $test"
  node "web/test/${test}_test.mjs" || { code=$?; [ $code -eq 77 ] || failed=1; }
done
exit $failed
