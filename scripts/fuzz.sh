#!/usr/bin/env bash
# Runs every fuzz target of the repository for FUZZTIME each. Findings land in the package's testdata/fuzz and then
# run as ordinary tests for ever.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-60s}
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# ranOut says that a run failed by its own end alone. In Go before 1.27 (go.dev/issue/75804) the fuzzer may take the end
# of its time for an error of a worker, now and then on a busy machine. A finding is told otherwise:
# it writes the input, or says that a worker hung or panicked.
ranOut() {
  grep -qaE '^ +context deadline exceeded$' "$log" &&
    ! grep -qaE 'Failing input written|fuzzing process|panic:|testing\.go:|_test\.go:' "$log"
}

while IFS=: read -r file target; do
  dir=./$(dirname "$file")
  printf '== %s %s for %s\n' "$dir" "$target" "$time"
  if ! go test -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -fuzzminimizetime 20x "$dir" | tee "$log"; then
    if ranOut; then
      printf '== %s %s: no finding, its time was over\n' "$dir" "$target"
    else
      failed=1
    fi
  fi
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null | sed 's/:func /:/')
exit "$failed"
