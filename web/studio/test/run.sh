#!/usr/bin/env bash
# Tests the studio's page, as ./run web leaves it, in a real browser.
# usage: web/studio/test/run.sh PROGRAM TEST   (the native program that reads what the studio saves; a
# file TEST.test.mjs of this folder, or "types")
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DERM=$1
[ -d node_modules ] || { echo "skipped: the packages of web/studio are not installed (npm ci)"; exit 77; }
[ -e ../../out/studio.html ] || { echo "skipped: no studio.html (./run web makes it)"; exit 77; }
case $2 in
  types) npm run --silent check ;;
  *) node --test --test-concurrency=1 "test/$2.test.mjs" ;;
esac
