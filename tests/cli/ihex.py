# SPDX-License-Identifier: GPL-2.0-or-later
"""ihex.py ELF HEX [NOTE] - the memory of an ELF core as Intel HEX, and its VMCOREINFO.

Written from the specification alone. Records have 32 bytes, and those of each other segment
follow in the reverse order, which the format allows.
"""
import struct
import sys


def parse(path):
    with open(path, "rb") as f:
        b = f.read()
    at, = struct.unpack_from("<Q", b, 32)
    n, = struct.unpack_from("<H", b, 56)
    memory, note = [], b""
    for i in range(n):
        kind, _, off, _, pa, size = struct.unpack_from("<IIQQQQ", b, at + 56 * i)
        if kind == 1 and size:
            memory.append((pa, b[off:off + size]))
        end = off + size if kind == 4 else 0
        while off < end:
            name, desc, _ = struct.unpack_from("<III", b, off)
            data = off + 12 + (name + 3) // 4 * 4
            if b[off + 12:off + 12 + name].rstrip(b"\0") == b"VMCOREINFO":
                note = b[data:data + desc]
            off = data + (desc + 3) // 4 * 4
    return memory, note


def record(kind, offset, data):
    r = bytes([len(data), offset >> 8, offset & 255, kind]) + data
    return ":" + (r + bytes([-sum(r) & 255])).hex().upper() + "\n"


def main():
    memory, note = parse(sys.argv[1])
    with open(sys.argv[2], "w", encoding="ascii") as out:
        high = None
        for i, (pa, data) in enumerate(memory):
            starts = range(0, len(data), 32)
            for o in reversed(starts) if i % 2 else starts:
                if (pa + o) >> 16 != high:
                    high = (pa + o) >> 16
                    out.write(record(4, 0, struct.pack(">H", high)))
                out.write(record(0, (pa + o) & 0xffff, data[o:o + 32]))
        out.write(record(5, 0, bytes(4)))
        out.write(record(1, 0, b""))
    if len(sys.argv) > 3:
        with open(sys.argv[3], "wb") as out:
            out.write(note)


main()
