#!/usr/bin/env bash
# Runs every benchmark once, shortly, so that they never rot. usage: smoke_bench.sh BIN_DIR
set -euo pipefail
for program in "$1"/derm_bench_*; do
  [ -x "$program" ] || continue
  "$program" --benchmark_min_time=0.01 --benchmark_repetitions=1 >/dev/null
  echo "$(basename "$program"): runs"
done
