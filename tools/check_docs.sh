#!/usr/bin/env bash
# The manual fits the tree: relative links lead to a file that is there and to a heading or <a id>
# of it, files named in backticks exist, and docs/architecture.md lists and draws the rooms of
# tools/rooms.txt.
# usage: tools/check_docs.sh
# shellcheck disable=SC2016  # backticks are Markdown's
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0
bad() {
  echo "$1" >&2
  failed=1
}

# headings FILE: the names that links may end in, as GitHub makes them of headings.
headings() {
  sed -nE 's/^#{1,6} +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
  grep -oE '<a id="[^"]+"' "$1" | sed -E 's/.*"([^"]+)"/\1/' || true
}

tree=$(find src include tests tools examples bench apps cmake web -type f)
for page in README.md CONTRIBUTING.md docs/*.md; do
  text=$(awk '/^ *```/ { code = !code; next } !code' "$page") # code blocks hold no links
  while IFS= read -r link; do
    case $link in http://* | https://* | mailto:*) continue ;; esac
    file=${link%%#*} name="" target=$page
    [[ $link != *#* ]] || name=${link#*#}
    [ -z "$file" ] || target=$(dirname "$page")/$file
    if [ ! -e "$target" ]; then
      bad "$page: ($link) leads nowhere"
    elif [ -n "$name" ] && ! headings "$target" | grep -qxF -- "$name"; then
      bad "$page: ($link) names no heading of $target"
    fi
  done < <(grep -oE '\]\([^) ]+\)' <<<"$text" | sed -E 's/^\]\((.*)\)$/\1/')
  # Folders of the tree, headers as they are included, and sources: by any part of their path.
  while IFS= read -r path; do
    [ -e "$path" ] || grep -qE "(^|/)$path\$" <<<"$tree" ||
      bad "$page: \`$path\` is not in the tree"
  done < <(grep -oE '`((src|include|tests|tools|examples|bench|apps|cmake|docs)/[A-Za-z0-9_./-]+|[A-Za-z0-9_/-]+\.(h|cpp|sh))`' <<<"$text" |
    tr -d '`' | sort -u)
done

# Rows of the table of rooms as rules: "| `mesh` | … | base, math |" is "mesh: base math".
rooms=$(sed -nE 's/^\| `([a-z]+)` \|.*\| (–|base[^|]*) \|$/\1: \2/p' docs/architecture.md | sed -E 's/,//g; s/ –$//')
diff <(sed -E '/^[a-z]+:/!d' tools/rooms.txt) <(echo "$rooms") >&2 ||
  bad "docs/architecture.md: its table of rooms is not that of tools/rooms.txt"
diff <(tools/make_rooms_diagram.sh) <(sed -n '/^```mermaid$/,/^```$/p' docs/architecture.md) >&2 ||
  bad "docs/architecture.md: its graph of rooms is not what tools/make_rooms_diagram.sh prints"
exit $failed
