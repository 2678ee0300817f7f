# SPDX-License-Identifier: GPL-2.0-or-later
"""annotate-child.py FILE - a process with memory of several kinds; prints "NAME ADDRESS"."""

import mmap
import sys

from live_memory import HUGE, M, area, libc, touch

libc.prctl(1, 9)                 # ends with its parent

touched = area('touched', 16 * mmap.PAGESIZE)
touch(touched, 8 * mmap.PAGESIZE)
area('untouched', M)
touch(area('huge', 4 * M, HUGE, align=2 * M), 4 * M)
with open(sys.argv[1], 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    assert sum(mapped[::mmap.PAGESIZE]) >= 0
print('end', 0, 0, flush=True)
sys.stdin.read()
