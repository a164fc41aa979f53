#!/usr/bin/env bash
# The suite of every log, and what goes wrong with a database, on a real PostgreSQL server.
set -euo pipefail
here="$(dirname "${BASH_SOURCE[0]}")"
source "$here/../lib/env.sh"
need node

bash "$here/server.sh" fetch
folder=$(mktemp -d)
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
trap 'bash "$here/server.sh" stop "$folder" immediate || true; rm -rf "$folder"' EXIT
FRAZIL_PG_URL=$(bash "$here/server.sh" start "$port" "$folder")
export FRAZIL_PG_URL FRAZIL_PG_PORT="$port" FRAZIL_PG_FOLDER="$folder"
cd "$FRAZIL_ROOT" && vitest run --config test/compat/postgres/vitest.config.ts
