"""PyIceberg through the catalog. usage: read_pyiceberg.py REST_URI NAMESPACE TABLE TIME"""
import datetime, sys
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.expressions import And, EqualTo, GreaterThanOrEqual, IsNull, LessThanOrEqual, StartsWith
from rows import arrow_rows, show, show_filter

rest, namespace, name, moment = sys.argv[1:5]
table = RestCatalog("frazil", uri=rest).load_table((namespace, name))
show(arrow_rows(table.scan().to_arrow()))
count = lambda condition: table.scan(row_filter=condition).to_arrow().num_rows  # noqa: E731
show_filter("offsets", count(And(EqualTo("kafka_partition", 1), And(GreaterThanOrEqual("kafka_offset", 100), LessThanOrEqual("kafka_offset", 249)))))
show_filter("key", count(EqualTo("kafka_key", "key-5")))
show_filter("time", count(GreaterThanOrEqual("kafka_timestamp", datetime.datetime.fromisoformat(moment + "+00:00").isoformat())))
show_filter("null key", count(And(IsNull("kafka_key"), IsNull("kafka_key_bytes"))))
show_filter("text", count(StartsWith("kafka_value", '{"n":12')))
