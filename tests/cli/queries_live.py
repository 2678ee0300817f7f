# SPDX-License-Identifier: GPL-2.0-or-later
"""queries_live.py FOLDER WRITER RUNNER CHILD [tables]: rows of queries of docs/queries.md about three processes
of tests/tools/still.c, FOLDER/N.json, computed again from /proc/PID/smaps and pagemap.

CHILD shares the address space of WRITER. "tables": the queries were run with page tables."""
import collections
import json
import os
import struct
import sys

PAGE, LARGE = 4096, 2 << 20
folder = sys.argv[1]
writer, runner, child = pids = [int(pid) for pid in sys.argv[2:5]]
tables = sys.argv[5:] == ["tables"]


class Area:
    """A memory area of smaps, and what each of its pages is."""

    def __init__(self, pid, head):
        span, rights, _, _, _, *name = head.split(maxsplit=5)
        self.pid = pid
        self.start, self.end = (int(part, 16) for part in span.split("-"))
        self.rights, self.name = rights, name[0].strip() if name else ""
        self.of = collections.Counter()

    def read_pages(self, pagemap):
        """(state, address, first physical address, size) of each mapped page."""
        pagemap.seek(self.start // PAGE * 8)
        count = (self.end - self.start) // PAGE
        words = struct.unpack(f"{count}Q", pagemap.read(8 * count))
        frame = [word & (1 << 55) - 1 if word >> 63 else None for word in words]
        self.pages, i = [], 0
        while i < count:
            address, n = self.start + i * PAGE, 1
            first = frame[i]
            if self.of["AnonHugePages"] and address % LARGE == 0 and first is not None and \
                    frame[i:i + 512] == list(range(first, first + 512)):
                n = 512
            if first is not None:
                self.pages.append((address, first * PAGE, n * PAGE))
            i += n


def read(pid):
    """Its areas, without [vsyscall], which is the kernel's."""
    areas = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as smaps:
        for line in smaps:
            key, *rest = line.split(maxsplit=1)
            if not key.endswith(":"):
                areas.append(Area(pid, line))
            elif line.endswith(" kB\n"):
                areas[-1].of[key[:-1]] = int(rest[0].split()[0]) * 1024
    areas = [area for area in areas if area.name != "[vsyscall]"]
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for area in areas:
            area.read_pages(pagemap)
    return areas


areas = {pid: read(pid) for pid in pids}
every = [area for pid in pids for area in areas[pid]]
#: (area, address, physical, size)
pages = [(area, *page) for area in every for page in area.pages]
#: Those of one process for each address space.
once = [page for page in pages if page[0].pid != child]


def total(pid, *keys):
    return sum(area.of[key] for area in areas[pid] for key in keys)


def rows_of(n):
    with open(f"{folder}/{n}.json", encoding="utf-8") as file:
        return json.load(file)


def check(n, expected, rows=None):
    """The same rows, in whatever order."""
    rows = rows_of(n) if rows is None else rows
    if sorted(map(repr, rows)) != sorted(map(repr, expected)):
        sys.exit(f"query {n}: {rows}, expected {expected}")
    print(n, len(rows))


def word(address):
    return f"0x{address:016x}"


def rights(area):
    return "".join(c if c in "rwx" else "-" for c in area.rights[:3]) + "u"


# PSS of files that only these processes map, to the byte; n/a is nothing here.
mapped = collections.Counter(page[2] for page in once)
exact = collections.Counter()
for area, _, physical, size in pages:
    exact[area.pid, area.start] += size / mapped[physical]

# Reports have one process for each address space. Pages of [vdso] are shared with all other
# processes: the kernel's PSS is in whole KiB, and others may have begun or ended.
rows = rows_of(1)
use = {pid: (total(pid, "Private_Clean", "Private_Dirty"), total(pid, "Swap")) for pid in (writer, runner)}
check(1, [{"pid": pid, "name": "still", "uss": uss, "swap": swap} for pid, (uss, swap) in use.items()],
      [{key: row[key] for key in ("pid", "name", "uss", "swap")} for row in rows])
for row in rows:
    if not -PAGE < row["pss"] - total(row["pid"], "Pss") < len(areas[row["pid"]]) * 1024 + PAGE:
        sys.exit(f"query 1: {row}, expected PSS of {total(row['pid'], 'Pss')}")
if rows[0]["pss"] < rows[1]["pss"]:
    sys.exit(f"query 1: {rows} are not in order")
both, *rest = rows_of(2)
if rest or abs(both.pop("sum_pss") - sum(row["pss"] for row in rows)) > PAGE:
    sys.exit(f"query 2: {both}, expected the sums of {rows}")
check(2, [{"name": "still", "processes": 2, "sum_uss": sum(uss for uss, _ in use.values()),
           "sum_rss": total(writer, "Rss") + total(runner, "Rss")}], [both])

own = {page[2] for page in pages if page[0].pid == writer}
shared = {pid: sum(size for physical, size in {page[2:] for page in pages if page[0].pid == pid}
                   if physical in own) for pid in (runner, child)}
check(3, [{"pid": pid, "task": "still", "shared": size} for pid, size in shared.items()])

files = collections.defaultdict(lambda: [set(), 0])
for area in every:
    if area.name.startswith("/"):
        files[area.name][0].add(area.pid)
        files[area.name][1] += exact[area.pid, area.start]
check(5, [{"area": name, "processes": len(having), "pss": int(pss)} for name, (having, pss) in files.items()])

check(6, [{"pid": a.pid, "task": "still", "area": a.name, "size": a.end - a.start, "rss": a.of["Rss"]}
          for a in every if a.end - a.start > 16 << 20 and a.of["Rss"] < (a.end - a.start) // 100])
check(7, [{"pid": pid, "name": "still", "swap": swap, "rss": total(pid, "Rss")}
          for pid, (_, swap) in use.items() if swap])

# Where an address space is, is not known without page tables.
rows = rows_of(8)
check(8, [{"tasks": 2, "pids": f"{min(writer, child)},{max(writer, child)}"}] if tables else [],
      [{key: row[key] for key in ("tasks", "pids")} for row in rows])

levels = collections.defaultdict(lambda: [0, 0])
for *_, size in pages:
    count = levels[("PMD" if size == LARGE else "PTE") if tables else None]
    count[0] += 1
    count[1] += size
check(9, [{"state": "present", "level": level, "rows": n, "size": size}
          for level, (n, size) in levels.items()])

users = collections.defaultdict(set)
for area, _, physical, _ in pages:
    users[physical].add(area.pid)
most = sorted((len(having) for having in users.values() if len(having) > 1), reverse=True)[:10]
rows = rows_of(10)
check(10, [{"physical": row["physical"], "processes": len(users[int(row["physical"], 16)]),
            "tasks": "still"} for row in rows])
if len(most) != 10 or [row["processes"] for row in rows] != most:
    sys.exit(f"query 10: {rows}, expected {most}")

check(11, [{"physical": word(w[2]), "writer": w[0].pid, "task": "still", "runner": x[0].pid,
            "task_5": "still"} for w in pages if w[0].rights[1] == "w"
           for x in pages if x[0].rights[2] == "x" and x[2] == w[2] and x[0].pid != w[0].pid])

large = {pid: total(pid, "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped") for pid in pids}
check(12, [{"pid": pid, "task": "still", "resident": total(pid, "Rss"), "resident_large": large[pid],
            "percent": round(100 * large[pid] / total(pid, "Rss"), 1)} for pid in pids])

file = [page for page in pages if page[0].name.startswith("/memfd:")]
frames = {page[2] for page in file}
if len(frames) != 5 or len(file) != 15:
    sys.exit(f"the file's pages are {file}")
# Of which pages were written, /proc has no flag.
check(13, [{"area": file[0][0].name, "rows": 5, "size": 5 * PAGE}] if tables else [])

check(14, [{"pid": a.pid, "task": "still", "area": a.name, "address": word(a.start),
            "end": word(a.end), "rights": rights(a)} for a in every if a.rights[1:3] == "wx"])
check(16, [{"pid": a.pid, "task": "still", "address": word(a.start), "rights": rights(a)}
           for a in every if a.name == "[stack]" and a.rights[2] == "x"])

if tables:
    first = min(page[1:3] for page in pages if page[0].pid == writer)[1]
    rows = rows_of(18)
    check(18, [{"pid": page[0].pid, "task": "still", "address": word(page[1])}
               for page in once if page[2] == first], [row for row in rows if row["pid"] is not None])
    if {row["task"] for row in rows if row["pid"] is None} != {"[kernel]"}:
        sys.exit(f"query 18: {rows}, expected the kernel's mapping as well")
    # The same facts as the listing, all of them; and of these what /proc says as well.
    with open(f"{folder}/facts.json", encoding="utf-8") as file:
        check(20, [row for row in json.load(file)
                   if row["fact"] in ("release", "paging", "root", "protection")])
    facts = collections.defaultdict(list)
    for row in rows_of(20):
        facts[row["fact"]].append(row["value"])
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = dict((part.strip() for part in line.split(":", 1)) for line in file if ":" in line)
    known = {"release": [os.uname().release]}
    if os.uname().machine == "x86_64":
        known["mode"] = ["x86_64-5" if "la57" in cpu["flags"].split() else "x86_64-4"]
        facts["mode"] = [value.split()[0] for value in facts["paging"]]
        for flag in "SMEP", "SMAP", "UMIP":
            on = "on" if flag.lower() in cpu["flags"].split() else "off"
            known[flag] = [f"{flag}: {on} (CR4.{flag})"]
            facts[flag] = [value for value in facts["protection"] if value.startswith(flag + ":")]
    for fact, values in known.items():
        if facts[fact] != values:
            sys.exit(f"query 20: {fact} is {facts[fact]}, expected {values}")
    # The kernel's root table is a page of its image.
    with open("/proc/iomem", encoding="utf-8") as file:
        image = [[int(word, 16) for word in line.split()[0].split("-")] for line in file if " Kernel " in line]
    root = int(facts["root"][0].split()[0], 16)
    if len(facts["root"]) != 1 or root % PAGE or \
            image and not min(image)[0] <= root <= max(last for _, last in image):
        sys.exit(f"query 20: the root is {facts['root']}, expected a page of {image}")
