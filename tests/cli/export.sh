#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk export and collect --tables: the seven tables agree with the reports; all of them
# are written or none; the queries of docs/fleet.md over 200 machines.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# The file of a table in a folder.
table() {                         # FOLDER TABLE
	printf '%s' "$1/$2"/date=*/host=*/*
}

# Columns of a CSV file by name: "a,b".
columns() {                       # LIST FILE
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2], encoding="utf-8")):
    print(",".join(row[k] for k in sys.argv[1].split(",")))' "$1" "$2"
}

t "every table of a dump is there; the memory of tasks is that of report use"
run atwalk export --as csv --host db7 --time 1795842907.5 tasks.kdump dump
status 4
err_has "tasks.kdump:"
yes [ "$(find dump -type f | LC_ALL=C sort | tr '\n' ' ')" = "$(for i in areas captures files frames lost tasks units; do
	printf 'dump/%s/date=2026-11-28/host=db7/051507.csv ' "$i"
done)" ]
columns pid,name,rss,pss,uss,swap,huge,hugetlb "$(table dump tasks)" | grep -v ',,,,,,$' | sort >got
atwalk report use -q tasks.kdump --columns pid,name,rss,pss,uss,swap,huge,hugetlb --format csv |
	sed 1d | sort >want
same got want
yes [ -s want ]

t "sums of areas are those of tasks; units are report totals"
columns pid,resident,pss,swapped "$(table dump areas)" |
	awk -F, '{ r[$1] += $2; s[$1] += $4 } END { for (i in r) print i "," r[i] "," s[i] }' | sort >got
columns pid,rss,swap "$(table dump tasks)" | grep -v ',,$' | sort >want
# A process without areas has no rows.
sed -i '/,0,0$/d' got want
same got want
columns name,used,virtual_text,virtual_data,virtual_bss,text,data,bss "$(table dump units)" >got
atwalk report totals -q tasks.kdump --units bytes --format csv \
	--columns name,used,virtual_text,virtual_data,virtual_bss,text,data,bss | sed 1d |
	awk -F, -v OFS=, '{ for (i = 3; i <= NF; i++) if ($i != "") $i *= 4096; print }' >want
same got want
yes [ -s want ]

t "mapped files: what smaps has of files, each page once"
atwalk pages -q tasks.kdump --format jsonl >pages.jsonl 2>/dev/null
python3 -c 'import collections, json
sums = collections.Counter()
for row in map(json.loads, open("pages.jsonl", encoding="utf-8")):
    if row["state"] == "present" and "ANON" not in (row["pageflags"] or ["ANON"]):
        sums[row["area"]] += row["size"] / row["count"]
for name in "/init", "/shared.bin":
    print(f"{name},{sums[name]:.0f}")' >want
run columns name,mapped "$(table dump files)"
out <want
t "the row of the capture, and of what is lost"
run columns capture,host,time,machine,page,tasks,version "$(table dump captures)"
out <<<"db7/2026-11-28T05:15:07.500000Z,db7,2026-11-28T05:15:07.500000Z,x86_64,4096,$(
	atwalk ps -q tasks.kdump --format csv --columns pid | sed 1d | wc -l),$("$O/atwalk" --version |
	sed -n '1s/^atwalk //p')"
yes [ "$(columns lost "$(table dump captures)")" = "$(sed 1d "$(table dump lost)" | wc -l)" ]

t "nodes: a row for each; frames add up to RAM"
cat >nodes.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: host, ../a b
H: begun, 10.000001
H: vanished, 2
H: ended, 11
H: MemTotal, 2000
R: 00000000, 000FFFFF, System RAM, node=0
R: 00100000, 001FFFFF, System RAM, node=1
S: 0, 1000, 3, /dev/vda2
T: sh, 5, 10, 0, 1, 2, 0, 0, 0, 0, tgid=5, ppid=1, uid=0, cgroup=/a
V: 00010000, 00017FFF, 00008000, 00006000, -, 00100073, [heap]
M: 00010000*4=000FE4D2, 1, 00005868, refs=1 | 00014000*2=00104412, 2, 00005868, refs=2 | 00016000*2=00000000, -, -, swap=0:5 |
L: 6, areas, gone
F: 00000000*254=free | 000FE000*8=anon |
E: 15, 1, 1, 1
END
run atwalk export -q --as csv nodes.cap nodes
status 4
err_has "nodes.cap: 1 read error: see table lost"
path='nodes/areas/date=1970-01-01/host=%2E.%2Fa%20b/000010.csv'
yes [ -f "$path" ]
run columns pid,rights,resident,pss,uss,shared,swapped,node "$path"
out <<'END'
5,rw--,8192,8192,8192,0,8192,0
5,rw--,16384,12288,8192,8192,0,1
END
run columns use,node,bytes "${path/areas/frames}"
sed -i '/,0$/d' "$work/log/out"
out <<'END'
free,0,1040384
anon,0,8192
anon,1,24576
unknown,1,1024000
END
yes [ "$(columns vanished "${path/areas/captures}")" = 2 ]
run columns time,pid,what,why,address "${path/areas/lost}"
out <<<"1970-01-01T00:00:10.000001Z,6,areas,gone,"
run columns pid,ppid,uid,cgroup,minor,major,rss,swap "${path/areas/tasks}"
out <<<"5,1,0,/a,1,2,24576,8192"

t "zones: a row for each; what the kernel counts is in a row of its own"
cat >zones.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: host, a
H: begun, 10
H: way, kcore
H: MemFree, 1000
R: 00000000, 000FFFFF, System RAM, node=0, zone=DMA
R: 00100000, 001FFFFF, System RAM, node=0, zone=Normal
R: 00200000, 0020FFFF, System RAM, node=0
R: 00300000, 0030FFFF, System RAM
T: sh, 5, 10, 0, 1, 2, 0, 0, 0, 0, tgid=5, cgroup=/a
U: FE:1, 9, /a, build=AB
V: 00010000, 00013FFF, 00004000, 00001000, -, 00000071, /a, dev=FE:1, inode=9, offset=0
M: 00010000=00100012, 1, 0000006C, refs=1 |
F: 00000000*300=free | 0012C000*228=file | 00300000*2=slab |
C: FE:1, 9, 100, 7, /a, node=0
C: FE:2, 9, 3, 0, NULL
C: FE:2, 10, 100, 100, /b c, node=1, cgroup=/a
C: FE:2, 10, 28, 28, /b c, node=1, cgroup=/d\054
E: 19, 1, 1, 0
END
run atwalk export -q --as csv zones.cap zones
run columns use,node,zone,bytes,counter "$(table zones frames)"
sed -i '/,0,$/d' "$work/log/out"
out <<'END'
free,,,,1024000
free,0,DMA,1048576,
free,0,Normal,180224,
file,0,Normal,868352,
file,0,,65536,
slab,,,8192,
unknown,,,57344,
END
t "files in the page cache: rows of their own, which name a mapped file as its other rows"
run columns device,inode,name,cgroup,node,mapped,dirty,unit,cached,cached_dirty "$(table zones files)"
out <<'END'
fe:1,9,/a,/a,0,4096,0,ab,,
fe:1,9,/a,,0,,,ab,409600,28672
fe:2,9,,,,,,fe:2:9,12288,0
fe:2,10,/b c,/a,1,,,fe:2:10,409600,409600
fe:2,10,/b c,/d,,1,,,fe:2:10,114688,114688
END
run columns cached "$(table nodes files)"
no_out

t "Parquet is the same, and so is what collect writes beside a capture"
run atwalk export -q nodes.cap both
status 4
said_err=1
for i in areas captures files frames lost tasks units; do
	atwalk export -q --as jsonl nodes.cap lines 2>/dev/null || :
	{ echo '['; sed '$!s/$/,/' "$(table lines $i)"; echo ']'; } >$i.json
	yes python3 "$cli/parquet.py" "$(table both $i)" $i.json
done
run atwalk collect -q nodes.cap --tables beside -o again.cap
status 4
err_has "nodes.cap: 1 read error: see the L: lines"
yes diff -r both beside
yes grep -qx "H: host, ../a b" again.cap
run atwalk collect -q nodes.cap --tables alone
status 4
no_out
err_has "see table lost"
yes diff -r both alone

t "files are their owner's alone"
yes [ "$(find both beside -type f ! -perm 600 | wc -l)" = 0 ]

t "wrong usage"
wrong() {                         # STATUS TEXT ARGUMENTS...
	local code=$1 text=$2
	shift 2
	run atwalk "$@"
	status "$code"
	err_has "$text"
	no_out
	yes [ ! -e new ]
}
sed '/^H: host/d' nodes.cap >nameless.cap
sed '/^H: begun/d' nodes.cap >timeless.cap
wrong 2 'nameless.cap: the name of the machine is not recorded' export nameless.cap new
err_has '--host NAME'
wrong 2 'timeless.cap: the time is not recorded' export timeless.cap new
err_has '--time SECONDS'
wrong 2 "--time: '1e9' is no number of seconds" export --time 1e9 nodes.cap new
wrong 2 '--host: the name must have 1 to' export --host '' nodes.cap new
wrong 2 'SOURCE and FOLDER are missing' export
wrong 2 'FOLDER is missing' export nodes.cap
wrong 3 'nodes.cap: not a folder' export nodes.cap nodes.cap
wrong 3 'new/deep: cannot create the folder: No such file' export nodes.cap new/deep
wrong 3 'none.cap: No such file or directory' export none.cap new
wrong 2 '--tables cannot be used with --form 2005' collect --form 2005 --tables new nodes.cap
wrong 2 '--cached cannot be used with --form 2005' collect --form 2005 --cached nodes.cap
wrong 2 '--cached: nodes.cap is a capture, and taken already' collect --cached nodes.cap
wrong 2 '--host and --time are of the tables' collect --host x nodes.cap

t "a full disk leaves nothing behind, neither a folder nor one of several tables"
# A file may have 1 KiB: the table of areas does not fit.
(ulimit -f 1; atwalk export -q --host a --time 1 tasks.kdump full >log 2>&1)
yes [ $? = 3 ]
yes grep -q 'File too large' log
yes [ ! -e full ]
mkdir part && cp -r both/tasks part
cp -r part before
(ulimit -f 1; atwalk export -q --host a --time 1 tasks.kdump part >log 2>&1)
yes diff -r part before

t "a truncated capture: what there is of it, with status 4"
head -n 12 nodes.cap >short.cap
run atwalk export -q --as csv short.cap short
status 4
said_err=1
run columns pid,rss "$(table short tasks)"
out <<<"5,$(atwalk report use -q short.cap --columns rss --format csv 2>/dev/null | sed 1d)"
# How many tasks ended is not known of a capture that has no end.
sed '/^H: vanished/d; /^H: ended/d' short.cap >open.cap
sed '/^H: vanished/d' nodes.cap >none.cap
for i in open none; do
	run atwalk export -q --as csv $i.cap $i
	status 4
	said_err=1
done
yes [ "$(columns vanished "$(table open captures)")" = "" ]
yes [ "$(columns vanished "$(table none captures)")" = 0 ]
run columns pid,what "$(table short lost)"
out <<<"5,capture
5,pages"

t "the queries of docs/fleet.md over 200 machines"
if [ -n "${WRAP:-}" ]; then skip "220 programs under valgrind"
elif ! command -v node >/dev/null || ! modules=$(npm_have duckdb @duckdb/node-api); then
	skip "no node, or npm cannot install DuckDB"
else
	mkdir captures
	yes python3 "$cli/fleet.py" captures >want
	for i in captures/*; do yes atwalk export -q "$i" fleet; done
	NODE_PATH=$modules run node "$cli/fleet.cjs" "$top/docs/fleet.md"
	out <want
	NODE_PATH=$modules run node "$cli/fleet.cjs" "$top/docs/fleet.md" \
		"SELECT DISTINCT typeof(time), typeof(address), typeof(pid), typeof(host) FROM areas"
	out <<<"TIMESTAMP WITH TIME ZONE,UBIGINT,BIGINT,VARCHAR
"
fi

finish
