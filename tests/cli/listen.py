# SPDX-License-Identifier: GPL-2.0-or-later
"""listen.py LISTENER FILE BYTES: one connection, of which all goes to FILE.

LISTENER is tcp, tcp6, or the path of a socket; it hangs up after so many bytes, 0: never.
BYTES may also be: reset, after the first byte; stall, which accepts and reads nothing;
deaf, which does not even accept. These two wait for a signal.
It says its port, or 0, when it listens.
"""

import signal
import socket
import struct
import sys

where, path, how = sys.argv[1:]
most = int(how) if how.isdigit() else 1
if where == 'tcp':
    s = socket.create_server(('127.0.0.1', 0))
elif where == 'tcp6':
    s = socket.create_server(('::1', 0), family=socket.AF_INET6)
else:
    s = socket.socket(socket.AF_UNIX)
    s.bind(where)
    s.listen()
print(s.getsockname()[1] if where.startswith('tcp') else 0, flush=True)
if how == 'deaf':
    signal.pause()
c, _ = s.accept()
if how == 'stall':
    signal.pause()
with open(path, 'wb') as f:
    n = 0
    while not most or n < most:
        got = c.recv(min(65536, most - n) if most else 65536)
        if not got:
            break
        n += f.write(got)
if how == 'reset':
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    c.close()
