"""What both Python clients share: the command line, the records file, the digest (see test/compat/README.md)."""
import argparse, base64, hashlib, json, struct, sys


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["produce", "consume", "time"])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--records")
    parser.add_argument("--codec", default="none")
    parser.add_argument("--acks", default="all")
    parser.add_argument("--idempotent", action="store_true")
    parser.add_argument("--group")
    parser.add_argument("--counts", default="")
    parser.add_argument("--start", default="", help="offsets to seek to, one a partition")
    parser.add_argument("--timestamp", type=int)
    parser.add_argument("--partition", type=int, default=0)
    return parser.parse_args()


def records(path):
    raw = lambda text: None if text is None else base64.b64decode(text)  # noqa: E731
    with open(path) as lines:
        for line in lines:
            row = json.loads(line)
            yield row["p"], raw(row["k"]), raw(row["v"]), [(k, raw(v)) for k, v in row["h"]], row["t"]


def blob(value):
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


class Digest:
    """SHA-256 over each record: offset, timestamp, key, value, header count, each header; ints big-endian."""

    def __init__(self, partitions):
        self.sums = [hashlib.sha256() for _ in range(partitions)]
        self.counts = [0] * partitions

    def add(self, partition, offset, timestamp, key, value, headers):
        data = struct.pack(">qq", offset, timestamp) + blob(key) + blob(value) + struct.pack(">i", len(headers))
        for name, content in headers:
            data += blob(name.encode()) + blob(content)
        self.sums[partition].update(data)
        self.counts[partition] += 1

    def show(self):
        for partition, total in enumerate(self.sums):
            print(partition, self.counts[partition], total.hexdigest())
        sys.stdout.flush()
