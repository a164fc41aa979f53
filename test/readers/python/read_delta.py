"""The same table as a Delta log, by path. usage: read_delta.py deltalake|duckdb|polars TABLE_FOLDER TIME"""
import glob, importlib.util, sys
from datetime import datetime, timezone
from rows import FILTERS, arrow_rows, show, show_filter

engine, folder, moment = sys.argv[1:4]
condition = {name: text.format(t=moment) for name, text in FILTERS.items()}

if engine == "deltalake":
    from deltalake import DeltaTable, QueryBuilder
    table = DeltaTable(folder)
    show(arrow_rows(table.to_pyarrow_table()))
    query = QueryBuilder().register("t", table)
    condition["time"] = f"kafka_timestamp >= arrow_cast('{moment.replace(' ', 'T')}Z', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    for name, text in condition.items():
        batches = query.execute(f"SELECT count(*) AS n FROM t WHERE {text}")
        batches = batches.read_all() if hasattr(batches, "read_all") else batches
        show_filter(name, sum(b["n"][0].as_py() if hasattr(b["n"][0], "as_py") else b["n"][0] for b in (batches.to_batches() if hasattr(batches, "to_batches") else [batches])))
elif engine == "duckdb":
    import duckdb
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for extension in ("httpfs", "delta"):
        home = list(importlib.util.find_spec("duckdb_extension_" + extension).submodule_search_locations)[0]
        connection.execute(f"LOAD '{glob.glob(f'{home}/extensions/v*/{extension}.duckdb_extension')[0]}'")
    connection.execute("SET TimeZone='UTC'")
    source = f"delta_scan('file://{folder}')"
    result = connection.execute(f"SELECT * FROM {source}")
    show(arrow_rows(result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()))
    condition["time"] = f"kafka_timestamp >= '{moment}+00'::TIMESTAMPTZ"
    for name, text in condition.items():
        show_filter(name, connection.execute(f"SELECT count(*) FROM {source} WHERE {text}").fetchone()[0])
else:
    import polars as pl
    frame = pl.scan_delta(folder)
    show(arrow_rows(frame.collect().to_arrow()))
    at = datetime.fromisoformat(moment).replace(tzinfo=timezone.utc)
    c = pl.col
    filters = {
        "offsets": (c("kafka_partition") == 1) & c("kafka_offset").is_between(100, 249),
        "key": c("kafka_key") == "key-5",
        "time": c("kafka_timestamp") >= pl.lit(at),
        "null key": c("kafka_key").is_null() & c("kafka_key_bytes").is_null(),
        "text": c("kafka_value").str.starts_with('{"n":12'),
    }
    for name in condition:
        show_filter(name, frame.filter(filters[name]).select(pl.len()).collect().item())
