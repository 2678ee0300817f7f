# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that QEMU saves, with memory that is known and no kernel.

usage: saved_guest.py FOLDER NAME MIB ADDRESS FORM[,FORM...] QEMU...

The guest is not started: its memory is random pages, pages of one byte and zeroes, which
QEMU loads from a file to ADDRESS.  FOLDER gets NAME.FORM for each form that this QEMU
has, of a new process each, which ends, and NAME.FORM.elf, its dump of the same memory
(large: none, and NAME.memory has what was loaded).
One line for each: FORM ok, or FORM and why not.
"""

import json
import pathlib
import random
import socket
import subprocess
import sys
import time

# Capabilities, and the target of the migration.
FORMS = {
    'stream': ({}, 'exec:cat >%s'),
    'compress': ({'compress': True}, 'exec:cat >%s'),
    'mapped': ({'mapped-ram': True}, 'file:%s'),
    'multifd': ({'mapped-ram': True, 'multifd': True}, 'file:%s'),
    'offset': ({'mapped-ram': True}, 'file:%s,offset=0x3000'),
    'xbzrle': ({'xbzrle': True}, 'exec:cat >%s'),
    'shared': ({'x-ignore-shared': True}, 'exec:cat >%s'),
    'savevm': ({}, None),
    'large': ({}, 'exec:cat >%s'),
}
NO_DUMP = {'large'}
LIMIT = 120


class Refused(Exception):
    """QEMU's words."""


class Monitor:
    """QMP, as much as is needed."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + LIMIT
        while True:
            try:
                self.sock.connect(str(path))
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)
        self.file = self.sock.makefile('rw')
        self.file.readline()
        self('qmp_capabilities')

    def __call__(self, name, **arguments):
        self.file.write(json.dumps({'execute': name, 'arguments': arguments}) + '\n')
        self.file.flush()
        for line in self.file:
            reply = json.loads(line)
            if 'error' in reply:
                raise Refused(reply['error']['desc'])
            if 'return' in reply:
                return reply['return']
        raise Refused('QEMU ended')


def write_memory(path, mib):
    """What the guest has in memory; the same at every call."""
    rng = random.Random(mib)
    with open(path, 'wb') as out:
        for i in range(300):
            out.write((rng.randbytes(4096), bytes([i % 256]) * 4096, bytes(4096),
                       rng.randbytes(2048) + bytes(2048))[rng.randrange(4)])
        out.write(rng.randbytes(1234))


def migrate(monitor, capabilities, uri):
    """To its end."""
    monitor('migrate-set-capabilities', capabilities=[
        {'capability': name, 'state': on} for name, on in capabilities.items()])
    monitor('migrate', uri=uri)
    while True:
        state = monitor('query-migrate')
        if state.get('status') == 'completed':
            return
        if state.get('status') in ('failed', 'cancelled'):
            raise Refused(state.get('error-desc', 'migration failed'))
        time.sleep(0.02)


def save(monitor, folder, name, form):
    """One form, into a file."""
    capabilities, uri = FORMS[form]
    path = folder / f'{name}.{form}'
    if uri:
        migrate(monitor, capabilities, uri % path)
    else:
        for tag in ('first', 'second'):
            reply = monitor('human-monitor-command', **{'command-line': f'savevm {tag}'})
            if reply.strip():
                raise Refused(reply.strip())


def one(command, folder, name, form):
    """Start it, save it and end it."""
    path = folder / 'monitor'
    command = command + ['-S', '-display', 'none', '-nodefaults', '-qmp',
                         f'unix:{path},server=on,wait=off']
    if form == 'savevm':
        disk = folder / f'{name}.savevm'
        subprocess.run(['qemu-img', 'create', '-q', '-f', 'qcow2', str(disk), '8M'],
                       check=True)
        command += ['-drive', f'if=none,id=disk,format=qcow2,file={disk}']
    path.unlink(missing_ok=True)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            monitor = Monitor(path)
            if form not in NO_DUMP:
                monitor('dump-guest-memory', paging=False,
                        protocol=f'file:{folder}/{name}.{form}.elf')
            save(monitor, folder, name, form)
            monitor('quit')
            process.wait(LIMIT)
        finally:
            process.kill()


def main(folder, name, mib, address, forms, *command):
    """All forms."""
    folder = pathlib.Path(folder).resolve()
    memory = folder / f'{name}.memory'
    write_memory(memory, int(mib.split(',')[0]))
    command = list(command) + ['-m', mib, '-device',
                               f'loader,file={memory},addr={address},force-raw=on']
    for form in forms.split(','):
        try:
            one(command, folder, name, form)
            print(form, 'ok', flush=True)
        except (Refused, FileNotFoundError) as why:
            print(form, why, flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
