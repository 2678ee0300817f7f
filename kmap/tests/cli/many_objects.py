# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of a kernel that never was: python3 many_objects.py OBJECTS [MODE [SEED]]

Numbers follow from OBJECTS and SEED alone, so that tests can ask for them twice.
"""
import random
import sys

n = int(sys.argv[1])
mode = sys.argv[2] if len(sys.argv) > 2 else 'instance'
rnd = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
CACHES = [('dentry', 192), ('ext4_inode_cache', 1096), ('filp', 232), ('kmalloc-64', 64),
          ('kmalloc-1k', 1024), ('task_struct', 4096), ('vm_area_struct', 200),
          ('maple_node', 256), ('buffer_head', 104), ('skbuff_head_cache', 256)]
WORDS = ['alloc', 'lookup', 'insert', 'release', 'update', 'walk', 'fault', 'read', 'write', 'map']
FUNCTIONS = [f'{c.split("_")[0]}_{w}{s}' for c, _ in CACHES for w in WORDS
             for s in ('', '.part.0', '.cold')]
BASE = 0xffffffff81000000

out = sys.stdout.write
out('# atwalk-kmap 1\n# atwalk-kmap kernel 6.1.0\n# atwalk-kmap machine x86_64\n'
    f'# atwalk-kmap slide 0\n# atwalk-kmap mode {mode}\n# atwalk-kmap clock serial\n')
if mode == 'sample':
    out('# atwalk-kmap scale 64\n')
for i, f in enumerate(FUNCTIONS):
    out(f'# atwalk-kmap symbol {BASE + 0x100 * i:x} {f}\n')

lines = 0
time = 1
for i in range(n):
    c = int(rnd.paretovariate(1.0)) % len(CACHES)
    name, size = CACHES[c]
    time += rnd.randrange(1, 8)
    life = int(rnd.paretovariate(0.6))
    site = BASE + 0x100 * (30 * c) + 0x10 * rnd.randrange(3)
    free = time + life if rnd.random() < 0.9 and time + life < 4 * n else 0
    pid = rnd.randrange(1, 12)
    freer = BASE + 0x100 * (30 * c + 9) + 8 if free else 0
    out(f'{site:016x},{pid},{0xffff888000000000 + 0x1000 * i:016x},{size},{time},{free},'
        f'{freer:016x},KMEM_CACHE,task-{pid},{name},NONE\n')
    used = set()
    for _ in range(rnd.randrange(8)):
        f = 30 * (c if rnd.random() < 0.8 else rnd.randrange(10)) + int(rnd.paretovariate(0.8)) % 30
        ip = BASE + 0x100 * f + 4 * rnd.randrange(8)
        if ip in used:
            continue
        used.add(ip)
        out(f'  {ip:016x},{rnd.randrange(30)},{int(rnd.paretovariate(0.7)) % 100000},'
            f'{rnd.randrange(-1, 12)}\n')
        lines += 1
    if rnd.random() < 0.5:
        for k in range(0, size // 64 + 1):
            if rnd.random() < 2 / (k + 2):
                out(f'# line {k},{rnd.randrange(40) // (k + 1)},{1 + rnd.randrange(100) // (k + 1)}\n')
out(f'# atwalk-kmap end objects {n} accesses {lines} lost 0\n')
