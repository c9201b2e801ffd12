#!/bin/bash
# Runs every fuzz target for SECONDS each: tests/fuzz/run_short.sh SECONDS [BUILD_DIR] [TARGET…]
# Build first: cmake --preset fuzz && cmake --build --preset fuzz
# What breaks a parser is kept in BUILD_DIR/fuzz-findings; the exit code is then not 0.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:?usage: run_short.sh SECONDS [BUILD_DIR] [TARGET...]}
build=${2:-$here/../../build/fuzz}
shift; [ $# -gt 0 ] && shift
targets=${*:-$(cd "$here" && for source in fuzz_*.cpp; do echo "${source%.cpp}"; done)}
for target in $targets; do
  [ -x "$build/bin/$target" ] || { echo "skipped: $target is not built"; exit 77; }
done

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
findings=$build/fuzz-findings
mkdir -p "$findings"
# fuzz_one TARGET: runs one, says what came of it, fails where something was found.
fuzz_one() {
  local target=$1 dictionary malloc_mb=128
  mkdir -p "$corpus/$target"
  dictionary=$here/${target#fuzz_}.dict
  [ "$target" != fuzz_glb ] || dictionary=$here/gltf.dict
  # No single allocation may come near what the readers promise for files this small:
  # 64 MB + 20 x 64 KB.
  # A picture's pixels may take kMaxPixels x 4 bytes, which few bytes of JPEG can stand for.
  [ "$target" != fuzz_picture ] || malloc_mb=320
  if "$build/bin/$target" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
      -malloc_limit_mb=$malloc_mb -max_len=65536 -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$findings/$target-" -dict="$dictionary" \
      "$corpus/$target" "$here/seeds/$target" > "$corpus/$target.log" 2>&1; then
    echo "$target: $(grep -o 'number_of_executed_units: *[0-9]*' "$corpus/$target.log" |
      grep -o '[0-9]*$') inputs, nothing found"
  else
    echo "$target: FAILED, see $findings"
    tail -40 "$corpus/$target.log"
    return 1
  fi
}
export -f fuzz_one
export seconds build corpus findings here
# One core each; xargs fails where one of them did.
printf '%s\n' $targets | xargs -P "$(nproc)" -I{} bash -c 'fuzz_one {}'
