"""A transactional load that survives a broker that is killed (librdkafka, the protocol before KIP-890).

usage: loader.py --bootstrap HOST:PORT --topic T --partitions N --producer P --outcomes FILE
Transaction k of producer P writes records «P k i total» to several partitions, then commits or aborts it. Each is a line «k commit»,
«k abort» or «k unknown» (nobody heard how the commit went) of FILE. Ends when standard input closes.
"""
import argparse, random, select, sys, time
from confluent_kafka import KafkaException, Producer

parser = argparse.ArgumentParser()
for name in ("--bootstrap", "--topic", "--producer", "--outcomes"):
    parser.add_argument(name, required=True)
parser.add_argument("--partitions", type=int, required=True)
args = parser.parse_args()


def make():
    while True:
        producer = Producer({"bootstrap.servers": args.bootstrap, "transactional.id": args.producer, "transaction.timeout.ms": 20000,
                             "linger.ms": 5, "log_level": 0, "retry.backoff.ms": 50, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500})
        try:
            producer.init_transactions(60)
            return producer
        except KafkaException as error:
            print(f"{args.producer}: init: {error}", file=sys.stderr)


out, producer, random_ = open(args.outcomes, "w"), make(), random.Random(args.producer)
counts = {"commit": 0, "abort": 0, "unknown": 0}
for k in range(1_000_000):
    if select.select([sys.stdin], [], [], 0)[0] and not sys.stdin.readline():
        break
    total, outcome = 1 + random_.randrange(20), "commit" if random_.random() < 0.7 else "abort"
    try:
        producer.begin_transaction()
        for i in range(total):
            producer.produce(args.topic, f"{args.producer} {k} {i} {total}".encode(), partition=(k + i) % args.partitions)
        if random_.random() < 0.5:
            producer.flush(30)
    except (KafkaException, BufferError):
        outcome = "abort"
    try:
        producer.commit_transaction(60) if outcome == "commit" else producer.abort_transaction(60)
    except KafkaException as error:
        if outcome == "commit":
            outcome = "unknown"
            # an abortable error means that it was not committed, anything else that nobody knows
            if error.args[0].txn_requires_abort():
                outcome = "abort"
        producer = make()
    counts[outcome] += 1
    out.write(f"{k} {outcome}\n")
    out.flush()
    time.sleep(0.01)
out.close()
print(args.producer, counts)
