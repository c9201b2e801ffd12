#!/usr/bin/env bash
# Runs the benchmarks; each prints its ratios to a peer in the same run. usage: bench.sh BIN_DIR [OPTIONS]
set -euo pipefail
bin=$1
shift
for program in "$bin"/derm_bench_*; do
  [ -x "$program" ] || continue
  echo "== $(basename "$program")"
  "$program" "$@"
done
