#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pictures of reports agree with the rows, for few and many generated processes.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
	t "all tests"
	skip "there is no python3"
	finish
fi
for n in 5 500; do
	python3 "$cli/many_processes.py" $n >many$n.cap
	for look in 1 2 3; do
		python3 "$cli/many_processes.py" $n $look >look$n-$look.cap
	done
done
cat >scene.py <<'E'
"""What a picture says: its texts, and the titles of its parts."""
import csv
import re
import xml.etree.ElementTree as tree

NS = '{http://www.w3.org/2000/svg}'


class Scene:
    def __init__(self, path):
        self.root = tree.parse(path).getroot()
        width, height = float(self.root.get('width')), float(self.root.get('height'))
        self.texts = [e.text for e in self.root.iter(NS + 'text')]
        self.titles = [e.text for e in self.root.iter(NS + 'title')]
        for e in self.root.iter(NS + 'text'):
            assert 0 <= float(e.get('x')) <= width and 0 < float(e.get('y')) < height, e.text
        for e in self.root.iter(NS + 'rect'):
            if e.get('x'):
                assert float(e.get('x')) + float(e.get('width')) <= width + 0.02
                assert float(e.get('y')) + float(e.get('height')) <= height + 0.02

    def rects(self, color):
        return [e for e in self.root.iter(NS + 'rect') if e.get('fill') == color]


def rows(path):
    return list(csv.DictReader(open(path)))


def number(text):
    return int(text.replace(',', ''))
E
export PYTHONPATH=$PYTHONPATH:$PWD

for n in 5 500; do
	t "basic of $n processes: bars have the lengths of the rows, the rest is counted"
	run atwalk report basic --format csv -o basic.csv many$n.cap
	run atwalk report basic --virtual --format csv -o virtual.csv many$n.cap
	run atwalk report basic --virtual --format svg -o basic.svg many$n.cap
	no_out
	run python3 - $n <<'E'
import sys
from scene import *
s, n = Scene("basic.svg"), int(sys.argv[1])
got = [re.match(r"(.*): resident ([\d,]+) pages of 4K.* \| virtual ([\d,]+) ", t) for t in s.titles]
assert len(got) == min(n, 50) and all(got)
want = {f"{r['name']}, {r['pid']}": (int(r["total"]), int(v["total"]))
        for r, v in zip(rows("basic.csv"), rows("virtual.csv"))}
assert len(want) == n
for m in got[:5]:
    assert want[m[1]] == (number(m[2]), number(m[3])), m[0]
assert sum(number(m[2]) for m in got) == sum(w[0] for w in want.values())
assert sum(number(m[3]) for m in got) == sum(w[1] for w in want.values())
assert ("451 others" in s.texts) == (n == 500)
assert any(t.startswith("nginx-0, 100: ") for t in s.titles)
assert n < 50 or any(t.startswith("</svg><b>-7, 107: ") for t in s.titles)
E
	no_out

	t "totals of $n processes: programs and libraries of the rows"
	run atwalk report totals --format csv -o totals.csv many$n.cap
	run atwalk report totals --format svg -o totals.svg many$n.cap
	run python3 - <<'E'
from scene import *
s = Scene("totals.svg")
got = {m[1]: (number(m[2]), number(m[3])) for m in
       (re.match(r"(.*): physical ([\d,]+) .* \| virtual ([\d,]+) ", t) for t in s.titles)}
assert got == {r["name"]: (int(r["total"]), int(r["virtual"])) for r in rows("totals.csv")}
assert "/usr/lib/libc.so.6" in got
E
	no_out

	t "units of $n processes: the memory of each, as in totals"
	run atwalk report units --format svg -o units.svg many$n.cap
	run python3 - <<'E'
from scene import *
s = Scene("units.svg")
got = {}
for m in (re.match(r"(.*) / (\w+): ([\d,]+) pages", t) for t in s.titles):
    if m:
        kind = {"rodata": "text", "relro": "data"}.get(m[2], m[2])
        got[m[1], kind] = got.get((m[1], kind), 0) + number(m[3])
want = {(r["name"], k): int(r[k]) for r in rows("totals.csv") for k in ("text", "data", "bss")
        if int(r[k])}
assert got == want, (got, want)
# Private copies of data in each process are separate.
assert got["/usr/lib/libc.so.6", "data"] == 5 * len(rows("basic.csv"))
E
	no_out

	t "areas of $n processes: shown and omitted areas with their pages"
	run atwalk report areas --format csv -o areas.csv many$n.cap
	run atwalk report areas --format svg -o areas.svg many$n.cap
	run python3 - $n <<'E'
import sys
from scene import *
s, n = Scene("areas.svg"), int(sys.argv[1])
want = {(hex(int(r["address"], 16)), int(r["vsize"])) for r in rows("areas.csv")}
got = [re.match(r"(.*) (\S{6}), (0x\w+) to 0x\w+: ([\d,]+) pages", t) for t in s.titles]
assert len(got) == min(8 * n, 80) and all(got)
assert all((m[3], number(m[4])) in want for m in got)
assert "nginx-0, 100" in s.texts and "[heap]" in s.texts and ".Xrw.B" in s.texts
assert any("3920 others are not shown" in t for t in s.texts) == (n == 500)
E
	no_out

	t "stacks of $n processes: folded, and frames with proportional width"
	run atwalk report stacks --format csv -o stacks.csv many$n.cap
	run atwalk report stacks --format svg -o stacks.svg many$n.cap
	run python3 - <<'E'
from scene import *
s, want = Scene("stacks.svg"), rows("stacks.csv")
share = {r["stack"]: int(r["pss"]) for r in want}
assert share["nginx-0;libc.so.6;text"] == 250 * 4096 // len({k.split(";")[0] for k in share})
total = sum(share.values())
assert any(t.startswith("all: ") and t.endswith(" of PSS, 100.0%") for t in s.titles)
first = sum(v for k, v in share.items() if k.startswith("nginx-0;"))
assert any(t.startswith("nginx-0: ") and f" of PSS, {100 * first / total:.1f}%" in t
           for t in s.titles)
E
	no_out

	t "growth of $n processes: lines over the recorded time, growing ones are labelled"
	run atwalk report growth --format svg -o growth.svg look$n-1.cap look$n-2.cap look$n-3.cap
	run python3 - $n <<'E'
import sys
from scene import *
s, n = Scene("growth.svg"), int(sys.argv[1])
assert "20min" in s.texts and "0s" in s.texts
assert len(s.titles) == n
assert any(t.startswith("nginx-0, 100: from ") for t in s.titles)
if n == 5:
    assert set(s.texts) >= {"nginx-0, 100", "postgres-1, 101", "java-4, 104"}
else:
    assert "bash-14, 114" in s.texts and "postgres-1, 101" not in s.texts
    # Those without a name are no lines of the grid.
    lines = {e.get("stroke") for what in ("line", "polyline") for e in s.root.iter(NS + what)}
    assert "#949494" in lines and "#dcdcdc" in lines, lines
E
	no_out
done

t "a deleted library and its successor have different names"
for report in totals units stacks; do
	run atwalk report $report --format svg -o $report.svg -q "$data/captures/server.cap"
done
run python3 - <<'E'
from scene import *
name = "/usr/lib/libbad.so.1"
totals, units, stacks = Scene("totals.svg"), Scene("units.svg"), Scene("stacks.svg")
assert name in totals.texts and name + " (deleted)" in totals.texts, totals.texts
assert [t.split(": ")[0] for t in totals.titles if t.startswith(name)] == [
    name, name + " (deleted)"], totals.titles
assert sorted(t.split(": ")[0] for t in units.titles if t.startswith(name)) == [
    name, name + " (deleted)", name + " (deleted) / text", name + " / data",
    name + " / rodata", name + " / text"], units.titles
name = "libbad.so.1"
assert sum(t.startswith(name + " (deleted): ") and " of PSS" in t for t in stacks.titles) == 1, stacks.titles
assert sum(t.startswith(name + ": ") and " of PSS" in t for t in stacks.titles) == 1, stacks.titles
E
no_out

t "growth: the line of a process that ended stops there"
sed '/^T: java-4, 104/,/^T: \|^F: \|^E: /{/^T: java-4\|^[VPM]: /d}
	s/^E: .*/E: 92, 4, 32, 0/' look5-3.cap >ended.cap
run atwalk report growth --format svg -q -o growth.svg look5-1.cap look5-2.cap ended.cap
run python3 - <<'E'
from scene import *
s = Scene("growth.svg")
assert [t for t in s.texts if "until" in t] == ["java-4, 104, until 10min"], s.texts
assert [t.split(":")[0] for t in s.titles if t.endswith(", until 10min")] == ["java-4, 104"]
E
no_out

t "thrash: faults per second between snapshots"
run atwalk report thrash --format csv -o thrash.csv look5-1.cap look5-2.cap look5-3.cap
run atwalk report thrash --format svg -o thrash.svg look5-1.cap look5-2.cap look5-3.cap
run python3 - <<'E'
from scene import *
s = Scene("thrash.svg")
# 5000 and 7000 times the square of the snapshot's number, every 600 seconds: (4 - 1), then (9 - 4).
assert "all: major faults: from 25 to 41 faults a second, since the look before" in s.titles
assert "all: refaults: from 35 to 58 faults a second, since the look before" in s.titles
rates = {}
for r in rows("thrash.csv"):
    if r["pid"]:
        rates.setdefault(f"{r['task']}, {r['pid']}", []).append(int(float(r["major_rate"])))
assert rates["java-4, 104"] == [24, 40], rates
for task, rate in rates.items():
    assert any(t.startswith(f"{task}: from {rate[0]} to {rate[-1]} ") for t in s.titles), task
assert "10min" in s.texts or "20min" in s.texts
E
no_out
run atwalk report thrash --format svg -o none.svg look5-1.cap
status 3
err_has "it takes two looks or more"
yes test ! -e none.svg

t "machine: every frame is on the map exactly once"
run atwalk report machine --format csv -o machine.csv many5.cap
run atwalk report machine --format svg -o machine.svg many5.cap
run python3 - <<'E'
from scene import *
s = Scene("machine.svg")
assert len(s.titles) == 256
assert sum(t.endswith(": no RAM") for t in s.titles) == 64
assert sorted(t.split()[0] for t in s.titles) == sorted(f"0x{i << 24:x}" for i in range(256))
# 64K per cell, 3 points wide: RAM has the area of its frames.
area = {}
for e in s.root.iter(NS + "rect"):
    if e.get("x") and e.get("fill") != "#ffffff" and float(e.get("y")) > 118:
        area[e.get("fill")] = area.get(e.get("fill"), 0) + float(e.get("width")) * float(e.get("height"))
assert abs(sum(area.values()) / 9 - (3 << 30 >> 16)) < 1, area
free = [int(r["pages"]) for r in rows("machine.csv") if r["use"] == "free"][0]
assert abs(area["#cfdce6"] / 9 * 16 / free - 1) < 0.02
assert "0xc0000000" in s.texts and "64K a cell" in " ".join(s.texts)
E
no_out

t "several reports: files in a folder, or one HTML page"
run atwalk report basic,totals,machine --format svg -o folder many5.cap
no_out
yes test "$(echo folder/*)" = "folder/basic.svg folder/machine.svg folder/totals.svg"
run atwalk report basic,count,machine --format html -o page.html many5.cap
no_out
run python3 - <<'E'
import xml.etree.ElementTree as tree
page = tree.parse("page.html")
sections = page.findall("body/section")
assert [s.get("id") for s in sections] == ["basic", "count", "machine"]
assert [len(s.findall("svg")) for s in sections] == [1, 0, 1]
about = page.find("body/p[@class='about']").text
assert about == "many5.cap; host vm7; Linux 6.1.0, x86_64; 2023-11-14 22:13:20 UTC", about
assert len(sections[0].findall("div/table/tbody/tr")) == 5
E
no_out

# fontconfig keeps offsets instead of pointers, which look like leaks.
echo 'leak:libfontconfig' >leaks
export LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0
t "PostScript, PDF and PNG, if built with cairo"
for format in ps pdf png; do
	rm -f picture
	if grep -q '^  found:.* cairo' "$built/found.txt"; then
		run atwalk report basic --format $format -o picture many5.cap
		no_out
		case $format in
		ps) magic='%!PS-Adobe-3' ;;
		pdf) magic='%PDF-1.' ;;
		png) magic=$'\x89PNG\r' ;;
		esac
		yes grep -qaF "$magic" picture
	else
		run atwalk report basic --format $format -o picture many5.cap
		status 3
		err_has "it has no cairo"
		yes test ! -e picture
	fi
done

t "reports without a picture give an error and leave no file"
run atwalk report count --format svg -o none.svg many5.cap
status 2
err_has "--format svg: count cannot be drawn; these can: basic, areas, units, totals, machine, thrash, growth, stacks"
run atwalk report basic,units --format svg many5.cap
status 2
err_has "--format svg: several pictures need a folder, -o FOLDER"
run atwalk report basic --filter 'total>5' --format svg -o none.svg many5.cap
status 2
err_has "--format svg cannot be used with --filter"
run atwalk map --format svg -o none.svg x86.elf
status 2
err_has "--format: 'svg' is not one of plain|csv|json|jsonl|html|parquet"
# Without F: lines the result is partial in every format.
sed 's/^E: .*/E: 107, 5, 40, 0/; /^F: /d' many5.cap >noframes.cap
run atwalk report machine --format svg -o none.svg noframes.cap
status 4
err <<'END'
atwalk: report machine: the use of frames is not recorded: there are no F: lines (frames were not collected)
atwalk: report machine: there is no map of RAM: frames were not collected
END
yes test ! -e none.svg
for format in plain html; do
	run atwalk report machine --format $format noframes.cap
	status 4
	yes grep -q 'the use of frames is not recorded: there are no F: lines (frames were not collected)' "$work/log/out"
	err_has 'atwalk: report machine: the use of frames is not recorded'
done
run atwalk report machine --format csv noframes.cap
status 4
err <<'END'
atwalk: report machine: the use of frames is not recorded: there are no F: lines (frames were not collected)
END
run atwalk report basic,machine --format svg -o part noframes.cap
status 4
err_has "there is no map of RAM"
yes test "$(echo part/*)" = part/basic.svg
run atwalk report basic --limit 3 --format svg -o none.svg many5.cap
status 2
err_has "--format svg cannot be used with --limit"
run atwalk report basic --format svg -o /nowhere/at/all.svg many5.cap
status 3
err_has "/nowhere/at/all.svg"

finish
