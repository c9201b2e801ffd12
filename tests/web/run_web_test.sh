#!/usr/bin/env bash
# Runs the smoke program natively and as WebAssembly in Node and compares what they print: text has
# to be equal, positions equal within 1e-6 m (fused multiply-adds make the last bits differ).
# usage: run_web_test.sh NATIVE_PROGRAM WEB_PROGRAM.js
set -euo pipefail
native=$1 web=$2
command -v node >/dev/null 2>&1 || { echo "skipped: no node here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$native" >"$work/native.txt"
node "$web" >"$work/web.txt"
awk -v most=1e-6 '
  NR == FNR { want[FNR] = $0; lines = FNR; next }
  {
    if ($1 == "hash") { print "web " $0; next }
    split(want[FNR], w)
    if ($1 != "p") { if ($0 != want[FNR]) { print "line " FNR ": \"" $0 "\", native \"" want[FNR] "\""; bad = 1 }; next }
    if (w[1] != "p") { print "line " FNR ": positions where native has \"" want[FNR] "\""; bad = 1; next }
    ++positions
    for (i = 2; i <= 4; ++i) {
      d = $i - w[i]; if (d < 0) d = -d
      if (!(d <= largest)) largest = d
    }
  }
  END {
    if (FNR != lines) { print FNR " lines, native " lines; bad = 1 }
    if (positions == 0) { print "no positions"; bad = 1 }
    print positions " positions, largest difference to native " largest " m"
    if (!(largest <= most)) { print "more than " most " m"; bad = 1 }
    exit bad
  }' "$work/native.txt" "$work/web.txt"
