# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof.py FILE: a profile as profile.proto describes it, a line for each sample:
type=value..., frames from the root on, labels. A frame of a mapping has its file and build ID."""

import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: a number or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            n, at = varint(data, at)
            value = data[at:at + n]
            assert len(value) == n
            at += n
        yield key >> 3, value


def packed(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def every(found, number):
    return [v for n, v in found if n == number]


def main():
    with open(sys.argv[1], 'rb') as f:
        data = f.read()
    found = list(fields(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data))
    text = [v.decode() for v in every(found, 6)]
    assert text[0] == '' and len(set(text)) == len(text)
    types = [dict(fields(v)) for v in every(found, 1)]
    assert {text[t[2]] for t in types} == {'bytes'}
    functions = {f[1]: text[f[2]] for f in (dict(fields(v)) for v in every(found, 5))}
    mappings = {m[1]: f' ({text[m[5]]} {text[m[6]]})'
                for m in (dict(fields(v)) for v in every(found, 3))}
    places = {}
    for v in every(found, 4):
        place = dict(fields(v))
        line = dict(fields(place[4]))
        places[place[1]] = functions[line[1]] + (mappings[place[2]] if 2 in place else '')
    print('default', text[dict(found)[14]])
    for n in every(found, 13):
        print('comment', text[n])
    for v in every(found, 2):
        sample = list(fields(v))
        values = packed(dict(sample)[2])
        assert len(values) == len(types)
        labels = [dict(fields(x)) for x in every(sample, 3)]
        print(' '.join(f'{text[t[1]]}={n}' for t, n in zip(types, values)),
              ' > '.join(places[i] for i in reversed(packed(dict(sample)[1]))),
              ' '.join(f'{text[x[1]]}={text[x[2]] if 2 in x else x[3]}' for x in labels),
              sep=' | ')


main()
