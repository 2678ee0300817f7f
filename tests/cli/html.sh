#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# HTML reports and SVG pictures pass an XML parser and render in a browser. Chromium is
# driven by tests/tools/browse, without a window and without a network.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

pictures() { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$built/tests/tools/pictures" "$@"; }

# ---- files ----

t "--format html: a well-formed page with every row"
if command -v python3 >/dev/null; then
	run atwalk map --format csv x86.elf
	rows=$(($(wc -l <"$work/log/out") - 1))
	run atwalk map --format html -o page.html x86.elf
	no_out
	run python3 - $rows <<'E'
import sys
import xml.etree.ElementTree as tree
page = tree.parse("page.html")
assert page.find("head/title").text == "atwalk map", page.find("head/title").text
heads = [h.text for h in page.iter("th")]
assert heads[:3] == ["address", "end", "size"], heads
body = page.find("body/div/table/tbody")
assert len(body) == 100
lines = page.find("body/script[@class='rows']").text.split("\n")[1:-1]
assert sum(map(int, lines[::1 + len(heads)])) == int(sys.argv[1])
assert all(len(line.split("\t")) == int(lines[at // (1 + len(heads)) * (1 + len(heads))])
           for at, line in enumerate(lines) if at % (1 + len(heads)))
assert all(len(row) == len(heads) for row in body)
assert body[0][2].get("data-v").isdigit()
assert page.find("body/pre").text.startswith(sys.argv[1] + " ranges, ")
E
	no_out
else
	skip "there is no python3"
fi

t "--format html: hostile names are escaped"
if command -v python3 >/dev/null; then
	run pictures report.html 12
	run python3 - <<'E'
import xml.etree.ElementTree as tree
page = tree.parse("report.html")
assert page.find("head/title").text == "</title>Report"
assert [s.get("type") for s in page.iter("script")] == [None]
assert len(list(page.iter("svg"))) == 6
names = [row[1].text for row in page.find("body/section[@id='table']/div/table/tbody")]
assert names[0] == "</script><script>document.title='broken'</script>", names[0]
assert names[7] == "ba\\xe2\\x80\\x8bsh", names[7]
assert names[9] == "caf\u00e9 \u65e5\u672c \\xff\\x1b[31m", names[9]
for e in page.iter():
    assert not any(a.startswith("on") for a in e.attrib), e.attrib
    assert e.tag != "a" or e.get("href").startswith("#")
    assert "src" not in e.attrib and e.tag not in ("link", "img", "iframe", "x")
E
	no_out
else
	skip "there is no python3"
fi

t "--format html: rows beyond the elements are text, and names stay in their fields"
if command -v python3 >/dev/null; then
	run pictures many.html 600
	run python3 - <<'E'
import xml.etree.ElementTree as tree
page = tree.parse("many.html")
section = page.find("body/section[@id='table']")
assert len(section.find("div/table/tbody")) == 100
assert [s.get("type") for s in page.iter("script")] == ["text/plain", None]
lines = section.find("script").text.split("\n")
assert lines[0] == "" and lines[1] == "512" and lines[6] == "88" and lines[11] == "", lines[6]
# The parser undoes one level of escaping, the script of the page the other.
pids, names = [], []
for at in 2, 7:
    for field, to in (lines[at].split("\t"), pids), (lines[at + 1].split("\t"), names):
        for f in field:
            to.append(f if f else to[-1])
assert [int(p) for p in pids] == list(range(600))
assert names[0] == "</script><script>document.title='broken'</script>", names[0]
assert names[10] == "]]><x>" and names[11] == "==tiny_sys" and names[23] == "==tiny_sys 23", names[23]
cut = section.find("noscript/p").text
assert cut.startswith("These are the first 100 of 600 rows. "), cut
raw = open("many.html").read()
data = raw[raw.index('class="rows">') + 13:]
data = data[:data.index("</script>")]
assert "<" not in data and ">" not in data
E
	no_out
else
	skip "there is no python3"
fi

t "SVG: a curve is one element"
if command -v python3 >/dev/null; then
	mkdir -p svg
	run pictures svg svg 600
	run python3 - <<'E'
import xml.etree.ElementTree as tree
svg = tree.parse("svg/growth-600.svg").getroot()
curves = list(svg.iter("{http://www.w3.org/2000/svg}polyline"))
assert len(curves) == 600, len(curves)
assert all(len(c.get("points").split()) > 20 for c in curves)
assert len(list(svg.iter())) < 2000, len(list(svg.iter()))
E
	no_out
else
	skip "there is no python3"
fi

for n in 0 1 5 500; do
	t "SVG of $n elements: well-formed, everything is inside"
	if ! command -v python3 >/dev/null; then
		skip "there is no python3"
		continue
	fi
	mkdir -p svg
	run pictures svg svg $n
	run python3 - $n <<'E'
import sys
import xml.etree.ElementTree as tree
for kind in "bars pairs treemap growth stacks ram".split():
    svg = tree.parse(f"svg/{kind}-{sys.argv[1]}.svg").getroot()
    ns = "{http://www.w3.org/2000/svg}"
    assert svg.tag == ns + "svg"
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert svg.get("viewBox") == f"0 0 {svg.get('width')} {svg.get('height')}"
    assert 100 < width < 1100 and 90 < height < 3000, (kind, width, height)
    texts = list(svg.iter(ns + "text"))
    assert len(texts) >= 2, kind
    assert not any("\u200b" in t for t in svg.itertext()), kind
    for e in texts:
        assert 0 <= float(e.get("x")) <= width and 0 < float(e.get("y")) <= height
    for e in svg.iter(ns + "rect"):
        if e.get("x"):
            assert float(e.get("x")) + float(e.get("width")) <= width + 0.02, kind
            assert float(e.get("y")) + float(e.get("height")) <= height + 0.02, kind
E
	no_out
done

# ---- in a browser ----

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

# Runs a script in the page and prints its results, one per line: browse [-s] PAGE <SCRIPT.
# shellcheck disable=SC2317 # in tests that are not skipped
browse() {
	{
		cat <<'E'
function frame() {
	return new Promise(function (f) { requestAnimationFrame(function () { setTimeout(f); }); });
}
function texts(list, f) { return Array.from(list).map(f).join(" "); }
function all(what) { return Array.from(document.querySelectorAll("#table " + what)); }
function one(what) { return document.querySelector("#table " + what); }
function rows() { return all("tbody tr"); }
function column(n) { return rows().map(function (r) { return r.cells[n].textContent; }); }
function click(head) { all("th button")[head].click(); }
function show(words) {
	one(".find input").value = words;
	one(".find input").dispatchEvent(new Event("input"));
	return one(".find span").textContent;
}
/* Every row there is, as one scrolls by: what a cell of it says, and where it says it is. */
async function scroll(cell) {
	var box = one(".scroll"), seen = [];
	for (var y = 0; ; y += 500) {
		box.scrollTop = y;
		await frame();
		rows().forEach(function (r) { seen[r.getAttribute("aria-rowindex") - 2] = cell(r); });
		if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) return seen;
	}
}
E
		cat
	} >asked.js
	"$top/tests/tools/browse" "$@" <asked.js
}

in_browser() {
	t "in a browser: $1"
	if [ -z "$browser" ]; then
		skip "there is no Chromium"
		return 1
	elif ! command -v python3 >/dev/null; then
		skip "there is no python3"
		return 1
	elif [ -n "${WRAP:-}" ]; then
		skip "the pages are the same under ${WRAP%% *}"
		return 1
	fi
}

pictures report.html 12
pictures many.html 600
pictures most.html 2000

in_browser "a click on a number sorts the largest first, then the smallest, then as it was" && {
	run browse report.html <<'E'
var head = all("th")[2], said = [];
function sorted(up) {
	var all = rows().map(function (r) { return r.cells[2].textContent; });
	var bytes = all.slice(0, 10).map(function (v) {
		return parseFloat(v) * { B: 1, K: 1024, M: 1048576, G: 1073741824 }[v.slice(-1)];
	});
	return all.slice(10).join() === "n/a,n/a" && bytes.every(function (v, i) {
		return i === 0 || (up ? bytes[i - 1] <= v : bytes[i - 1] >= v);
	});
}
said.push(head.getAttribute("aria-sort"), column(0).join(" "));
click(2);
said.push(head.getAttribute("aria-sort"), sorted(false));
click(2);
said.push(head.getAttribute("aria-sort"), sorted(true));
click(2);
said.push(head.getAttribute("aria-sort"), column(0).join(" "));
return said;
E
	out <<'E'
none
0 1 2 3 4 5 6 7 8 9 10 11
descending
true
ascending
true
none
0 1 2 3 4 5 6 7 8 9 10 11
E
}

in_browser "a click on a text sorts from its beginning, numbers in it by their value" && {
	run browse many.html <<'E'
var said = [];
click(1);
said.push(all("th")[1].getAttribute("aria-sort"), all("th")[0].getAttribute("aria-sort"));
show("nginx");
said.push(column(1).slice(0, 4).join());
show("");
click(3);
said.push(all("th")[1].getAttribute("aria-sort"), column(3)[0]);
click(3);
said.push(column(3)[0]);
return said;
E
	out <<'E'
ascending
none
nginx,nginx 13,nginx 25,nginx 37
none
0xffffffffffda8fff
0xffffffffffffffff
E
}

in_browser "heads are buttons to the keyboard; the filter keeps rows with all its words" && {
	run browse report.html <<'E'
var button = all("th")[1].querySelector("button"), said = [];
button.focus();
said.push(document.activeElement === button, button.type, button.tabIndex);
said.push(one(".scroll").tabIndex, one(".scroll").getAttribute("role"),
	  one(".scroll").getAttribute("aria-label"));
["SSHD", "it  in", "no such thing", ""].forEach(function (words) {
	said.push(show(words), column(0).join(" "), one("table").getAttribute("aria-rowcount"));
});
return said.join(" | ");
E
	out <<'E'
true | button | 0 | 0 | region | Table | 1 of 12 rows | 4 | 2 | 1 of 12 rows | 5 | 2 | 0 of 12 rows |  | 1 | 12 of 12 rows | 0 1 2 3 4 5 6 7 8 9 10 11 | 13
E
}

in_browser "of many rows those in sight are elements, and all can be scrolled to" && {
	run browse many.html <<'E'
var said = [], most = 0, seen, cells;
one(".scroll").scrollIntoView();
await frame();
cells = rows().slice(0, 100).map(function (r) { return r.textContent; });
said.push(one("table").getAttribute("aria-rowcount"), one("tr").getAttribute("aria-rowindex"));
seen = await scroll(function (r) {
	most = Math.max(most, rows().length);
	return r.textContent;
});
said.push(seen.length, seen.every(Boolean), most < 250);
/* What the script makes of the text is what the page had as elements. */
said.push(cells.every(function (c, i) { return c === seen[i]; }), cells.length);
one(".scroll").scrollTop = 0;
await frame();
said.push(rows().every(function (r, i) { return r.textContent === cells[i]; }));
said.push(rows().every(function (r) { return r.getBoundingClientRect().height === 25; }));
return said;
E
	out <<'E'
601
1
600
true
true
true
100
true
true
E
}

in_browser "all of many rows are sorted and filtered, not those in sight alone" && {
	run browse many.html <<'E'
var said = [], seen, values;
var unit = { B: 1, K: 1024, M: 1048576, G: 1073741824 };
one(".scroll").scrollIntoView();
await frame();
click(2);
seen = await scroll(function (r) { return [r.cells[0].textContent, r.cells[2].textContent]; });
values = seen.slice(0, 480).map(function (s) { return parseFloat(s[1]) * unit[s[1].slice(-1)]; });
said.push(seen.length, new Set(seen.map(String)).size);
said.push(values.every(function (v, i) { return i === 0 || values[i - 1] >= v; }));
/* n/a comes last, in the order of the page. */
said.push(seen.slice(480, 483).join(" "), seen[599].join());
said.push(show("systemd 7"));
seen = await scroll(function (r) { return r.textContent; });
said.push(seen.length, seen.every(function (s) { return /systemd/.test(s) && /7/.test(s); }));
said.push(one(".scroll").scrollTop, show("tiny"), all("tbody tr:not(.even)").length);
return said;
E
	out <<'E'
600
600
true
4,n/a 9,n/a 14,n/a
599,n/a
22 of 600 rows
22
true
0
50 of 600 rows
25
E
}

in_browser "rows that are shown are copied, and none as a formula" && {
	run browse many.html <<'E'
var said = [], text, button = one(".find button");
document.addEventListener("copy", function (e) {
	text = e.clipboardData.getData("text/plain").split("\n");
});
show("tiny");
button.click();
said.push(button.textContent, text.length, text[0], text[1], text[50], text[51]);
show("");
click(0);
button.click();
said.push(text.length, text[1].split("\t")[0], text[600].split("\t")[0]);
return said;
E
	out <<'E'
Copy
52
pid	name	size	address
11	'=tiny_sys	1.3M	0xffffffffffff4fff
599	'=tiny_sys 599	n/a	0xffffffffffda8fff

602
599
0
E
}

in_browser "print has all rows, or the first 1000 of very many and says so" && {
	printed='var cut = one(".cut");
		dispatchEvent(new Event("beforeprint"));
		cut = one(".cut");
		var said = [rows().length, rows()[0].cells[0].textContent, cut && cut.textContent];
		dispatchEvent(new Event("afterprint"));
		await frame();
		return said.concat(rows().length < 250, one(".cut"));'
	run browse many.html <<<"one('.scroll').scrollTop = 9000; await frame(); $printed"
	out <<'E'
600
0
true
E
	run browse most.html <<<"click(0); await frame(); $printed"
	out <<'E'
1000
1999
Printed are the first 1000 of 2000 rows.
true
E
}

in_browser "without scripts the first rows can be read, and how many more there are" && {
	run browse -s many.html <<'E'
var note = one("noscript p");
note.scrollIntoView();
return [rows().length, rows()[99].cells[0].textContent, note.offsetHeight > 0, note.textContent,
	all("button").length];
E
	out <<'E'
100
99
true
These are the first 100 of 600 rows. This page shows more of them with scripts enabled; CSV and JSON output has all.
0
E
}

"$built/tests/tools/mkcapture" -f -m 1G -p 300 -r 20000 -s 3 >made.cap || exit
"$built/kmap/tests/tools/mkkmap" -e 20000 >made.kmap || exit

# shellcheck disable=SC2317 # in tests that are not skipped
# Each table has as many rows as CSV, with the same first and last row.
same_rows() {
	local name

	for name in $1; do
		"${@:3}" "$name" --format csv "$2" 2>/dev/null | python3 -c '
import csv, sys
rows = list(csv.reader(sys.stdin))
print(sys.argv[1], len(rows) - 1, rows[1][0], rows[-1][0])' "$name"
	done
}
ENDS='var said = [], name, count, list;
for (name of names) {
	count = document.querySelector("#" + name + " .find span").textContent;
	document.querySelector("#" + name).scrollIntoView();
	await frame();
	function ends(r) {
		var c = r.cells[0];
		return c.getAttribute("data-v") || c.textContent;
	}
	list = document.querySelectorAll("#" + name + " tbody tr");
	said.push([name, count.split(" ")[2], ends(list[0])].join(" "));
	document.querySelector("#" + name + " .scroll").scrollTop = 1e8;
	await frame();
	list = document.querySelectorAll("#" + name + " tbody tr");
	said[said.length - 1] += " " + ends(list[list.length - 1]);
}
return said;'

in_browser "reports of a capture: every table has the rows of CSV" && {
	"$O/atwalk" report use,basic,areas,units,totals,alerts,pages,machine,stacks --format html \
		-o made.html made.cap 2>/dev/null
	same_rows "use basic areas units totals alerts pages stacks" made.cap \
		"$O/atwalk" report >want
	run browse made.html <<<"var names = 'use basic areas units totals alerts pages stacks'.split(' '); $ENDS"
	out <want
}

in_browser "reports of a KMAP: likewise" && {
	names="sites code processes matrix writers"
	"$O/atwalk" kmap report "${names// /,}" --format html -o kmap.html made.kmap 2>/dev/null
	same_rows "$names" made.kmap "$O/atwalk" kmap report >want
	run browse kmap.html <<<"var names = '$names'.split(' '); $ENDS"
	out <want
}

in_browser "addresses in texts sort by their value" && {
	run browse kmap.html <<'E'
var s = document.querySelector("#writers"), said = [];
function code() {
	return Array.from(s.querySelectorAll("tbody tr")).map(function (r) {
		return BigInt(r.cells[2].textContent);
	});
}
function up(all) { return all.every(function (v, i) { return i === 0 || all[i - 1] <= v; }); }
said.push(s.querySelectorAll("th")[2].textContent, code().length > 40, up(code()));
s.querySelectorAll("th button")[2].click();
said.push(up(code()), code().some(function (v) { return /[a-f]/.test((v & 0xffffn).toString(16)); }));
return said;
E
	out <<'E'
code
true
false
true
true
E
}

in_browser "a click on a part of a picture looks closer; Escape shows all" && {
	run browse report.html <<'E'
var svg = document.querySelector("#treemap svg"), part = svg.querySelector(".zoom");
function view() { return svg.getAttribute("viewBox").split(" ").map(Number); }
var whole = view(), said = [], near, box = part.getBBox();
part.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
near = view();
said.push(near[2] < whole[2] - 50, near[0] <= box.x, near[0] + near[2] >= box.x + box.width,
	  near[1] <= box.y, near[1] + near[3] >= box.y + box.height,
	  Math.abs(near[2] / near[3] - whole[2] / whole[3]) < 0.01);
svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
said.push(view()[0] > near[0]);
svg.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
said.push(view().join() === whole.join());
svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, ctrlKey: true, clientX: 200,
	clientY: 200, bubbles: true, cancelable: true }));
said.push(view()[2] < whole[2]);
return said.join(" ");
E
	out <<'E'
true true true true true true true true true
E
}

in_browser "names are not executed; no errors, no network requests" && {
	run browse report.html <<'E'
return [document.title, document.scripts.length,
	performance.getEntriesByType("resource").length, document.querySelectorAll("nav a").length];
E
	out <<'E'
</title>Report
1
0
7
E
	run browse most.html <<'E'
one(".scroll").scrollTop = 1e6;
await frame();
click(1);
show("script");
return [document.title, document.scripts.length, document.querySelectorAll("x,b,img").length,
	rows()[0].cells[1].textContent];
E
	out <<'E'
</title>Report
2
0
</script><script>document.title='broken'</script>
E
}

finish
