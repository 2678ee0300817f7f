# SPDX-License-Identifier: GPL-2.0-or-later
"""kinds-child.py few|many - a process with memory of every kind, to be looked at.

Prints "NAME START LENGTH" of each area, then "ready", and waits for its input to end.
"few" is what can be listed page by page in no time; "many" has large pages, a private
file and a terabyte with little in it as well.
"""

import ctypes
import os
import sys
import tempfile

from live_memory import (ANONYMOUS, G, GUARD, HUGE, M, NORESERVE, PAGE, PRIVATE, SHARED, area,
                         libc, touch)

many = sys.argv[1] == 'many'


def some(name, size, step=PAGE, **kind):
    """An area, touched every so often."""
    at = area(name, size, **kind)
    touch(at, size, step)
    return at


some('pages', 20 * M if many else 2 * M)
some('every-other', 8 * M if many else M, 2 * PAGE)
area('untouched', 4 * M if many else M)
zero = area('zero', M)
for page in range(zero, zero + M, PAGE):
    _ = ctypes.c_uint64.from_address(page).value
libc.mprotect(some('protnone', M), M, 0)
cow = some('cow', 2 * M)
with tempfile.TemporaryFile() as file:
    shared = 3 * M if many else M
    file.truncate(shared + M)
    some('shared', shared, flags=SHARED, fd=file.fileno())
    if many:
        some('private', M, 4 * PAGE, flags=PRIVATE, fd=file.fileno())
if many:
    some('huge', 8 * M, advice=HUGE, align=2 * M)
    some('dots', 64 * M, 32 * PAGE)
    sparse = area('sparse', 1024 * G, flags=PRIVATE | ANONYMOUS | NORESERVE)
    for i in range(1000):
        touch(sparse + i * G + i % 7 * PAGE, PAGE)
guard = some('guarded', M)
if libc.madvise(guard + 16 * PAGE, 16 * PAGE, GUARD) == 0:
    print('guard', f'{guard + 16 * PAGE:x}', 16 * PAGE)
r, w = os.pipe()
if os.fork() == 0:
    libc.prctl(1, 9)             # ends with its parent
    touch(cow, M)
    os.write(w, b'x')
    sys.stdin.read()
    os._exit(0)
os.read(r, 1)
print('ready', flush=True)
sys.stdin.read()
