# Sourced by the suite scripts: a broker for the run, and the comparison with the committed pass list.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/env.sh"
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
WORK="$(mktemp -d)"
trap '[ ! -f "$WORK/pid" ] || kill -9 "$(cat "$WORK/pid")" 2>/dev/null || true; rm -rf "$WORK"' EXIT

suite_broker() { # suite_broker FLAG...: uses BOOTSTRAP when it is set, else starts Frazil with these flags
  if [ -z "${BOOTSTRAP:-}" ]; then
    BOOTSTRAP="127.0.0.1:$(free_port)"
    node "$FRAZIL_ROOT/bin/frazil.js" serve --listeners "PLAINTEXT://$BOOTSTRAP" --http "127.0.0.1:$(free_port)" --store "file:$WORK/data" --pod suite "$@" >"$WORK/broker.log" 2>&1 &
    echo $! >"$WORK/pid"
    for _ in $(seq 100); do (exec 3<>"/dev/tcp/${BOOTSTRAP%:*}/${BOOTSTRAP##*:}") 2>/dev/null && break; sleep 0.1; done
  fi
  HOST="${BOOTSTRAP%%:*}" PORT="${BOOTSTRAP##*:}"
}

suite_finish() { # suite_finish RESULTS PASS_LIST: RESULTS has lines «PASS name» and «FAIL name»; the list may only grow
  local results=$1 list=$2 missing extra
  { grep '^PASS ' "$results" || true; } | cut -d' ' -f2- | sort -u >"$WORK/passed"
  grep -v '^#' "$list" | sort -u >"$WORK/want"
  missing=$(comm -23 "$WORK/want" "$WORK/passed")
  extra=$(comm -13 "$WORK/want" "$WORK/passed")
  [ -z "$extra" ] || printf 'passed beyond the list (add them):\n%s\n' "$extra"
  [ -z "${PASS_OUT:-}" ] || cp "$WORK/passed" "$PASS_OUT"
  if [ -n "$missing" ]; then
    printf 'of the list, these did not pass:\n%s\n' "$missing"
    [ ! -f "$WORK/broker.log" ] || tail -20 "$WORK/broker.log"
  fi
  echo "suite: $(comm -12 "$WORK/want" "$WORK/passed" | wc -l) passed, $(grep -c . <<<"$missing") failed"
  [ -z "$missing" ]
}
