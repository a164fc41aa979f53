"""DuckDB's iceberg extension, through the catalog or by folder. usage: read_duckdb.py rest REST_URI NAMESPACE TABLE TIME | path FOLDER TIME"""
import glob, importlib.util, os, sys
import duckdb
from rows import COLUMNS, FILTERS, arrow_rows, show, show_filter

connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
for extension in ("avro", "httpfs", "aws", "iceberg"):
    folder = list(importlib.util.find_spec("duckdb_extension_" + extension).submodule_search_locations)[0]
    connection.execute(f"LOAD '{glob.glob(f'{folder}/extensions/v*/{extension}.duckdb_extension')[0]}'")
connection.execute("SET TimeZone='UTC'")
if os.environ.get("AWS_ENDPOINT_URL"):
    # credentials are the reader's own; where the store is, DuckDB wants to know from the secret as well
    endpoint = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    connection.execute(f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', ENDPOINT '{endpoint}', URL_STYLE 'path', USE_SSL false)")
if sys.argv[1] == "rest":
    rest, namespace, name, moment = sys.argv[2:6]
    connection.execute(f"ATTACH '' AS frazil (TYPE iceberg, ENDPOINT '{rest}', AUTHORIZATION_TYPE 'none')")
    source = f'frazil."{namespace}"."{name}"'
else:
    moment = sys.argv[3]
    source = f"iceberg_scan('{sys.argv[2]}')"
result = connection.execute(f"SELECT * FROM {source}")
show(arrow_rows(result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()))
for name, condition in FILTERS.items():
    show_filter(name, connection.execute(f"SELECT count(*) FROM {source} WHERE {condition.format(t=moment).replace(' UTC', '+00') if name != 'time' else 'kafka_timestamp >= ' + repr(moment + '+00') + '::TIMESTAMPTZ'}").fetchone()[0])
assert all(column in [c[0] for c in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()] for column in COLUMNS)
