# SPDX-License-Identifier: GPL-2.0-or-later
"""listen.py LISTENER FILE BYTES: one connection, of which all goes to FILE.

LISTENER is tcp, tcp6, or the path of a socket; it hangs up after so many bytes, 0: never.
It says its port, or 0, when it listens.
"""

import socket
import sys

where, path, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
if where == 'tcp':
    s = socket.create_server(('127.0.0.1', 0))
elif where == 'tcp6':
    s = socket.create_server(('::1', 0), family=socket.AF_INET6)
else:
    s = socket.socket(socket.AF_UNIX)
    s.bind(where)
    s.listen()
print(s.getsockname()[1] if where.startswith('tcp') else 0, flush=True)
c, _ = s.accept()
with open(path, 'wb') as f:
    n = 0
    while not most or n < most:
        got = c.recv(min(65536, most - n) if most else 65536)
        if not got:
            break
        n += f.write(got)
