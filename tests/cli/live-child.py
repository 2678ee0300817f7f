# SPDX-License-Identifier: GPL-2.0-or-later
"""live-child.py COUNTERS - a process to look at, which obeys commands.

Lines on standard input say what; each is answered by one that begins with
"done". COUNTERS is a file of 512 numbers, into which what runs counts.
"""

import mmap
import os
import signal
import sys
import threading
import time

from live_memory import (ANONYMOUS, FIXED_NOREPLACE, NOHUGE, PRIVATE, libc, touch)

libc.prctl(1, 9)                 # ends with its parent

with open(sys.argv[1], 'r+b') as file:
    counters = mmap.mmap(file.fileno(), 4096)


kept = []


def count(slot):
    """One more there."""
    at = slot * 8
    value = int.from_bytes(counters[at:at + 8], 'little') + 1
    counters[at:at + 8] = value.to_bytes(8, 'little')


def run(slot):
    """Count for ever."""
    while True:
        count(slot)
        time.sleep(0.0005)


def churn(slot):
    """Threads that end as soon as they begin."""
    while True:
        thread = threading.Thread(target=count, args=(slot,))
        thread.start()
        thread.join()


def take(start, size):
    """Map memory there, and touch it."""
    got = libc.mmap(start, size, 3, PRIVATE | ANONYMOUS | FIXED_NOREPLACE, -1, 0)
    assert got == start
    libc.madvise(start, size, NOHUGE)
    touch(start, size)


def obey(word, args):
    """The answer, if it takes more than "done"."""
    if word == 'take':           # START SIZE
        take(int(args[0], 16), int(args[1]))
    elif word == 'drop':         # START SIZE
        libc.munmap(int(args[0], 16), int(args[1]))
    elif word == 'run':          # SLOT
        threading.Thread(target=run, args=(int(args[0]),), daemon=True).start()
    elif word == 'churn':        # SLOT
        threading.Thread(target=churn, args=(int(args[0]),), daemon=True).start()
    elif word == 'keep-taking':  # START: a page more every 20 ms, for ever
        def more(at=int(args[0], 16)):
            while True:
                take(at, 4096)
                at += 8192
                time.sleep(0.02)
        threading.Thread(target=more, daemon=True).start()
    elif word == 'map':          # PATH: all of it, touched
        with open(args[0], 'r+b') as mapped:
            kept.append(mmap.mmap(mapped.fileno(), 0))
        sum(kept[-1][::4096])
    elif word == 'fork':         # one that touches what is mapped, and waits
        ready = os.pipe()
        if not os.fork():
            libc.prctl(1, 9)
            sum(sum(m[::4096]) for m in kept)
            os.write(ready[1], b'.')
            signal.pause()
        os.read(ready[0], 1)
    elif word == 'exec':         # begin anew
        os.execv(sys.executable, [sys.executable, *sys.argv])
    return ''


print('done', flush=True)
for line in sys.stdin:
    said, *rest = line.split()
    print('done', obey(said, rest), flush=True)
os._exit(0)
