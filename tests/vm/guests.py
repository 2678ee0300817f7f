# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests: what guests.conf says, and how their machines are made."""

import os
import pathlib
import platform
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77       # exit status: what the guest needs is not to be had


class Skip(Exception):
    """Something this machine lacks; the guest is not a failure."""


class Failure(Exception):
    """The guest, or a tool, did not do what it should."""


class Arch:
    """What differs between architectures, other than the kernel."""

    def __init__(self, uname, binary, machine, console, cross, cache, package):
        self.uname = uname
        self.binary = binary        # QEMU's
        self.machine = machine
        self.console = console
        self.cross = cross          # prefix of the compiler
        self.cache = cache          # where sources.conf has newer QEMUs
        self.package = package      # Debian's package of the installed QEMU


ARCHES = {
    'amd64': Arch('x86_64', 'qemu-system-x86_64', 'q35', 'ttyS0',
                  'x86_64-linux-gnu-', 'x86', 'qemu-system-x86'),
    'arm64': Arch('aarch64', 'qemu-system-aarch64', 'virt,gic-version=3',
                  'ttyAMA0', 'aarch64-linux-gnu-', 'arm', 'qemu-system-arm'),
    'riscv64': Arch('riscv64', 'qemu-system-riscv64', 'virt', 'ttyS0',
                    'riscv64-linux-gnu-', 'riscv', 'qemu-system-misc'),
}


class Guest:
    """One line of guests.conf."""

    def __init__(self, line):
        words = line.split(None, 6)
        if len(words) < 6:
            raise ValueError('guests.conf: ' + line)
        self.line = line
        self.name, self.kernel, self.qemu, mem, self.cpu, extras = words[:6]
        self.mem = int(mem)
        self.extras = set() if extras == '-' else set(extras.split(','))
        self.cmdline = words[6] if len(words) > 6 else ''
        self.arch_name = self.kernel.split('-')[0]
        self.arch = ARCHES[self.arch_name]


def table(path):
    """The lines of one of our tables that are neither blank nor comments."""
    for line in path.read_text().splitlines():
        line = line.strip()
        if line and not line.startswith('#'):
            yield line


def load():
    """All guests by name, in the order of the file."""
    guests = [Guest(line) for line in table(HERE / 'guests.conf')]
    return {g.name: g for g in guests}


def recordings():
    """Guests with a recorded kernel, by name, and the number of CPUs of each."""
    found = {}
    for line in table(HERE / 'recordings.conf'):
        words = line.split(None, 6)
        cmdline = '' if words[6] == '-' else words[6]
        found[words[0]] = Guest(' '.join(words[:5] + ['-', cmdline])), int(words[5])
    return found


# Printed by the kernel for a CPU without timer interrupts: it hangs for good.
STALL = 'Possible timer handling issue'


def console_says(folder, *words):
    """Is one of these in what the guest's console said so far?"""
    console = folder / 'console.log'
    said = console.read_text(errors='replace') if console.exists() else ''
    return any(word in said for word in words)


def tried(call, attempts, folder):
    """What call() returns, and how many tries that took: one, but for the emulator's faults.

    With several threads it now and then gets something wrong: an oops out of nowhere,
    a timer that is lost, or a kernel that never gets to /init.  That is not what is
    tested here, and nothing that /init does leads to one.
    """
    for attempt in range(1, attempts + 1):
        try:
            return call(), attempt
        except Failure:
            status = folder / 'status.txt'
            silent = status.exists() and not status.stat().st_size
            faulty = silent or console_says(folder, '---[ end trace', STALL)
            if attempt == attempts or not faulty:
                raise
    raise ValueError(attempts)


def cache_dir():
    """Where fetch keeps what it got; the same rule as its own."""
    if os.environ.get('ATWALK_CACHE'):
        return pathlib.Path(os.environ['ATWALK_CACHE'])
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return pathlib.Path(base) / 'atwalk'


def fetch(names):
    """Make sure these are in the cache, or raise Skip."""
    done = subprocess.run([str(HERE / 'fetch'), *names], text=True,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode == SKIP:
        raise Skip(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise Failure('fetch: ' + done.stderr.strip())


def qemu_version(command):
    """(10, 0) and what --version says in full."""
    out = subprocess.run([command, '--version'], text=True, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    line = out.stdout.splitlines()[0] if out.stdout else ''
    found = re.search(r'version (\d+)\.(\d+)', line)
    if not found:
        raise Skip(f'{command} does not run: {line}')
    return (int(found[1]), int(found[2])), line


def cached_qemu(guest):
    """The name in sources.conf of a QEMU as new as the guest wants."""
    return f'qemu-{guest.qemu}-{guest.arch.cache}'


def needs(guest):
    """What the guest needs of sources.conf."""
    names = [guest.kernel]
    if guest.qemu != 'any' and installed_qemu(guest) is None:
        names.append(cached_qemu(guest))
    tool = 'kexec-' + guest.arch_name
    if 'kexec' in guest.extras and any(
            line.split()[0] == tool for line in table(HERE / 'sources.conf')):
        names.append(tool)
    return names


def wants(guest):
    """Optional entries of sources.conf that allow more checks of the guest."""
    names = []
    if 'kexec' in guest.extras:
        names = ['makedumpfile-' + guest.arch_name]
        if platform.machine() != guest.arch.uname and not installed_emulator(guest):
            names.append('qemu-user')
    there = {line.split()[0] for line in table(HERE / 'sources.conf')}
    return [name for name in names if name in there]


def installed_emulator(guest):
    """The installed QEMU that runs programs of the guest's architecture."""
    name = 'qemu-' + guest.arch.uname
    return shutil.which(name) or shutil.which(name + '-static')


def emulator(guest):
    """That one or the cache's, or None."""
    command = cache_dir() / 'qemu-user' / 'usr' / 'bin' / ('qemu-' + guest.arch.uname)
    return installed_emulator(guest) or (str(command) if command.exists() else None)


def installed_qemu(guest):
    """The installed QEMU if it is new enough."""
    command = shutil.which(guest.arch.binary)
    if command is None:
        return None
    if guest.qemu != 'any':
        try:
            version, _ = qemu_version(command)
        except Skip:
            return None
        if version < (int(guest.qemu), 0):
            return None
    return command


def qemu_command(guest):
    """The start of a QEMU command line, and the version it is."""
    command = installed_qemu(guest)
    if command is not None:
        return [command], qemu_version(command)[1]
    if guest.qemu == 'any':
        raise Skip(f'no {guest.arch.binary} (package {guest.arch.package})')
    root = cache_dir() / cached_qemu(guest) / 'usr'
    command = str(root / 'bin' / guest.arch.binary)
    # Firmware is in folders of other packages than QEMU's own.
    share = [str(d) for d in (root / 'share' / 'qemu', root / 'share' / 'seabios',
                              root / 'lib' / 'ipxe' / 'qemu') if d.is_dir()]
    line = [command]
    for folder in share:
        line += ['-L', folder]
    return line, qemu_version(command)[1]
