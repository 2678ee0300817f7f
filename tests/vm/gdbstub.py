# SPDX-License-Identifier: GPL-2.0-or-later
"""The registers that the monitor does not show, by QEMU's gdb stub.

On arm64 `info registers` has neither the roots of the page tables nor how they
are to be read; the stub has all system registers, under numbers that are only
in its own description.
"""

import re
import socket

from guests import Failure

WANTED = ('TTBR0_EL1', 'TTBR1_EL1', 'TCR_EL1', 'SCTLR', 'MAIR_EL1',
          'ID_AA64MMFR0_EL1', 'ID_AA64MMFR1_EL1', 'ID_AA64MMFR2_EL1')


class Stub:
    """A connection to a stub, as gdb would have it."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(path)
        self.data = b''

    def packet(self):
        """The next packet, acknowledged."""
        while True:
            found = re.search(rb'\$([^#]*)#..', self.data, re.S)
            if found:
                self.data = self.data[found.end():]
                self.sock.sendall(b'+')
                return found[1]
            more = self.sock.recv(65536)
            if not more:
                raise Failure('the gdb stub went away')
            self.data += more

    def ask(self, text):
        """Send a packet, return the answer."""
        data = text.encode()
        self.sock.sendall(b'$%s#%02x' % (data, sum(data) & 255))
        return self.packet()

    def document(self, name):
        """A file of the description, which comes in pieces."""
        text, reply = b'', b'm'
        while reply[:1] == b'm':
            reply = self.ask(f'qXfer:features:read:{name}:{len(text):x},800')
            # '}' stands before bytes that mean something to the protocol.
            piece = re.sub(rb'\}(.)', lambda m: bytes([m[1][0] ^ 0x20]), reply,
                           flags=re.S)
            text += piece[1:]
            if reply[:1] not in (b'm', b'l'):
                raise Failure(f'no {name} in the gdb stub')
        return text.decode(errors='replace')

    def register_numbers(self):
        """{name: number} of all registers that say their number."""
        numbers = {}
        main = self.document('target.xml')
        for name in re.findall(r'href="([^"]+)"', main):
            for tag in re.findall(r'<reg [^>]*>', self.document(name)):
                attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
                if 'regnum' in attributes:
                    numbers[attributes['name']] = int(attributes['regnum'])
        return numbers


def system_registers(qmp, path, cpus):
    """Lines of `NAME HEX` for each CPU of a stopped guest.

    Leaves without detaching, for that would let the guest go on.
    """
    qmp.monitor(f'gdbserver unix:{path},server=on,wait=off')
    stub = Stub(path)
    try:
        stub.ask('qSupported:multiprocess+;xmlRegisters=arm')
        numbers = stub.register_numbers()
        texts = []
        for cpu in range(cpus):
            if stub.ask(f'Hgp1.{cpu + 1:x}') != b'OK':
                raise Failure(f'no CPU {cpu} in the gdb stub')
            lines = []
            for name in WANTED:
                if name in numbers:
                    reply = stub.ask(f'p{numbers[name]:x}')
                    value = int.from_bytes(bytes.fromhex(reply.decode()),
                                           'little')
                    lines.append(f'{name} {value:x}')
            texts.append('\n'.join(lines) + '\n')
        return texts
    finally:
        stub.sock.close()
        qmp.monitor('gdbserver none')
