#!/usr/bin/env bash
# Prints the graph of rooms as docs/architecture.md shows it, from tools/rooms.txt, which is held to
# the includes of the tree (tools/check_rooms.sh). An arrow that follows from others is left out.
# usage: tools/make_rooms_diagram.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
awk -F ': *' '
  /^[a-z]+:/ {
    rooms[++count] = $1
    n = split($2, names, " ")
    for (i = 1; i <= n; ++i) includes[$1, names[i]] = 1
  }
  # A room stands below all that include it, so the rules of what it includes are known already.
  function reaches(from, to,   k) {
    for (k = 1; k <= count; ++k)
      if ((from, rooms[k]) in includes && (rooms[k] == to || reaches(rooms[k], to))) return 1
    return 0
  }
  function follows(from, to,   k) {
    for (k = 1; k <= count; ++k)
      if (rooms[k] != to && (from, rooms[k]) in includes && reaches(rooms[k], to)) return 1
    return 0
  }
  END {
    print "```mermaid\nflowchart TD"
    for (i = count; i >= 1; --i) {
      below = ""
      for (k = count; k >= 1; --k)
        if ((rooms[i], rooms[k]) in includes && !follows(rooms[i], rooms[k]))
          below = below (below == "" ? "" : " & ") rooms[k]
      if (below != "") print "  " rooms[i] " --> " below
    }
    print "```"
  }' tools/rooms.txt
