#!/usr/bin/env bash
# Packs the project, installs the package in an empty folder elsewhere and starts it there with npx.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib/env.sh"
work=$(mktemp -d)
trap '[ ! -f "$work/pid" ] || kill -- "-$(cat "$work/pid")" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$FRAZIL_ROOT"
npm pack --silent --pack-destination "$work" >/dev/null
mkdir "$work/elsewhere"
cd "$work/elsewhere"
# outside the checkout, with the machine's own Node
PATH=$(tr : "\n" <<<"$PATH" | grep -v node_modules/.bin | paste -sd:)
npm init -y >/dev/null
npm install --no-audit --no-fund --silent "$work"/frazil-*.tgz
echo "installed with node $(node --version)"
npx frazil version
kafka=$(free_port) http=$(free_port)
setsid npx frazil serve --listeners "PLAINTEXT://127.0.0.1:$kafka" --http "127.0.0.1:$http" --store "file:$work/data" >"$work/log" 2>&1 </dev/null &
echo $! >"$work/pid"
for _ in $(seq 150); do curl -fsS -o /dev/null "http://127.0.0.1:$http/health/ready" 2>/dev/null && break; sleep 0.2; done
curl -fsS "http://127.0.0.1:$http/health/ready" || { cat "$work/log"; exit 1; }
echo
python=$(python_env clients "$FRAZIL_ROOT/test/compat/clients/python/requirements.txt")
"$python" - "127.0.0.1:$kafka" <<'P'
import sys
from confluent_kafka import Consumer, Producer
producer = Producer({"bootstrap.servers": sys.argv[1]})
producer.produce("package", b"installed", b"k")
assert producer.flush(20) == 0
consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": "g", "auto.offset.reset": "earliest"})
consumer.subscribe(["package"])
message = next(m for m in (consumer.poll(1.0) for _ in range(30)) if m is not None and not m.error())
assert message.value() == b"installed", message.value()
consumer.close()
P
curl -fsS "http://127.0.0.1:$http/iceberg/v1/namespaces/default/tables/package" | grep -q '"total-records":"1"'
echo "package: 1 passed, 0 failed"
