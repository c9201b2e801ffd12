#!/usr/bin/env bash
# Holds the tree to tools/rooms.txt: reads every #include line, fails on a forbidden one, and on a
# permission that no line uses.
# usage: check_rooms.sh [ROOT]
set -euo pipefail
root=${1:-$(dirname "${BASH_SOURCE[0]}")/..}
cd "$root"
find include/derm src apps -type f \( -name '*.h' -o -name '*.cpp' \) | sort |
  xargs grep -HnE '^[[:space:]]*#[[:space:]]*include' |
  awk -v rules=tools/rooms.txt '
    BEGIN {
      while ((getline line < rules) > 0) {
        sub(/#.*/, "", line)
        if (line !~ /:/) continue
        split(line, halves, ":")
        key = halves[1]; gsub(/[ \t]/, "", key)
        n = split(halves[2], names, /[ \t]+/)
        if (key ~ /^!/) {
          prefix = substr(key, 2); guarded[prefix] = 1
          for (i = 1; i <= n; ++i) if (names[i] != "") { may[prefix, names[i]] = 1; unused[prefix, names[i]] = 1 }
        } else {
          known[key] = 1; may[key, key] = 1
          for (i = 1; i <= n; ++i) if (names[i] != "") { may[names[i], key] = 1; unused[names[i], key] = 1 }
        }
      }
    }
    {
      split($0, field, ":"); file = field[1]; line_number = field[2]
      split(file, path, "/")
      room = path[1] == "include" ? path[3] : path[2]
      if (room == "derm.h") room = "capi"
      if (!(room in known)) { print file ": room \"" room "\" is not in tools/rooms.txt"; bad = 1; next }
      match($0, /[<"][^>"]*[>"]/)
      name = substr($0, RSTART + 1, RLENGTH - 2)
      if (name ~ /^derm\//) {
        split(name, parts, "/")
        if (parts[2] == "derm.h") parts[2] = "capi"
        delete unused[parts[2], room]
        if (!((parts[2], room) in may)) {
          print file ":" line_number ": room " room " may not include " name; bad = 1
        }
        next
      }
      for (prefix in guarded)
        if (index(name, prefix) == 1 && (prefix ~ /\/$/ || name == prefix)) {
          delete unused[prefix, room]
          if (!((prefix, room) in may)) {
            print file ":" line_number ": room " room " may not include <" name ">"; bad = 1
          }
        }
    }
    END {
      for (pair in unused) {
        split(pair, of, SUBSEP)
        print rules ": room " of[2] " may include " of[1] ", and does not"; bad = 1
      }
      exit bad
    }'
