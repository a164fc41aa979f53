#!/usr/bin/env bash
# kafka-python's own integration tests, from its source distribution, against Frazil (or BOOTSTRAP=HOST:PORT).
# RUN='test_admin' picks tests by name; PASS_OUT=FILE writes what passed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need python3 tar
VERSION=3.0.12
SRC="$FRAZIL_CACHE/kafka-python-$VERSION"
if [ ! -f "$SRC/.ready" ]; then
  rm -rf "$SRC"
  mkdir -p "$SRC/download"
  python3 -m venv "$SRC/venv"
  "$SRC/venv/bin/pip" -q download --no-deps --no-binary kafka-python -d "$SRC/download" "kafka-python==$VERSION"
  tar xzf "$SRC"/download/*.tar.gz -C "$SRC" --strip-components=1
  "$SRC/venv/bin/pip" -q install "$SRC" pytest==9.2.0 pytest-timeout pytest-mock python-snappy lz4 zstandard crc32c
  touch "$SRC/test/__init__.py"
  # the distribution leaves this module out; with KAFKA_URI the fixtures only need its shape
  cat >"$SRC/test/service.py" <<'P'
class ExternalService:
    def __init__(self, host, port):
        self.host = host
        self.port = port

    def wait_for(self, *_args, **_kwargs):
        return True

    def open(self):
        return None

    close = start = stop = dump_logs = open


class SpawnedService(ExternalService):
    def __init__(self, *_args, **_kwargs):
        raise RuntimeError("only brokers that run already: set KAFKA_URI")
P
  touch "$SRC/.ready"
fi
suite_broker --num-partitions 4 --group-min-session-timeout-ms 1000 --group-initial-rebalance-delay-ms 0
cd "$SRC"
rc=0
KAFKA_ROOT="$WORK" KAFKA_VERSION=4.3.0 KAFKA_URI="kafka://$HOST:$PORT" PYTHONPATH="$SRC" timeout 600 venv/bin/python -m pytest test/integration \
  -k "not sasl and not ssl${RUN:+ and ($RUN)}" -rA -p no:cacheprovider --timeout=60 --timeout-method=signal -o log_level=WARNING --show-capture=no >"$WORK/log" 2>&1 || rc=$?
cp "$WORK/log" "$FRAZIL_CACHE/kafka-python.log"
[ "$rc" -le 1 ] || tail -20 "$WORK/log"
sed -nE 's/^PASSED test\/integration\/(.*::[^ ]+).*/PASS \1/p; s/^(FAILED|ERROR) test\/integration\/(.*::[^ ]+).*/FAIL \2/p' "$WORK/log" >"$WORK/results"
suite_finish "$WORK/results" "$HERE/kafka-python.pass.txt"
