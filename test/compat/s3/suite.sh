#!/usr/bin/env bash
# The suite of every store against real S3 servers, VersityGW and MiniStack, each on a port and folder of its own.
set -euo pipefail
here="$(dirname "${BASH_SOURCE[0]}")"
source "$here/../lib/env.sh"
need node

status=0
for kind in ${1:-versitygw ministack}; do
  bash "$here/servers.sh" fetch "$kind"
  folder=$(mktemp -d)
  port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
  trap 'bash "$here/servers.sh" stop "$folder"; rm -rf "$folder"' EXIT
  settings=$(bash "$here/servers.sh" start "$kind" "$port" "$folder")
  echo "S3 store on $kind"
  (eval "$settings"; cd "$FRAZIL_ROOT" && vitest run --config test/compat/s3/vitest.config.ts) || status=1
  bash "$here/servers.sh" stop "$folder"
  rm -rf "$folder"
  trap - EXIT
done
exit $status
