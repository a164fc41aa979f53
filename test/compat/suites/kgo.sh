#!/usr/bin/env bash
# franz-go's own kgo tests that reach a broker, from its Go module, against Frazil (or BOOTSTRAP=HOST:PORT).
# RUN=REGEX picks tests by name; RECORDS (20000) a chained ETL carries; PASS_OUT=FILE writes what passed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need go
VERSION=v1.22.3
SRC="$FRAZIL_CACHE/franz-go-$VERSION"
if [ ! -x "$SRC/kgo.test" ]; then
  rm -rf "$SRC"
  dir=$(cd "$FRAZIL_CACHE" && go mod download -json "github.com/twmb/franz-go@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
  cp -r "$dir" "$SRC"
  chmod -R u+w "$SRC"
  (cd "$SRC/pkg/kgo" && go test -c -o "$SRC/kgo.test" .)
fi
suite_broker
names=$(grep -v '^#' "$HERE/kgo.list.txt" | { grep -E -- "${RUN:-.}" || true; } | paste -sd'|')
cd "$SRC/pkg/kgo"
rc=0
KGO_SEEDS="$BOOTSTRAP" KGO_TEST_RF=1 KGO_TEST_RECORDS="${RECORDS:-20000}" KGO_LOG_LEVEL=none \
  "$SRC/kgo.test" -test.v -test.timeout "${TIMEOUT:-8m}" -test.run "^($names)\$" >"$WORK/log" 2>&1 || rc=$?
cp "$WORK/log" "$FRAZIL_CACHE/kgo.log"
sed -nE 's/^ *--- (PASS|FAIL): ([^ ]+) .*/\1 \2/p' "$WORK/log" >"$WORK/results"
suite_finish "$WORK/results" "$HERE/kgo.pass.txt"
