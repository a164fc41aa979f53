"""Spark SQL through the catalog. usage: read_spark.py REST_URI NAMESPACE TABLE TIME JARS_FOLDER"""
import glob, sys
from pyspark.sql import SparkSession
from rows import COLUMNS, FILTERS, raw, show, show_filter

rest, namespace, name, moment, jars = sys.argv[1:6]
spark = (SparkSession.builder.master("local[2]")
         .config("spark.jars", ",".join(glob.glob(jars + "/*.jar")))
         .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
         .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.ice.type", "rest")
         .config("spark.sql.catalog.ice.uri", rest).config("spark.sql.catalog.ice.cache-enabled", "false")
         .config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
         .config("spark.driver.bindAddress", "127.0.0.1").config("spark.log.level", "ERROR").config("spark.driver.memory", "1g").getOrCreate())
table = f"ice.`{namespace}`.`{name}`"
picked = spark.sql(f"SELECT * FROM {table}").selectExpr(*[f"unix_micros({c}) AS {c}" if c == "kafka_timestamp" else c for c in COLUMNS])
optional = lambda b: None if b is None else bytes(b)  # noqa: E731
show([(r.kafka_partition, r.kafka_offset, r.kafka_timestamp, raw(r.kafka_key, optional(r.kafka_key_bytes)), raw(r.kafka_value, optional(r.kafka_value_bytes)),
       [[h.key, None if h.value is None else bytes(h.value).hex()] for h in r.kafka_headers]) for r in picked.collect()])
for name, condition in FILTERS.items():
    show_filter(name, spark.sql(f"SELECT count(*) FROM {table} WHERE {condition.format(t=moment)}").collect()[0][0])
spark.stop()
