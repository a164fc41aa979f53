"""Rows in one spelling, whatever engine they come from: a JSON array a line, ordered by partition and offset.

[partition, offset, timestamp in microseconds or null, key hex or null, value hex or null, [[header key, value hex or null], …]]
Lines that begin with «filter» count rows under a condition: each engine prunes files and pages its own way.
"""
import json, sys

COLUMNS = ["kafka_partition", "kafka_offset", "kafka_timestamp", "kafka_key", "kafka_key_bytes", "kafka_value", "kafka_value_bytes", "kafka_headers"]

#: name -> SQL condition; {t} is a timestamp literal's text, {k} a key
FILTERS = {
    "offsets": "kafka_partition = 1 AND kafka_offset BETWEEN 100 AND 249",
    "key": "kafka_key = 'key-5'",
    "time": "kafka_timestamp >= TIMESTAMP '{t} UTC'",
    "null key": "kafka_key IS NULL AND kafka_key_bytes IS NULL",
    "text": "kafka_value LIKE '{{\"n\":12%'",
}


def raw(text, data):
    return data.hex() if data is not None else text.encode().hex() if text is not None else None


def line(partition, offset, micros, key, value, headers):
    return json.dumps([partition, offset, micros, key, value, headers], ensure_ascii=True, separators=(",", ":"))


def show(lines):
    """lines: tuples (partition, offset, micros, key hex, value hex, headers)."""
    for one in sorted(lines, key=lambda r: (r[0], r[1])):
        sys.stdout.write(line(*one) + "\n")


def show_filter(name, count):
    sys.stdout.write(f"filter {name} {count}\n")


def arrow_rows(table):
    micros = table.column("kafka_timestamp").cast("int64").to_pylist()
    for n, r in enumerate(table.drop_columns(["kafka_timestamp"]).to_pylist()):
        yield (r["kafka_partition"], r["kafka_offset"], micros[n], raw(r["kafka_key"], r["kafka_key_bytes"]), raw(r["kafka_value"], r["kafka_value_bytes"]),
               [[h["key"], None if h["value"] is None else h["value"].hex()] for h in r["kafka_headers"]])
