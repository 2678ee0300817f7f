# SPDX-License-Identifier: GPL-2.0-or-later
"""What the emulator says of a stopped guest, written down for comparison.

oracle.txt has the output of monitor commands, each after a line

    ##### COMMAND               or      ##### cpuN COMMAND

and gva2gpa.txt has single translations:

    # cpu N kernel|user         the mode that CPU was stopped in
    CPU ADDRESS -> GPA|unmapped WHAT
"""

import re

import gdbstub

SYMBOLS = 120       # of each kind
POINTERS = 150
USER_PAGES = 200
KERNEL_HALF = 1 << 63
NOWHERE = 1 << 40   # no process that spins has anything there
TOP = (1 << 64) - 1


def program_counter(registers):
    """Where a CPU was, from `info registers` of any architecture."""
    found = re.search(r'\b(?:RIP|PC|pc)\s*=?\s*([0-9a-fA-F]+)', registers)
    return int(found[1], 16) if found else None


def cpu_mode(qmp, cpu):
    """'user' or 'kernel': which half of addresses a CPU runs in.

    Or 'firmware', which on riscv64 takes part in every tick of the clock: it
    runs without page tables, so that what is nowhere mapped is where it says.
    """
    pc = program_counter(qmp.monitor('info registers', cpu))
    if pc is None or pc >= KERNEL_HALF:
        return 'kernel'
    return 'user' if ask(qmp, cpu, NOWHERE) == 'unmapped' else 'firmware'


def cpu_modes(qmp, cpus):
    """The mode of each CPU."""
    return [cpu_mode(qmp, cpu) for cpu in range(cpus)]


def spread(items, count):
    """At most count of the items, evenly spread."""
    if len(items) <= count:
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def read_symbols(path):
    """Symbols of kallsyms as (address, kind, name)."""
    kinds = {'t': 'text', 'w': 'text', 'd': 'data', 'b': 'bss', 'r': 'rodata'}
    symbols = []
    for line in path.read_text(errors='replace').splitlines():
        words = line.split()
        if len(words) < 3:
            continue
        address, letter = int(words[0], 16), words[1].lower()
        if address < KERNEL_HALF or letter not in kinds:
            continue
        kind = 'module' if len(words) > 3 else kinds[letter]
        symbols.append((address, kind, words[2]))
    return symbols


def read_word(qmp, cpu, address):
    """The eight bytes at a virtual address, or None."""
    text = qmp.monitor(f'x /1gx 0x{address:x}', cpu)
    found = re.search(r': 0x([0-9a-f]{16})', text)
    return int(found[1], 16) if found else None


def kernel_questions(qmp, cpu, symbols):
    """Kernel addresses to ask about: of symbols, and what is behind pointers.

    Pointers found in the kernel's data lead to the rest of its address space:
    the mapping of all memory, vmalloc, per-CPU areas, the array of pages.
    """
    by_kind = {}
    for address, kind, name in symbols:
        by_kind.setdefault(kind, []).append((address, name))
    for kind, found in sorted(by_kind.items()):
        for address, name in spread(found, SYMBOLS):
            yield address, f'{kind}:{name}'
    data = by_kind.get('data', []) + by_kind.get('bss', [])
    for address, name in spread(data, 4 * POINTERS):
        value = read_word(qmp, cpu, address & ~7)
        if value and KERNEL_HALF < value < TOP - 0x1000:
            yield value, f'pointer:{name}'
    offsets = dict((name, address) for address, _, name in symbols)
    base = offsets.get('__per_cpu_offset')
    for number in range(2 if base else 0):
        value = read_word(qmp, cpu, base + 8 * number)
        if value:
            yield (value + offsets.get('__per_cpu_start', 0)) & TOP, 'percpu'
    # What is mapped nowhere: the hole in the middle, and the last page.
    for address in (KERNEL_HALF, 0xff00000000000000, 0xffff7fffffffffff,
                    TOP & ~0xfff, 0xfffffffffffff000):
        yield address, 'hole'


def user_questions(truth, comm):
    """Addresses of the process of that name: its pages, and past its ranges."""
    pid, pages, starts, ends = None, [], [], []
    for line in truth.read_text().splitlines():
        words = line.split(None, 3)
        if not words:
            continue
        if words[0] == 'P' and line.split(None, 2)[2] == comm:
            pid = words[1]
        elif pid and words[0] == 'M' and words[1] == pid:
            start, end = (int(w, 16) for w in words[2].split('-'))
            starts.append(start)
            ends.append(end)
        elif pid and words[0] == pid:
            pages.append(int(words[1], 16))
    for address in spread(pages, USER_PAGES):
        yield address + 0x128, 'page'
    for address in starts:
        if address < KERNEL_HALF:
            yield address, 'start'
    for address in ends:
        if address < KERNEL_HALF:
            yield address, 'past'
    for address in (0, 0x1000, NOWHERE):
        yield address, 'low'


def ask(qmp, cpu, address):
    """One translation by the emulator, as text."""
    reply = qmp.monitor(f'gva2gpa 0x{address:x}', cpu)
    found = re.search(r'gpa: 0x([0-9a-f]+)', reply)
    return found[1] if found else 'unmapped'


def write_translations(qmp, modes, folder):
    """gva2gpa.txt.  Returns how many translations are in it.

    Except on x86 the emulator answers with the rights of the mode that the CPU
    is in, so kernel addresses are asked of CPUs in the kernel, and those of
    user space of CPUs in user space; the x86 one does not care, and with page
    table isolation the answers differ, so it is asked everything.
    """
    symbols = read_symbols(folder / 'kallsyms.txt')
    count = 0
    with open(folder / 'gva2gpa.txt', 'w', encoding='ascii',
              errors='replace') as out:
        for cpu, mode in enumerate(modes):
            out.write(f'# cpu {cpu} {mode}\n')
            if mode == 'user':
                questions = user_questions(folder / 'truth.txt', 'spin')
            else:
                questions = kernel_questions(qmp, cpu, symbols)
            for address, what in questions:
                out.write(f'{cpu} {address:x} -> {ask(qmp, cpu, address)} {what}\n')
                count += 1
    return count


def write_oracle(qmp, arch, cpus, folder, scratch):
    """oracle.txt."""
    per_cpu = {'amd64': ['info registers', 'info tlb'],
               'arm64': ['info registers'],
               'riscv64': ['info registers', 'info mem']}[arch]
    with open(folder / 'oracle.txt', 'w', encoding='utf-8') as out:
        for line in ('info version', 'info status', 'info cpus',
                     'info mtree -f', 'info ramblock', 'info memdev',
                     'info registers -a'):
            out.write(f'##### {line}\n{qmp.monitor(line)}\n')
        for cpu in range(cpus):
            for line in per_cpu:
                text = qmp.monitor(line, cpu, timeout=120)
                out.write(f'##### cpu{cpu} {line}\n{text}\n')
                if line == 'info registers' and arch == 'amd64':
                    five_levels = int(re.search(r'CR4=([0-9a-f]+)', text)[1],
                                      16) & 1 << 12
            # With five levels it takes half a minute and says nothing.
            if arch == 'amd64' and not five_levels:
                text = qmp.monitor('info mem', cpu, timeout=120)
                out.write(f'##### cpu{cpu} info mem\n{text}\n')
        if arch == 'arm64':
            texts = gdbstub.system_registers(qmp, f'{scratch}/gdb', cpus)
            for cpu, text in enumerate(texts):
                out.write(f'##### cpu{cpu} system registers\n{text}\n')


def ram_map(mtree, arch):
    """Where the file of the guest's memory is in its address space.

    A list of (address, size, offset in the file) from the flat view of all
    memory.  Firmware that shadows memory hides the ROM behind it, which for
    the memory's own sake counts as memory.
    """
    view = next(v for v in mtree.split('FlatView #')
                if re.search(r'AS "memory", root: system', v))
    ranges = []
    for low, high, offset in re.findall(
            r'^\s+([0-9a-f]+)-([0-9a-f]+) \(prio -?\d+, (?:ram|rom)\): '
            r'ram0(?: @([0-9a-f]+))?', view, re.M):
        start, end = int(low, 16), int(high, 16) + 1
        at = int(offset or '0', 16)
        if ranges and ranges[-1][0] + ranges[-1][1] == start and \
                ranges[-1][2] + ranges[-1][1] == at:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + end - start,
                          ranges[-1][2])
        else:
            ranges.append((start, end - start, at))
    if not ranges:
        raise ValueError(f'no memory in the flat view ({arch})')
    return ranges
