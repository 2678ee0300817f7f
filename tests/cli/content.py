# SPDX-License-Identifier: GPL-2.0-or-later
"""content.py FILE - writes an image of RAM with x86-64 page tables and known bytes.

The root is at 0x1000. Pages from 0x400000 on: 0x6000, 0x5000, absent, 0x90000 (behind the
file), absent, 0x7000 as
PROT_NONE, whose address bits are stored inverted, 0x6000 again.
"""

import struct
import sys

PAGE = 4096
image = bytearray(8 * PAGE)


def word(at, value):
    image[at:at + 8] = struct.pack('<Q', value)


word(0x1000, 0x2000 | 7)                # PGD
word(0x2000, 0x3000 | 7)                # PUD
word(0x3000 + 2 * 8, 0x4000 | 7)        # PMD of 0x400000
for i, entry in enumerate((0x6000 | 5, 0x5000 | 7, 0, 0x90000 | 7, 0, ~0x7000 & 0xffffffffff000 | 0x160, 0x6000 | 5)):
    word(0x4000 + 8 * i, entry)
for page in (0x5000, 0x6000, 0x7000):
    for i in range(0, PAGE, 8):
        word(page + i, 0xffff800000000000 | page << 16 | i)
# Over the border of two pages that are not neighbours in RAM.
image[0x6ffb:0x7000] = b'hello'
image[0x5000:0x5007] = b' World\0'
image[0x7000:0x7010] = b'protected string'[:16]
image[0x7010] = 0
with open(sys.argv[1], 'wb') as file:
    file.write(image)
