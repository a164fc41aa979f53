"""Trino's answers, as trino_sql prints them, in the common spelling. usage: read_trino.py ROWS_CSV FILTERS_CSV"""
import csv, json, sys
from rows import FILTERS, show, show_filter

csv.field_size_limit(1 << 30)
rows = []
with open(sys.argv[1], newline="") as text:
    for (line,) in csv.reader(text):
        p, o, t, k, v, h = json.loads(line)
        low = lambda x: None if x is None else x.lower()  # noqa: E731
        rows.append((p, o, t, low(k), low(v), [[a, low(b)] for a, b in h]))
show(rows)
with open(sys.argv[2], newline="") as text:
    counts = dict(csv.reader(text))
for name in FILTERS:
    show_filter(name, counts[name])
