"""Table files through every Parquet reader that is installed, value by value. usage: read_files.py FOLDER

FOLDER holds NAME.parquet and NAME.jsonl, the rows that must be in it. Prints «N passed, N failed»; exit 1 when any failed.
"""
import glob, importlib.util, json, os, sys


def raw(form, text, data):
    return None if form == 0 else text.encode().hex() if form == 1 else data.hex()


def header_bytes(data):
    """Headers in wire form: zigzag varints and bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return (value >> 1) ^ -(value & 1)

    def blob():
        nonlocal at
        size = varint()
        if size < 0:
            return None
        at += size
        return data[at - size : at].hex()

    return [[blob(), blob()] for _ in range(varint())]


def rows_of(table):
    import pyarrow as pa

    micros = table.column("kafka_timestamp").cast(pa.int64()).to_pylist()
    log = [name for name in table.column_names if name.startswith("kafka_") and name != "kafka_timestamp"]
    rows = []
    for moment, row in zip(micros, table.select(log).to_pylist()):
        headers = row["kafka_headers"]
        rows.append({
            "partition": row["kafka_partition"], "crc": row["kafka_crc"], "offset": row["kafka_offset"],
            "timestampMs": -1 if moment is None else moment // 1000, "timestampType": row["kafka_timestamp_type"],
            "key": raw(row["kafka_key_form"], row["kafka_key"], row["kafka_key_bytes"]),
            "value": raw(row["kafka_value_form"], row["kafka_value"], row["kafka_value_bytes"]),
            "headers": header_bytes(row["kafka_headers_bytes"]) if headers is None
            else [[h["key"].encode().hex(), None if h["value"] is None else h["value"].hex()] for h in headers],
        })
    return rows


def pyarrow(path):
    import pyarrow.parquet
    return pyarrow.parquet.read_table(path)


def duckdb(path):
    import duckdb
    connection = duckdb.connect()
    connection.execute("SET TimeZone='UTC'")
    result = connection.execute(f"SELECT * FROM read_parquet('{path}')")
    return result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()


def polars(path):
    import polars
    return polars.read_parquet(path).to_arrow()


def daft(path):
    import daft
    return daft.read_parquet(path).to_arrow()


def duckdb_filter(path, want):
    """A range of offsets, through statistics and page index, lists in it and all."""
    import duckdb
    some = sorted(want, key=lambda row: row["offset"])[len(want) // 3 : len(want) // 2]
    if not some:
        return True
    low, high = some[0]["offset"], some[-1]["offset"]
    count = sum(1 for row in want if low <= row["offset"] <= high)
    headers = sum(len(row["headers"]) for row in want if low <= row["offset"] <= high and not bad(row))
    return duckdb.connect().execute(
        f"SELECT count(*), coalesce(sum(len(kafka_headers)), 0)::BIGINT FROM read_parquet('{path}') WHERE kafka_offset BETWEEN {low} AND {high}").fetchone() == (count, headers)


def bad(row):
    """True when a header key is no UTF-8: those headers are not in the list."""
    try:
        for key, _ in row["headers"]:
            bytes.fromhex(key).decode()
        return False
    except UnicodeDecodeError:
        return True


passed = failed = 0
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.parquet"))):
    name = os.path.basename(path)[: -len(".parquet")]
    with open(os.path.join(sys.argv[1], name + ".jsonl")) as file:
        want = [json.loads(line) for line in file.read().splitlines()]
    checks = {reader.__name__: lambda reader=reader: rows_of(reader(path)) == want
              for reader in (pyarrow, duckdb, polars, daft) if importlib.util.find_spec(reader.__name__)}
    checks["duckdb filter"] = lambda: duckdb_filter(path, want)
    for reader, check in checks.items():
        try:
            good, why = check(), "differs"
        except Exception as error:  # a reader that refuses the file is what this looks for
            good, why = False, repr(error)[:300]
        passed, failed = (passed + 1, failed) if good else (passed, failed + 1)
        print(f"{'ok  ' if good else 'FAIL'} {name}: {reader}{'' if good else ': ' + why}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
