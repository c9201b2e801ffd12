#!/usr/bin/env bash
# Writes docs/cli.md from the program's own help. usage: make_cli_docs.sh DERM_PROGRAM OUT
set -euo pipefail
derm=$1
out=$2
# The names listed under "Subcommands:" in a help text.
subcommands() {
  "$derm" "$@" --help |
    awk '/^Subcommands:/ { on = 1; next } on && !NF { exit } on { print $1 }'
}
{
  echo '# The command line'
  echo
  echo '*Made from the program'"'"'s own help by `tools/make_cli_docs.sh`.*'
  echo
  echo '```'
  "$derm" --help
  echo '```'
  for verb in $(subcommands); do
    printf '\n## derm %s\n\n```\n' "$verb"
    "$derm" "$verb" --help
    echo '```'
    for part in $(subcommands "$verb"); do
      printf '\n### derm %s %s\n\n```\n' "$verb" "$part"
      "$derm" "$verb" "$part" --help
      echo '```'
    done
  done
} >"$out"
