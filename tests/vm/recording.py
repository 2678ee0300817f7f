# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines with a recorded kernel: for the test, and for the bench."""

import subprocess

import guests
import initramfs
from guests import HERE, Failure


def build_init(guest, folder, more=()):
    """The static program, and the archive that has nothing else but empty files."""
    program = folder / 'init'
    done = subprocess.run([guest.arch.cross + 'gcc', *initramfs.CFLAGS, '-o', str(program),
                           str(HERE / 'kmap-init.c')], check=False, text=True,
                          stderr=subprocess.PIPE)
    if done.returncode:
        raise Failure('building /init:\n' + done.stderr)
    subprocess.run([guest.arch.cross + 'strip', str(program)], check=False)
    image = folder / 'initrd'
    image.write_bytes(initramfs.cpio([
        ('dev', initramfs.FOLDER, b''),
        ('init', initramfs.PROGRAM, program.read_bytes()),
        *((name, initramfs.PROGRAM, b'') for name in more)]))
    return image


def machine(guest, cpus, folder, scratch, words=''):
    """QEMU's command line for it; the console goes to folder/console.log."""
    guests.fetch(guests.needs(guest))
    command, _ = guests.qemu_command(guest)
    arch = guest.arch
    kernel = guests.cache_dir() / guest.kernel / 'vmlinuz'
    return [*command, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
            '-nic', 'none', '-M', arch.machine, '-cpu', guest.cpu, '-smp', str(cpus),
            '-m', f'{guest.mem}M', '-kernel', str(kernel),
            '-initrd', str(build_init(guest, scratch)),
            '-append', f'console={arch.console} panic=-1 loglevel=4 {guest.cmdline} {words}',
            '-serial', f'file:{folder}/console.log']
