#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the Python module; tests/cli/python.sh runs them."""

import array
import ast
import ctypes
import doctest
import fcntl
import importlib.util
import inspect
import json
import os
import re
import signal
import stat
import subprocess
import sys
import termios
import threading
import time

import atwalk

DUMP = "tasks.kdump"
# What methods need.
LIBRARIES = {"to_numpy": "numpy", "to_pandas": "pandas", "to_polars": "polars",
             "to_arrow": "pyarrow"}


def listing(*words):
    done = subprocess.run([os.environ["O"] + "/atwalk", *words, "--format", "json", "--quiet"],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def by_page(ranges):
    """Where each page of ranges is, and its rights."""
    return {address + i: (physical + i, rights) for address, physical, size, rights in ranges
            for i in range(0, size, 4096)}


def stubs(path):
    """The stubs have the functions of the module, and their parameters."""
    def parameters(function):
        a = function.args
        return [p.arg for p in a.posonlyargs + a.args + ([a.vararg] if a.vararg else []) +
                a.kwonlyargs]
    with open(path, encoding="utf-8") as f:
        body = ast.parse(f.read()).body
    classes = {c.name: c for c in body if isinstance(c, ast.ClassDef)}
    assert {c for c in atwalk.__all__ if isinstance(getattr(atwalk, c), type)} == set(classes)
    functions = {f.name for f in body if isinstance(f, ast.FunctionDef)}
    assert functions == set(atwalk.__all__) - set(classes)
    for name in ("Source", "Table", "Kmap"):
        kind = getattr(atwalk, name)
        stub = {f.name: f for f in classes[name].body if isinstance(f, ast.FunctionDef)}
        public = {n for n, v in vars(kind).items() if not n.startswith("_")}
        assert {n for n in stub if not n.startswith("_")} == public, (name, public)
        for method in public - {"columns", "translate"}:
            mine = list(inspect.signature(getattr(kind, method)).parameters)
            assert mine == parameters(stub[method]), (name, method, mine)


def documents():
    """Each public name is in an example, and the examples are right."""
    path = sys.argv[2]
    with open(path, encoding="utf-8") as f:
        examples = "\n".join(line for line in f if line.lstrip().startswith((">>>", "...")))
    tests = doctest.DocTestFinder().find(atwalk)
    examples += "".join(e.source for test in tests for e in test.examples)
    names = set(atwalk.__all__) | {
        name for kind in (atwalk.Source, atwalk.Table, atwalk.Kmap, atwalk.Column)
        for name in vars(kind) if not name.startswith("_")}
    # Classes that calls return, and an attribute that examples print.
    returned = {"Column", "Error", "Kmap", "Source", "Step", "Symbol", "Table", "Translation",
                "SourceError", "UsageError"}
    missing = [name for name in sorted(names - returned)
               if not re.search(r"\b%s\b" % name, examples)]
    assert not missing, missing
    stubs(os.path.join(os.path.dirname(atwalk.__file__), "__init__.pyi"))
    runner = doctest.DocTestRunner()
    for test in tests:
        needed = LIBRARIES.get(test.name.rpartition(".")[2])
        if not needed or importlib.util.find_spec(needed):
            runner.run(test)
    failed = runner.failures + doctest.testfile(path, module_relative=False).failed
    assert not failed and runner.tries >= 3, failed


def rows():
    """The rows are those that the program prints."""
    with atwalk.open(DUMP) as src:
        tasks = src.tasks()
        theirs = listing("ps", DUMP)
        assert [(t.pid, t.tgid, t.task) for t in tasks if t.pid == t.tgid] == \
            [(t["pid"], t["tgid"], t["task"]) for t in theirs]
        assert len(tasks) == 78 and tasks[-1] == tasks[77] == list(tasks)[77]
        assert [t.pid for t in tasks[70:]] == [t.pid for t in tasks][70:]
        spin = src.tasks(filter=lambda t: t.task == "spin")
        assert len(spin) and all(t.task == "spin" for t in spin)
        assert [t.pid for t in src.tasks(sort="pid:desc")] == \
            sorted((t.pid for t in tasks), reverse=True)

        ours = {p.address: p for p in src.pages(1)}
        pages = [p for p in listing("pages", "--pid", "1", DUMP) if p.get("physical")]
        assert len(pages) > 100
        for page in pages:
            mine = ours[int(page["address"], 16)]
            assert mine.physical == int(page["physical"], 16), page
            assert mine.state == page["state"], page

        # The program begins a row for each region of the kernel as well.
        ranges = [(int(r["address"], 16), int(r["physical"], 16), r["size"], r["rights"])
                  for r in listing("map", DUMP) if r["state"] == "present"]
        assert by_page(ranges) == by_page(
            (r.address, r.physical, r.size, r.rights) for r in src.map()
            if r.state == "present")

        init = src.symbol("init_task")
        assert src.symbol(init.address + 8) == init
        where = src.translate(init.address)
        assert [where.steps[-1].entry & 0x1ff, where.state] == [0x0e3, "present"]
        for step in where.steps:
            assert src.read(step.at, 8) == step.entry.to_bytes(8, "little")
        banner = src.symbol("linux_banner").address
        assert src.read_virtual(banner, 14) == b"Linux version " == \
            src.read(src.translate(banner).physical, 14)
        found = src.find(where.physical)
        assert init.address in [m.address for m in found]
        assert src.translate(5, 1).physical is None and src.translate(5, 1).rights is None

        symbols = src.symbols()
        theirs = listing("info", "--symbols", DUMP)
        assert [(s.address, s.type, s.symbol) for s in symbols[:500]] == \
            [(int(s["address"], 16), s["type"], s["symbol"]) for s in theirs[:500]]
        assert len(symbols) == len(theirs)
        # Entries that are not present are not decoded.
        places = [src.translate(s.address) for s in symbols[::1000]]
        many = src.translate([place.address for place in places])
        assert list(many["physical"]) == \
            [p.physical if p.state == "present" else None for p in places]
        assert many["physical"].null_count < len(many) / 2
        letters = [r["flags"] for r in listing("report", "areas", DUMP)]
        assert list(src.report("areas")["flags"]) == letters

        report = src.report("basic")
        assert [r.pid for r in report] == [r["pid"] for r in listing("report", "basic", DUMP)]
        os.symlink("machine.cap", "link.cap")
        open("machine.cap", "w").close()
        src.capture("link.cap")
        # A pipe or a device is not replaced: somebody reads it.
        os.mkfifo("fifo")
        with subprocess.Popen(["cmp", "fifo", "machine.cap"]) as reader:
            src.capture("fifo")
        assert reader.returncode == 0 and stat.S_ISFIFO(os.stat("fifo").st_mode)
    assert os.path.islink("link.cap")
    with atwalk.open("machine.cap") as src:
        assert src.kind == "capture" and 1 in [t.pid for t in src.tasks(True)]
        assert {p.address: p.physical for p in src.pages(1)} == \
            {a: p.physical for a, p in ours.items()}
        # Without page tables, ranges are merged from pages.
        ranges = [(int(r["address"], 16), int(r["physical"] or "0", 16), r["size"], r["rights"])
                  for r in listing("map", "--pid", "1", "machine.cap")]
        mine = src.map(1)
        assert len(mine) > 20 and by_page(ranges) == by_page(
            (r.address, r.physical or 0, r.size, r.rights) for r in mine)
        assert all(r.level is None for r in mine)
        second = mine[1]
        part = src.map(1, second.address + 4096, second.address + 8191)
        if second.size > 8192:
            assert [(r.address, r.size) for r in part] == [(second.address + 4096, 4096)]
        here = src.translate(second.address, 1)
        assert (here.state, here.physical) == (second.state, second.physical)
        # What is absent has no rights, as in the program.
        assert src.translate(4096, 1).rights is None
        try:
            src.map()
            raise AssertionError("a capture has no page tables of the kernel")
        except atwalk.SourceError:
            pass


def notebooks():
    """A notebook has at most twenty rows, and says how many there are."""
    def body(table):
        lines = table._repr_html_().split("\n")
        assert lines[0].startswith("<table>") and lines[-1] == "</tbody></table>"
        assert lines[0].count("<th>") == len(table.columns)
        return [re.sub(r"<[^>]*>", "|", line) for line in lines[1:-1]]
    with atwalk.open(DUMP) as src:
        tasks = src.tasks()
    rows = [body(tasks[i:i + 1])[0] for i in range(78)]
    assert all("|%d|" % t.pid in row and "|%s|" % t.task in row for t, row in zip(tasks, rows))
    assert "|n/a|" in rows[0]
    for n in 0, 1, 20:
        assert body(tasks[:n]) == rows[:n]
    for n in 21, 78:
        assert body(tasks[:n]) == [*rows[:10], "||%d of %d rows are not shown||" % (n - 20, n),
                                   *rows[n - 10:n]]


def frames(name):
    """A table as that of another library: its values, and null where there is None."""
    with atwalk.open(DUMP) as src:
        tables = [src.tasks(), src.pages(1), src.report("use"), src.tasks(filter="pid=0")]
    for table in tables:
        if name == "numpy":
            got = {k: v.tolist() for k, v in table.to_numpy().items()}
        elif name == "pandas":
            import pandas
            frame = table.to_pandas()
            assert len(frame) == len(table)
            got = {k: [None if pandas.isna(v) else v for v in frame[k]] for k in frame.columns}
        elif name == "polars":
            got = table.to_polars().to_dict(as_series=False)
        else:
            got = table.to_arrow().to_pydict()
        assert list(got) == list(table.columns)
        for column, values in got.items():
            # NumPy has its own numbers, which are equal.
            assert list(values) == list(table[column]), (column, values)
    assert len(tables[0]) == 78 and tables[0]["start"].null_count == 78


def numpy():
    frames("numpy")


def pandas():
    frames("pandas")


def polars():
    frames("polars")


def pyarrow():
    frames("pyarrow")


def live():
    """The running kernel, read through BPF: a process of this test, as its /proc has it."""
    size = 64 * 4096
    program = ("import ctypes, mmap, sys\n"
               "m = mmap.mmap(-1, %d)\n"
               "for i in range(0, len(m), 8192): m[i] = 1\n"
               "print(ctypes.addressof(ctypes.c_char.from_buffer(m)), flush=True)\n"
               "sys.stdin.read()\n" % size)
    # Sanitizers would give it areas of terabytes, all of which are read below.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, env=env)
    place = int(child.stdout.readline())
    proc = "/proc/%d/" % child.pid
    with open(proc + "maps", encoding="utf-8") as f:
        maps = [line.split(None, 5) for line in f if "[vsyscall]" not in line]

    def present():
        """Address and place of each page, by pagemap, which shows no special ones."""
        ret = {}
        with open(proc + "pagemap", "rb", 0) as f:
            for words in maps:
                if "[vvar" in words[-1]:
                    continue
                start, end = (int(x, 16) for x in words[0].split("-"))
                entries = array.array("Q", os.pread(f.fileno(), (end - start) // 512,
                                                    start // 512))
                for i, entry in enumerate(entries):
                    if entry >> 63:
                        ret[start + i * 4096] = (entry & (1 << 55) - 1) * 4096
        return ret
    special = [tuple(int(x, 16) for x in words[0].split("-")) for words in maps
               if "[vvar" in words[-1]]
    for name in "live:bpf", "live":
        with atwalk.open(name) as src:
            assert (src.source, src.kind) == (name, "running kernel")
            task, = src.tasks(filter="pid=%d" % child.pid)
            assert (task.tgid, task.ppid) == (child.pid, os.getpid())
            vmas = src.vmas(child.pid)
            assert [(v.address, v.address + v.size) for v in vmas if v.area != "[vsyscall]"] == \
                [tuple(int(x, 16) for x in words[0].split("-")) for words in maps]
            # The kernel may move a page meanwhile.
            for _ in range(5):
                pages, theirs = src.pages(child.pid, frames=True), present()
                mine = {p.address + i: p.physical + i for p in pages if p.state == "present"
                        for i in range(0, p.size, 4096)}
                for a, b in special:
                    mine = {at: pa for at, pa in mine.items() if not a <= at < b}
                if mine == theirs:
                    break
            assert mine == theirs and len(mine) > 100
            assert sum(where in mine for where in range(place, place + size, 4096)) >= 32
            heap = [p for p in pages if p.state == "present" and p.kcount == 1]
            assert len(heap) > 100
            step = src.translate(heap[0].address, child.pid)
            assert (step.physical, step.state) == (heap[0].physical, "present")
            assert [m.pid for m in src.find(heap[0].physical, pid=child.pid)] == [child.pid]
            with open(proc + "smaps_rollup", encoding="utf-8") as f:
                rss = next(int(line.split()[1]) for line in f if line.startswith("Rss:"))
            try:
                use = src.report("use", filter="pid=%d" % child.pid)
            except atwalk.PartialError as e:     # even root may be refused some process
                use = e.rows
            assert [(u.name, u.rss) for u in use] == [(task.task, rss * 1024)]
            text = src.symbol("_stext").address
            assert src.read_virtual(text, 64) == src.read(src.translate(text).physical, 64)
    child.communicate("")


def filters():
    """Expressions choose the rows that --filter of the program does."""
    with atwalk.open(DUMP) as src:
        ours = {"ps": src.tasks(filter=lambda t: t.pid == t.tgid), "pages": src.pages(1),
                "map": src.map(1, last=(1 << 47) - 1), "use": src.report("use"),
                "areas": src.report("areas")}
    for table, expressions in {
            "ps": ("pid>90 and ppid=1", "task~s and not task=spin"),
            "map": ("writable and not executable", "rights=rw-u", "readable and not writable"),
            "pages": ("present and writable", "address>=500000 and address<600000"),
            "use": ("rss>1M or pid=1", "swap>0"),
            "areas": ("writable and shared>0", "class=heap")}.items():
        for expression in expressions:
            words = [table] if table not in ("use", "areas") else ["report", table]
            if table in ("map", "pages"):
                words += ["--pid", "1"]
            more = ["--all"] if table == "map" else []
            theirs = listing(*words, DUMP, *more, "--filter", expression)
            mine = ours[table].filter(expression)
            if table in ("map", "pages"):
                pages = {a + i for a, size in ((int(r["address"], 16), r["size"])
                                               for r in theirs) for i in range(0, size, 4096)}
                assert pages == {r.address + i for r in mine
                                 for i in range(0, r.size, 4096)}, expression
            else:
                assert [r.pid for r in mine] == [r["pid"] for r in theirs], expression
            assert 0 < len(mine) < len(ours[table]) or expression == "swap>0", expression
            # A filtered table is filtered as well.
            assert list(mine.filter(expression)) == list(mine)
    assert list(ours["use"].filter("pid=1")) == list(ours["use"].filter(lambda r: r.pid == 1))
    fails(atwalk.UsageError, 2, "filter: unknown name 'x'", ours["ps"].filter, "x")
    fails(atwalk.UsageError, 2, "expression or a function", ours["ps"].filter, 5)


class Alarm(Exception):
    pass


def interrupted(when, call, *args):
    """A signal whose handler raises comes while the call is under way."""
    def ring(number, frame):
        raise Alarm
    signal.signal(signal.SIGALRM, ring)
    sender = threading.Thread(target=lambda: (when(), os.kill(os.getpid(), signal.SIGALRM)))
    try:
        sender.start()
        call(*args)
        raise AssertionError("the call ended")
    except Alarm:
        sender.join()


def small_pipe():
    """A pipe that is full soon, and a function that waits for that."""
    r, w = os.pipe()
    size = fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)

    def wait():
        held = array.array("i", [0])
        while held[0] < size:
            fcntl.ioctl(r, termios.FIONREAD, held)
            time.sleep(0.01)
    return r, w, wait


def drain(fd):
    with open(fd, "rb") as f:
        return len(f.read())


def signals():
    """Signals and progress functions end calls that are under way, whatever these wait for."""
    # Opening a pipe that has no writer takes for ever.
    os.mkfifo("pipe")
    program = ("import atwalk, sys\n"
               "try:\n"
               "    print('called', flush=True)\n"
               "    atwalk.open('pipe')\n"
               "except KeyboardInterrupt:\n"
               "    print(len(atwalk.open(sys.argv[1]).tasks()))\n")
    child = subprocess.Popen([sys.executable, "-c", program, DUMP], stdout=subprocess.PIPE,
                             text=True)
    assert child.stdout.readline() == "called\n"
    threading.Event().wait(0.2)
    child.send_signal(signal.SIGINT)
    assert child.communicate()[0] == "78\n" and child.returncode == 0

    # So does a capture to a pipe that is not read. The source is in use until then.
    src = atwalk.open(DUMP)
    r, w, full = small_pipe()
    interrupted(full, src._source.capture, w, 0, False, False, 0, None)
    os.close(w)
    interrupted(lambda: time.sleep(0.1), src.tasks)
    reader = threading.Thread(target=drain, args=(r,))
    reader.start()
    assert len(src.tasks()) == 78
    reader.join()
    # It is closed as soon as the call has ended, which closes its pipe.
    r, w, full = small_pipe()
    interrupted(full, src._source.capture, w, 0, False, False, 0, None)
    os.close(w)
    src.close()
    fails(atwalk.UsageError, 2, "the source is closed", src.tasks)
    assert drain(r) >= 4096
    fails(atwalk.UsageError, 2, "the source is closed", src.tasks)

    seen = []

    def stop(done, total):
        seen.append((done, total))
        raise KeyError("stop")
    with atwalk.open(DUMP) as src:
        addresses = array.array("Q", [src.symbol("init_task").address]) * 4000000
        try:
            src.translate(addresses, progress=stop)
            raise AssertionError("it was not stopped")
        except KeyError:
            (done, total), = seen
            assert 0 <= done <= total == 4000000
        assert len(src.tasks()) == 78
        several = []
        assert len(src.translate(addresses[:2000000],
                                 progress=lambda *at: several.append(at))) == 2000000
        assert several == sorted(several) and {total for done, total in several} <= {2000000}


def prompt():
    """Ctrl-C ends a call within a tenth of a second, which Python itself adds to under load."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def latency(call, *args):
        sent = []

        def send():
            time.sleep(0.05)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        sender = threading.Thread(target=send)
        try:
            sender.start()
            call(*args)
            raise AssertionError("the call ended")
        except KeyboardInterrupt:
            ret = time.monotonic() - sent[0]
        sender.join()
        return ret

    def check(call, *args):
        """The median of five, and of a call that does nothing but wait, by turns."""
        both = [(latency(call, *args), latency(time.sleep, 60)) for _ in range(5)]
        own, other = (sorted(times)[2] for times in zip(*both))
        assert own < 0.1 + 10 * other, both

    with atwalk.open(DUMP) as src:
        # Work without a pause, which takes several times as long.
        addresses = array.array("Q", [src.symbol("init_task").address]) * 1000000
        whole = 0
        while whole < 0.5:
            addresses += addresses
            began = time.monotonic()
            assert len(src.translate(addresses)) == len(addresses)
            whole = time.monotonic() - began
        check(src.translate, addresses)
        assert len(src.tasks()) == 78
    if len(sys.argv) > 2:
        # The walk of a running kernel, which waits for its rate: 16 KiB take a second.
        with atwalk.open("live:bpf", rate=1 << 14) as src:
            check(src.map)
    # What cannot end before it is left alone: a capture to a pipe that nothing reads.
    def capture():
        r, w, _ = small_pipe()
        with atwalk.open(DUMP) as src:
            try:
                src._source.capture(w, 0, False, False, 0, None)
            finally:
                os.close(w)
                os.close(r)
    check(capture)


def buffers():
    """Columns are read in place, and unknown values do not become numbers."""
    with atwalk.open(DUMP) as src:
        pages = src.pages(1)
        tasks = src.tasks()
    view = memoryview(pages["address"])
    assert (view.format, view.itemsize, view.ndim, view.readonly) == ("Q", 8, 1, True)
    assert view.tolist() == [p.address for p in pages] and len(view) == len(pages)
    column = pages["physical"]
    if column.null_count:
        try:
            memoryview(column)
            raise AssertionError("a buffer with unknown values")
        except BufferError:
            pass
    start = tasks["start"]
    assert start.null_count == len(tasks) and set(start) == {None}
    assert bytes(start.valid) == bytes((len(tasks) + 7) // 8)
    codes, texts = tasks["task"].data, tasks["task"].texts
    assert [texts[i] for i in codes] == [t.task for t in tasks]
    keep = memoryview(pages["address"])
    del pages, view, column
    assert keep[0] == 0x400000
    try:
        import numpy
    except ImportError:
        return
    arrays = tasks.to_numpy()
    assert numpy.ma.is_masked(arrays["start"]) and arrays["pid"].tolist() == \
        [t.pid for t in tasks]
    assert arrays["task"].tolist() == [t.task for t in tasks]


def kmaps():
    """Recordings have the rows that the program prints."""
    folder = os.environ["KMAPS"]

    def same(table, theirs):
        assert len(table) == len(theirs)
        for mine, other in zip(table, theirs):
            for name, value in other.items():
                cell = dict(zip(table.columns, mine))[name]
                if isinstance(value, list):
                    value = ",".join(value) if isinstance(cell, str) else len(value)
                if isinstance(value, str) and isinstance(cell, int):
                    value = int(value, 16)
                assert cell == value, (name, cell, value)
    for name in ("own.kmap", "v1.kmap", "v4.kmap", "v3.cmap", "uscope.cmap.comp"):
        path = os.path.join(folder, name)
        recording = atwalk.kmap(path)
        same(recording.objects(), listing("kmap", "show", "--rows", "objects", path))
        same(recording.accesses(), listing("kmap", "show", "--rows", "accesses", path))
        for report in ("caches", "code", "live"):
            same(recording.report(report), listing("kmap", "report", report, path))
    path = os.path.join(folder, "own.kmap")
    recording = atwalk.kmap(path)
    live = recording.objects(filter="fate=live", sort="address:desc")
    assert list(live) == list(recording.objects(filter=lambda o: o.fate == "live")
                              .sort("address:desc")) and len(live)
    address = live["address"]
    assert memoryview(address).tolist() == [o.address for o in live]
    fails(atwalk.SourceError, 3, "not a recording", atwalk.kmap, DUMP)
    fails(atwalk.SourceError, 3, "none.kmap: No such file", atwalk.kmap, "none.kmap")
    fails(atwalk.UsageError, 2, "no report 'none'", recording.report, "none")
    fails(atwalk.UsageError, 2, "filter: unknown name 'x'", recording.objects, filter="x")
    with open(path, encoding="utf-8") as f:
        lines = f.readlines()
    with open("damaged.kmap", "w", encoding="utf-8") as f:
        f.writelines(lines[:-1])
    error = fails(atwalk.PartialError, 4, "damaged.kmap", atwalk.kmap("damaged.kmap").objects)
    assert len(error.rows) == len(recording.objects()) and error.lost
    seen = []
    with open("large.kmap", "w", encoding="utf-8") as f:
        f.writelines("ffffffff81001010,10,ffff%012x,192,%d,0,0,KMEM_CACHE,bash,dentry,NONE\n"
                     % (i * 256, i + 1) for i in range(20000))

    def stop(done, total):
        seen.append((done, total))
        raise KeyError
    try:
        atwalk.kmap("large.kmap").objects(progress=stop)
        raise AssertionError("not stopped")
    except KeyError:
        (done, total), = seen
        assert 0 < done < 20000 and total is None


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.c_void_p),
    ("private", ctypes.c_void_p)]


class Array(ctypes.Structure):
    pass


Array._fields_ = [
    ("length", ctypes.c_int64), ("nulls", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)), ("release", ctypes.c_void_p),
    ("private", ctypes.c_void_p)]


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
                ("get_next", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
                ("last_error", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("private", ctypes.c_void_p)]


def release(thing):
    # Releasing needs no GIL of the caller.
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(thing.release)(ctypes.addressof(thing))
    assert not thing.release


def texts(array):
    count = array.contents.length
    offset = ctypes.cast(array.contents.buffers[1], ctypes.POINTER(ctypes.c_int32))
    data = ctypes.string_at(array.contents.buffers[2], offset[count])
    return [data[offset[i]:offset[i + 1]].decode() for i in range(count)]


def arrow_values(schema, array):
    assert array.length >= 0 and array.offset == 0
    kind = {b"L": ctypes.c_uint64, b"l": ctypes.c_int64, b"g": ctypes.c_double,
            b"i": ctypes.c_int32}[schema.format]
    data = ctypes.cast(array.buffers[1], ctypes.POINTER(kind))[:array.length]
    if schema.dictionary:
        assert schema.dictionary.contents.format == b"u"
        names = texts(array.dictionary)
        data = [names[i] if names else None for i in data]
    if array.buffers[0]:
        valid = ctypes.string_at(array.buffers[0], (array.length + 7) // 8)
        data = [v if valid[i // 8] >> i % 8 & 1 else None for i, v in enumerate(data)]
    assert data.count(None) == array.nulls
    return data


def arrow():
    """A stream holds the rows, and the table's own memory."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    with atwalk.open(DUMP) as src:
        tables = [src.tasks(), src.pages(1), src.tasks()[:0], src.report("basic")]
    for table in tables:
        capsule = table.__arrow_c_stream__()
        stream = Stream.from_address(get(capsule, b"arrow_array_stream"))
        schema, array, end = Schema(), Array(), Array()
        at = ctypes.addressof(stream)
        assert stream.get_schema(at, ctypes.addressof(schema)) == 0
        assert stream.get_next(at, ctypes.addressof(array)) == 0
        assert stream.get_next(at, ctypes.addressof(end)) == 0 and not end.release
        assert schema.format == b"+s" and schema.n == array.n == len(table.columns)
        assert array.length == len(table)
        release(stream)
        want = [list(column) for column in zip(*table)] or [[]] * schema.n
        for i, name in enumerate(table.columns):
            child, values = schema.children[i].contents, array.children[i].contents
            assert child.name.decode() == name and child.flags == 2
            assert arrow_values(child, values) == want[i], name
            if len(table) and not table[name].null_count:
                assert values.buffers[1] == address_of(table[name])
        release(schema)
        release(array)
        schema = Schema.from_address(get(table.__arrow_c_schema__(), b"arrow_schema"))


def duckdb():
    """DuckDB, an engine of others, reads tables by their Arrow streams."""
    lib = ctypes.CDLL(os.environ["DUCKDB"])
    lib.duckdb_value_varchar.restype = ctypes.c_char_p
    lib.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    lib.duckdb_row_count.restype = lib.duckdb_column_count.restype = ctypes.c_uint64
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    assert lib.duckdb_open(None, ctypes.byref(database)) == 0
    assert lib.duckdb_connect(database, ctypes.byref(connection)) == 0
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kept = []

    def scan(name, table):
        # A stream is read once; and this function of DuckDB takes columns for others
        # unless all of them are asked for.
        kept.append(table.__arrow_c_stream__())
        pointer = get(kept[-1], b"arrow_array_stream")
        assert lib.duckdb_arrow_scan(connection, b"stream", ctypes.c_void_p(pointer)) == 0
        query(f"CREATE TABLE {name} AS SELECT * FROM stream")

    def query(sql):
        result = ctypes.create_string_buffer(128)
        assert lib.duckdb_query(connection, sql.encode(), result) == 0, sql
        rows = [tuple((lib.duckdb_value_varchar(result, column, row) or b"").decode()
                      for column in range(lib.duckdb_column_count(result)))
                for row in range(lib.duckdb_row_count(result))]
        lib.duckdb_destroy_result(result)
        return rows

    with atwalk.open(DUMP) as src:
        pages, use = src.pages(1), src.report("use")
    scan("pages", pages)
    assert query("SELECT typeof(address), count(*), sum(size)::BIGINT, count(physical), "
                 "min(address) FROM pages GROUP BY ALL") == [
        ("UBIGINT", str(len(pages)), str(sum(p.size for p in pages)),
         str(sum(p.physical is not None for p in pages)), f"{min(p.address for p in pages):d}")]
    scan("use", use)
    assert query("SELECT pid, name, pss FROM use ORDER BY pss DESC NULLS LAST, pid LIMIT 5") == [
        (str(u.pid), u.name, str(u.pss))
        for u in sorted(use, key=lambda u: (-(u.pss or 0), u.pid))[:5]]


def address_of(column):
    """Where the buffer of a column is."""
    class Buffer(ctypes.Structure):
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object),
                    ("rest", ctypes.c_char * 128)]
    buffer = Buffer()
    api = ctypes.pythonapi
    api.PyObject_GetBuffer(ctypes.py_object(column), ctypes.byref(buffer), 0)
    ret = buffer.buf
    api.PyBuffer_Release(ctypes.byref(buffer))
    return ret


def fails(kind, status, text, call, *args, **more):
    try:
        call(*args, **more)
    except kind as e:
        assert type(e) is kind and e.exit_status == status and text in str(e), repr(e)
        return e
    raise AssertionError("no %s" % kind)


def too_large(call, *args, **more):
    try:
        got = call(*args, **more)
    except OverflowError:
        return
    raise AssertionError((args, more, got))


def numbers(src):
    """A number that does not fit is refused, and not another number without its upper bits."""
    top = (1 << 64) - 1
    for wrong in (1 << 64, (1 << 64) + 5, (1 << 64) + 0x841a000, 1 << 200, -1):
        for call in (src.translate, src.symbol, src.find, src.frames):
            too_large(call, wrong)
        too_large(src.translate, [wrong])
        too_large(src.translate, wrong, 1)
        too_large(src.read, wrong, 8)
        too_large(src.read_virtual, wrong, 8)
        too_large(src.read_virtual, wrong, 8, 1)
        too_large(src.find, 0, wrong)
        too_large(src.frames, 0, wrong)
        for call in (src.pages, src.map):
            too_large(call, 1, wrong)
            too_large(call, 1, 0, wrong)
        for option in ("root", "rate", "cpu"):
            too_large(atwalk.open, DUMP, **{option: wrong})
        for process in (src.pages, src.vmas):
            fails(atwalk.UsageError, 2, "a process is", process, wrong)
        too_large(src.read, 0, wrong if wrong > 0 else 1 << 63)
    # PIDs, levels and CPUs have 32 bits.
    for wrong in (1 << 32, (1 << 32) + 1, -1):
        too_large(src.find, 0x841a000, pid=wrong)
        too_large(src.capture, "large.cap", pid=wrong)
        too_large(src.capture, "large.cap", level=wrong)
        too_large(atwalk.open, DUMP, cpu=wrong)
        fails(atwalk.UsageError, 2, "a process is", src.pages, wrong)
    too_large(atwalk.open, DUMP, cpu=(1 << 32) - 1)
    assert not [name for name in os.listdir(".") if name.startswith((".atwalk-", "large.cap"))]
    # The largest one is a number like others.
    assert src.translate(top).address == top and src.translate([top])["address"][0] == top
    assert len(src.find(top)) == 0
    for call in (src.translate, src.find, src.frames):
        try:
            call(1.5)
            raise AssertionError(call)
        except (TypeError, atwalk.UsageError):
            pass


def memory(src):
    """Why there is no memory: each reason is another sentence."""
    def reason(kind, status, text, call, *args):
        e = fails(kind, status, text, call, *args)
        assert str(e) == text, (str(e), text)
        return e
    lost, none = (atwalk.SourceError, 3), (atwalk.Error, 1)
    reason(*lost, "physical address 0x0 is not in the source", src.read, 0, 16)
    reason(*lost, "physical address 0x10000000000 is above all memory of the source",
           src.read, 1 << 40, 16)
    reason(*none, "virtual address 0x5: not mapped", src.read_virtual, 5, 4)
    reason(*none, "virtual address 0x5: not mapped", src.read_virtual, 5, 4, 1)
    reason(*none, "virtual address 0xffff800000000000: not mapped", src.read_virtual,
           0xffff800000000000, 8)
    reason(*none, "virtual address 0x7ff0f34ee000: its page is on swap", src.read_virtual,
           0x7ff0f34ee000, 8, 103)
    reason(*lost, "virtual address 0x400000: physical address 0x9211000 is not in the source",
           src.read_virtual, 0x400000, 8, 1)
    reason(atwalk.UsageError, 2,
           "0x800000000000 is not an address that x86_64-4 can translate (48 bits)",
           src.read_virtual, 0x800000000000, 8)
    # What there is, and why it is not all.
    banner = src.symbol("linux_banner").address
    physical = src.translate(banner).physical
    for call, first, text in (
            (src.read, physical, "physical address 0x7cca000 is not in the source"),
            (src.read_virtual, banner, "virtual address 0xffffffffaaaca000: "
             "physical address 0x7cca000 is not in the source")):
        e = reason(atwalk.PartialError, 4, text, call, first, 4 << 20)
        assert e.lost == text and len(e.rows) == 0x7cca000 - physical
        assert e.rows[:14] == b"Linux version "
    with atwalk.open("excluded.kd", cpu=1) as dump:
        reason(*lost, "physical address 0x1055008 was excluded from the dump", dump.read,
               0x1055008, 8)
        reason(*lost, "virtual address 0xffff8b3ac1055008: physical address 0x1055008 "
               "was excluded from the dump", dump.read_virtual, 0xffff8b3ac1055008, 8)


def errors():
    """Exceptions are as the exit statuses of the program."""
    fails(atwalk.SourceError, 3, "there-is-none", atwalk.open, "there-is-none")
    with open("noise", "wb") as f:
        f.write(b"\x7fELF" + bytes(range(256)) * 8)
    fails(atwalk.SourceError, 3, "noise", atwalk.open, "noise")
    whole = open(DUMP, "rb").read()
    for size in range(0, len(whole), len(whole) // 40):
        with open("short", "wb") as f:
            f.write(whole[:size])
        try:
            with atwalk.open("short") as src:
                list(src.tasks())
                src.pages(1)
        except (atwalk.SourceError, atwalk.PartialError, atwalk.Error):
            pass
    src = atwalk.open(DUMP)
    fails(atwalk.Error, 1, "4000000", src.pages, 4000000)
    fails(atwalk.UsageError, 2, "a process is", src.pages, -1)
    fails(atwalk.UsageError, 2, "nothing", src.report, "nothing")
    fails(atwalk.UsageError, 2, "unknown column 'x'", src.tasks, sort="x")
    fails(atwalk.SourceError, 3, "no_such_symbol", src.symbol, "no_such_symbol")
    numbers(src)
    memory(src)
    # The file that was asked for, and not the one beside it.
    for path in "no-folder/x.cap", ".":
        e = fails(atwalk.SourceError, 3, "%s: cannot write: " % path, src.capture, path)
        assert ".atwalk-" not in str(e), e
    e = fails(atwalk.UsageError, 2, "an address is an integer; several are a sequence or buffer",
              src.translate, "init_task")
    assert e.hint == "the address of a symbol is symbol('init_task').address", e.hint
    for given in (1.5, [1, "x"], None):
        e = fails(atwalk.UsageError, 2, "an address is an integer", src.translate, given)
        assert not e.hint
    fails(atwalk.UsageError, 2, "a buffer of 64-bit integers", src.translate, b"12345678")
    others = [threading.Thread(target=lambda: [atwalk.open(DUMP).tasks() for _ in range(3)])
              for _ in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    src.close()
    src.close()
    fails(atwalk.UsageError, 2, "the source is closed", src.tasks)


def terminal():
    """The shell completes names. What is typed before its prompt would be lost."""
    import pty
    child, fd = pty.fork()
    if not child:
        # IPython has prompts of its own.
        program = ("import runpy, sys\n"
                   "sys.modules['IPython'] = None\n"
                   "runpy.run_module('atwalk', run_name='__main__', alter_sys=True)")
        os.execv(sys.executable, [sys.executable, "-c", program, DUMP])
    said = b""

    def until(text):
        nonlocal said
        while text not in said:
            try:
                said += os.read(fd, 4096)
            except OSError:          # the other side is closed
                assert False, said
        said = said.partition(text)[2]
    signal.alarm(250)
    until(b">>> ")
    os.write(fd, b'print("completed", len(src.tas\t)))\n')
    until(b"completed 78")
    until(b">>> ")
    os.write(fd, b"exit()\n")
    assert os.waitpid(child, 0)[1] == 0
    os.close(fd)


def leaks():
    """Neither objects, descriptors nor memory of 10,000 opens stay."""
    import gc
    opens = 10000
    # Valgrind reports each leak, and takes twenty times as long for a listing.
    wrapped = "WRAPPED" in os.environ

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1])

    def once(i):
        with atwalk.open("x86.elf") as src:
            if not wrapped or i % 20 == 0:
                src.map(first=0, last=1 << 30).__arrow_c_stream__()
        try:
            atwalk.open("there-is-none")
        except atwalk.SourceError:
            pass
    for i in range(opens // 20):
        once(i)
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    files = os.listdir("/proc/self/fd")
    for i in range(opens):
        once(i)
    gc.collect()
    assert os.listdir("/proc/self/fd") == files
    assert abs(len(gc.get_objects()) - objects) < 20
    # A leak of 64 bytes an open would be 156 pages.
    assert resident() - before < 128 or wrapped or "LD_PRELOAD" in os.environ, \
        resident() - before


globals()[sys.argv[1]]()
