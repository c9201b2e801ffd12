#!/usr/bin/env bash
# docs/cli.md says what the program's help says, and every link between pages leads somewhere.
# usage: docs_test.sh DERM_PROGRAM SOURCE_DIR
set -euo pipefail
"$2/tools/check_docs.sh"
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$2/tools/make_cli_docs.sh" "$1" "$made"
diff -u "$2/docs/cli.md" "$made" || {
  echo "docs/cli.md is old: tools/make_cli_docs.sh PROGRAM docs/cli.md" >&2
  exit 1
}
