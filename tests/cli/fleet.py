# SPDX-License-Identifier: GPL-2.0-or-later
"""fleet.py FOLDER: captures of 200 machines, two of every tenth, and the answers to the
queries of docs/fleet.md, computed from the numbers that the captures were made of."""

import collections
import os
import sys

PAGE = 4096
HOSTS = 200
START = 1795824000
LIB = '/usr/lib/libssl.so.3'
LOG = '/var/log/syslog'
NODE1 = 0x10000000


def host(i):
    return f'host-{i:03}'


def heap(i, look):
    """Pages of the heap on each node."""
    return 10 + i % 7 + 5 * look * (i + 1), i % 3


def web(i):
    return 3 + i % 11


def deleted(i):
    return i % 40 == 7


def frames(i):
    return {'free': 1000 - i, 'anon': 100 + i, 'file': 77 + (i == 5), 'slab': 1 + i * 31 % 200}


def free_normal(i):
    """Free frames of node 1, which is zone Normal; all others are of DMA32."""
    return 1 + i * 7 % 300


def log(i, look):
    """Pages of a log in the page cache, which no process maps; on each node."""
    return (100 + i + look, i % 4) if i % 3 == 0 else (0, 0)


def area(start, pages, prot, name, rest=''):
    end = start + pages * PAGE - 1
    size = pages * PAGE
    return f'V: {start:08X}, {end:08X}, {size:08X}, {size:08X}, -, {prot:08X}, {name}{rest}\n'


def private(start, runs):
    """Anonymous pages from the frames of runs: (physical address, pages)."""
    out = []
    for pa, pages in runs:
        out.append(f'{start:08X}*{pages}={pa | 0x4d2:08X}, 1, 00005868, refs=1 | ')
        start += pages * PAGE
    return 'M: ' + ''.join(out).rstrip() + '\n'


def capture(i, look):
    """The text of a capture."""
    gone = ' (deleted)' if deleted(i) else ''
    build = 'AA01' if deleted(i) else 'BB02'
    text = (f'H: atwalk-capture, 1\nH: page, {PAGE}\nH: machine, x86_64\nH: release, 6.12.0\n'
            f'H: host, {host(i)}\nH: begun, {START + i + 3600 * look}.250000\n'
            f'H: MemTotal, 4096\n'
            f'R: 00000000, {NODE1 - 1:08X}, System RAM, node=0, zone=DMA32\n'
            f'R: {NODE1:08X}, {2 * NODE1 - 1:08X}, System RAM, node=1, zone=Normal\n'
            f'U: FE:1, 9, {LIB}{gone}, build={build}, loads=0:0:4000:4000:5\n')
    library = (area(0x7f0000000000, 4, 0x75, LIB + gone, ', dev=FE:1, inode=9, offset=0') +
               'M: 7F0000000000*4=00100612, 2, 0000006C, refs=2 |\n')
    local, far = heap(i, look)
    runs = [(0x200000, local)] + ([(NODE1 + 0x200000, far)] if far else [])
    text += ('T: app, 100, 1000, 0, 0, 0, 0, 0, 0, 0, tgid=100, exe=/usr/bin/app, '
             'cgroup=/app.service\n' +
             area(0x10000000, local + far, 0x100073, '[heap]') + private(0x10000000, runs) +
             library)
    text += ('T: web, 200, 2000, 0, 0, 0, 0, 0, 0, 0, tgid=200, exe=/usr/bin/web, '
             'cgroup=/web.service\n' +
             area(0x10000000, web(i), 0x100073, '[heap]') +
             private(0x10000000, [(0x8000000, web(i))]) + library)
    at = 0x4000000
    text += 'F: '
    for use, pages in frames(i).items():
        text += f'{at:08X}*{pages}={use} | '
        at += pages * PAGE
    text += f'{NODE1 + 0x4000000:08X}*{free_normal(i)}=free |'
    # What no F: line has is unknown.
    text += f'\nC: FE:1, 9, 6, 0, {LIB}{gone}, node=0\n'
    for node, pages in enumerate(log(i, look)):
        if pages:
            text += f'C: FE:2, 77, {pages}, {pages // 2}, {LOG}, node={node}\n'
    lines = text.count('\n')
    return text + f'E: {lines}, 2, 4, 0\n'


def looks(i):
    return range(2 if i % 10 == 0 else 1)


def rows_programs():
    app = sum(sum(heap(i, max(looks(i)))) * PAGE + 2 * PAGE for i in range(HOSTS))
    other = sum(web(i) * PAGE + 2 * PAGE for i in range(HOSTS))
    return sorted([('/usr/bin/app', HOSTS, app, 0), ('/usr/bin/web', HOSTS, other, 0)],
                  key=lambda r: -r[2])


def rows_deleted():
    return [(host(i), LIB, 'aa01', 2, 4 * PAGE) for i in range(HOSTS) if deleted(i)]


def rows_growth():
    rows = []
    for i in range(HOSTS):
        for name, pages in (('/app.service', lambda i, k: sum(heap(i, k))),
                            ('/web.service', lambda i, k: web(i))):
            rows.append((host(i), name, (pages(i, max(looks(i))) - pages(i, 0)) * PAGE))
    return sorted(rows, key=lambda r: (-r[2], r[0]))[:10]


def rows_frames():
    sums, most = collections.Counter(), {}
    total = 2 * NODE1
    for i in range(HOSTS):
        uses = {use: n * PAGE for use, n in frames(i).items()}
        uses['free'] += free_normal(i) * PAGE
        uses['unknown'] = total - sum(uses.values())
        for use, n in uses.items():
            sums[use] += n
            if n > most.get(use, ('', -1))[1]:
                most[use] = (host(i), n)
    return [(use, n, *most[use]) for use, n in
            sorted(sums.items(), key=lambda x: -x[1])]


def rows_nodes():
    rows = []
    for i in range(HOSTS):
        local, far = heap(i, max(looks(i)))
        local += web(i)
        if far:
            rows.append((host(i), (local + far) * PAGE, min(local, far) * PAGE))
    return sorted(rows, key=lambda r: (-r[2], r[0]))[:10]


def rows_cached():
    logs = [sum(log(i, max(looks(i)))) for i in range(HOSTS)]
    return [(LOG, sum(n > 0 for n in logs), sum(logs) * PAGE, 0),
            (LIB, HOSTS, HOSTS * 6 * PAGE, HOSTS * 4 * PAGE)]


def rows_zones():
    rows = [(host(i), frames(i)['free'] * PAGE, free_normal(i) * PAGE) for i in range(HOSTS)]
    return sorted(rows, key=lambda r: (r[1], r[0]))[:10]


def main():
    folder = sys.argv[1]
    for i in range(HOSTS):
        for look in looks(i):
            with open(os.path.join(folder, f'{i:03}-{look}.cap'), 'w', encoding='ascii') as f:
                f.write(capture(i, look))
    for rows in (rows_programs(), rows_deleted(), rows_growth(), rows_frames(), rows_nodes(),
                 rows_cached(), rows_zones()):
        for row in rows:
            print(','.join(str(x) for x in row))
        print()


main()
