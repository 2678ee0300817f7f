# SPDX-License-Identifier: GPL-2.0-or-later
"""nonblocking.py out COMMAND...: its standard output is a pipe that does not block, of one
page, and is read a little at a time; what was read goes to ours.
nonblocking.py in COMMAND...: its standard input is one, which is empty at first and then
gets ours, a little at a time.

A little: each time only once the command waits. It ends as the command does.
"""

import fcntl
import os
import subprocess
import sys
import time

r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
out = sys.argv[1] == 'out'
os.set_blocking(w if out else r, False)
p = subprocess.Popen(sys.argv[2:], **({'stdout': w} if out else {'stdin': r}))
os.close(w if out else r)
waits = 40                       # then it has been slow enough


def until_it_waits():
    """Until the command sleeps, or has ended."""
    while p.poll() is None:
        with open(f'/proc/{p.pid}/stat', encoding='ascii', errors='replace') as stat:
            if stat.read().rpartition(') ')[2][0] == 'S':
                return
        time.sleep(0.001)


while True:
    if waits:
        waits -= 1
        until_it_waits()
    some = os.read(r if out else 0, 3000 if waits else 1 << 20)
    if not some:
        break
    try:
        while some:
            some = some[os.write(1 if out else w, some):]
    except BrokenPipeError:
        break
os.close(r if out else w)
sys.exit(p.wait())
