#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The plugin python: annotators and reports that are scripts, and scripts that fail.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

why=
[ -e "$built/plugins/python.so" ] || why="this build has no plugin python"
grep -qE -- '-fsanitize|--coverage' "$built/flags" && why="Python leaves memory to the kernel"
[ -z "${WRAP:-}" ] || why="Python leaves memory to the kernel"
if [ -n "$why" ]; then
	t "all tests"
	skip "$why"
	finish
fi
need_tasks

cat >a.py <<'END'
"""The words of a task, and sums by its first letter."""
import collections

print("not among the rows")


class annotator:
    inputs = ["pid", "task"]
    optional = ["state", "no_such"]
    columns = {"initial": ("text", "first letter"), "negative": "change", "squared": ("count", "of the pid")}

    def rows(self, batch):
        assert all(v is None for v in batch["no_such"])
        assert all(isinstance(v, str) for v in batch["state"] if v is not None)
        return {
            "initial": [t[:1] if t else None for t in batch["task"]],
            "negative": [-p for p in batch["pid"]],
            "squared": [p * p if p % 2 else None for p in batch["pid"]],
        }


class Initials:
    name = "initials"
    help = "tasks by first letter"
    source = "ps"
    inputs = ["pid", "task"]
    columns = {"letter": "text", "tasks": "count", "pids": ("count", "their sum")}

    def __init__(self):
        self.sums = collections.Counter()
        self.n = collections.Counter()

    def rows(self, batch):
        for pid, task in zip(batch["pid"], batch["task"]):
            self.sums[task[0]] += pid
            self.n[task[0]] += 1

    def finish(self):
        for letter in sorted(self.n):
            yield {"letter": letter, "tasks": self.n[letter], "pids": None if letter == "i" else self.sums[letter]}


reports = [Initials]
END

t "an annotator"
run atwalk ps tasks.kdump --plugin python:a.py --format csv --columns pid,initial,negative,squared \
	--filter 'pid>0 and pid<4'
err <<<"not among the rows"
out <<'END'
pid,initial,negative,squared
1,i,-1,1
2,k,-2,
3,r,-3,9
END
run atwalk ps tasks.kdump --plugin python:a.py --format csv --columns initial --group initial --filter squared=1
err <<<"not among the rows"
out <<<$'initial\ni'

t "a report"
atwalk ps tasks.kdump --format csv --columns pid,task | awk -F, 'NR > 1 {
	l = substr($2, 1, 1); n[l]++; s[l] += $1
} END { for (l in n) print l "," n[l] "," (l == "i" ? "" : s[l]) }' | sort | sed '1iletter,tasks,pids' >wanted
run atwalk report initials tasks.kdump --plugin python:a.py --format csv
err <<<"not among the rows"
out <wanted

# A script, and the sentence about it; no file is left.
wrong() {                        # TEXT COMMAND...: the script is standard input
	local text=$1
	shift
	cat >w.py
	run atwalk "$@" tasks.kdump --plugin python:w.py -o file
	[ "$rc" != 0 ] || bad "it ended with 0"
	said_status=1
	err_is "atwalk: plugin python: w.py: $text"
	yes [ ! -e file ]
}
class() { printf 'class annotator:\n    inputs = ["pid"]\n    columns = {"x": "%s"}\n' "$1"; }

t "scripts that are wrong"
wrong "AttributeError: there is neither annotator nor reports" ps <<<'x = 1'
wrong "SyntaxError: *line 1)" ps <<<'def'
wrong "line 2: ZeroDivisionError: division by zero" ps <<<$'x = 0\ny = 1 / x'
wrong "ValueError: column 'x': unknown type 'enum'; known: *" ps < <(class enum)
wrong "line 5: KeyError: 'no'" ps < <(
	class count
	printf '    def rows(self, batch):\n        return {"x": batch["no"]}\n'
)
wrong "KeyError: 'x'" ps < <(class count; printf '    def rows(self, batch):\n        return {}\n')
wrong "ValueError: column 'x' has 1 values, and there are * rows" ps < <(
	class count
	printf '    def rows(self, batch):\n        return {"x": [1]}\n'
)
wrong "OverflowError: *" ps < <(class count; printf '    def rows(self, batch):\n        return {"x": [-1] * len(batch["pid"])}\n')
wrong "TypeError: *" ps < <(class count; printf '    def rows(self, batch):\n        return {"x": ["1"] * len(batch["pid"])}\n')
wrong "TypeError: *" ps < <(class text; printf '    def rows(self, batch):\n        return {"x": batch["pid"]}\n')
wrong "AttributeError: *rows*" ps < <(class text)
wrong "line 5: Exception: two lines" ps < <(
	class count
	printf '    def __init__(self):\n        raise Exception("two\\nlines")\n'
)
wrong "line 7: RuntimeError: late" report r <<'END'
class R:
    name, source, inputs, columns = "r", "ps", ["pid"], {"x": "count"}
    def rows(self, batch):
        pass
    def finish(self):
        yield {"x": 1}
        raise RuntimeError("late")
reports = [R]
END
wrong "AttributeError: *name*" report r <<<$'class R:\n    columns = {"x": "count"}\nreports = [R]'
run atwalk ps tasks.kdump --plugin python:none.py
status 3
err_is "atwalk: plugin python: cannot read none.py: No such file or directory"
run atwalk ps tasks.kdump --plugin python
status 2
err_is "atwalk: plugin python: the script is missing: python:FILE*"

t "extensions of Python find it"
cat >ext.py <<'END'
import _ctypes, json, zlib
class annotator:
    inputs = ["pid"]
    columns = {"x": "text"}
    def rows(self, batch):
        return {"x": [json.dumps([p]) for p in batch["pid"]]}
END
run atwalk ps tasks.kdump --plugin python:ext.py --format csv --columns x --filter pid=1
out <<<$'x\n[1]'

finish
