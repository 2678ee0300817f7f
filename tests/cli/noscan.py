# SPDX-License-Identifier: GPL-2.0-or-later
"""noscan.py COMMAND... - runs it without PAGEMAP_SCAN, as on a kernel before 6.7."""

import ctypes
import os
import struct
import sys

PAGEMAP_SCAN, SYS_IOCTL, ENOTTY = 0xc0606610, 16, 25     # x86-64
# BPF of seccomp(2): the number of the call is at 0, the lower half of its second argument
# at 24.
FILTER = b''.join(struct.pack('<HBBI', *i) for i in (
    (0x20, 0, 0, 0), (0x15, 0, 3, SYS_IOCTL),
    (0x20, 0, 0, 24), (0x15, 0, 1, PAGEMAP_SCAN),
    (0x06, 0, 0, 0x50000 | ENOTTY), (0x06, 0, 0, 0x7fff0000)))


class Program(ctypes.Structure):
    """struct sock_fprog"""
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_char_p)]


libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
program = Program(len(FILTER) // 8, FILTER)
# PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.addressof(program), 0, 0):
    sys.exit('no seccomp: ' + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
