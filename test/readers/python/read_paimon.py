"""The same table as Paimon's, by pypaimon. usage: read_paimon.py WAREHOUSE_FOLDER DATABASE.TABLE TIME"""
import sys
from datetime import datetime, timezone
from pypaimon import CatalogFactory
from rows import FILTERS, arrow_rows, show, show_filter

warehouse, name, moment = sys.argv[1:4]
table = CatalogFactory.create({"warehouse": warehouse}).get_table(name)


def read(predicate=None):
    builder = table.new_read_builder()
    if predicate is not None:
        builder = builder.with_filter(predicate)
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())


show(arrow_rows(read()))
p = table.new_read_builder().new_predicate_builder()
at = datetime.fromisoformat(moment).replace(tzinfo=timezone.utc)
filters = {
    "offsets": p.and_predicates([p.equal("kafka_partition", 1), p.between("kafka_offset", 100, 249)]),
    "key": p.equal("kafka_key", "key-5"),
    "time": p.greater_or_equal("kafka_timestamp", at),
    "null key": p.and_predicates([p.is_null("kafka_key"), p.is_null("kafka_key_bytes")]),
    "text": p.startswith("kafka_value", '{"n":12'),
}
for one in FILTERS:
    show_filter(one, read(filters[one]).num_rows)
