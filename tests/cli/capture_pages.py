# SPDX-License-Identifier: GPL-2.0-or-later
"""capture_pages.py - pages of a capture, or of `atwalk pages --all`, one a line.

    capture_pages.py capture <FILE           out of M: lines, each P: checked
    capture_pages.py pages <CSV              out of rows
    capture_pages.py sums NAME START LENGTH... <FILE

The first two print the same of the same pages, without what comes and goes:
"pid address physical state kcount swap flags". The third prints what an address
range has: pages present, their refs, states.
"""

import csv
import sys

FLAGS = ('LOCKED ERROR REFERENCED UPTODATE DIRTY LRU ACTIVE SLAB WRITEBACK RECLAIM BUDDY '
         'MMAP ANON SWAPCACHE SWAPBACKED COMPOUND_HEAD COMPOUND_TAIL HUGE UNEVICTABLE '
         'HWPOISON NOPAGE KSM THP OFFLINE ZERO_PAGE IDLE PGTABLE').split()
GONE = {'REFERENCED', 'ACTIVE', 'IDLE'}
PAGE = 4096


def runs(lines):
    """Each run as (pid, va, pages, entry, count, flags, keys)."""
    pid = 0
    sums = None
    for line in lines:
        letter, _, rest = line.partition(': ')
        if letter == 'T':
            pid = int(rest.split(', ')[1])
        elif letter == 'V':
            check(sums)
            fields = rest.rstrip('\n').split(', ')
            sums = {'V': line, 'resident': int(fields[3], 16) // PAGE, 'seen': 0}
        elif letter == 'P':
            fields = rest.rstrip('\n').split(', ')
            sums['P'] = [int(f) for f in fields[:5]]
            sums.update((k, int(v)) for k, v in (f.split('=') for f in fields[5:]))
            sums['got'] = [0] * 5
            sums['got_swap'] = 0
        elif letter == 'M':
            for run in rest.split('|')[:-1]:
                where, _, what = run.strip().partition('=')
                va, _, pages = where.partition('*')
                fields = what.split(', ')
                keys = dict(f.split('=') for f in fields[3:])
                one = (pid, int(va, 16), int(pages or 1), int(fields[0], 16), fields[1],
                       fields[2], keys)
                add(sums, one)
                yield one
    check(sums)


def add(sums, run):
    """What the paper counts."""
    _, _, pages, entry, count, _, keys = run
    if entry & 2:
        sums['seen'] += pages
    if 'got' not in sums:
        return
    sums['got_swap'] += pages if 'swap' in keys else 0
    if not entry & 2:
        return
    refs = keys.get('refs', count)
    for i, yes in enumerate([entry & 0x10, entry & 0x200, not entry & 0x40, refs == '1',
                             refs not in ('-', '0', '1')]):
        sums['got'][i] += pages if yes else 0


def check(sums):
    """Do V: and P: agree with the runs behind them?"""
    if sums and (sums['seen'] != sums['resident'] or sums.get('P') != sums.get('got') or
                 sums.get('swap') != sums.get('got_swap')):
        sys.exit('sums are wrong: %s' % sums)


def pages(run):
    """Each page of a run as (va, pa, state, swap)."""
    _, va, n, entry, _, _, keys = run
    swap = keys.get('swap')
    pa = entry & ~0xfff
    state = keys.get('state', '')
    if entry & 2:
        state = 'present' if entry & 0x10 else 'protnone'
    elif swap or int(keys.get('map', '0'), 16) & 0x80 and not state:
        state = 'swap'
    for i in range(n):
        place = ''
        if swap:
            place = '%d' % (int(swap.split(':')[1], 16) + i)
        here = '' if not entry & 2 or keys.get('noframe') else \
            '%x' % (pa if keys.get('same') else pa + i * PAGE)
        yield va + i * PAGE, here, state, place


def put(pid, va, pa, state, count, swap, flags):
    """A line."""
    print(pid, '%x' % va, pa or '-', state, count or '-', swap or '-',
          ','.join(sorted(flags)) or '-')


def from_capture():
    """M: lines."""
    for run in runs(sys.stdin):
        _, _, _, entry, count, flags, keys = run
        names = [] if flags == '-' else \
            [n for i, n in enumerate(FLAGS) if int(flags, 16) >> i & 1]
        if not entry & 2:
            count, names = '', []
        if keys.get('state') == 'device':
            count, names = '', []
        for va, pa, state, swap in pages(run):
            put(run[0], va, pa, state, '' if count == '-' else count, swap, names)


def from_pages():
    """Rows; those of swap and of nothing may be several pages."""
    for row in csv.DictReader(sys.stdin):
        if row['state'] in ('absent', ''):
            continue
        names = set(row['pageflags'].split(',')) - GONE
        present = row['state'] in ('present', 'protnone')
        swap = row['swap'].rpartition(':')[2]
        pa = row['physical'][2:].lstrip('0') if present else ''
        for i in range(0, int(row['size']), PAGE):
            put(row['pid'], int(row['address'], 16) + i, pa, row['state'],
                row['kcount'] if present else '',
                str(int(swap) + i // PAGE) if swap else '',
                [n for n in names if n in FLAGS] if present else [])


def from_ranges(args):
    """What areas of a child have: NAME present REFS=PAGES... STATE=PAGES..."""
    seen = list(runs(sys.stdin))
    for name, start, size in zip(args[::3], args[1::3], args[2::3]):
        first, end = int(start, 16), int(start, 16) + int(size)
        n = {}
        for run in seen:
            for va, _, state, _ in pages(run):
                if first <= va < end:
                    refs = run[6].get('refs')
                    key = run[6].get('state') or state + (' ' + refs if refs else '')
                    n[key] = n.get(key, 0) + 1
        print(name, *('%s=%d' % k for k in sorted(n.items())))


if __name__ == '__main__':
    {'capture': from_capture, 'pages': from_pages,
     'sums': lambda: from_ranges(sys.argv[2:])}[sys.argv[1]]()
