#!/usr/bin/env bash
# Breaks the permission filter in several places, one at a time, and shows that the tests of
# non-interference catch each: a change that none of them catches ends the run with 1.
#
#   tests/mutate.sh                       # all
#   tests/mutate.sh idf "cache key"       # some
#
# It changes files of src/ and puts them back; begin with a clean working tree. CARGO_TEST is what
# runs the tests (usually 'cargo test --release'), PROPTEST_CASES how many cases of each kind.
set -uo pipefail
cd "$(dirname "$0")/.."
read -ra run <<<"${CARGO_TEST:-cargo test --release}"
export PROPTEST_CASES=${PROPTEST_CASES:-300}
# Failing cases are found anew each time, and not written down.
export PROPTEST_DISABLE_FAILURE_PERSISTENCE=1

missed=0
kept=$(mktemp)
changed=
restore() { [ -z "$changed" ] || cp "$kept" "$changed"; changed=; }
trap 'restore; rm -f "$kept"' EXIT
trap 'exit 130' INT TERM

# mutate NAME FILE TEXT REPLACEMENT
mutate() {
  local name=$1 file=$2 from=$3 to=$4
  if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  cp "$file" "$kept"
  changed=$file
  if ! FROM=$from TO=$to perl -0pi -e '$n = s/\Q$ENV{FROM}\E/$ENV{TO}/; END { exit !$n }' "$file"; then
    echo "$name: '$from' is not in $file: mend this script"
    exit 2
  fi
  local log
  log=$("${run[@]}" --test it non_interference 2>&1)
  local code=$?
  restore
  local caught
  caught=$(grep -oE '^test [a-z_:]+ \.\.\. FAILED' <<<"$log" | sed -E 's/^test (.*) \.\.\. FAILED/\1/' | paste -sd' ')
  if [ $code -ne 0 ] && [ -n "$caught" ]; then
    printf '%-20s caught by %s\n' "$name" "$caught"
  elif [ $code -ne 0 ]; then
    printf '%-20s does not compile or run:\n%s\n' "$name" "$(tail -5 <<<"$log")"
    missed=1
  else
    printf '%-20s NOT CAUGHT\n' "$name"
    missed=1
  fi
}

wanted=("$@")
mutate 'idf' src/index/lexical/statistics.rs \
  'tools: permitted.len(),' 'tools: permitted.catalogue_len(),'
mutate 'term frequency' src/index/lexical/statistics.rs \
  '.filter(|(tool, _)| permitted.contains(*tool))' '.filter(|_| true)'
mutate 'average length' src/index/lexical/statistics.rs \
  'for tool in permitted.iter() {' \
  'for tool in (0..permitted.catalogue_len() as u32).map(crate::tool::ToolId) {'
mutate 'counts' src/search/view.rs \
  'for tool in permitted.iter() {' \
  'for tool in (0..permitted.catalogue_len() as u32).map(crate::tool::ToolId) {'
mutate 'suggestions' src/search/parse.rs \
  'let mut ends = view.permitted.iter().filter(|tool| {' \
  'let mut ends = (0..index.catalog.len() as u32).map(ToolId).filter(|tool| {'
mutate 'names' src/search/parse.rs \
  'seen.filter(|tool| view.permitted.contains(*tool)).collect()' 'seen.collect()'
mutate 'cache key' src/serve/state.rs \
  'get_with(permitted.fingerprint(),' 'get_with([0; 32],'
mutate 'entity tag' src/index/mod.rs \
  'for tool in permitted.iter() {
            hasher' \
  'for tool in (0..permitted.catalogue_len() as u32).map(ToolId) {
            hasher'
mutate 'one tool by key' src/serve/http/tools.rs \
  '.find(|id| seen.view.permitted.contains(**id))' '.next()'
exit $missed
