#!/usr/bin/env bash
# Every C++ block of the manual that has include lines compiles with just these.
# usage: snippets_test.sh SOURCE_DIR COMPILER INCLUDE_DIR...
set -euo pipefail
source=$1
compiler=$2
shift 2
flags=(-std=c++20 -Wall -Wno-unused "-I$source/include")
for folder in "$@"; do flags+=(-isystem "$folder"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One file per block, named after its page. What is not a program becomes the body of a function.
awk -v work="$work" '
  function finish() {
    if (includes != "") {
      name = FILENAME; sub(/.*\//, "", name)
      file = work "/" name "." ++count ".cpp"
      if (body ~ /int main\(/) printf "%s\n%s", includes, body > file
      else printf "%s\nnamespace derm {\nResult<void> block() {\n%sreturn {};\n}\n}\n", includes, body > file
      close(file)
    }
    includes = ""; body = ""; inside = 0
  }
  /^```cpp/ { inside = 1; next }
  /^```/ { if (inside) finish(); next }
  inside && /^#include/ { includes = includes $0 "\n"; next }
  inside { body = body $0 "\n" }
' "$source/README.md" "$source"/docs/*.md
# Eigen, which every header of derm brings along, is parsed once. g++ takes it where all flags agree.
mkdir "$work/eigen"
echo '#include <Eigen/Core>
#include <Eigen/Geometry>' >"$work/eigen/parsed.h"
"$compiler" "${flags[@]}" -x c++-header "$work/eigen/parsed.h" -o "$work/eigen/parsed.h.gch"
flags+=(-include "$work/eigen/parsed.h")
failed=0
count=0
for file in "$work"/*.cpp; do
  count=$((count + 1))
  "$compiler" "${flags[@]}" -fsyntax-only "$file" || { echo "does not compile: $(basename "$file")" >&2; failed=1; }
done
[[ $count -ge 8 ]] || { echo "found only $count blocks" >&2; exit 1; }
echo "$count blocks"
exit $failed
