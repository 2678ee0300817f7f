# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms that makedumpfile gives a real vmcore.

Each becomes a file beside the vmcore, named vmcore.FORM; those that cannot be
made here are left out, and vmcore.forms.txt says which and why.

makedumpfile reads only vmcores of the architecture it was built for: elsewhere
it runs under QEMU's emulation of user programs.
"""

import contextlib
import platform
import re
import shutil
import struct
import subprocess

import atwalk
import guests
from guests import Failure, Skip

TIMEOUT = 300
SPLIT = 3
SLABS = (1, 7, 7)       # the first to tell slabs of 6.12 from user data

# (name, arguments).  -d is a set of kinds of pages to leave out: 1 zero,
# 2 cache, 4 private cache, 8 user data, 16 free.
FORMS = (
    ('zlib-d1', ['-c', '-d', '1']),
    ('zlib-d31', ['-c', '-d', '31']),
    ('lzo-d1', ['-l', '-d', '1']),
    ('lzo-d31', ['-l', '-d', '31']),
    ('snappy-d1', ['-p', '-d', '1']),
    ('snappy-d31', ['-p', '-d', '31']),
    ('zstd-d1', ['-z', '-d', '1']),
    ('zstd-d31', ['-z', '-d', '31']),
    ('elf-d31', ['-E', '-d', '31']),
    ('flat-lzo-d31', ['-F', '-l', '-d', '31']),
    ('flat-elf-d31', ['-F', '-E', '-d', '31']),
)
# Forms that prove nothing more about an architecture: not under emulation.
MORE = (
    ('raw-d1', ['-d', '1']),            # not compressed
    ('raw-d31', ['-d', '31']),
    ('zlib-d0', ['-c', '-d', '0']),
    ('elf-d1', ['-E', '-d', '1']),
    ('flat-zlib-d1', ['-F', '-c', '-d', '1']),
    # In small blocks, or all of a small machine ends up in the first part.
    ('split', ['--split', '--splitblock-size', '4', '-c', '-d', '1']),
)
# What an older one makes of slabs: atwalk has to say what it cannot read.
OLD = ('old-zlib-d31', ['-c', '-d', '31'])


class Tool:
    """A makedumpfile: how to run it, its version, compressions it lacks."""

    def __init__(self, command, emulated=False):
        self.command, self.emulated = command, emulated
        done = subprocess.run([*command, '-v'], stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT)
        text = done.stdout.decode(errors='replace')
        found = re.search(r'version (\d+)\.(\d+)\.(\d+)', text)
        if not found:
            raise Skip(f'makedumpfile does not run: {text.strip()[:200]}')
        self.version = tuple(map(int, found.groups()))
        self.lacks = re.findall(r'^(\w+)\s+disabled', text, re.M)
        self.name = 'makedumpfile ' + '.'.join(found.groups())
        if emulated:
            self.name += ', emulated'


def installed(arch):
    """The makedumpfile of this machine, if it reads such vmcores."""
    command = shutil.which('makedumpfile')
    if command is None or platform.machine() != arch.uname:
        raise Skip('no makedumpfile for this architecture here')
    return Tool([command])


def cached(guest):
    """The one that fetch got, run with its own libraries."""
    names = guests.wants(guest)
    if not names:
        raise Skip(f'sources.conf has no makedumpfile of {guest.arch_name}')
    guests.fetch(names)
    root = guests.cache_dir() / ('makedumpfile-' + guest.arch_name)
    program = next(root.glob('usr/*bin/makedumpfile'), None)
    loader = next(root.glob('usr/lib/*/ld-linux-*'), None)
    if program is None or loader is None:
        raise Skip(f'no makedumpfile in {root.name}')
    command = [str(loader), '--library-path', str(loader.parent), str(program)]
    if platform.machine() == guest.arch.uname:
        return Tool(command)
    emulator = guests.emulator(guest)
    if not emulator:
        raise Skip(f'nothing emulates programs of {guest.arch.uname}')
    return Tool([emulator, *command], emulated=True)


def find_tools(guest):
    """The best makedumpfile there is, or None; one that drops slabs, or None."""
    tools, notes = [], []
    for find in (lambda: cached(guest), lambda: installed(guest.arch)):
        try:
            tools.append(find())
        except Skip as why:
            if not tools:               # the second is optional
                notes.append(str(why))
    old = [tool for tool in tools if tool.version < SLABS]
    return (tools or [None])[0], (old or [None])[0], notes


def make(tool, arguments, vmcore, outputs):
    """Run makedumpfile; returns what it says when it does not do as asked."""
    command = [*tool.command, *arguments, str(vmcore)]
    if '-F' in arguments:
        # The flattened form exists to go through a pipe.
        with open(outputs[0], 'wb') as file:
            done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT, check=False)
        text = done.stderr
    else:
        done = subprocess.run([*command, *map(str, outputs)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT, check=False)
        text = done.stdout
    lines = text.decode(errors='replace').strip().splitlines()
    if done.returncode:
        return lines[-1] if lines else f'exit status {done.returncode}'
    return None


def redump(name, folder):
    """What makedumpfile was built without: the same pages, packed by our tool."""
    method, level = name.split('-')
    model, out = folder / f'vmcore.zlib-{level}', folder / f'vmcore.{name}'
    program = atwalk.PROGRAM.parent / 'tests' / 'tools' / 'redump'
    if not model.exists():
        return f'there is no {model.name} to go by'
    try:
        done = subprocess.run([program, '--pages-of', model, folder / 'vmcore',
                               f'kdump-{method}', out], text=True, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError as why:
        return f'redump: {why.strerror}'
    return done.stderr.strip() if done.returncode else None


def note_changes(vmcore):
    """
    What to change in VMCOREINFO for makedumpfile, up to 1.7.8 at least: of arm64
    with pages of less than 64 KiB it knows no kernel built for 52 bits, although
    one on a CPU with 48 is like one built for 48.  Its linear mapping starts
    higher, so what is added to an address to make it physical differs.
    """
    with open(vmcore, 'rb') as file:
        head = file.read(64)
        file.seek(struct.unpack_from('<Q', head, 32)[0])
        kind, _, offset, _, _, length = struct.unpack('<IIQQQQ', file.read(40))
        file.seek(offset)
        notes = file.read(length) if kind == 4 else b''
    bits = b'NUMBER(VA_BITS)=52\n'
    base = re.search(rb'NUMBER\(PHYS_OFFSET\)=(0x\w{16})\n', notes)
    if bits not in notes or b'NUMBER(TCR_EL1_T1SZ)=0x10\n' not in notes or not base:
        return [], 0
    shift = (1 << 52) - (1 << 48)
    moved = f'NUMBER(PHYS_OFFSET)={(int(base[1], 16) + shift) % (1 << 64):#018x}\n'
    return [(bits, b'NUMBER(VA_BITS)=48\n'), (base[0], moved.encode())], offset + length


def replace(path, changes, end):
    """Change texts in the first bytes of a file; False if one is not there."""
    with open(path, 'r+b') as file:
        data = file.read(end)
        for old, new in changes:
            if old not in data:
                return False
            data = data.replace(old, new)
        file.seek(0)
        file.write(data)
    return True


@contextlib.contextmanager
def readable(vmcore, changes, end):
    """The vmcore, or for the time being a copy that makedumpfile can read."""
    if not changes:
        yield vmcore
        return
    copy = vmcore.with_name('copy.vmcore')
    try:
        shutil.copyfile(vmcore, copy)
        replace(copy, changes, end)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def make_form(tool, name, arguments, vmcore, folder, changes):
    """One form; whether there is one, and what to say of it."""
    outputs = [folder / f'vmcore.{name}']
    if name == 'split':
        outputs = [folder / f'vmcore.split-{i}' for i in range(1, SPLIT + 1)]
    how, why = tool.name, None
    if '31' in arguments and tool.version < SLABS and not name.startswith('old-'):
        why = f'{tool.name} would leave out slabs as well'
    elif name.split('-')[0] in tool.lacks:
        # It would say so, and leave the pages as they are.
        how = f'redump, for it is disabled in {tool.name}'
        why = redump(name, folder)
    else:
        why = make(tool, arguments, vmcore, outputs)
        back = [(new, old) for old, new in changes]
        if not why and not all(replace(path, back, 1 << 20) for path in outputs):
            why = 'the note that was changed is not found'
    if why:
        for path in outputs:
            path.unlink(missing_ok=True)
    return not why, f'vmcore.{name}: {why or "made by " + how}'


def make_variants(folder, guest):
    """All forms of folder/vmcore, which is of that guest."""
    for path in folder.glob('vmcore.*'):
        path.unlink()                   # makedumpfile replaces none
    tool, old, notes = find_tools(guest)
    if tool is None:
        (folder / 'vmcore.forms.txt').write_text('none: ' + '; '.join(notes) + '\n')
        return
    todo = [(tool, *form) for form in FORMS + (() if tool.emulated else MORE)]
    if old:
        todo.append((old, *OLD))
    changes, end = note_changes(folder / 'vmcore')
    made = 0
    with readable(folder / 'vmcore', changes, end) as vmcore:
        for by, name, arguments in todo:
            done, note = make_form(by, name, arguments, vmcore, folder, changes)
            made += done
            notes.append(note)
    if changes:
        notes.append('made of a copy that says ' + ' '.join(
            new.decode().strip() for _, new in changes) + ', which was undone')
    (folder / 'vmcore.forms.txt').write_text('\n'.join(notes) + '\n')
    if not made:
        raise Failure('makedumpfile made nothing of the vmcore:\n' +
                      '\n'.join(notes))
