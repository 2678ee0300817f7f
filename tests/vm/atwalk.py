# SPDX-License-Identifier: GPL-2.0-or-later
"""What the checks share: running atwalk, and reading what a guest left."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get('O', TOP / 'build')) / 'atwalk'
SKIPPED = 77
# A filter for commands that run once per process: of the crowd only its parent and one
# child. Commands about all processes compare the others.
ONE_BY_ONE = '(task=crowd-03 or not task~crowd-)'


def run(*args, status=(0,), **kw):
    """atwalk's standard output; ends the check when it answers otherwise."""
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True,
                          text=True, check=False, **kw)
    if done.returncode not in status:
        fail(f'atwalk {" ".join(map(str, args))[:200]}: exit status '
             f'{done.returncode}: {done.stderr.strip()}')
    return done.stdout


def rows(*args, **kw):
    """The rows of a listing, as dictionaries of texts."""
    return csv.DictReader(io.StringIO(run(*args, '--format', 'csv', **kw)))


def is_unsized(capture):
    """
    Was it made by live:pagemap of a kernel before 6.7?  That has no PAGEMAP_SCAN, which
    says how large entries are: what large pages map is n/a.
    """
    with open(capture, encoding='utf-8', errors='surrogateescape') as file:
        heads = dict(line[3:].rstrip().split(', ', 1) for line in file if line.startswith('H: '))
    release = tuple(int(n) for n in re.findall(r'\d+', heads['release'])[:2])
    return heads['way'] == 'pagemap' and release < (6, 7)


def fail(text):
    print(text)
    sys.exit(1)


def skip(text):
    print(text)
    sys.exit(SKIPPED)


def report(wrong, text):
    """Ends the check: with the first few of what is wrong, or with a count."""
    if wrong:
        fail('\n'.join(wrong[:8] + [f'{len(wrong)} wrong; {text}']))
    print(text)


class Guest:
    def __init__(self, name, folder):
        self.name, self.folder = name, pathlib.Path(folder)
        self.facts = json.loads((self.folder / 'guest.json').read_text())
        self.arch = self.facts['arch']
        self.modes = self.facts['cpu_modes']
        self.elf = self.folder / 'dump.elf'

    def without_data(self):
        """A kernel with symbols of its code only (no CONFIG_KALLSYMS_ALL)."""
        return not re.search(r' [a-zA-Z] iomem_resource$',
                             (self.folder / 'kallsyms.txt').read_text(), re.M)

    def oracle(self, command):
        """Monitor output of `command`, or '' when it was not asked."""
        found, take = [], False
        for line in (self.folder / 'oracle.txt').read_text().splitlines():
            if line.startswith('##### '):
                take = line[6:] == command
            elif take:
                found.append(line)
        return '\n'.join(found)

    def paging(self):
        return next(row['value'] for row in rows('info', self.elf)
                    if row['fact'] == 'paging').split()[0]

    def user_options(self, cpu):
        """Options that choose the tables a CPU in user mode was using."""
        if self.arch == 'amd64':
            return ['--cpu', cpu]
        if self.arch == 'arm64':
            text = self.oracle(f'cpu{cpu} system registers')
            found = re.search(r'TTBR0_EL1\s*=?\s*(?:0x)?([0-9a-f]+)', text, re.I)
            if not found:
                return None
            ttbr = int(found[1], 16)
            # DDI 0487 D17.2.144: ASID 63:48, CnP 0; 52-bit roots keep
            # address bits 51:48 in 5:2.
            root = ttbr & 0xffffffffffc0
            if self.paging().endswith('-52'):
                root |= (ttbr >> 2 & 0xf) << 48
                root &= ~0x3c
        else:
            text = self.oracle(f'cpu{cpu} info registers')
            satp = int(re.search(r'satp\s+([0-9a-f]+)', text)[1], 16)
            root = (satp & (1 << 44) - 1) << 12
        return ['--root', hex(root), '--paging', self.paging()]

    def translations(self):
        """gva2gpa.txt: (cpu, address, physical or None, what)."""
        for line in (self.folder / 'gva2gpa.txt').read_text().splitlines():
            if line.startswith('#') or not line:
                continue
            cpu, address, _, gpa, *what = line.split()
            yield (int(cpu), int(address, 16),
                   None if gpa == 'unmapped' else int(gpa, 16), ' '.join(what))
