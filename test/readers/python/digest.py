"""Every value of every column in one spelling, so that formats can be compared: a line with rows and a digest.
usage: digest.py pyiceberg REST NAMESPACE TABLE | deltalake|duckdb|polars TABLE_FOLDER | pypaimon WAREHOUSE_FOLDER DATABASE.TABLE"""
import datetime as dt, decimal, hashlib, json, sys
import pyarrow as pa


def value(t, v):
    if v is None: return None
    if pa.types.is_map(t): return {"map": sorted(([value(t.key_type, k), value(t.item_type, x)] for k, x in (v.items() if isinstance(v, dict) else v)), key=json.dumps)}
    if pa.types.is_list(t) or pa.types.is_large_list(t): return [value(t.value_type, x) for x in v]
    if pa.types.is_struct(t): return {f.name: value(f.type, v[f.name]) for f in t}
    if isinstance(v, float): return repr(v)
    if isinstance(v, bytes): return {"hex": v.hex()}
    if isinstance(v, decimal.Decimal): return {"decimal": format(v.normalize(), "f")}
    if isinstance(v, dt.datetime):
        v = v if v.tzinfo else v.replace(tzinfo=dt.timezone.utc)
        return {"us": (v - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(microseconds=1)}
    return v.isoformat() if isinstance(v, dt.date) else v


def iceberg(rest, namespace, name):
    from pyiceberg.catalog import load_catalog
    return load_catalog("frazil", type="rest", uri=rest).load_table((namespace, name)).scan().to_arrow()


def deltalake(folder):
    from deltalake import DeltaTable
    return DeltaTable(folder).to_pyarrow_table()


def duckdb(folder):
    import glob, importlib.util, duckdb
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for extension in ("httpfs", "delta"):
        home = list(importlib.util.find_spec("duckdb_extension_" + extension).submodule_search_locations)[0]
        connection.execute(f"LOAD '{glob.glob(f'{home}/extensions/v*/{extension}.duckdb_extension')[0]}'")
    connection.execute("SET TimeZone='UTC'")
    result = connection.execute(f"SELECT * FROM delta_scan('file://{folder}')")
    return result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()


def polars(folder):
    import polars as pl
    return pl.scan_delta(folder).collect().to_arrow()


def pypaimon(warehouse, name):
    from pypaimon import CatalogFactory
    builder = CatalogFactory.create({"warehouse": warehouse}).get_table(name).new_read_builder()
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())


table = {"pyiceberg": iceberg, "deltalake": deltalake, "duckdb": duckdb, "polars": polars, "pypaimon": pypaimon}[sys.argv[1]](*sys.argv[2:])
columns = {name: [value(table.schema.field(name).type, v) for v in table.column(name).to_pylist()] for name in sorted(table.column_names)}
rows = sorted(json.dumps([[name, values[i]] for name, values in columns.items()]) for i in range(table.num_rows))
print(json.dumps({"rows": len(rows), "columns": list(columns), "sha256": hashlib.sha256("\n".join(rows).encode()).hexdigest()}))
