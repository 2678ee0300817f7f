# SPDX-License-Identifier: GPL-2.0-or-later
"""Build /init for an architecture, and the initramfs around it."""

import hashlib
import os
import pathlib
import shutil
import subprocess

from guests import HERE, Failure, Skip, cache_dir

CFLAGS = ['-std=gnu17', '-D_GNU_SOURCE', '-O2', '-g0', '-Wall', '-Wextra',
          '-Werror', '-static', '-pthread']
TOP = HERE.parents[1]
LIBRARIES = ('zlib', 'lzo', 'snappy', 'zstd', 'lzma', 'lz4', 'bzip2', 'libdw')


def sources():
    """The files /init is made of."""
    return sorted(HERE.glob('init*.c')) + [HERE / 'init.h']


def build_init(arch, folder):
    """Compile /init into folder, unless it is there and newer."""
    compiler = shutil.which(arch.cross + 'gcc')
    if compiler is None:
        raise Skip(f'no {arch.cross}gcc')
    out = folder / f'init-{arch.cross.rstrip("-")}'
    if out.exists() and all(out.stat().st_mtime > s.stat().st_mtime
                            for s in [*sources(), pathlib.Path(__file__)]):
        return out
    folder.mkdir(parents=True, exist_ok=True)
    new = out.with_suffix(f'.{os.getpid()}')
    files = [str(s) for s in sources() if s.suffix == '.c']
    done = subprocess.run([compiler, *CFLAGS, '-o', str(new), *files],
                          text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failure('building /init:\n' + done.stderr)
    # No names of build folders, no times: the same source is the same file.
    subprocess.run([arch.cross + 'strip', str(new)], check=False)
    os.replace(new, out)
    return out


def build_atwalk(arch):
    """A static atwalk for the guest, with no library but libc."""
    compiler = shutil.which(arch.cross + 'gcc')
    if compiler is None:
        raise Skip(f'no {arch.cross}gcc')
    build = pathlib.Path(os.environ.get('O', TOP / 'build')) / 'static' / arch.uname
    out = build.absolute() / 'atwalk'
    # Variables of the make that runs the tests are not meant for this one.
    env = {k: v for k, v in os.environ.items() if not k.startswith(('MAKE', 'MFLAGS'))}
    done = subprocess.run(
        ['make', '-s', '-C', str(TOP), f'CC={compiler}', 'STATIC=1', f'O={out.parent}',
         'CFLAGS=-O2', *(f'WITH_{lib}=0' for lib in LIBRARIES), str(out)],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, check=False)
    if done.returncode:
        raise Failure('building atwalk:\n' + done.stdout)
    return out


def cpio(entries):
    """A newc archive of (path, mode, data), parents before children."""
    out = bytearray()

    def add(path, mode, data, ino):
        name = path.encode() + b'\0'
        fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        out.extend(b'070701' + b''.join(b'%08X' % f for f in fields) + name)
        out.extend(bytes(-len(out) % 4))
        out.extend(data)
        out.extend(bytes(-len(out) % 4))

    for ino, (path, mode, data) in enumerate(entries, 1):
        add(path, mode, data, ino)
    add('TRAILER!!!', 0, b'', 0)
    return bytes(out)


OF_KVM = ('irqbypass', 'ccp', 'kvm', 'kvm-amd')
FOLDER, PROGRAM, FILE = 0o040755, 0o100755, 0o100644


def small_image(guest, init):
    """What every guest starts from: /init and the modules it loads."""
    entries = [('init', PROGRAM, init.read_bytes()),
               ('modules', FOLDER, b'')]
    modules = cache_dir() / guest.kernel / 'modules'
    for module in sorted(modules.glob('*.ko')):
        if module.stem in OF_KVM and 'kvm' not in guest.extras:
            continue
        entries.append(('modules/' + module.name, FILE, module.read_bytes()))
    return entries


def tool_entries(guest):
    """Debian's kexec and the libraries it is linked with, where it is needed."""
    root = cache_dir() / ('kexec-' + guest.arch_name)
    if not root.is_dir():
        return []
    tool = next(root.glob('**/sbin/kexec'), None)
    if tool is None:
        raise Failure(f'no kexec in {root}')
    entries = [('crash/kexec', PROGRAM, tool.read_bytes()), ('lib', FOLDER, b'')]
    libraries = {lib.name: lib for lib in root.glob('**/*.so*') if lib.is_file()}
    # A program has the names of what it is linked with in it, the dynamic
    # linker's too; so has a library.
    wanted = [tool.read_bytes()]
    while wanted:
        program = wanted.pop()
        for name in [n for n in libraries if n.encode() + b'\0' in program]:
            data = libraries.pop(name).read_bytes()
            entries.append(('lib/' + name, PROGRAM, data))
            wanted.append(data)
    return entries


def write_image(guest, init, path):
    """The initramfs of a guest, with the kernel to crash into if it is to."""
    entries = small_image(guest, init)
    if 'live' in guest.extras:
        entries.append(('atwalk', PROGRAM, build_atwalk(guest.arch).read_bytes()))
    if 'kexec' in guest.extras:
        kernel = (cache_dir() / guest.kernel / 'vmlinuz').read_bytes()
        entries += [('crash', FOLDER, b''),
                    ('crash/vmlinuz', FILE, kernel),
                    ('crash/initrd', FILE, cpio(entries))]
        entries += tool_entries(guest)
    path.write_bytes(cpio(entries))


def fingerprint(paths):
    """One hash over the contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b'\0' + path.read_bytes() + b'\0')
    return digest.hexdigest()
