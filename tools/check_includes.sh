#!/usr/bin/env bash
# Fails where a public header names something of the standard library without including the header that
# has it: precompiled headers and what else is included would hide that on this machine.
# usage: tools/check_includes.sh [SOURCE_DIR]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
find include -name '*.h' -print0 | sort -z | xargs -0 awk '
  function needs(header, names) { wanted[header] = names }
  BEGIN {
    needs("algorithm", "std::(min|max|sort|clamp|find|copy|fill|all_of|any_of)\\(")
    needs("array", "std::array[^_a-z]")
    needs("cmath", "std::(sqrt|abs|isfinite|floor|ceil|pow|sin|cos|exp|log|lround)\\(")
    needs("cstdint", "std::u?int(8|16|32|64)_t")
    needs("deque", "std::deque")
    needs("functional", "std::function")
    needs("limits", "std::numeric_limits")
    needs("map", "std::map")
    needs("memory", "std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)")
    needs("optional", "std::(optional|nullopt)")
    needs("set", "std::set")
    needs("span", "std::span")
    needs("string", "std::(string[^_a-z]|to_string)")
    needs("string_view", "std::string_view")
    needs("unordered_map", "std::unordered_map")
    needs("utility", "std::(pair|move|exchange|forward)[^_a-z]")
    needs("variant", "std::(variant|monostate|visit|get_if|holds_alternative)")
    needs("vector", "std::vector")
  }
  FNR == 1 { report(); file = FILENAME; split("", used); split("", included) }
  /^#include </ { name = $2; gsub(/[<>]/, "", name); included[name] = 1; next }
  {
    sub(/\/\/.*/, "")
    if (!index($0, "std::")) next
    for (header in wanted) if (!(header in used) && $0 ~ wanted[header]) used[header] = FNR
  }
  END { report(); exit found }
  function report(header) {
    for (header in used)
      if (!(header in included)) {
        printf "%s:%d: <%s> is not included\n", file, used[header], header > "/dev/stderr"
        found = 1
      }
  }'
