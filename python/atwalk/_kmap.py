# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of kmap, read by the program atwalk-kmap."""

import json
import os
import shutil
import subprocess
import tempfile
import time

from . import _atwalk
from ._atwalk import Error, PartialError, SourceError, UsageError

_ERRORS = {1: Error, 2: UsageError, 4: PartialError}
_KINDS = {"VA": "x", "PA": "x", "HEX": "x", "BYTES": "b", "COUNT": "Q", "REAL": "d", "TEXT": "i"}
_SLICE = 0.04


def _program():
    """The one of the same build or installation, else that of PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in ("../../atwalk-kmap", "../../../../bin/atwalk-kmap"):
        path = os.path.normpath(os.path.join(here, place))
        if os.access(path, os.X_OK):
            return path
    path = shutil.which("atwalk-kmap")
    if path:
        return path
    error = SourceError("there is no atwalk-kmap, which reads recordings")
    error.hint = "install the package atwalk-kmap"
    raise error


def _failure(status, said):
    """The exception for an exit status and what was said on standard error."""
    lines = [line for line in said.splitlines() if line]
    first = lines[0] if lines else "atwalk-kmap ended with status %d" % status
    error = _ERRORS.get(status, SourceError)(first.removeprefix("atwalk: ").removeprefix("--"))
    error.hint = lines[1].strip() if len(lines) > 1 and lines[1].startswith(" ") else ""
    return error


def _run(words, progress=None):
    """Rows of JSON, and the exception that says why they are not all, or None."""
    command = [_program(), words[0], "--format", "jsonl", *words[1:]]
    rows, next_look = [], time.monotonic() + _SLICE
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as said_to, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=said_to, text=True, encoding="utf-8",
                             errors="backslashreplace") as child:
        try:
            for line in child.stdout:
                rows.append(json.loads(line))
                if progress and time.monotonic() > next_look:
                    progress(len(rows), None)
                    next_look = time.monotonic() + _SLICE
            child.wait()
        except BaseException:
            child.kill()
            raise
        said_to.seek(0)
        said = said_to.read()
    if child.returncode not in (0, 4):
        raise _failure(child.returncode, said)
    return rows, _failure(4, said) if child.returncode else None


def _value(cell, kind):
    if isinstance(cell, list):
        return ",".join(cell) if kind == "i" else len(cell)
    if kind == "x" and cell is not None:
        return int(cell, 16)
    return cell


def _table(names, kinds, rows):
    cells = [tuple(_value(row[name], kind) for name, kind in zip(names, kinds)) for row in rows]
    kinds = ["q" if kind == "Q" and any(row[i] is not None and row[i] < 0 for row in cells)
             else kind for i, kind in enumerate(kinds)]
    return _atwalk.table(tuple(zip(names, kinds)), cells)


def read(path, table, words, more, progress):
    """A table of `table` in SQL, whose rows the command `words` lists."""
    columns, error = _run(["sql", path, "PRAGMA table_info(%s)" % table])
    names = [column["name"] for column in columns]
    kinds = [_KINDS[column["type"].partition(" ")[0]] for column in columns]
    if not names:
        raise UsageError("there is no report '%s'" % table.removeprefix("report_"))
    rows, error = _run([*words, "--quiet", "--columns", ",".join(names), *more, "--", path],
                       progress)
    ret = _table(names, kinds, rows)
    if error:
        error.rows, error.lost = ret, str(error)
        raise error
    return ret


def recognize(path):
    """Raise SourceError unless the file is a recording."""
    with open(path, "rb"):
        pass
    said = subprocess.run([_program(), "--recognize", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout
    if said != b"yes\n":
        raise SourceError("%s: not a recording of kmap" % path)
