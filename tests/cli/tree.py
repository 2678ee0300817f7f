# SPDX-License-Identifier: GPL-2.0-or-later
"""tree.py FIRST LAST [TABLE_BYTES] - checks the rows of walk -p of a range, CSV on standard
input, and prints what they map as "ADDRESS PHYSICAL SIZE", a line for each entry.

Every row lies in the table that the nearest row of a higher level points to, tables and
entries occur once, and without gaps but for what has ended with a table.
"""

import csv
import sys

ORDER = ['PTE', 'PMD', 'PUD', 'P4D', 'PGD']
first, last = (int(x, 16) for x in sys.argv[1:3])
table_bytes = int(sys.argv[3]) if len(sys.argv) > 3 else 4096
seen, tables, path = set(), set(), {}
upto = first
repeats = 0

for row in csv.DictReader(sys.stdin):
    level, state = ORDER.index(row['level']), row['state']
    address, size = int(row['address'], 16), int(row['size'])
    count, at = int(row['pages']), int(row['entry_at'], 16)
    physical = row['physical'] and int(row['physical'], 16)
    for low in [k for k in path if k <= level]:
        del path[low]
    if path:
        table = path[min(path)]
        assert min(path) == level + 1 or (min(path), level) == (4, 2), row
        assert table <= at < table + table_bytes, row
    for k in range(count):
        assert at + 8 * k not in seen, row
        seen.add(at + 8 * k)
    if state == 'table':
        assert (level, physical) not in tables, row
        tables.add((level, physical))
        path[level] = physical
        continue
    assert address <= upto, (row, hex(upto))
    upto = address + size
    if state == 'repeat':
        repeats += 1
        assert (level, physical) in tables, row
    if state != 'present':
        continue
    step = int(row['step'] or 0)
    assert bool(row['step']) == (count > 1), row
    for k in range(count):
        print(f'{address + k * (size // count):x} {physical + k * step:x} {size // count}')
assert upto > last, hex(upto)
print(f'{len(tables)} tables, {repeats} repeats', file=sys.stderr)
