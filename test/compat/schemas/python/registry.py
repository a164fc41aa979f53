"""confluent-kafka's registry client and serializers against a registry and broker: everything it asks, then records.

usage: registry.py BOOTSTRAP REGISTRY_URL RECORDS
"""
import base64
import json
import sys

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.schema_registry import header_schema_id_serializer, dual_schema_id_deserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

bootstrap, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = SchemaRegistryClient({"url": url})
passed = 0


def check(name, got, want):
    global passed
    if got != want:
        raise SystemExit(f"FAIL {name}: got {got!r}, want {want!r}")
    passed += 1


def refused(name, code, call):
    try:
        call()
    except SchemaRegistryError as error:
        return check(name, error.error_code, code)
    raise SystemExit(f"FAIL {name}: not refused")


def record(*fields):
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": list(fields)})


ID = {"name": "id", "type": "long"}
NAME = {"name": "name", "type": ["null", "string"], "default": None}


def api():
    first = client.register_schema("api", Schema(record(ID), "AVRO"))
    check("the same again", client.register_schema("api", Schema(record(ID), "AVRO")), first)
    check("in another subject", client.register_schema("api-2", Schema(record(ID), "AVRO")), first)
    second = client.register_schema("api", Schema(record(ID, NAME), "AVRO"))
    check("versions", client.get_versions("api"), [1, 2])
    check("lookup", client.lookup_schema("api", Schema(record(ID, NAME), "AVRO")).version, 2)
    check("latest", client.get_latest_version("api").schema_id, second)
    check("by version", json.loads(client.get_version("api", 1).schema.schema_str)["name"], "Order")
    fresh = SchemaRegistryClient({"url": url})
    check("by id", json.loads(fresh.get_schema(second).schema_str), json.loads(record(ID, NAME)))
    guid = fresh.get_latest_version("api").guid
    check("by guid", json.loads(fresh.get_schema_by_guid(guid).schema_str), json.loads(record(ID, NAME)))
    check("subjects", [s for s in client.get_subjects() if s.startswith("api")], ["api", "api-2"])
    check("versions of an id", sorted((v.subject, v.version) for v in client.get_schema_versions(first)), [("api", 1), ("api-2", 1)])
    check("subjects of an id", client.get_subjects_by_schema_id(second), ["api"])
    check("types", sorted(client.get_schema_types()), ["AVRO", "JSON", "PROTOBUF"])
    check("compatibility", client.get_compatibility(), "BACKWARD")
    bad = Schema(record(ID, {"name": "age", "type": "int"}), "AVRO")
    check("test, not compatible", client.test_compatibility("api", bad), False)
    check("test, compatible", client.test_compatibility("api", Schema(record(ID), "AVRO"), "latest"), True)
    refused("not compatible", 409, lambda: client.register_schema("api", bad))
    client.set_compatibility("api", "NONE")
    check("level of a subject", client.get_compatibility("api"), "NONE")
    client.register_schema("api", bad)
    refused("no such subject", 40401, lambda: client.get_versions("nobody"))
    refused("no such version", 40402, lambda: client.get_version("api", 77))
    refused("no such id", 40403, lambda: fresh.get_schema(99999))
    refused("no such schema", 40403, lambda: client.lookup_schema("api", Schema('"string"', "AVRO")))
    refused("no schema", 42201, lambda: client.register_schema("api", Schema("{", "AVRO")))
    refused("no level", 42203, lambda: client.set_compatibility("api", "SOME"))
    refused("no level set", 40408, lambda: client.get_compatibility("api-2"))
    check("delete a version", client.delete_version("api", 1), 1)
    check("versions after it", client.get_versions("api"), [2, 3])
    check("for ever", client.delete_version("api", 1, permanent=True), 1)
    refused("subject for ever, at once", 40405, lambda: client.delete_subject("api", permanent=True))
    check("delete a subject", client.delete_subject("api-2"), [1])
    check("deleted ones", "api-2" in client.get_subjects(deleted=True), True)
    check("modes", client.update_mode("api", "READONLY"), "READONLY")
    refused("read-only", 42205, lambda: client.register_schema("api", Schema(record(ID, NAME, {"name": "x", "type": "int", "default": 1}), "AVRO")))
    check("mode", client.get_mode("api"), "READONLY")
    client.update_mode("api", "READWRITE")
    check("context", client.register_schema(":.other:api", Schema('"long"', "AVRO")), 1)
    check("contexts", client.get_contexts(), [".", ".other"])
    check("the context's", fresh.get_schema(1, subject_name=":.other:api").schema_str, '"long"')


def references():
    client.register_schema("customer", Schema('{"type":"record","name":"Customer","namespace":"shop","fields":[{"name":"name","type":"string"}]}', "AVRO"))
    text = '{"type":"record","name":"Sale","namespace":"shop","fields":[{"name":"customer","type":"shop.Customer"}]}'
    reference = SchemaReference("shop.Customer", "customer", 1)
    schema = Schema(text, "AVRO", [reference])
    sale = client.register_schema("sale", schema)
    check("referenced by", client.get_referenced_by("customer", 1), [sale])
    refused("still referred to", 42206, lambda: client.delete_version("customer", 1))
    ctx = SerializationContext("sale-topic", MessageField.VALUE)
    bytes_ = AvroSerializer(client, schema)({"customer": {"name": "Ada"}}, ctx)
    check("a record with a reference", AvroDeserializer(SchemaRegistryClient({"url": url}))(bytes_, ctx), {"customer": {"name": "Ada"}})


def protobuf_classes():
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    shared = descriptor_pb2.FileDescriptorProto(name="shop/address.proto", package="shop", syntax="proto3")
    address = shared.message_type.add(name="Address")
    address.field.add(name="city", number=1, label=1, type=9)
    main = descriptor_pb2.FileDescriptorProto(
        name="shop/order.proto", package="shop", syntax="proto3", dependency=["google/protobuf/timestamp.proto", "shop/address.proto"]
    )
    order = main.message_type.add(name="PbOrder")
    order.field.add(name="id", number=1, label=1, type=3)
    order.field.add(name="tags", number=2, label=3, type=9)
    order.field.add(name="at", number=3, label=1, type=11, type_name=".google.protobuf.Timestamp")
    order.field.add(name="address", number=4, label=1, type=11, type_name=".shop.Address")
    order.field.add(name="note", number=5, label=1, type=9, proto3_optional=True, oneof_index=1)
    order.field.add(name="cash", number=6, label=1, type=8, oneof_index=0)
    order.field.add(name="card", number=7, label=1, type=9, oneof_index=0)
    order.oneof_decl.add(name="paid")
    order.oneof_decl.add(name="_note")
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=9)
    entry.field.add(name="value", number=2, label=1, type=5)
    order.field.add(name="counts", number=8, label=3, type=11, type_name=".shop.PbOrder.CountsEntry")
    kind = order.enum_type.add(name="Kind")
    kind.value.add(name="UNKNOWN", number=0)
    kind.value.add(name="BIG", number=1)
    order.field.add(name="kind", number=9, label=1, type=14, type_name=".shop.PbOrder.Kind")
    pool.Add(shared)
    pool.Add(main)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.PbOrder"))


def produced(topic, serializer, deserializer, values, plain=lambda value: value):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    context = SerializationContext(topic, MessageField.VALUE)
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in values:
        headers = []
        context.headers = headers
        producer.produce(topic, serializer(value, context), headers=headers)
    producer.flush(60)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    got = []
    for _ in range(600):
        message = consumer.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise SystemExit(f"FAIL {topic}: {message.error()}")
        context.headers = message.headers()
        got.append(plain(deserializer(message.value(), context)))
        if len(got) == len(values):
            break
    consumer.close()
    check(f"records of {topic}", got, [plain(value) for value in values])


def records():
    reader = SchemaRegistryClient({"url": url})
    orders = [{"id": i, "name": None if i % 3 == 0 else f"n{i}"} for i in range(count)]
    produced("sr-avro", AvroSerializer(client, record(ID, NAME)), AvroDeserializer(reader), orders)
    produced(
        "sr-avro-header",
        AvroSerializer(client, record(ID, NAME), conf={"schema.id.serializer": header_schema_id_serializer}),
        AvroDeserializer(reader, conf={"schema.id.deserializer": dual_schema_id_deserializer}),
        # the client refuses values below six bytes in this form too
        [{"id": i, "name": f"a name of some length {i}"} for i in range(count)],
    )
    schema = json.dumps(
        {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Order", "type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]}}, "required": ["id"]}
    )
    produced("sr-json", JSONSerializer(schema, client), JSONDeserializer(None, schema_registry_client=reader), orders)
    cls = protobuf_classes()
    messages = [
        cls(id=i, tags=["a", str(i)], at={"seconds": i}, address={"city": "Bern"}, cash=True, counts={"x": i}, kind=i % 2) for i in range(count)
    ]
    messages[0].note = "first"
    produced(
        "sr-proto",
        ProtobufSerializer(cls, client, {"use.deprecated.format": False}),
        ProtobufDeserializer(cls, {"use.deprecated.format": False}, reader),
        messages,
        lambda message: message.SerializeToString(deterministic=True),
    )
    latest = client.get_latest_version("sr-proto-value")
    serialized = client.get_version("sr-proto-value", latest.version, fmt="serialized").schema
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(serialized.schema_str))
    want = descriptor_pb2.FileDescriptorProto()
    cls.DESCRIPTOR.file.CopyToProto(want)
    file.name = want.name
    for message in file.message_type:
        for field in [*message.field, *(f for nested in message.nested_type for f in nested.field)]:
            field.ClearField("json_name")
    for message in want.message_type:
        for field in [*message.field, *(f for nested in message.nested_type for f in nested.field)]:
            field.ClearField("json_name")
    check("the descriptor that comes back", file, want)
    check("references of a Protobuf schema", [r.name for r in latest.schema.references], ["shop/address.proto"])


api()
references()
records()
print(f"{passed} checks passed")
