#!/usr/bin/env bash
# Real S3 servers on loopback, for suites of the project.
#
#   servers.sh fetch KIND                install the server into FRAZIL_CACHE (once); needs go (versitygw) or python3 (ministack)
#   servers.sh start KIND PORT FOLDER    start it with its data in FOLDER; prints the environment that a client needs
#   servers.sh stop FOLDER [SIGNAL]      end it; the data stays
#
# KIND: versitygw (data on disk, conditions are atomic, checks signatures and checksums) or ministack (in memory, AWS-like).
# A bucket `frazil` exists after the start.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/env.sh"

home="$FRAZIL_CACHE/s3"
versitygw=v1.8.0
ministack=1.5.33
key=frazil
secret=frazil-secret

fetch() {
  mkdir -p "$home"
  case "$1" in
    versitygw)
      [ -x "$home/versitygw" ] && return
      need go
      GOBIN="$home" go install "github.com/versity/versitygw/cmd/versitygw@$versitygw" ;;
    ministack)
      [ -x "$home/ministack/bin/ministack" ] && return
      need python3
      python3 -m venv "$home/ministack"
      "$home/ministack/bin/pip" install -q "ministack==$ministack" ;;
    *) echo "no such kind of S3 server: $1" >&2; exit 2 ;;
  esac
}

start() {
  local kind=$1 port=$2 folder=$3
  mkdir -p "$folder/data"
  case "$kind" in
    versitygw)
      mkdir -p "$folder/data/frazil"
      # SIDECAR=1: attributes of objects in files beside them, for a file system without extended attributes
      if [ -n "${SIDECAR:-}" ]; then mkdir -p "$folder/meta"; fi
      ROOT_ACCESS_KEY=$key ROOT_SECRET_KEY=$secret nohup "$home/versitygw" --quiet --health /health --port "127.0.0.1:$port" --keep-alive \
        posix ${SIDECAR:+--sidecar "$folder/meta"} "$folder/data" >"$folder/server.log" 2>&1 & ;;
    ministack)
      BIND_HOST=127.0.0.1 GATEWAY_PORT=$port S3_PERSIST=0 S3_DATA_DIR="$folder/data" \
        nohup "$home/ministack/bin/ministack" >"$folder/server.log" 2>&1 & ;;
  esac
  echo $! >"$folder/pid"
  for _ in $(seq 1 300); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf 'export AWS_ENDPOINT_URL=http://127.0.0.1:%s\nexport AWS_ACCESS_KEY_ID=%s\nexport AWS_SECRET_ACCESS_KEY=%s\nexport AWS_REGION=us-east-1\n' \
        "$port" "$key" "$secret"
      return
    fi
    kill -0 "$(cat "$folder/pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "$kind did not start:" >&2
  tail -n 20 "$folder/server.log" >&2
  exit 1
}

stop() {
  [ -f "$1/pid" ] || return 0
  local pid
  pid=$(cat "$1/pid")
  kill "-${2:-TERM}" "$pid" 2>/dev/null || true
  for _ in $(seq 1 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  rm -f "$1/pid"
}

case "${1:-}" in
  fetch) fetch "$2" ;;
  start) start "$2" "$3" "$4" ;;
  stop) stop "$2" "${3:-}" ;;
  *) sed -n '2,/^set /{/^#/p}' "$0"; exit 2 ;;
esac
