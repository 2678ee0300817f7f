# SPDX-License-Identifier: GPL-2.0-or-later
"""nonblocking.py out COMMAND...: its standard output is a pipe that does not block, of one
page, and is read a little at a time; what was read goes to ours.
nonblocking.py in COMMAND...: its standard input is one, which is empty at first and then
gets ours, a little at a time.

It ends as the command does.
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
time.sleep(0.1)
while True:
    some = os.read(r if out else 0, 3000 if waits else 1 << 20)
    if not some:
        break
    try:
        while some:
            some = some[os.write(1 if out else w, some):]
    except BrokenPipeError:
        break
    if waits:
        waits -= 1
        time.sleep(0.005)
os.close(r if out else w)
sys.exit(p.wait())
