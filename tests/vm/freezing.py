# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGKILL to atwalk while --freeze has stopped a guest: the guest goes on."""

import os
import pathlib
import random
import signal
import subprocess
import time

# Of 50 with `quickstart --test=all`.
TIMES = int(os.environ.get('ATWALK_KILLS', '6'))
LIMIT = 60
# More than a pipe takes, so atwalk waits for a reader while the guest is stopped.
RANGES = ['0xff00000000000000-0xffffffffffffffff'] * 4


def states(pid):
    """The states of its threads: t is stopped by a tracer."""
    found = set()
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        try:
            found.add((task / 'stat').read_text(encoding='utf-8').rsplit(') ', 1)[1][0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def used(pid):
    """The CPU time that it used, in ticks: a task of the guest spins."""
    words = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rsplit(') ', 1)[1].split()
    return int(words[11]) + int(words[12])


def until(ready):
    """Is it so, at last?"""
    deadline = time.monotonic() + LIMIT
    while not ready():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def once(program, pid, wait_for_stop):
    """One of them: what happened."""
    with subprocess.Popen([program, 'map', '--all', '--format', 'csv', f'qemu:{pid}', '--freeze',
                           *RANGES], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        stopped = False
        if wait_for_stop:
            until(lambda: states(pid) == {'t'} or process.poll() is not None)
            stopped = states(pid) == {'t'}
        else:
            # Before, while, and after its threads are being stopped.
            time.sleep(random.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
        if process.returncode != -signal.SIGKILL:
            return f'atwalk ended by itself: {said.decode(errors="replace")}'
    if not until(lambda: 't' not in states(pid)):
        return 'the guest is still stopped'
    before = used(pid)
    if not until(lambda: used(pid) > before):
        return 'the guest does not run any more'
    return 'killed when it was stopped' if stopped else 'killed at any time'


def kill(program, pid):
    """A line for each."""
    return ''.join(once(program, pid, i % 2 == 0).strip() + '\n' for i in range(TIMES))
