# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocations without a tracepoint, compared with other reports of the kernel.

For a guest with kmap.calls on its command line: kmap-init.c prints these reports.
"""

import collections
import re

from guests import Failure

SLAB = {'KMALLOC', 'KMEM_CACHE', 'KMEM_CACHE_BULK'}
# Caches without allocations before the tracepoints are enabled.
CACHES = {'maple_node', 'skbuff_head_cache', 'vm_area_struct', 'shmem_inode_cache', 'mnt_cache'}
Object = collections.namedtuple('Object', 'va size type cache began ended free_ip')


def objects(folder):
    """Every object of a recording; of an object recorded in parts, the last part."""
    found = {}
    with open(folder / 'recording.kmap', encoding='utf-8', errors='replace') as lines:
        for line in lines:
            if line[0] in ' #':
                continue
            words = line.split(',')
            one = Object(int(words[2], 16), int(words[3]), words[7], words[-2], int(words[4]),
                         int(words[5]), int(words[6], 16))
            found[one.va, one.began] = one
    return sorted(found.values(), key=lambda one: one.began)


def texts(said, what):
    """The rest of each line of one kind."""
    return [words[1] for words in said if words[0] == what and len(words) == 2]


def check_slab(said, found):
    """The number of live objects is that of the cache, and no free was missed."""
    live = collections.Counter(o.cache for o in found if o.type in SLAB and not o.ended)
    there = {cache: int(n) for cache, n in (text.split() for text in texts(said, 'slab'))}
    wrong = {c: (live[c], there[c]) for c in CACHES & set(there) if live[c] != there[c]}
    if wrong or 'maple_node' not in there:
        raise Failure(f'live objects (seen, there are): {wrong}')
    if not any(o.type == 'KMEM_CACHE_BULK' for o in found):
        raise Failure('no object came in bulk')
    missed = collections.Counter(o.cache for o in found
                                 if o.type in SLAB and o.free_ip == 0xdeadbeef)
    if missed:
        raise Failure(f'missed frees: {dict(missed)}')
    return len(CACHES & set(there))


def marked(found):
    """When kmap-init.c set its mark: the per-CPU tracepoints are off from then on."""
    marks = [one.began for one in found if one.cache == 'inotify_inode_mark']
    if len(marks) != 1:
        raise Failure(f'{len(marks)} marks, not 1')
    return marks[0]


def check_percpu(said, found):
    """Each reported allocation is recorded with its size, and ended if it was freed."""
    ours = collections.defaultdict(list)
    for one in found:
        if one.type == 'GEN_HEAP' and one.cache == 'percpu':
            ours[one.va].append(one)
    there, count = {}, 0
    for text in texts(said, 'percpu'):
        event = re.search(r'percpu_(alloc|free)_percpu: .*base_addr=(?:0x)?([0-9a-f]+) off=(\d+)',
                          text)
        if not event:
            continue
        va = int(event[2], 16) + int(event[3])
        there[va] = []
        if event[1] == 'free':
            continue
        there[va] = [int(re.search(r' size=(\d+)', text)[1])]
        count += 1
        if there[va][0] not in {one.size for one in ours[va]}:
            raise Failure(f'{va:x}: {there[va][0]} bytes for each CPU, seen: {ours[va]}')
    # Later allocations may have been freed since, and their addresses reused.
    then = marked(found)
    for va, sizes in there.items():
        if [one.size for one in ours[va]
                if one.began < then and (not one.ended or one.ended > then)] != sizes:
            raise Failure(f'{va:x}: live are {sizes}, seen: {ours[va]}')
    live = sum(map(bool, there.values()))
    if count < 100 or live == count:
        raise Failure(f'{count} allocations for each CPU, {live} of them live')
    return count


def check_memblock(said, found):
    """From some moment on, all allocations in the order printed by memblock=debug."""
    ours = [one for one in found if one.type == 'MEMBLOCK']
    printed = [(int(m[1], 16), int(m[2], 16) + 1 - int(m[1], 16)) for m in
               (re.search(r'memblock_reserve: \[0x([0-9a-f]+)-0x([0-9a-f]+)\] '
                          r'memblock_alloc_range_nid', text)
                for text in texts(said, 'memblock')) if m]
    last = printed[-len(ours):] if ours else []
    base = ours[-1].va - last[-1][0] if last else 0
    if [(o.va - base, o.size) for o in ours] != last or len(ours) < len(printed) / 2:
        raise Failure(f'memblock: {len(ours)} allocations recorded, {len(printed)} printed')
    return len(ours)


def check_vmalloc(said, found):
    """Areas of /proc/vmallocinfo; stacks are allocated and freed while it is read."""
    areas, ours = {}, {}
    for text in texts(said, 'vmalloc'):
        range_, size, rest = text.split(None, 2)
        areas[int(range_.split('-')[0], 16)] = int(size), rest
    for one in found:
        if one.type in ('VMALLOC', 'STACK_PAGE') and not one.ended:
            ours[one.va] = one
    # Memory of CPUs is not mapped by vmalloc().
    missing = {f'{va:x}': rest for va, (_, rest) in areas.items()
               if ' vmalloc' in rest and 'pcpu_get_vm_areas' not in rest and va not in ours}
    strange = [one for va, one in ours.items()
               if one.type == 'VMALLOC' and (va not in areas or
                                             areas[va][0] - one.size not in (0, 4096))]
    if missing or strange or not ours:
        raise Failure(f'vmalloc: not seen {missing}, but seen {strange}')
    return len(ours)


def check(said, folder):
    """All of it; in words, how much that was."""
    found = objects(folder)
    return (f'{check_slab(said, found)} caches, {check_percpu(said, found)} by CPU, '
            f'{check_memblock(said, found)} early, {check_vmalloc(said, found)} mapped')
