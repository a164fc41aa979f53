#!/usr/bin/env bash
# usage: read_trino.sh REST_URI NAMESPACE TABLE TIME PYTHON    starts Trino, reads the table, stops it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../compat/lib/env.sh"
source "$here/lib/engines.sh"
state=$(mktemp -d)
trap 'trino_stop "$state"; rm -rf "$state"' EXIT
trino_start "$1" "$state" "$(free_port)" >&2
table="ice.\"$2\".\"$3\""
trino_sql "$state" "SELECT json_format(cast(ARRAY[cast(kafka_partition AS json), cast(kafka_offset AS json), cast(cast(to_unixtime(kafka_timestamp) * 1000 AS bigint) * 1000 AS json),
  cast(to_hex(coalesce(kafka_key_bytes, to_utf8(kafka_key))) AS json), cast(to_hex(coalesce(kafka_value_bytes, to_utf8(kafka_value))) AS json),
  cast(transform(kafka_headers, h -> ARRAY[h.key, to_hex(h.value)]) AS json)] AS json)) FROM $table" >"$state/rows.csv"
trino_sql "$state" "SELECT * FROM (
  SELECT 'offsets', count(*) FROM $table WHERE kafka_partition = 1 AND kafka_offset BETWEEN 100 AND 249
  UNION ALL SELECT 'key', count(*) FROM $table WHERE kafka_key = 'key-5'
  UNION ALL SELECT 'time', count(*) FROM $table WHERE kafka_timestamp >= TIMESTAMP '$4 UTC'
  UNION ALL SELECT 'null key', count(*) FROM $table WHERE kafka_key IS NULL AND kafka_key_bytes IS NULL
  UNION ALL SELECT 'text', count(*) FROM $table WHERE kafka_value LIKE '{\"n\":12%')" >"$state/filters.csv"
"$5" "$here/python/read_trino.py" "$state/rows.csv" "$state/filters.csv"
