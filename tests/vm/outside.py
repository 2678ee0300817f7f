# SPDX-License-Identifier: GPL-2.0-or-later
"""What atwalk says of a guest from outside, while QEMU runs it: outside.txt."""

import array
import itertools
import os
import pathlib
import re
import subprocess
import time

import freezing
import machines

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = pathlib.Path(os.environ.get('O', HERE.parents[1] / 'build')) / 'atwalk'
COST = ('RssAnon', 'RssShmem', 'VmPTE', 'VmSwap', 'RssFile')
LIMIT = 300
PAGES = ('pages', '--all', '--columns',
         'pid,address,size,physical,state,kcount,pageflags,swap,area,count')
# Of the guest while it runs, and of the stopped one.
RUNNING = (('ps', '--columns', 'pid,task'), PAGES)
STOPPED = (('info',), ('ps',), ('pages', '--totals'), ('map',), ('map', '--pid', '1'), PAGES)
BACKING = ('report', 'backing')
# Of the virtual machines of this host, that one.
VMS = ('vms', '--columns', 'release,hostname,uptime,tasks')
BASE = {'arm64': 0x40000000, 'riscv64': 0x80000000}     # of RAM; else 0
# Processes with a map of their own: every kind of page.
MAPPED = ('sparse', 'thp', 'folios', 'hugetlb', 'file-reader', 'cow-child', 'shared-child',
          'rights', 'swap', 'high')


def of_files(pid):
    """KiB of files that it has in memory, but for programs: those it executes at any time."""
    program, rss, counts = os.readlink(f'/proc/{pid}/exe'), 0, False
    for line in pathlib.Path(f'/proc/{pid}/smaps').read_text(encoding='utf-8').splitlines():
        words = line.split()
        if '-' in words[0]:
            path = words[5] if len(words) > 5 else ''
            counts = path.startswith('/') and path != program and '.so' not in path
        elif counts and words[0] == 'Rss:':
            rss += int(words[1])
    return rss


def cost(pid):
    """What of its memory a read might change: lines of its status."""
    text = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    lines = [' '.join(line.split()) for line in text.splitlines() if line.split(':')[0] in COST[:-1]]
    return '\n'.join([*lines, f'RssFile: {of_files(pid)} kB']) + '\n'


def largest(pid):
    """Its largest private mapping: size and start."""
    areas = []
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text(encoding='utf-8').splitlines():
        start, end = (int(word, 16) for word in line.split()[0].split('-'))
        if line.split()[1].startswith('rw'):
            areas.append((end - start, start))
    return max(areas)


def smaps(pid):
    """KiB of that mapping, as smaps has them."""
    start = f'{largest(pid)[1]:x}-'
    keys, inside = {'Rss', 'AnonHugePages', 'Swap', 'KSM'}, False
    lines = []
    for line in pathlib.Path(f'/proc/{pid}/smaps').read_text(encoding='utf-8').splitlines():
        words = line.split()
        if '-' in words[0]:
            inside = words[0].startswith(start)
        elif inside and words[0][:-1] in keys:
            lines.append(f'{words[0][:-1]} {words[1]}\n')
    return ''.join(lines)


def states(pid):
    """The pages of its largest private mapping that it has in memory: FIRST*NUMBER."""
    size, start = largest(pid)
    words = array.array('Q')
    with open(f'/proc/{pid}/pagemap', 'rb') as file:
        file.seek(start >> 12 << 3)
        words.frombytes(file.read(size >> 9))
    at, runs = 0, []
    for present, run in itertools.groupby(words, lambda word: word >> 63):
        number = len(list(run))
        if present:
            runs.append(f'{at}*{number}')
        at += number
    return ' '.join(runs) + '\n'


def frames(folder, arch, pid):
    """
    The command that finds frames of this machine in its running kernel: of anonymous pages of
    some processes of the guest, one of its own and one that others map, too, by the pagemap
    of its QEMU.
    """
    text = (folder / 'truth.txt').read_text(encoding='utf-8', errors='surrogateescape')
    text = text[text.rfind('# page_size '):]
    page = int(text.split()[2].rstrip(';'))
    names = dict(re.findall(r'^P (\d+) (.*)$', text, re.M))
    found = {}
    for owner, word, flags, count in re.findall(
            r'^(\d+) [0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)$', text, re.M):
        # Present, and KPF_ANON.
        if names[owner] in MAPPED and int(word, 16) >> 63 and int(flags, 16) >> 12 & 1:
            frame = int(word, 16) & (1 << 55) - 1
            found[owner, count == '1'] = frame * page - BASE.get(arch, 0)
    hpas = []
    with open(f'/proc/{pid}/pagemap', 'rb') as file:
        for offset in sorted(set(found.values())):
            file.seek((largest(pid)[1] + offset) >> 12 << 3)
            word, = array.array('Q', file.read(8))
            if word >> 63 and word & (1 << 55) - 1:
                hpas.append(hex((word & (1 << 55) - 1) << 12))
    # Without root, there are no frame numbers.
    if hpas:
        yield 'find', 'live', *hpas, '--guests', '--columns', 'guest,pid,address,physical'


def ask(out, title, pid, words):
    """One command and its answer, as in live.txt."""
    start = time.monotonic()
    source = (() if words[0] in ('walk', 'find') else
              (str(pid) if words == VMS else f'qemu:{pid}',))
    done = subprocess.run([PROGRAM, *words, *source, '--format', 'csv'],
                          capture_output=True, text=True, check=False, timeout=LIMIT)
    took = round((time.monotonic() - start) * 1000)
    out.write(f'##### {title} {" ".join(words)}\n{done.stdout}'
              f'##### exit {done.returncode} {took}\n{done.stderr}')


def maps(folder):
    """Commands that list the maps of processes, by the PIDs of truth.txt."""
    text = (folder / 'truth.txt').read_text(encoding='utf-8', errors='surrogateescape')
    pids = {int(pid) for pid, name in re.findall(r'^P (\d+) (.*)$', text, re.M)
            if name in MAPPED}
    return [('map', '--all', '--pid', str(pid), '--columns', 'address,size,physical,state')
            for pid in sorted(pids)]


def of_machines(arch, folder, pid):
    """Commands about the virtual machines that the guest runs, if it does."""
    root, slots = machines.read_slots(folder)
    if slots:
        yield machines.VMS
        yield machines.walk(arch, root, slots, f'@qemu:{pid}')


def write(folder, arch, pid, title, commands):
    """Append the answers about the guest of process `pid`, and what it costs that."""
    if not PROGRAM.exists():
        return
    with open(folder / 'outside.txt', 'a', encoding='utf-8') as out:
        out.write(f'##### {title} before\n{cost(pid)}')
        for words in (*commands, *maps(folder)):
            ask(out, title, pid, words)
        if title == 'running':
            out.write(f'##### {title} kills\n{freezing.kill(PROGRAM, pid)}')
        if title == 'stopped':
            out.write(f'##### {title} states\n{states(pid)}')
            out.write(f'##### {title} smaps\n{smaps(pid)}')
            ask(out, title, pid, BACKING)
            ask(out, title, pid, VMS)
            for words in (*of_machines(arch, folder, pid), *frames(folder, arch, pid)):
                ask(out, title, pid, words)
        out.write(f'##### {title} after\n{cost(pid)}')
