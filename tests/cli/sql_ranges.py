# SPDX-License-Identifier: GPL-2.0-or-later
"""sql_ranges.py TABLE CSV [CONDITION]: queries for parts of the table, to be run by `atwalk sql`, on standard
output; on standard error, what they have to answer, computed from the CSV of all of its rows,
which begin with address and end."""
import csv
import random
import sys

table = sys.argv[1]
head, *rows = csv.reader(open(sys.argv[2], encoding="utf-8"))
names = ", ".join(f'"{name}"' for name in head)
of = "".join(f"{condition} AND " for condition in sys.argv[3:])
random.seed(1)
# SQLite has the upper half in negative numbers.
rows = [(int(row[0], 16) - (1 << 64 if int(row[0], 16) >> 63 else 0), row) for row in rows]
places = sorted({place for address, row in rows if address >= 0
                 for place in (address, int(row[1], 16))})
for i in range(24):
    low, high = sorted(random.choice(places) + random.choice((-4096, -1, 0, 0, 1, 4096))
                       for _ in range(2))
    high = min(high, low + random.choice((4096, 1 << 21, 1 << 47)))
    low, high = max(low, 0), max(high, 0)
    where, fits = (
        (f"address BETWEEN {low} AND {high}", lambda x: low <= x <= high),
        (f"address >= {low} AND address < {high}", lambda x: low <= x < high),
        (f"address > {low} AND size > 4096", lambda x: low < x),
        (f"{high} > address", lambda x: x < high))[i % 4]
    print(f"SELECT {names} FROM {table} WHERE {of}{where};")
    writer = csv.writer(sys.stderr, lineterminator="\n")
    writer.writerow(head)
    for address, row in rows:
        if fits(address) and ("size" not in where or int(row[2]) > 4096):
            writer.writerow(row)
