#!/usr/bin/env bash
# Runs a script of this folder with Node and the packages of tools/node, or says why not (77).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v node >/dev/null 2>&1 || { echo "skipped: no node here"; exit 77; }
if [ ! -d "$here/../../tools/node/node_modules" ]; then
  echo "skipped: the packages of tools/node are not installed (npm ci)"
  exit 77
fi
script=$1
shift
exec node "$here/$script" "$@"
