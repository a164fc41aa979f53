"""A load that survives a broker that is killed: idempotent librdkafka producers write numbered records without end.

usage: loader.py --bootstrap HOST:PORT --topic T --partitions N --producer P --acked FILE [--rate R]
Record n of producer P has the value «P n» and a filler; it goes to partition n % N. Each acknowledged record is a line
«n partition offset» of FILE. Ends when standard input closes: flushes, then prints how many were sent and acknowledged.
"""
import argparse, os, select, sys, time
from confluent_kafka import Producer

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--topic", required=True)
parser.add_argument("--partitions", type=int, required=True)
parser.add_argument("--producer", required=True)
parser.add_argument("--acked", required=True)
parser.add_argument("--rate", type=int, default=10000)
args = parser.parse_args()

out, failed, acked = open(args.acked, "w"), [], 0


def delivered(n):
    def report(error, message):
        global acked
        if error:
            failed.append(str(error))
        else:
            acked += 1
            out.write(f"{n} {message.partition()} {message.offset()}\n")
    return report


producer = Producer({"bootstrap.servers": args.bootstrap, "enable.idempotence": True, "linger.ms": 5, "message.timeout.ms": 300000,
                     "queue.buffering.max.messages": 20000, "log_level": 0, "retry.backoff.ms": 50, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500})
n, begun = 0, time.time()
while n < 100_000_000:
    if n % 100 == 0:
        if select.select([sys.stdin], [], [], 0)[0] and not sys.stdin.readline():
            break
        producer.poll(0)
        while (ahead := n / args.rate - (time.time() - begun)) > 0:
            producer.poll(ahead)  # ends with the first report that comes
    try:
        producer.produce(args.topic, f"{args.producer} {n} ".encode() + os.urandom(100), f"k{n % 100}".encode(), n % args.partitions, on_delivery=delivered(n))
        n += 1
    except BufferError:
        producer.poll(0.1)
left = producer.flush(120)
out.close()
print(n, acked, left, failed[:3])
sys.exit(1 if left or failed else 0)
