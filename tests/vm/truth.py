# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest's kernel said of every page, in truth.txt, and rows against it."""

import collections
import re

PRESENT, SWAP, GUARD = 1 << 63, 1 << 62, 1 << 58
PFN = (1 << 55) - 1
# Areas with pages that /proc/PID/pagemap does not show.
SILENT = re.compile(r'\[vvar|\[vsyscall\]|\[uprobes\]|/sys/devices/|/dev/mem')

# include/uapi/linux/kernel-page-flags.h, include/linux/kernel-page-flags.h
NAMES = {name: 1 << bit for bit, name in (
    *enumerate('''LOCKED ERROR REFERENCED UPTODATE DIRTY LRU ACTIVE SLAB WRITEBACK
        RECLAIM BUDDY MMAP ANON SWAPCACHE SWAPBACKED COMPOUND_HEAD COMPOUND_TAIL HUGE
        UNEVICTABLE HWPOISON NOPAGE KSM THP OFFLINE ZERO_PAGE IDLE PGTABLE'''.split()),
    *enumerate('''RESERVED MLOCKED OWNER_2 PRIVATE PRIVATE_2 OWNER_PRIVATE ARCH
        UNCACHED SOFTDIRTY ARCH_2 ARCH_3'''.split(), 32))}


class Truth:
    """truth.txt: pages by (pid, address), and which areas have any."""

    def __init__(self, guest):
        self.pages, self.pids, self.names = {}, set(), {}
        self.page_size, area = 4096, None
        self.silent = []         # (pid, start, end)
        with open(guest.folder / 'truth.txt', encoding='utf-8',
                  errors='surrogateescape') as file:
            for line in file:
                words = line.split(' ', 5)
                if line[0] == '#' and 'page_size' in line:
                    self.page_size = int(words[2].rstrip(';'))
                elif line[0] == 'P':
                    self.names[int(words[1])] = line.split(' ', 2)[2].rstrip('\n')
                elif line[0] == 'M':
                    area = line.split(' ', 2)[2]
                    if SILENT.search(area):
                        start, end = area.split(' ', 1)[0].split('-')
                        self.silent.append((int(words[1]), int(start, 16), int(end, 16)))
                elif line[0].isdigit():
                    pid, vaddr, pagemap, flags, count = line.split()
                    self.pids.add(int(pid))
                    self.pages[int(pid), int(vaddr, 16)] = (
                        int(pagemap, 16), int(flags, 16), int(count, 16))
        # How often each page is mapped: no two processes share an address space.
        self.times = collections.Counter(
            word & PFN for word, _, _ in self.pages.values() if word & PRESENT)
        self.swaps = swap_names(guest)
        self.correct_ksm()

    def correct_ksm(self):
        """
        Kernels from dee3d0bef2b0 (6.10) to 81401cebfc15 (7.2, and stable releases)
        call every anonymous page a page of KSM. No process here has any.
        """
        anon = [page for page in self.pages.values() if page[1] & NAMES['ANON']]
        if anon and all(flags & NAMES['KSM'] for _, flags, _ in anon):
            for key, (pagemap, flags, count) in self.pages.items():
                if flags & NAMES['ANON']:
                    self.pages[key] = (pagemap, flags & ~NAMES['KSM'], count)

    def is_silent(self, pid, address):
        return any(p == pid and a <= address < b for p, a, b in self.silent)


def swap_names(guest):
    """Devices in the order of their types, as /proc/swaps lists them."""
    names, inside = [], False
    for line in (guest.folder / 'info.txt').read_text().splitlines():
        if line.startswith('##### '):
            inside = line == '##### /proc/swaps'
        elif inside and not line.startswith('Filename') and line:
            names.append(line.split()[0])
    return names


def flags_of(text):
    bits = 0
    for word in text.split(',') if text not in ('', '-') else ():
        bits |= NAMES[word]
    return bits


def expected(truth, pagemap, flags, count):
    """What a row must say: state, then physical and so on as far as there is."""
    if pagemap & PRESENT:
        return ('present', (pagemap & PFN) * truth.page_size, flags, count,
                truth.times[pagemap & PFN])
    kind, offset = pagemap & 31, (pagemap & PFN) >> 5
    if pagemap & GUARD:
        return ('guard',)
    return ('swap', kind, offset)


def given(truth, row):
    """The same of a row, for each page of memory it speaks for."""
    address, size = int(row['address'], 16), int(row['size'])
    for off in range(0, size, truth.page_size):
        state = row['state']
        if state in ('present', 'protnone'):
            yield address + off, (
                'present', int(row['physical'], 16) + off,
                flags_of(row['pageflags']) if row['kcount'] else NAMES['NOPAGE'],
                int(row['kcount'] or 0), int(row['count']))
        elif state == 'swap':
            device, offset = row['swap'].rsplit(':', 1)
            kind = (truth.swaps.index(device) if device in truth.swaps else
                    int(device[4:]) if re.fullmatch(r'swap\d+', device) else device)
            yield address + off, ('swap', kind, int(offset) + off // truth.page_size)
        else:
            yield address + off, (state,)


def special(name, want, got):
    """
    Words that pagemap shows as swap of an invalid type. It reports no more about
    them, but the test process has only this kind of them.
    """
    states = {'poison': ('poison',), 'uffd': ('marker',), 'guard': ('guard',)}.get(
        name, ('migration', 'device', 'marker'))
    return want[0] == 'swap' and want[1] >= 23 and got[0] in states


def compare_rows(truth, label, rows, first=5):
    """
    Wrong lines, pages that agree, pages in areas without truth, and the lines of
    the truth that no row was for.  `first` of what is said of each is compared.
    """
    wrong, agree, silent = [], 0, 0
    left = dict(truth.pages)
    for row in rows:
        if row['state'] == 'absent':
            continue
        pid = int(row['pid'])
        for address, got in given(truth, row):
            line = left.pop((pid, address), None)
            if line is None:
                if truth.is_silent(pid, address):
                    silent += 1
                else:
                    wrong.append(f'{label}: {pid} {address:#x} is {got}, and has no line')
                continue
            want, got = expected(truth, *line)[:first], got[:first]
            if want == got or special(truth.names.get(pid), want, got):
                agree += 1
            else:
                wrong.append(f'{label}: {pid} {address:#x} is {show(got)}, not {show(want)}')
    return wrong, agree, silent, left


def show(answer):
    return ' '.join(f'{x:x}' if isinstance(x, int) else str(x) for x in answer)
