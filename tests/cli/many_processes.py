# SPDX-License-Identifier: GPL-2.0-or-later
"""many_processes.py N [LOOK]: a capture of N processes that never were.

Each has a program, libc, a heap, memory of no file and a stack; few are large and
many are small. Of later LOOKs, every seventh process has grown. The machine has
3 GiB of RAM with a hole, and a use for each of its frames.
"""
import sys

N = int(sys.argv[1])
LOOK = int(sys.argv[2]) if len(sys.argv) > 2 else 0
NAMES = ['nginx', 'postgres', 'systemd-journal', 'sshd', 'java', 'bash', 'cron', '</svg><b>', 'a&b']
PAGE = 4096
lines = []
frame = [0x10000]
areas = 0


def frames(n):
    """The first of n frames that are not used otherwise."""
    frame[0] += n
    return frame[0] - n


def area(start, pages, prot, name, resident, entry, pa=None, refs=1, more=''):
    """An area; its first pages are resident."""
    global areas
    areas += 1
    size = pages * PAGE
    lines.append(f'V: {start:08X}, {start + size - 1:08X}, {size:08X}, {resident * PAGE:08X}, '
                 f'-, {prot:08X}, {name}{more}')
    if resident:
        pa = frames(resident) if pa is None else pa
        lines.append(f'M: {start:08X}*{resident}={pa * PAGE | entry:08X}, {refs}, 00000828, '
                     f'refs={refs} |')


lines += ['H: atwalk-capture, 1', 'H: page, 4096', 'H: machine, x86_64',
          'H: release, 6.1.0', 'H: host, vm7',
          f'H: begun, {1700000000 + 600 * LOOK}', 'H: bits, 6D2', 'H: hz, 100']
lines += [f'H: vmstat.pgmajfault, {5000 * LOOK * LOOK}', f'H: vmstat.workingset_refault_anon, '
          f'{7000 * LOOK * LOOK}']
lines += ['R: 00000000, 7FFFFFFF, System RAM', 'R: C0000000, FFFFFFFF, System RAM']
for i, name in enumerate(NAMES):
    lines.append(f'U: 8:1, {100 + i}, /usr/bin/{name}')
lines.append('U: 8:1, 50, /usr/lib/libc.so.6')
libc = frames(300)
code = [frames(24) for _ in NAMES]
for i in range(N):
    kind = i % len(NAMES)
    pid = 100 + i
    heap = 1 + 6000 // (i + 1) + (40 * LOOK * (1 + i % 5) if i % 7 == 0 else 0)
    exe = f'dev=8:1, inode={100 + kind}'
    lines.append(f'T: {NAMES[kind]}-{i}, {pid}, {0x1000 + i:08X}, -, 0, {LOOK * LOOK * (i % 7) * 1200}, 0, 0, 0, 0, '
                 f'tgid={pid}, start={pid}, exe=/usr/bin/{NAMES[kind]}')
    base = 0x400000
    path = f'/usr/bin/{NAMES[kind]}'
    same = len(range(kind, N, len(NAMES)))
    area(base, 8, 0x08000071, path, 4, 0x412, code[kind], same, f', {exe}, offset=0')
    area(base + 0x8000, 40 + kind, 0x08000075, path, 20, 0x612, code[kind] + 4, same,
         f', {exe}, offset=8000')
    area(base + 0x80000, 6, 0x08100073, path, 3, 0x4d2, more=f', {exe}, offset=80000')
    area(0x1000000, heap * 2, 0x08100073, '[heap]', heap, 0x4d2)
    area(0x7f0000000000, 300, 0x08000075, '/usr/lib/libc.so.6', 250, 0x612, pa=libc, refs=N,
         more=', dev=8:1, inode=50, offset=0')
    area(0x7f0000200000, 16, 0x08100073, '/usr/lib/libc.so.6', 5, 0x4d2,
         more=', dev=8:1, inode=50, offset=200000')
    area(0x7f0001000000, 512, 0x08100073, 'NULL', 1 + 100 // (i + 1), 0x4d2)
    area(0x7ffffffde000, 34, 0x08100173, '[stack]', 3 + i % 5, 0x4d2)
uses = ['free', 'anon', 'file', 'kernel', 'slab', 'pgtable', 'reserved']
runs = []
for start, last in (0, 0x7fffffff), (0xc0000000, 0xffffffff):
    at, k = start // PAGE, 0
    while at <= last // PAGE:
        n = min(1 + (k * k * 2654435761 >> 7) % 9000, last // PAGE + 1 - at)
        runs.append(f'{at * PAGE:08X}*{n}={uses[k % len(uses)]}')
        at += n
        k += 1
for i in range(0, len(runs), 100):
    lines.append('F: ' + ' | '.join(runs[i:i + 100]) + ' |')
lines.append(f'E: {len(lines)}, {N}, {areas}, 0')
sys.stdout.write('\n'.join(lines) + '\n')
