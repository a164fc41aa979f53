"""Most APIs that librdkafka speaks, once (through confluent-kafka); for record-clients.ts."""
import os
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec

bootstrap = os.environ["BOOTSTRAP"]
topic = f"librdkafka-{os.getpid()}"
group = f"{topic}-group"
base = {"bootstrap.servers": bootstrap, "client.id": "librdkafka"}
admin = AdminClient(base)


def done(futures):
    for future in futures.values() if isinstance(futures, dict) else [futures]:
        future.result(20)


done(admin.create_topics([NewTopic(topic, 2, 1, config={"retention.ms": "3600000"})]))
time.sleep(0.5)
done(admin.create_partitions([NewPartitions(topic, 3)]))
done(admin.describe_cluster(include_authorized_operations=True))
admin.list_topics(topic, 10)
resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
done(admin.describe_configs([resource]))
change = ConfigEntry("retention.ms", "7200000", incremental_operation=AlterConfigOpType.SET)
done(admin.incremental_alter_configs([ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[change])]))
done(admin.alter_configs([ConfigResource(ConfigResource.Type.TOPIC, topic, set_config={"retention.ms": "7200000"})]))

for settings in ({"enable.idempotence": True}, {"compression.type": "lz4", "acks": 1}, {"acks": 0}):
    producer = Producer({**base, **settings})
    for partition in range(3):
        producer.produce(topic, b"v", b"k", partition, headers=[("h", b"x"), ("h", None)])
    producer.flush(20)

consumer = Consumer({**base, "group.id": group, "auto.offset.reset": "earliest", "session.timeout.ms": 6000, "heartbeat.interval.ms": 300})
consumer.subscribe([topic])
seen = 0
while seen < 6:
    seen += sum(1 for message in consumer.consume(10, 1) if not message.error())
time.sleep(1)
consumer.commit(asynchronous=False)
consumer.offsets_for_times([TopicPartition(topic, 0, 1)], timeout=20)
done(admin.describe_consumer_groups([group]))
done(admin.list_consumer_groups())
done(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]))
consumer.close()
done(admin.list_offsets({TopicPartition(topic, 0): OffsetSpec.latest(), TopicPartition(topic, 1): OffsetSpec.max_timestamp()}))
done(admin.delete_records([TopicPartition(topic, 0, 1)]))
done(admin.delete_consumer_groups([group]))
done(admin.delete_topics([topic]))
