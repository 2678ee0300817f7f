# SPDX-License-Identifier: GPL-2.0-or-later
"""Where virtual addresses lead: dumps, captures and the running kernel as tables.

    >>> import atwalk
    >>> with atwalk.open("tasks.kdump") as src:
    ...     src
    ...     src.tasks()[0].task
    <atwalk.Source 'tasks.kdump': dump, kdump, x86_64-4>
    'init'

Values that are not known are None, and null in Arrow; they are never 0.
"""

import array as _array
import atexit as _atexit
import html as _html
import keyword as _keyword
import os as _os
import tempfile as _tempfile
from collections import namedtuple as _namedtuple

from . import _atwalk, _kmap
from ._atwalk import Column, Error, PartialError, SourceError, UsageError

__all__ = ["Address", "Column", "Error", "Kmap", "PartialError", "Source", "SourceError",
           "Step", "Symbol", "Table", "Translation", "UsageError", "kmap", "open", "reports"]
__version__ = _atwalk.version()
_atexit.register(_atwalk.exit)


class Address(int):
    """A number that is shown in hexadecimal.

    >>> Address(4096)
    0x1000
    """

    __slots__ = ()

    def __repr__(self):
        return hex(self)

    __str__ = __repr__


def _address(value):
    return None if value is None else Address(value)


Symbol = _namedtuple("Symbol", "name address size type")
Step = _namedtuple("Step", "level index at entry state rights")
Translation = _namedtuple("Translation", "address physical size state rights level steps")


class Table:
    """Rows of a listing: a sequence of named tuples, kept as columns."""

    __slots__ = ("_table", "_names", "_kinds", "_row", "_what")

    def __init__(self, table, what="Row"):
        self._table = table
        columns = table.columns()
        self._names = tuple(name for name, kind in columns)
        self._kinds = tuple(kind for name, kind in columns)
        self._row = _namedtuple(what, (name + "_" if _keyword.iskeyword(name) else name
                                       for name in self._names))
        self._what = what

    @property
    def columns(self):
        """Names of the columns."""
        return self._names

    def __len__(self):
        return len(self._table)

    def _one(self, i):
        return self._row._make(
            Address(cell) if kind == "x" and cell is not None else cell
            for kind, cell in zip(self._kinds, self._table.row(i)))

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Table(self._table.take(range(*key.indices(len(self)))), self._what)
        if isinstance(key, str):
            return self.column(key)
        i = key.__index__()
        if i < 0:
            i += len(self)
        return self._one(i)

    def __iter__(self):
        for i in range(len(self)):
            yield self._one(i)

    def column(self, name):
        """A column; memoryview() and NumPy read it in place."""
        try:
            return self._table.column(self._names.index(name))
        except ValueError:
            raise UsageError("unknown column '%s'; known: %s"
                             % (name, ", ".join(self._names))) from None

    def filter(self, condition):
        """The rows for which an expression of --filter, or condition(row), is true."""
        if isinstance(condition, str):
            return Table(self._table.filter(condition), self._what)
        if not callable(condition):
            raise UsageError("a filter is an expression or a function of a row")
        return Table(self._table.take(i for i, row in enumerate(self) if condition(row)),
                     self._what)

    def sort(self, by):
        """The rows in the order of "COLUMN[:desc],..."; unknown values come last."""
        order = list(range(len(self)))
        for item in reversed(by.split(",")):
            name, _, way = item.partition(":")
            if way not in ("", "asc", "desc"):
                raise UsageError("invalid sort order '%s': expected asc or desc" % way)
            column = self.column(name)
            known = [i for i in order if column[i] is not None]
            known.sort(key=column.__getitem__, reverse=way == "desc")
            order = known + [i for i in order if column[i] is None]
        return Table(self._table.take(order), self._what)

    def __repr__(self):
        return "<atwalk.Table of %d rows: %s>" % (len(self), ", ".join(self._names))

    def _cell(self, kind, cell):
        if cell is None:
            return "n/a"
        if kind == "x":
            return hex(cell)
        if kind == "b":
            for unit, size in (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
                if cell >= size:
                    return "%.4g%s" % (cell / size, unit)
        return _html.escape(str(cell))

    def _repr_html_(self):
        n = len(self)
        shown = range(n) if n <= 20 else [*range(10), None, *range(n - 10, n)]
        lines = ["<table><thead><tr>%s</tr></thead><tbody>" % "".join(
            "<th>%s</th>" % _html.escape(name) for name in self._names)]
        for i in shown:
            if i is None:
                lines.append('<tr><td colspan="%d">%d of %d rows are not shown</td></tr>'
                             % (len(self._names), n - 20, n))
                continue
            lines.append("<tr>%s</tr>" % "".join(
                "<td>%s</td>" % self._cell(kind, cell)
                for kind, cell in zip(self._kinds, self._table.row(i))))
        lines.append("</tbody></table>")
        return "\n".join(lines)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.arrow_stream()

    def __arrow_c_schema__(self):
        return self._table.arrow_schema()

    def to_numpy(self):
        """A dict of arrays; those with unknown values are masked, texts are objects.

        >>> open("tasks.kdump").tasks().to_numpy()["pid"][:3].tolist()
        [1, 2, 3]
        """
        import numpy
        ret = {}
        for i, name in enumerate(self._names):
            column = self._table.column(i)
            if self._kinds[i] == "i":
                texts = numpy.array([*column.texts, None], dtype=object)
                data = texts[numpy.asarray(column.data)]
            else:
                data = numpy.asarray(column.data)
            if column.null_count:
                valid = numpy.unpackbits(numpy.frombuffer(column.valid, dtype="u1"),
                                         bitorder="little")[:len(self)]
                data = numpy.ma.masked_array(data, mask=valid == 0)
            ret[name] = data
        return ret

    def to_pandas(self):
        """A pandas.DataFrame; columns with unknown values have nullable types.

        >>> frame = open("tasks.kdump").tasks().to_pandas()
        >>> frame.task[0], str(frame.start.dtype), frame.shape
        ('init', 'Float64', (78, 9))
        """
        import pandas
        data = {}
        for i, name in enumerate(self._names):
            column = self._table.column(i)
            kind = {"q": "Int64", "d": "Float64", "i": "object"}.get(self._kinds[i], "UInt64")
            if column.null_count or kind == "object":
                data[name] = pandas.array([*column], dtype=kind)
            else:
                data[name] = memoryview(column)
        return pandas.DataFrame(data)

    def to_polars(self):
        """A polars.DataFrame, by Arrow.

        >>> open("tasks.kdump").tasks().to_polars().shape
        (78, 9)
        """
        import polars
        return polars.DataFrame(self)

    def to_arrow(self):
        """A pyarrow.Table, by Arrow.

        >>> open("tasks.kdump").tasks().to_arrow().num_rows
        78
        """
        import pyarrow
        return pyarrow.table(self)


def _finish(table, what, filter, sort):
    table = Table(table, what)
    if filter is not None:
        table = table.filter(filter)
    return table.sort(sort) if sort else table


def _get(what, function, args, filter=None, sort=None):
    try:
        table = function(*args)
    except PartialError as e:
        if e.rows is not None:
            e.rows = _finish(e.rows, what, filter, sort)
        raise
    return _finish(table, what, filter, sort)


def _cannot_write(path, error):
    """Of the file that was asked for; the one beside it is not the caller's."""
    return SourceError("%s: cannot write: %s" % (path, error.strerror))


def _not_addresses(given):
    error = UsageError("an address is an integer; several are a sequence or buffer of them")
    if isinstance(given, str):
        error.hint = "the address of a symbol is symbol(%r).address" % given
    return error


def _create(path):
    """A file beside it, and that one's name; of a pipe or a device, itself and None."""
    try:
        if _os.path.exists(path) and not _os.path.isfile(path):
            return _os.open(path, _os.O_WRONLY | _os.O_CLOEXEC | _os.O_NOCTTY), None
        return _tempfile.mkstemp(prefix=".atwalk-",
                                 dir=_os.path.dirname(_os.path.realpath(path)))
    except OSError as e:
        raise _cannot_write(path, e) from None


def _replace(new, path):
    try:
        if new:
            _os.replace(new, _os.path.realpath(path))
    except OSError as e:
        raise _cannot_write(path, e) from None


class Source:
    """A dump, a capture or the running kernel. Made by open()."""

    def __init__(self, path, **options):
        self._source = _atwalk.Source(path, **options)
        (self.source, self.kind, self.format, self.release, self.paging, self.defect,
         self.page_size, self._caps) = self._source.info()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return "<atwalk.Source %r: %s>" % (self.source, ", ".join(
            word for word in (self.kind, self.format, self.paging) if word))

    def close(self):
        """Release the source. Tables that came from it stay valid."""
        self._source.close()

    def tasks(self, processes=False, *, filter=None, sort=None, progress=None):
        """Tasks; with processes, one for each process that has memory."""
        return _get("Task", self._source.tasks, (processes, progress), filter, sort)

    def vmas(self, pid, *, filter=None, sort=None, progress=None):
        """Memory areas (VMAs) of a process, by its number or unique name."""
        return _get("Vma", self._source.vmas, (pid, progress), filter, sort)

    def pages(self, pid, first=0, last=0, *, frames=False, filter=None, sort=None,
              progress=None):
        """Pages of a process that are not absent.

        A row is a page, or adjacent pages without known physical addresses. frames adds
        kcount, pageflags and node.
        """
        return _get("Page", self._source.pages, (pid, first, last, frames, progress), filter,
                    sort)

    def frames(self, first=0, last=0, *, filter=None, sort=None, progress=None):
        """Frames of RAM, with their state."""
        return _get("Frame", self._source.frames, (first, last, progress), filter, sort)

    def map(self, pid=None, first=0, last=0, *, filter=None, sort=None, progress=None):
        """Mapped ranges of a process or, without pid, of the kernel."""
        return _get("Range", self._source.map, (pid, first, last, progress), filter, sort)

    def find(self, physical, size=1, *, pid=0, filter=None, sort=None, progress=None):
        """Mappings of physical memory in all address spaces."""
        return _get("Mapping", self._source.find, (physical, size, pid, progress), filter,
                    sort)

    def translate(self, address, pid=None, *, progress=None):
        """A Translation; of a sequence or buffer of 64-bit integers, a Table."""
        if hasattr(address, "__index__"):
            va, pa, *rest, steps = self._source.translate(address.__index__(), pid)
            return Translation(Address(va), _address(pa), *rest, tuple(
                Step(level, index, Address(at), Address(entry), state, rights)
                for level, index, at, entry, state, rights in steps))
        try:
            memoryview(address)
        except TypeError:
            try:
                address = _array.array("Q", address)
            except TypeError:
                raise _not_addresses(address) from None
        return _get("Translated", self._source.translate_many, (address, pid, progress))

    def symbols(self, *, filter=None, sort=None, progress=None):
        """Symbols of the kernel."""
        return _get("Listed", self._source.symbols, (progress,), filter, sort)

    def symbol(self, what):
        """The Symbol of a name, or the one that contains an address."""
        name, address, size, kind = self._source.symbol(what)
        return Symbol(name, Address(address), size, kind)

    def read(self, physical, size):
        """Bytes of physical memory."""
        return self._source.read(physical, size)

    def read_virtual(self, address, size, pid=None):
        """Bytes of the memory of a process or of the kernel."""
        return self._source.read(address, size, pid)

    def report(self, name, *later, by=None, bare=False, addresses=False, filter=None,
               sort=None, progress=None):
        """The rows of a report, see reports(); later are further snapshots."""
        return _get("Report", self._source.report,
                    (name, tuple(source._source for source in later), by, bare, addresses,
                     progress), filter, sort)

    def capture(self, path, *, level=3, frames=False, threads=False, pid=0, progress=None):
        """Write a capture, which open() reads. A file is replaced at the end."""
        path = _os.fsdecode(path)
        fd, new = _create(path)
        try:
            try:
                self._source.capture(fd, level, frames, threads, pid, progress)
            except PartialError:
                _replace(new, path)
                raise
            finally:
                _os.close(fd)
            _replace(new, path)
        except BaseException:
            if new and _os.path.exists(new):
                _os.unlink(new)
            raise


class Kmap:
    """A recording of `atwalk kmap`, which the program atwalk-kmap reads. Made by kmap()."""

    def __init__(self, path, *, symbols=None, kernel=None):
        self.path = _os.path.abspath(_os.fspath(path))
        self._symbols = ["--symbols", _os.fspath(symbols)] if symbols else []
        self._kernel = ["--kernel", _os.fspath(kernel)] if kernel else []
        try:
            _kmap.recognize(self.path)
        except OSError as e:
            raise SourceError("%s: %s" % (path, e.strerror)) from None

    def __repr__(self):
        return "<atwalk.Kmap %r>" % self.path

    def _rows(self, what, table, words, filter, sort, progress):
        more = [] if filter is None or callable(filter) else ["--filter", filter]
        if sort:
            more += ["--sort", sort]
        return _get(what, _kmap.read, (self.path, table, words, more, progress),
                    filter if callable(filter) else None)

    def objects(self, *, filter=None, sort=None, progress=None):
        """Objects; accesses is the number of instructions that accessed one."""
        return self._rows("Object", "objects", ["show", "--rows", "objects", *self._symbols],
                          filter, sort, progress)

    def accesses(self, *, filter=None, sort=None, progress=None):
        """Accesses of one instruction to one object, and objects without any."""
        return self._rows("Access", "accesses", ["show", "--rows", "accesses", *self._symbols],
                          filter, sort, progress)

    def report(self, name, *, filter=None, sort=None, progress=None):
        """The rows of a report of `atwalk kmap report`, such as "caches" or "flows"."""
        if not name.isidentifier():
            raise UsageError("there is no report '%s'" % name)
        return self._rows("Report", "report_" + name,
                          ["report", name, *self._symbols, *self._kernel], filter, sort,
                          progress)


def kmap(path, *, symbols=None, kernel=None):
    """Open a recording of `atwalk kmap`.

    symbols is a file of symbols that names functions, kernel a vmlinux for files and folders.
    """
    return Kmap(path, symbols=symbols, kernel=kernel)


def open(source, **options):
    """Open "live", a dump or a capture as atwalk(1) does.

    Options: kernel, paging, paging_ext, root, cpu, rate, layout.
    """
    return Source(source, **options)


def reports():
    """Names and titles of the reports."""
    return dict(_atwalk.reports())
