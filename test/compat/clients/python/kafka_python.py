"""kafka-python: writes and reads the records of test/compat."""
import time
from common import Digest, arguments, records
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

args = arguments()
if args.action == "produce":
    producer = KafkaProducer(bootstrap_servers=args.bootstrap, compression_type=None if args.codec == "none" else args.codec,
                             acks="all" if args.acks == "all" else int(args.acks), linger_ms=5, enable_idempotence=args.idempotent)
    sent = [producer.send(args.topic, value, key, headers, partition, timestamp) for partition, key, value, headers, timestamp in records(args.records)]
    producer.flush(60)
    for future in sent:
        future.get(60)
    producer.close()
elif args.action == "time":
    consumer = KafkaConsumer(bootstrap_servers=args.bootstrap)
    found = consumer.offsets_for_times({TopicPartition(args.topic, args.partition): args.timestamp})[TopicPartition(args.topic, args.partition)]
    print(-1 if found is None else found.offset)
    consumer.close()
else:
    counts = [int(c) for c in args.counts.split(",")]
    starts = [int(s) for s in args.start.split(",")] if args.start else [0] * len(counts)
    options = {"bootstrap_servers": args.bootstrap, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    if args.group:
        consumer = KafkaConsumer(args.topic, group_id=args.group, **options)
    else:
        consumer = KafkaConsumer(**options)
        consumer.assign([TopicPartition(args.topic, p) for p in range(len(counts))])
        for p, start in enumerate(starts):
            consumer.seek(TopicPartition(args.topic, p), start)
    digest, deadline = Digest(len(counts)), time.time() + 120
    while sum(digest.counts) < sum(counts):
        if time.time() > deadline:
            raise SystemExit(f"got {digest.counts} of {counts} within 120 s")
        for tp, batch in consumer.poll(500, 5000).items():
            for r in batch:
                digest.add(tp.partition, r.offset, r.timestamp, r.key, r.value, list(r.headers or []))
    if args.group:
        consumer.commit()
    consumer.close()
    digest.show()
