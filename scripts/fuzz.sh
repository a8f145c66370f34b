#!/usr/bin/env bash
# Runs every fuzz target of the repository for FUZZTIME each. Findings land in the package's testdata/fuzz and then
# run as ordinary tests for ever.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-60s}
failed=0
while IFS=: read -r file target; do
  dir=./$(dirname "$file")
  printf '== %s %s for %s\n' "$dir" "$target" "$time"
  go test -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -fuzzminimizetime 20x "$dir" || failed=1
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null | sed 's/:func /:/')
exit "$failed"
