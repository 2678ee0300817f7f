# SPDX-License-Identifier: GPL-2.0-or-later
"""For processes that tests look at: the calls that give them memory, and its kinds."""

import ctypes
import mmap

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.vmsplice.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint]

M, G, PAGE = 1 << 20, 1 << 30, mmap.PAGESIZE
# include/uapi/linux/mman.h, asm-generic/mman-common.h
SHARED, PRIVATE, FIXED, ANONYMOUS, NORESERVE = 1, 2, 0x10, 0x20, 0x4000
HUGETLB, FIXED_NOREPLACE = 0x40000, 0x100000
DONTNEED, DONTFORK, DOFORK, HUGE, NOHUGE, PAGEOUT, GUARD = 4, 10, 11, 14, 15, 21, 102


def area(name, size, advice=NOHUGE, flags=PRIVATE | ANONYMOUS, fd=-1, align=PAGE):
    """Untouched memory; prints "NAME START LENGTH"."""
    at = libc.mmap(None, size + align, 3, flags, fd, 0)
    at = (at + align - 1) // align * align
    libc.madvise(at, size, advice)
    print(name, '%x' % at, size)
    return at


def touch(start, size, step=PAGE):
    """Have pages there."""
    for at in range(start, start + size, step):
        ctypes.c_uint64.from_address(at).value = at | 1
