# SPDX-License-Identifier: GPL-2.0-or-later
"""A QMP client: as much of it as a test needs."""

import json
import socket
import time

from guests import Failure


class Qmp:
    """One connection to the monitor of a QEMU."""

    def __init__(self, path, alive, timeout=30):
        """Connect; alive() says whether it is still worth waiting for."""
        self.sock = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + timeout
        while True:
            try:
                self.sock.connect(path)
                break
            except OSError as err:
                if not alive() or time.monotonic() > deadline:
                    raise Failure(f'no monitor: {err}') from err
                time.sleep(0.05)
        self.file = self.sock.makefile('rw')
        self.sock.settimeout(timeout)
        json.loads(self.file.readline())        # the greeting
        self.command('qmp_capabilities')

    def command(self, name, timeout=30, **arguments):
        """Run a command and return its result; events are passed over."""
        self.sock.settimeout(timeout)
        request = {'execute': name}
        if arguments:
            request['arguments'] = arguments
        try:
            self.file.write(json.dumps(request) + '\n')
            self.file.flush()
            while True:
                line = self.file.readline()
                if not line:
                    raise Failure(f'{name}: QEMU went away')
                reply = json.loads(line)
                if 'error' in reply:
                    raise Failure(f'{name}: {reply["error"]["desc"]}')
                if 'return' in reply:
                    return reply['return']
        except OSError as err:
            raise Failure(f'{name}: {err}') from err

    def monitor(self, line, cpu=None, timeout=60):
        """Run a command of the human monitor, on the CPU of that number."""
        arguments = {'command-line': line}
        if cpu is not None:
            arguments['cpu-index'] = cpu
        text = self.command('human-monitor-command', timeout, **arguments)
        return text.replace('\r\n', '\n')

    def close(self):
        """Let go of the connection."""
        self.file.close()
        self.sock.close()
