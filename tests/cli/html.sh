#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pages and pictures: what an XML parser and a browser make of them. Chromium runs
# without a window and with no network; what happens in it is asked for by a script
# that is put at the end of the page and writes what it found into it.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

pictures() { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$built/tests/tools/pictures" "$@"; }

# ---- files ----

t "--format html: a page that is well-formed, with a row a row"
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
assert len(body) == int(sys.argv[1]), len(body)
assert all(len(row) == len(heads) for row in body)
assert body[0][2].get("data-v").isdigit()
assert page.find("body/pre").text.startswith(sys.argv[1] + " ranges, ")
E
	no_out
else
	skip "there is no python3"
fi

t "--format html: hostile names harm nobody"
if command -v python3 >/dev/null; then
	run pictures report.html 12
	run python3 - <<'E'
import xml.etree.ElementTree as tree
page = tree.parse("report.html")
assert page.find("head/title").text == "</title>Report"
assert len(list(page.iter("script"))) == 1
assert len(list(page.iter("svg"))) == 6
names = [row[1].text for row in page.find("body/section[@id='table']/div/table/tbody")]
assert names[0] == "</script><script>document.title='broken'</script>", names[0]
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

for n in 0 1 5 500; do
	t "SVG of $n things: well-formed, everything is inside"
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

# shellcheck disable=SC2317 # in tests that are not skipped
# What the script found, after "found" was called: browse PAGE <SCRIPT.
browse() {
	local rc

	{
		cat "$1"
		cat <<'E'
<script>
function found(x) {
	var p = document.createElement("p");
	p.id = "found";
	p.textContent = x;
	document.body.appendChild(p);
}
function texts(list, f) {
	return Array.from(list).map(f).join(" ");
}
function rows() {
	return Array.from(document.querySelectorAll("#table tbody tr"));
}
E
		cat
		echo "</script>"
	} >asked.html
	rm -rf profile
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic \
		--no-first-run --disable-background-networking --disable-component-update \
		--disable-sync --user-data-dir="$PWD/profile" --window-size=1200,900 \
		--enable-logging=stderr --dump-dom "file://$PWD/asked.html" >dom.html 2>browser.log
	rc=$?
	sed -n 's/.*<p id="found">\(.*\)<\/p>.*/\1/p' dom.html
	return "$rc"
}

in_browser() {
	t "in a browser: $1"
	if [ -z "$browser" ]; then
		skip "there is no Chromium"
		return 1
	elif [ -n "${WRAP:-}" ]; then
		skip "the pages are the same under ${WRAP%% *}"
		return 1
	fi
}

pictures report.html 12

in_browser "a click on a head sorts, up, down and back; n/a comes last" && {
	run browse report.html <<'E'
var head = document.querySelectorAll("#table th")[2], said = [];
function order() {
	return texts(rows(), function (r) { return r.cells[0].textContent; });
}
function sorted(up) {
	var all = rows().map(function (r) { return r.cells[2].getAttribute("data-v"); });
	var known = all.filter(function (v) { return v !== null; }).map(Number);
	return known.length === 10 && all.indexOf(null) === 10 && known.every(function (v, i) {
		return i === 0 || (up ? known[i - 1] <= v : known[i - 1] >= v);
	});
}
said.push(head.getAttribute("aria-sort"), order());
head.querySelector("button").click();
said.push(head.getAttribute("aria-sort"), sorted(true));
head.querySelector("button").click();
said.push(head.getAttribute("aria-sort"), sorted(false));
head.querySelector("button").click();
said.push(head.getAttribute("aria-sort"), order());
found(said.join(" | "));
E
	out <<'E'
none | 0 1 2 3 4 5 6 7 8 9 10 11 | ascending | true | descending | true | none | 0 1 2 3 4 5 6 7 8 9 10 11
E
}

in_browser "heads are buttons to the keyboard; the filter keeps rows with all its words" && {
	run browse report.html <<'E'
var button = document.querySelectorAll("#table th")[1].querySelector("button"), said = [];
var input = document.querySelector("#table input");
button.focus();
said.push(document.activeElement === button, button.type, button.tabIndex);
function show(words) {
	input.value = words;
	input.dispatchEvent(new Event("input"));
	said.push(document.querySelector("#table .find span").textContent,
		  texts(rows().filter(function (r) { return r.offsetHeight > 0; }),
			function (r) { return r.cells[0].textContent; }));
}
show("SSHD");
show("it  in");
show("no such thing");
show("");
found(said.join(" | "));
E
	out <<'E'
true | button | 0 | 1 of 12 rows | 4 | 1 of 12 rows | 5 | 0 of 12 rows |  | 12 of 12 rows | 0 1 2 3 4 5 6 7 8 9 10 11
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
found(said.join(" "));
E
	out <<'E'
true true true true true true true true true
E
}

in_browser "no name ran, nothing was complained about, nobody was asked" && {
	run browse report.html <<'E'
found(document.title + " | " + document.scripts.length + " | " +
      performance.getEntriesByType("resource").length + " | " +
      document.querySelectorAll("nav a").length);
E
	out <<'E'
&lt;/title&gt;Report | 2 | 0 | 7
E
	yes test "$(grep -c CONSOLE browser.log)" -eq 0
}

finish
