#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A notebook as a script: a dump and the running kernel, as columns and in DuckDB.

    python3 notebook.py DUMP [PAGES]

maps PAGES pages of its own, 1,000,000 if they are not given. Editors run it cell by cell.
"""

# %% A dump: the largest processes, and what one of them may write and execute
import mmap
import os
import sys
import time

import atwalk

dump = atwalk.open(sys.argv[1])
print(dump)
for process in dump.report("use", sort="pss:desc")[:3]:
    print("%6d %-16s %9d bytes" % (process.pid, process.name, process.pss))
print(dump.map(1, filter="user and writable and executable"))

# %% The running kernel: this process, with a million pages
count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
memory = mmap.mmap(-1, count * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(15)                      # MADV_NOHUGEPAGE
for i in range(0, len(memory), 4096):
    memory[i]
live = atwalk.open("live:pagemap")
began = time.monotonic()
pages = live.pages(os.getpid())
print("%s\n%.3f s" % (pages, time.monotonic() - began), file=sys.stderr)

# %% Columns are buffers: nothing is copied
addresses = memoryview(pages["address"])
print(addresses.format, len(addresses) >= count, addresses.readonly)
neighbours = sum(b - a == 4096 for a, b in zip(addresses, addresses[1:]))
print(neighbours >= count - 1)

# %% Tables are Arrow streams
try:
    import duckdb
except ImportError:
    print("DuckDB is not installed")
else:
    print(duckdb.sql("SELECT state, count(*) AS pages FROM pages GROUP BY state"))
