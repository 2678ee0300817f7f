# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms that makedumpfile gives a real vmcore.

Each becomes a file beside the vmcore, named vmcore.FORM; those that cannot be
made here are left out, and vmcore.forms.txt says which and why.
"""

import platform
import shutil
import subprocess

from guests import Failure

TIMEOUT = 300
SPLIT = 3

# (name, arguments).  -d is a set of kinds of pages to leave out: 1 zero,
# 2 cache, 4 private cache, 8 user data, 16 free.
FORMS = (
    ('raw-d1', ['-d', '1']),            # not compressed
    ('zlib-d0', ['-c', '-d', '0']),
    ('zlib-d1', ['-c', '-d', '1']),
    ('zlib-d31', ['-c', '-d', '31']),
    ('lzo-d1', ['-l', '-d', '1']),
    ('lzo-d31', ['-l', '-d', '31']),
    ('snappy-d1', ['-p', '-d', '1']),
    ('zstd-d1', ['-z', '-d', '1']),
    ('elf-d1', ['-E', '-d', '1']),
    ('elf-d31', ['-E', '-d', '31']),
    ('flat-zlib-d1', ['-F', '-c', '-d', '1']),
    ('flat-elf-d31', ['-F', '-E', '-d', '31']),
)


def make(arguments, vmcore, outputs):
    """Run makedumpfile; returns what it says when it does not do as asked."""
    command = ['makedumpfile', *arguments, str(vmcore)]
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
    # Compression it was built without is not an error to it: it says so, and
    # leaves the pages as they are.
    for line in lines:
        if 'option is disabled' in line:
            return line.strip()
    if done.returncode:
        return lines[-1] if lines else f'exit status {done.returncode}'
    return None


def make_variants(folder, machine):
    """All forms of folder/vmcore, which is of that machine (as uname says it).

    makedumpfile reads only vmcores of the architecture it was built for, so
    elsewhere the vmcore is all there is.
    """
    vmcore = folder / 'vmcore'
    notes, made = [], 0
    if platform.machine() != machine or not shutil.which('makedumpfile'):
        (folder / 'vmcore.forms.txt').write_text(
            'none: no makedumpfile for this architecture here\n')
        return
    todo = [(name, arguments, [folder / f'vmcore.{name}'])
            for name, arguments in FORMS]
    # In small blocks, or all of a small machine ends up in the first part.
    todo.append(('split-N', ['--split', '--splitblock-size', '4', '-c', '-d', '1'],
                 [folder / f'vmcore.split-{i}' for i in range(1, SPLIT + 1)]))
    for name, arguments, outputs in todo:
        why = make(arguments, vmcore, outputs)
        if why:
            for path in outputs:
                path.unlink(missing_ok=True)
        else:
            made += 1
        notes.append(f'vmcore.{name}: {why or "made"}')
    (folder / 'vmcore.forms.txt').write_text('\n'.join(notes) + '\n')
    if not made:
        raise Failure('makedumpfile made nothing of the vmcore:\n' +
                      '\n'.join(notes))
