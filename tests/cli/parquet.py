# SPDX-License-Identifier: GPL-2.0-or-later
"""parquet.py [FILE.parquet FILE.json]: a reader of Parquet, written from its specification
alone, and whether both files have the same rows. Prints their number and the row groups.
Without arguments, pairs of files are lines of standard input."""

import ctypes
import datetime
import json
import struct
import sys


class Thrift:
    """Structs of the compact protocol as {field id: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7f) << shift
            shift += 7
            if not b & 0x80:
                return value

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            n = self.varint()
            self.at += n
            return self.data[self.at - n:self.at]
        if kind == 9:
            head = self.byte()
            n = head >> 4
            if n == 15:
                n = self.varint()
            return [self.value(head & 15) for _ in range(n)]
        assert kind == 12, kind
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if not head:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)


def unpack(codec, data, size):
    """The bytes of a page."""
    if codec == 0:
        return data
    assert codec == 6, codec
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    to = ctypes.create_string_buffer(size + 1)
    n = zstd.ZSTD_decompress(to, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert n == size, (n, size)
    return to.raw[:size]


def hybrid(data, width, count):
    """`count` values of the RLE and bit-packed hybrid."""
    t, out = Thrift(data), []
    while len(out) < count:
        head = t.varint()
        if head & 1:
            n = (head >> 1) * width
            bits = int.from_bytes(data[t.at:t.at + n], 'little')
            t.at += n
            out += [bits >> i * width & (1 << width) - 1 for i in range((head >> 1) * 8)]
        else:
            n = (width + 7) // 8
            out += [int.from_bytes(data[t.at:t.at + n], 'little')] * (head >> 1)
            t.at += n
    return out[:count]


def plain(data, kind, count):
    """Values one after the other."""
    if kind in (2, 5):
        return list(struct.unpack(f'<{count}{"qd"[kind == 5]}', data[:8 * count]))
    out, at = [], 0
    for _ in range(count):
        n = int.from_bytes(data[at:at + 4], 'little')
        out.append(data[at + 4:at + 4 + n].decode())
        at += 4 + n
    return out


def column(data, meta):
    """The values of a column chunk, None for null."""
    at, words, values = meta.get(11, meta[9]), [], []
    while len(values) < meta[5]:
        t = Thrift(data, at)
        page = t.struct()
        body = unpack(meta[4], data[t.at:t.at + page[3]], page[2])
        at = t.at + page[3]
        if page[1] == 2:
            words = plain(body, meta[1], page[7][1])
            continue
        n = int.from_bytes(body[:4], 'little')
        there = hybrid(body[4:4 + n], 1, page[5][1])
        body = body[4 + n:]
        if page[5][2] == 8:
            given = iter(words[i] for i in hybrid(body[1:], body[0], sum(there)))
        else:
            given = iter(plain(body, meta[1], sum(there)))
        values += [next(given) if x else None for x in there]
        assert next(given, None) is None
    return values


def read(path):
    """Names, rows, number of row groups, and which columns have no sign."""
    with open(path, 'rb') as f:
        data = f.read()
    assert data[:4] == data[-4:] == b'PAR1'
    n = int.from_bytes(data[-8:-4], 'little')
    foot = Thrift(data[-8 - n:-8]).struct()
    columns = foot[2][1:]
    assert foot[2][0][5] == len(columns) and foot[6].startswith(b'atwalk version ')
    names = [c[4].decode() for c in columns]
    # Both ways to say it: converted type UINT_64, logical type INTEGER(64, false).
    unsigned = [c.get(6) == 14 for c in columns]
    assert unsigned == [c.get(10) == {10: {1: 64, 2: False}} for c in columns]
    rows = []
    for group in foot[4]:
        chunks = [column(data, c[3]) for c in group[1]]
        assert {len(c) for c in chunks} == {group[3]}
        for c, own in zip(columns, chunks):
            # UINT_64 is stored as INT64.
            if c.get(6) == 14:
                own[:] = [v if v is None else v % (1 << 64) for v in own]
        rows += zip(*chunks)
    assert len(rows) == foot[3]
    return names, rows, len(foot[4]), unsigned


def same(a, b):
    """A value of Parquet and one of JSON."""
    if isinstance(b, list):
        b = ','.join(b) if all(isinstance(x, str) for x in b) else len(b)
    if isinstance(b, str) and isinstance(a, int):
        if b.endswith('Z'):      # microseconds
            b = round(datetime.datetime.fromisoformat(b[:-1] + '+00:00').timestamp() * 1e6)
        else:
            b = int(b, 16)
    return a == b


def compare(path, path_json):
    """A pair of files."""
    names, rows, groups, unsigned = read(path)
    with open(path_json, encoding='utf-8') as f:
        wanted = json.load(f)
    assert len(rows) == len(wanted), (path, len(rows), len(wanted))
    for i, (row, want) in enumerate(zip(rows, wanted)):
        assert names == list(want), (path, names)
        for name, a, no_sign in zip(names, row, unsigned):
            assert same(a, want[name]), (path, i, name, a, want[name])
            # Addresses, which are hexadecimal in JSON alone, and nothing else.
            if isinstance(a, int) and not isinstance(want[name], list):
                assert no_sign == str(want[name]).startswith('0x'), (path, name)
    print(len(rows), 'rows', groups, 'groups')


def main():
    pairs = [sys.argv[1:]] if sys.argv[1:] else [line.split() for line in sys.stdin]
    for pair in pairs:
        compare(*pair)


main()
