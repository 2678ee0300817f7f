#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Record a guest with histogram triggers by the README's own line, several times.

usage: triggers.py [TIMES]

QEMU 7.2 ruins the flags after CMPXCHG16B, and kernels then crash: most of all when each
tracepoint does more, as with histograms. The recorder masks the instruction. The line is
what README.md has, word by word, run by a shell in a folder with vmlinuz and initrd.

Exit status: 0, 1, 77 cannot be run here.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import guests
import recording
from guests import HERE, Failure, Skip

TOP = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get('O', TOP / 'build')).absolute()
NAME = 'kmap-x86_64-6.12-triggers'
LIMIT = 250
OOPS = ('Oops', 'BUG:', 'general protection', 'kernel stack', '---[ end trace', 'Kernel panic')


def line():
    """The command line in the README."""
    text = (TOP / 'README.md').read_text(encoding='utf-8')
    found = re.search(r'^ +(atwalk kmap record -o run\.kmap\.zst -- (?:.*\\\n)*.*)$', text, re.M)
    if not found:
        raise Failure('README.md has no line that records a guest')
    return found[1]


def once(command, folder):
    """One recording; what the guest said of its histograms."""
    env = {**os.environ, 'PATH': f'{BUILD}:{os.environ["PATH"]}'}
    with subprocess.Popen(command, shell=True, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            out, why = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            # One that crashed stands still for good.
            os.killpg(process.pid, signal.SIGTERM)
            out, why = process.communicate()
    console = out.decode(errors='replace')
    for word in OOPS:
        if word in console:
            raise Failure(f'{word}:\n{console[max(console.index(word) - 300, 0):][:1500]}')
    if process.returncode or 'truth end' not in console:
        raise Failure(f'exit status {process.returncode}: '
                      f'{why.decode(errors="replace")}\n{console[-1500:]}')
    hits = {event: int(n) for event, n in re.findall(r'truth hist (\S+) (\d+)', console)}
    if len(hits) != 3 or not all(hits.values()):
        raise Failure(f'histograms: {hits}')
    return hits


def check(guest, times):
    """So many recordings, one after the other."""
    guests.fetch(guests.needs(guest))
    _, version = guests.qemu_command(guest)
    with tempfile.TemporaryDirectory(prefix='atwalk-vm-') as scratch:
        folder = pathlib.Path(scratch)
        recording.build_init(guest, folder, ['triggers'])
        (folder / 'vmlinuz').symlink_to(guests.cache_dir() / guest.kernel / 'vmlinuz')
        command = line()
        counted = 0
        for number in range(1, times + 1):
            try:
                counted += sum(once(command, folder).values())
            except Failure as why:
                raise Failure(f'recording {number} of {times}: {why}') from None
    return f'{times} recordings, {counted} events in histograms, {version}'


def main():
    """As many as asked for."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    try:
        print(check(guests.recordings()[NAME][0], times))
    except Skip as why:
        print(why)
        return guests.SKIP
    except Failure as why:
        print(why)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
