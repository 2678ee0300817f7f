# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual machines that a guest runs (init-kvm.c): their slots, and what atwalk is asked."""

import re

PAGE = 4096
COLUMNS = 'physical,hva,hpa,host_page,host_state,s2_hpa,s2_page,s2_rights,s2_state,s2_differs'
VMS = ('vms', '--columns', 'pid,ram,stage2,s2_root')
# The machine's own tables (init-kvm.c).
TABLES = {'amd64': 'x86_64-4', 'arm64': 'arm64-4k-48', 'riscv64': 'riscv64-sv48'}


class Slot:
    """A memory slot, and the pages of it that the CPU of the machine accessed."""

    def __init__(self, line):
        words = line.split()
        self.pid = int(words[0])
        self.gpa, self.start, self.size, self.flags = (int(w, 16) for w in words[1:5])
        self.first, self.pages = int(words[5]), int(words[6])

    def accessed(self, gpa):
        """Is it one of these pages?"""
        return self.first <= (gpa - self.gpa) // PAGE < self.first + self.pages


def read_slots(folder):
    """The root of the first machine's own tables, and the slots of all; None: there are none."""
    text = (folder / 'info.txt').read_text(encoding='utf-8', errors='replace')
    found = re.search(r'^##### slots\nroot ([0-9a-f]+)\n((?:\d.*\n)*)', text, re.M)
    if not found:
        return None, []
    return int(found[1], 16), [Slot(line) for line in found[2].splitlines()]


def walk(arch, root, slots, host=''):
    """The command that lists each page of the first machine."""
    slots = [slot for slot in slots if slot.pid == slots[0].pid]
    return ('walk', f'kvm:{slots[0].pid}{host}',
            *(f'{slot.gpa:x}-{slot.gpa + slot.size - 1:x}' for slot in slots),
            '--root', hex(root), '--paging', TABLES[arch], '--nested', '--columns', COLUMNS)
