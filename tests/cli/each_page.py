# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture with one line per page, without fields that other processes change.

The ends of runs and lines depend on other processes that map the same pages.
"""
import re
import sys

for line in open(sys.argv[1], encoding='utf-8', errors='surrogateescape'):
    if line[:3] in ('F: ', 'H: ', 'E: ', 'P: '):
        continue
    if not line.startswith('M: '):
        sys.stdout.write(line)
        continue
    for run in line[3:].split(' | '):
        found = re.match(r'([0-9A-F]+)(?:\*([0-9]+))?=([0-9A-F]+)', run)
        if not found:
            if run.strip():
                print('M:', run.split(',')[0].strip())
            continue
        address, pages, entry = int(found[1], 16), int(found[2] or 1), int(found[3], 16)
        for i in range(pages):
            print(f'M: {address + i * 4096:X}={entry + i * 4096:X}')
