#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk sql: its tables have the rows of the listings, and a query for one process reads
# only that one.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/ram-cap.sh
. "$cli/ram-cap.sh"
need_tasks
if ! grep -q '^  found:.* sqlite3' "$built/found.txt"; then
	t "atwalk sql"
	run atwalk sql tasks.kdump 'SELECT 1'
	status 3
	err_has "this build has no SQL"
	finish
fi

# Since 3.38, SQLite passes on pid IN (...) as a whole. Before, many processes are as all.
run atwalk sql tasks.kdump --format csv 'SELECT sqlite_version()'
said_status=1
lists=$(awk -F. 'NR == 2 && ($1 > 3 || $2 >= 38) { print "yes" }' "$work/log/out")

# A table is its listing, with all columns.
equal() {                         # TABLE COMMAND...
	local table=$1 code

	shift
	sql tasks.kdump "SELECT * FROM $table"
	said_status=1 said_err=1
	code=$rc
	bare <"$work/log/out" >got.csv
	run atwalk "$@" --format csv --columns "$(head -n 1 got.csv)"
	said_status=1 said_err=1
	yes [ "$code" = "$rc" ]
	yes [ "$(wc -l <got.csv)" -gt 1 ]
	bare <"$work/log/out" >wanted.csv
	yes cmp got.csv wanted.csv
}

t "tables are the listings"
equal tasks ps tasks.kdump
equal threads ps --threads tasks.kdump
equal vmas pages --areas-only tasks.kdump
equal pages pages tasks.kdump
equal totals pages --totals tasks.kdump
equal ranges map tasks.kdump
equal "walk('init_task')" walk --path tasks.kdump init_task
equal "frames('9a10000')" find tasks.kdump 9a10000
sql tasks.kdump "SELECT name FROM pragma_table_info('memory')"
out <<<$'name\naddress\nphysical\nsize\nvalue\nsymbol\nbytes\ntext\nstate\npid\ntask'
for pid in 99 103; do
	sql tasks.kdump "SELECT address, physical, size, value, state, pid, task FROM memory('401000+18') WHERE pid = $pid"
	said_status=1 said_err=1
	cp "$work/log/out" got.csv
	yes [ "$(wc -l <got.csv)" = 2 ]
	run atwalk rd tasks.kdump --as words --pid $pid --format csv 401000+18 \
		--columns address,physical,size,value,state,pid,task
	said_status=1 said_err=1
	same "$work/log/out" got.csv
done
equal facts info tasks.kdump
equal symbols info --symbols tasks.kdump

t "columns that no row of a table can have are none of it"
for table in vmas pages totals; do
	sql tasks.kdump "SELECT * FROM $table"
	said_status=1
	bare <"$work/log/out" | head -n 1 | tr , '\n' >keys
	sql tasks.kdump "SELECT $(sed 's/.*/count("&") AS "&"/' keys | paste -sd,) FROM $table"
	said_status=1
	cp "$work/log/out" counts
	[ $table = pages ] || awk -F, 'NR == 2 { for (i = 1; i <= NF; i++) if (!$i) exit 1 }' counts ||
		bad "a column of $table is n/a everywhere"
done
sql tasks.kdump "SELECT name FROM pragma_table_info('totals')"
cp "$work/log/out" got
out <<<$'name\nsize\nmapped\nrss\npss\nuss\nprivate\nshared\nswapped\nhuge\nthp_anon\nthp_shmem\nthp_file\nhugetlb\npid\ntask'

t "and the reports"
atwalk report --help | sed -n '/^NAME:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r kind; do
	case $kind in
	thrash | growth | backing | nodes | kernel) ;;   # of several sources; what the dump lacks
	*) echo "$kind" ;;
	esac
done >kinds
yes [ "$(wc -l <kinds)" -ge 10 ]
while read -r kind; do
	equal "report_$kind" report "$kind" tasks.kdump
done <kinds

t "every report of the program is a table, and one that lacks something says what"
grep -o '^REPORT([a-z]*' "$top/lib/report/reports.def" | sed 's/REPORT(/report_/' | sort >wanted
yes [ "$(wc -l <wanted)" -ge 17 ]
sql tasks.kdump "SELECT name FROM pragma_module_list WHERE name GLOB 'report_*' ORDER BY 1"
sed 1d "$work/log/out" >got
yes cmp got wanted
ram_cap | sed -e 's/^F: 1000\*2=reserved.*/F: 1000*2=reserved, host=backed | 3000*5=free, host=absent | 8000=free, host=swapped |/' \
	-e 's/^F: 10000.*/F: 10000*2=free, host=backed | 12000*3=anon, host=backed | 15000=anon | 1F000*5=kernel, host=absent |/' \
	-e '/^F: 24000/d' -e 's/^E: .*/E: 13, 1, 0, 0/' >guest.cap
sql guest.cap 'SELECT "use", size, backed, swapped, absent, unused FROM report_backing WHERE node IS NULL'
out <<'END'
use,size,backed,swapped,absent,unused
free,32768,8192,4096,20480,12288
anon,16384,,,,0
kernel,20480,0,0,20480,0
reserved,8192,8192,0,0,0
all,77824,,,,12288
END
ram_cap >hand.cap
sql hand.cap 'SELECT count(*) n FROM report_backing'
status 4
out <<<$'n\n0'
err_is "atwalk: report backing: what the host has of this machine's memory is not recorded: it is known of running guests \(qemu:PID, kvm:PID\)"
for source in tasks.kdump live:pagemap; do
	sql "$source" -q 'SELECT count(*) n FROM report_growth'
	status 4
	out <<<$'n\n0'
	err_has 'atwalk: report growth: growth needs two looks: give two or more captures, in order
        a table is one look at one SOURCE: use atwalk report growth SOURCE SOURCE...'
done
sql tasks.kdump -q 'SELECT count(*) n FROM report_thrash'
status 4
out <<<$'n\n0'
err_has 'atwalk: report thrash: cannot report faults: this look has none of any process, and rates need two looks
        a table is one look at one SOURCE: use atwalk report thrash SOURCE SOURCE...'

t "the rows of one process are those of its listing"
sql tasks.kdump 'SELECT address, size FROM pages WHERE pid = 99'
cp "$work/log/out" got.csv
run atwalk pages tasks.kdump --pid 99 --columns address,size --format csv
same "$work/log/out" got.csv
sql tasks.kdump 'SELECT address FROM pages WHERE pid = 99 AND address = 0x401000'
out <<'END'
address
0x0000000000401000
END
sql tasks.kdump 'SELECT count(*) n FROM ranges WHERE pid = 99'
cp "$work/log/out" got.csv
out <<<"n
$(atwalk map tasks.kdump --pid 99 --format csv | sed 1d | wc -l)"
sql tasks.kdump "SELECT level, pid FROM walk('401000') WHERE pid = 99"
out <<'END'
level,pid
PGD,99
PUD,99
PMD,99
PTE,99
END

t "what a process maps, of sources where the kernel's own mappings are not known"
for pid in 100 110; do
	sql "$data/captures/server.cap" "SELECT address, \"end\", physical, page, rights, pid, task
		FROM ranges WHERE pid = $pid"
	cp "$work/log/out" got.csv
	yes [ "$(wc -l <got.csv)" -gt 3 ]
	run atwalk map "$data/captures/server.cap" --pid $pid --format csv \
		--columns address,end,physical,page,rights,pid,task
	same "$work/log/out" got.csv
done
sql "$data/captures/server.cap" 'SELECT t.pid, count(*) n FROM tasks t JOIN ranges r ON r.pid = t.pid GROUP BY t.pid'
out <<<"pid,n
$(for pid in 100 110; do
	echo "$pid,$(atwalk map "$data/captures/server.cap" --pid $pid --format csv | sed 1d | wc -l)"
done)"

t "what maps the frames that a table of another source names, in either direction"
frames() {                        # SOURCE ARGUMENTS...: what find says of each frame of the first four pages
	local source=$1 at physical

	shift
	echo page,pid,task,address
	atwalk pages "$source" --pid 99 --filter 'address<0x405000' --columns address,physical --format csv |
		sed '1d; /,$/d' | while IFS=, read -r at physical; do
		atwalk find "$@" "$physical" --columns pid,task,address --format csv | sed "1d; s/^/$at,/"
	done
}
frames tasks.kdump tasks.kdump >wanted.csv
yes [ "$(cut -d, -f1 wanted.csv | sort -u | wc -l)" = 5 ]
yes [ "$(wc -l <wanted.csv)" -gt 40 ]
run atwalk collect -q -o tasks.cap tasks.kdump
said_status=1 said_err=1
for of in 'tasks.cap --attach cap=tasks.kdump pages cap_frames' 'tasks.kdump --attach cap=tasks.cap cap_pages frames'; do
	read -ra words <<<"$of"
	sql "${words[@]::3}" "SELECT p.address AS page, f.pid, f.task, f.address FROM ${words[3]} p
		JOIN ${words[4]}(printf('%x', p.physical)) f
		WHERE p.pid = 99 AND p.address < 0x405000 AND p.physical IS NOT NULL"
	same "$work/log/out" wanted.csv
	# Of one of the processes that map them.
	sql "${words[@]::3}" "SELECT p.address AS page, f.pid, f.task, f.address FROM ${words[3]} p
		JOIN ${words[4]}(printf('%x', p.physical)) f ON f.pid = p.pid
		WHERE p.pid = 99 AND p.address < 0x405000 AND p.physical IS NOT NULL"
	{ sed 1q wanted.csv; grep ',99,' wanted.csv; } >own.csv
	same "$work/log/out" own.csv
done

t "rows of either of two conditions: all of them, each once"
for what in 'pid = 99 OR address = 0x401000' '(pid = 99 AND address < 0x402000) OR (pid = 100 AND size > 4096)' \
	'pid = 99 OR (address = 0x400000 AND pid = 103)'; do
	sql tasks.kdump "SELECT pid, address FROM pages WHERE $what ORDER BY 1, 2"
	cp "$work/log/out" got.csv
	yes [ "$(wc -l <got.csv)" -gt 2 ]
	# A column behind + is not looked for.
	what=${what//pid/+pid}
	sql tasks.kdump "SELECT pid, address FROM pages WHERE ${what//address/+address} ORDER BY 1, 2"
	same "$work/log/out" got.csv
done
# Rows that have all in common, in two conditions that have some of them in common.
sql tasks.kdump 'SELECT count(*) n FROM vmas WHERE (pid = 99 AND size > 4096) OR (pid = 99 AND size < 65536) OR pid = 100'
out <<<"n
$(atwalk pages tasks.kdump --areas-only --columns pid --format csv | grep -cx '99\|100')"

t "rows of a process do not depend on which of its threads the query names"
run atwalk collect -q -o threads.cap tasks.kdump
said_status=1 said_err=1
for source in tasks.kdump threads.cap; do
	for of in 'pid IN (92, 93, 94)' 'pid = 92 OR pid = 93 OR pid = 94' '+pid IN (92, 93, 94)' \
		'pid IN (SELECT pid FROM threads WHERE tgid = 92)' 'pid IN (92, 92.0, 93, 93.0)'; do
		sql "$source" -q "SELECT pid, count(*) n FROM vmas WHERE $of GROUP BY pid"
		out <<<$'pid,n\n92,18'
		sql "$source" -q "SELECT pid, rss FROM totals WHERE $of"
		out <<<$'pid,rss\n92,733184'
		sql "$source" -q "SELECT count(*) n FROM report_use WHERE $of"
		out <<<$'n\n1'
	done
	sql "$source" -q 'SELECT count(*) n FROM vmas WHERE pid = 93'
	out <<<$'n\n0'
	said_err=1
	sql "$source" 'SELECT sum(rss) n FROM totals'
	out <<<$'n\n23302144'
	for from in 'totals WHERE pid IN (SELECT pid FROM threads)' 'threads JOIN totals USING (pid)' \
		'totals t WHERE EXISTS (SELECT 1 FROM vmas v WHERE v.pid = t.pid)'; do
		sql "$source" -q "SELECT sum(rss) n FROM $from"
		out <<<$'n\n23302144'
	done
done
sql tasks.kdump 'SELECT pid, count(*) n FROM threads WHERE pid IN (92, 93, 94) GROUP BY pid'
out <<<$'pid,n\n92,1\n93,1\n94,1'
for of in 'pid = 93' '+pid = 93' "pid = '93'"; do
	sql tasks.kdump "SELECT count(*) n FROM tasks WHERE $of"
	out <<<$'n\n0'
done
for of in 'pid BETWEEN 92 AND 95' 'pid IN (92, 93, 94, 95)' 'pid = 92 OR pid = 93'; do
	sql tasks.kdump "SELECT pid FROM tasks WHERE $of"
	out <<<$'pid\n92'
done
sql tasks.kdump 'SELECT count(*) n FROM tasks WHERE pid IN (SELECT pid FROM threads)'
out <<<$'n\n75'
sql tasks.kdump 'SELECT count(*) n FROM threads JOIN tasks USING (pid)'
out <<<$'n\n75'
if command -v python3 >/dev/null; then
	python3 -c 'import threading, time
for i in range(3): threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
time.sleep(300)' &
	child=$!
	await grep -qx 'Threads:[[:blank:]]4' "/proc/$child/status"
	tasks=("/proc/$child/task"/*)
	pids=$(printf '%s,' "${tasks[@]##*/}")
	for source in live live:pagemap; do
		for of in totals report_use tasks; do
			run atwalk sql -q "$source" --format csv \
				"SELECT pid FROM $of WHERE pid IN (${pids%,})"
			out <<<$'pid\n'"$child"
		done
		run atwalk sql -q "$source" --format csv "SELECT DISTINCT pid, address FROM vmas WHERE pid = $child"
		cp "$work/log/out" got.csv
		yes [ "$(wc -l <got.csv)" -gt 10 ]
		run atwalk sql -q "$source" --format csv "SELECT pid, address FROM vmas WHERE pid IN (${pids%,})"
		same "$work/log/out" got.csv
	done
	kill "$child"
fi

t "of a long list, all processes are read and chosen from"
sql tasks.kdump 'SELECT pid, count(*) n FROM vmas GROUP BY pid'
cp "$work/log/out" all
sql tasks.kdump "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 5000)
	SELECT pid, count(*) n FROM vmas WHERE pid IN (SELECT n FROM x) GROUP BY pid"
same "$work/log/out" all
sql tasks.kdump "SELECT count(DISTINCT pid) n FROM vmas WHERE pid IN ($(seq -s, 99 -1 2))"
out <<<$'n\n'"$(awk -F, 'NR > 1 && $1 > 1 && $1 < 100' all | wc -l)"

t "an address of the kernel is a number of memory() and walk()"
sql tasks.kdump "SELECT count(*) n FROM tasks t, walk(t.mm) w WHERE w.state = 'present' AND t.pid = 99"
cp "$work/log/out" got
mm=$(atwalk ps tasks.kdump 99 --columns mm --format csv | sed 1d)
sql tasks.kdump "SELECT count(*) n FROM walk('$mm') WHERE state = 'present'"
same "$work/log/out" got
yes grep -qx 1 got

t "numbers that no process has are no rows"
for pid in -1 0 5000000000 99.5 "'x'" NULL; do
	sql tasks.kdump "SELECT count(*) n FROM pages WHERE pid = $pid"
	out <<<$'n\n0'
done
sql tasks.kdump "SELECT count(*) n FROM pages WHERE pid IN (-1, 0, 5000000000, 99.5, 'x', NULL)"
out <<<$'n\n0'
sql tasks.kdump "SELECT count(*) n FROM vmas WHERE pid IN (-1, 0, 99, 99.5, 'x', NULL, 7777, '99')"
out <<<$'n\n18'
t "texts and fractions that equal a number select as the number does"
for of in "pid = '99'" "pid = ' 99.0 '" 'pid = 99.0' "pid IN ('99')" "pid IN ('99', 99, 99.0)" \
	"pid IN (SELECT '99' UNION ALL SELECT 99 UNION ALL SELECT '99.0')" "pid = (SELECT '99')"; do
	sql tasks.kdump "SELECT count(*) n FROM vmas WHERE $of"
	out <<<$'n\n18'
done
for p in "'99'" 99.0 "'99.0'"; do
	sql tasks.kdump "SELECT count(*) n, typeof(p) AS t FROM (SELECT $p AS p) JOIN vmas ON pid = p"
	out <<<$'n,t\n18,'"$([ "$p" = 99.0 ] && echo real || echo text)"
done
for a in "'4198400'" 4198400.0 "'4198400.0'" "(SELECT '4198400')"; do
	sql tasks.kdump "SELECT count(*) n FROM pages WHERE pid = 99 AND address = $a"
	out <<<$'n\n1'
done
# It is as SQLite compares: no hexadecimal digits, no bytes, no prefix, and no text with a text.
for v in "'0x63'" "'99x'" "x'3939'" 1e300 "'nan'"; do
	sql tasks.kdump "SELECT count(*) n FROM vmas WHERE pid = $v OR address = $v"
	out <<<$'n\n0'
done
sql tasks.kdump "SELECT count(*) n FROM vmas WHERE pid = '99' AND size > '65536'"
out <<<$'n\n11'

t "lists of processes"
sql tasks.kdump "SELECT count(*) n FROM vmas WHERE pid IN (SELECT pid FROM tasks WHERE task LIKE 't%')"
out <<<$'n\n36'
sql tasks.kdump 'SELECT count(*) n FROM pages WHERE pid = 99 AND address = -1'
out <<<$'n\n0'
sql tasks.kdump 'SELECT count(*) n FROM walk(NULL)'
out <<<$'n\n0'

t "only that process is read, also by what is joined to it"
atwalk extract -q --pages -o broken.elf tasks.kdump >/dev/null
yes poke broken.elf "$(poke broken.elf 'task:103.task_struct.mm*.mm_struct.mm_mt.ma_root')" \
	dec0adde55aa55aa
sql broken.elf 'SELECT count(*) n FROM vmas'
status 4
said_err=1
sql broken.elf 'SELECT count(*) n FROM vmas WHERE pid = 99'
out <<<$'n\n18'
if [ "$lists" ]; then
	for pids in '98, 99, 100, 101, 102, 104' 'SELECT pid FROM tasks WHERE pid > 95 AND pid <> 103'; do
		sql broken.elf "SELECT pid, count(*) n FROM vmas WHERE pid IN ($pids) GROUP BY pid"
		cp "$work/log/out" got.csv
		sql tasks.kdump "SELECT pid, count(*) n FROM vmas GROUP BY pid HAVING pid IN ($pids)"
		same "$work/log/out" got.csv
	done
	sql broken.elf "SELECT count(*) n FROM vmas WHERE pid IN (98, 99, 100, 102, 103)"
	status 4
	said_err=1
	sql broken.elf "SELECT count(DISTINCT v.pid) n FROM tasks t JOIN vmas v ON v.pid = t.pid
		WHERE v.pid IN (98, 99, 100, 101, 102)"
	out <<<$'n\n5'
	# Values of two of which one is a list: a process has to be in both.
	sql broken.elf 'SELECT DISTINCT pid FROM vmas WHERE pid IN (98, 99, 100, 101, 102) AND pid = 99'
	out <<<$'pid\n99'
fi
sql broken.elf 'SELECT count(*) n FROM tasks JOIN vmas USING (pid) WHERE pid = 99'
out <<<$'n\n18'
sql broken.elf 'SELECT count(*) n FROM tasks t, vmas v WHERE t.pid = v.pid AND v.pid = 99'
out <<<$'n\n18'

t "a join has the rows of each task, and none of kernel threads"
sql tasks.kdump 'SELECT t.pid, count(*) n FROM tasks t JOIN vmas v ON v.pid = t.pid GROUP BY t.pid'
sed 1d "$work/log/out" >joined
atwalk pages tasks.kdump --areas-only --columns pid --format csv | sed 1d | sort -n | uniq -c |
	awk '{ print $2 "," $1 }' >wanted
yes cmp joined wanted
sql tasks.kdump 'SELECT count(*) n FROM tasks t LEFT JOIN vmas v ON v.pid = t.pid WHERE v.pid IS NULL'
out <<<$'n\n53'

t "a table beside itself, with processes that are not in the order of their PIDs"
{
	printf 'H: atwalk-capture, 1\nH: page, 4096\nH: machine, x86_64\n'
	for pid in 30 20 10; do
		printf 'T: p, %d, %08X, 0, 0, 0, 0, 0, 0, 0, tgid=%d, start=1\n' $pid $((pid * 16)) $pid
		for ((i = 0; i < pid; i++)); do
			printf 'V: %08X, %08X, 00001000, 00000000, -, 00100073, NULL\nP: 0, 0, 0, 0, 0\n' \
				$((0x1000000 + i * 0x10000)) $((0x1000fff + i * 0x10000))
		done
	done
} >rev.cap
echo "E: $(wc -l <rev.cap), 3, 60, 0" >>rev.cap
sql rev.cap 'SELECT a.pid, count(*) n FROM vmas a JOIN vmas b ON a.pid = b.pid GROUP BY a.pid'
out <<<$'pid,n\n10,100\n20,400\n30,900'
sql rev.cap 'SELECT DISTINCT pid FROM vmas'
out <<<$'pid\n30\n20\n10'

t "rows of a join are found by an index, whatever column it compares"
plan() { sql rev.cap "EXPLAIN QUERY PLAN $1"; sed -i 's/^.*\(VIRTUAL[^"]*\)"*$/\1/' "$work/log/out"; }
plan 'SELECT a.pid FROM vmas a JOIN vmas b ON a.address = b.address'
out <<'END'
id,parent,notused,detail
VIRTUAL TABLE INDEX 0:address,pid
VIRTUAL TABLE INDEX 256:address
END
plan 'SELECT pid FROM vmas WHERE size > 65536'
out <<'END'
id,parent,notused,detail
VIRTUAL TABLE INDEX 0:size,pid size>65536
END
sql rev.cap 'SELECT a.pid, b.pid AS other, count(*) n FROM vmas a JOIN vmas b ON a.address = b.address
	WHERE a.pid <> b.pid GROUP BY 1, 2'
out <<<$'pid,other,n\n10,20,10\n10,30,10\n20,10,10\n20,30,20\n30,10,10\n30,20,20'
# SQLite makes an index itself of rows that it has copied.
for join in 'vmas a JOIN vmas b' 'v a JOIN v b'; do
	sql tasks.kdump "WITH v AS MATERIALIZED (SELECT pid, area FROM vmas)
		SELECT a.pid, b.pid AS other, a.area FROM $join ON a.area = b.area
		WHERE a.pid < b.pid ORDER BY 1, 2, 3"
	mv wanted got 2>/dev/null
	cp "$work/log/out" wanted
done
yes [ "$(wc -l <wanted)" -gt 1000 ]
yes cmp got wanted
# Three columns at once; n/a equals nothing; values of other types are equal as SQLite says.
sql rev.cap 'SELECT count(*) n FROM vmas a JOIN vmas b ON a.pid = b.pid JOIN vmas c ON c.address = b.address'
out <<<$'n\n3100'
sql tasks.kdump 'SELECT count(*) n FROM tasks a JOIN tasks b ON a.mm = b.mm'
out <<<"n
$(atwalk ps tasks.kdump --columns mm --format csv | sed 1d | sort | uniq -c |
	awk '$2 != "" { n += $1 * $1 } END { print n }')"
sql rev.cap "SELECT count(*) n FROM (SELECT 16777216.0 AS x UNION ALL SELECT '16777216' UNION ALL SELECT NULL) t
	JOIN vmas v ON v.address = t.x"
out <<<$'n\n6'
sql rev.cap "SELECT count(*) n FROM (SELECT 'P' AS x UNION ALL SELECT 'p') t JOIN vmas v ON v.task = t.x COLLATE NOCASE"
out <<<$'n\n120'

t "addresses of a join are not asked for one by one"
sql tasks.kdump 'SELECT count(*) n FROM vmas v JOIN pages p ON p.pid = v.pid AND p.address = v.address'
sed 1d "$work/log/out" >got
sql tasks.kdump 'WITH p AS MATERIALIZED (SELECT pid, address FROM pages)
	SELECT count(*) n FROM vmas v JOIN p ON p.pid = v.pid AND p.address = v.address'
sed 1d "$work/log/out" >wanted
yes cmp got wanted
sql tasks.kdump 'SELECT count(*) n, count(DISTINCT a.pid) p FROM pages a CROSS JOIN pages b
	ON b.pid = a.pid AND b.address = a.address'
cp "$work/log/out" got
sql tasks.kdump 'SELECT count(*) n, count(DISTINCT pid) p FROM pages'
same "$work/log/out" got
# Rows of one process, and then those of many: each as if it were the only one.
sql tasks.kdump 'SELECT t.pid, count(*) n FROM (SELECT pid FROM tasks UNION ALL SELECT pid FROM tasks) t
	CROSS JOIN vmas v ON v.pid = t.pid GROUP BY 1'
cp "$work/log/out" got
sql tasks.kdump 'SELECT pid, 2 * count(*) n FROM vmas GROUP BY 1'
same "$work/log/out" got

t "comparisons choose the rows that the listing's filter does"
for what in 'size > 65536' 'size >= 8192 AND size < 65536' 'count = 2' 'count <= 1'; do
	sql tasks.kdump "SELECT address, size, count FROM pages WHERE $what"
	cp "$work/log/out" got.csv
	run atwalk pages tasks.kdump --columns address,size,count --format csv \
		--filter "${what/AND/and}"
	same "$work/log/out" got.csv
done
sql tasks.kdump 'SELECT count(*) n FROM tasks WHERE resident > -1'
out <<<$'n\n22'
# Numbers of the kernel's half are less than 0.
sql tasks.kdump 'SELECT address FROM ranges WHERE address >= 0xffffffff00000000 ORDER BY 1 LIMIT 1'
out <<<"address
$(atwalk map tasks.kdump --columns address --format csv | awk '/^0xffffffff/' | head -n 1)"

t "addresses between two numbers: the rows of all of the table, each of them whole"
if ! command -v python3 >/dev/null; then skip "there is no python3"; fi
parts() {                         # TABLE COLUMNS [CONDITION]
	sql tasks.kdump "SELECT address, \"end\", size, $2 FROM $1 ${3:+WHERE $3}"
	bare <"$work/log/out" >all.csv
	yes [ "$(wc -l <all.csv)" -gt 15 ]
	python3 "$cli/sql_ranges.py" "$1" all.csv ${3:+"$3"} >parts.sql 2>wanted
	run atwalk sql tasks.kdump --format csv <parts.sql
	bare <"$work/log/out" >got
	bare <wanted >want
	same got want
}
parts pages physical,state,rights,pid pid=99
parts pages physical,state,rights,pid
parts vmas rss,rights,pid pid=99
parts ranges physical,rights,state pid=99
# Without a process, those of the kernel, of which none is in that half.
sql tasks.kdump 'SELECT count(*) n FROM ranges WHERE address >= 0x400000'
out <<<$'n\n0'
range_plan() { sql tasks.kdump "EXPLAIN QUERY PLAN SELECT pid FROM pages WHERE $1"; sed -i '1d; s/^.*INDEX [0-9]*:\([^"]*\)"*$/\1/' "$work/log/out"; }
range_plan 'address >= 0x1000 AND address <= 0x2000 AND address < 0x1800 AND size > 1'
out <<<'address,size,pid @1000-1800'
range_plan 'address < 0x1800'
out <<<'address,pid @-1800'

t "addresses between two numbers: page tables of others are not read"
run atwalk extract -q --pages -o far.elf tasks.kdump
# The table of entries of the stack is where there is no memory.
yes poke far.elf ffff895783f239e8 67f0ffffff0f0000
for of in pages vmas ranges; do
	run atwalk sql -q far.elf --format csv "SELECT count(*) > 3 n FROM $of WHERE pid = 99"
	status 4
	said_err=1
	run atwalk sql -q far.elf --format csv "SELECT count(*) > 3 n FROM $of
		WHERE pid = 99 AND address BETWEEN 0x400000 AND 0x638000"
	out <<<$'n\n1'
done

t "kinds of values"
sql tasks.kdump "SELECT 1 + 1, 'x' AS \"X y\", NULL AS n, -5 AS m, 2.5 AS f, 1 AS n, 1.5 AS w UNION ALL
	SELECT 3, 'a,b', 7, 4, 1, 2, 'z'"
out <<'END'
1_1,x_y,n,m,f,n_6,w
2,x,,-5,2.500,1,1.5
3,"a,b",7,4,1.000,2,z
END
run atwalk sql tasks.kdump --format json 'SELECT pid, mm, ppid FROM tasks WHERE pid = 99'
out <<<'[
{"pid":99,"mm":"0x'"$(atwalk ps tasks.kdump 99 --columns mm --format csv | sed -n 's/^0x//p')"'","ppid":1}
]'
run atwalk sql tasks.kdump 'SELECT task, resident FROM tasks WHERE pid = 99'
out <<'END'
TASK  RESIDENT
thp       8.6M
END

t "bytes that are not text are refused, in any format"
for format in plain csv json jsonl html parquet; do
	for value in "x'00ff'" "x'4142'" 'zeroblob(3)' "'x' || char(0) || 'y'"; do
		run atwalk sql tasks.kdump --format $format -o blob.out "SELECT 1 AS a, $value AS b"
		status 2
		no_out
		err_is "atwalk: sql: column 'b' has bytes that are not text: use hex\(\)"
		yes [ ! -e blob.out ]
	done
done
sql tasks.kdump "SELECT hex(x'00ff') AS b, CAST(x'4142' AS TEXT) AS c, x'00ff' = x'00ff' AS d, '' AS e"
out <<<$'b,c,d,e\n00FF,AB,1,""'

t "expressions of sizes are sizes, if that is certain"
sizes() {                         # SELECT-LIST AND THE REST: the row, without blanks
	run atwalk sql tasks.kdump "$1"
	said_err=1
	sed 1d "$work/log/out" | tr -s ' ' | sed 's/^ //' >row
	yes [ "$(cat row)" = "$2" ]
}
rss=$(atwalk ps tasks.kdump 99 --columns resident --format csv | sed 1d)
yes [ "$rss" = 9052160 ]
of='FROM tasks WHERE pid = 99'
sizes "SELECT resident, sum(resident), max(resident), min(resident) AS least, resident - resident_large, (resident) x $of" \
	'8.6M 8.6M 8.6M 8.6M 4.6M 8.6M'
sizes "SELECT resident_large - resident, coalesce(sum(t.resident), 0), \"resident\" + [resident] FROM tasks t WHERE pid = 99" \
	'-4.6M 8.6M 17.2M'
sizes "SELECT DISTINCT sum(resident) /* a, b */, -- c
	max(resident, 0) $of" '8.6M 8.6M'
sizes "WITH a AS (SELECT resident AS r, pid AS p FROM tasks) SELECT sum(r), sum(p) FROM a WHERE p = 99" '8.6M 99'
sizes "SELECT sum(r) FROM (SELECT resident AS r FROM tasks WHERE pid = 99)" '8.6M'
# Anything else is a number.
sizes "SELECT count(*), sum(pid), resident / 2, 2 * resident, -resident, resident + 1, resident NOTNULL $of" \
	"1 99 $((rss / 2)) $((rss * 2)) -$rss $((rss + 1)) 1"
sizes "SELECT sum(resident) FILTER (WHERE pid > 1), length(resident), abs(resident), pid - pid $of" "$rss 7 $rss 0"
sizes "SELECT sum(r) FROM (SELECT resident * 1 AS r FROM tasks WHERE pid = 99)" "$rss"
sizes "SELECT sum(resident) $of UNION ALL SELECT 1" "$rss
1"
sql tasks.kdump "SELECT sum(resident) s, resident_large - resident d $of"
out <<<$'s,d\n'"$rss,$(atwalk ps tasks.kdump 99 --columns resident_small --format csv | sed '1d;s/^/-/')"

t "several statements, from standard input as well"
run atwalk sql tasks.kdump --format csv 'SELECT 1 a; SELECT 2 b;' 'SELECT 3 c'
out <<<$'a\n1\nb\n2\nc\n3'
run atwalk sql tasks.kdump --format csv <<<'CREATE TEMP TABLE x AS SELECT pid FROM tasks; SELECT count(*) n FROM x;'
out <<<$'n\n75'
run atwalk sql tasks.kdump <<<' ; '
no_out
run atwalk sql tasks.kdump -o two.csv 'SELECT 1; SELECT 2'
status 2
err_has "--output takes the rows of one statement"
yes [ ! -e two.csv ]
run atwalk sql tasks.kdump -o two.csv 'SELECT 1' 'SELECT 2'
status 2
err_has "--output takes the rows of one statement"
yes [ ! -e two.csv ]
run atwalk sql tasks.kdump -o two.csv --format csv 'CREATE TEMP TABLE x AS SELECT 1 a; SELECT * FROM x'
out </dev/null
same two.csv - <<<$'a\n1'
run atwalk sql tasks.kdump -o one.json --format json 'SELECT 1 a'
out </dev/null
yes [ "$(tr -d '\n' <one.json)" = '[{"a":1}]' ]
run atwalk sql tasks.kdump --expect 2 --format csv 'SELECT 1 a'
status 1
out <<<$'a\n1'

t "every part of a split dump is given to its listings"
run redump x86.elf kdump-zlib part --split 12
parts=()
for i in {2..12}; do parts+=(-S "part.$i"); done
sql "${parts[@]}" part.1 'SELECT count(*) n FROM ranges'
out <<<"n
$(atwalk map x86.elf --format csv | sed 1d | wc -l)"

t "a prompt"
printf 'SELECT 1\n+ 1 two;\nSELEC;\n.tables\nSELECT 3 three;\n.quit\n' >lines
run script -qec "$O/atwalk sql tasks.kdump --format csv" /dev/null <lines
yes grep -q 'two' "$work/log/out"
yes grep -q 'near "SELEC": syntax error' "$work/log/out"
yes grep -q '^report_use ' "$work/log/out"
yes grep -q 'three' "$work/log/out"

t "what is wrong is one sentence"
wrong() {                        # STATUS SENTENCE ARGUMENT...
	local wanted=$1 sentence=$2

	shift 2
	run atwalk sql "$@"
	status "$wanted"
	no_out
	err_is "$sentence"
}
wrong 2 'atwalk: sql: no such table: vma_areas' tasks.kdump 'SELECT * FROM vma_areas'
run atwalk sql tasks.kdump 'SELECT * FROM taks'
status 2
no_out
err <<'END'
atwalk: sql: no such table: taks
        did you mean 'tasks'?
END
wrong 2 'atwalk: sql: no such column: rss' tasks.kdump 'SELECT rss FROM tasks'
wrong 2 'atwalk: sql: incomplete input' tasks.kdump 'SELECT'
wrong 2 "atwalk: sql: walk needs an ADDRESS: SELECT \* FROM walk('...')" tasks.kdump 'SELECT * FROM walk'
wrong 2 'atwalk: sql: not authorized' tasks.kdump "ATTACH 'x.db' AS y"
wrong 2 'atwalk: sql: authorization denied' tasks.kdump "VACUUM INTO 'x.db'"
yes [ ! -e x.db ]
# What looks like an option in a statement is none: some load code.
for word in --plugin=./x.so --kernel=none --config=none -q --; do
	wrong 2 "atwalk: '$word' lacks an address" tasks.kdump "SELECT * FROM memory('$word')"
done
wrong 3 'atwalk: none.elf: No such file or directory' none.elf 'SELECT * FROM tasks'
wrong 3 'atwalk: none.elf: No such file or directory' none.elf 'SELECT 1'
wrong 3 'atwalk: none.elf: No such file or directory' none.elf ';; SELECT 1'
wrong 2 'atwalk: sql: table tasks may not be modified' tasks.kdump 'DELETE FROM tasks'
run atwalk sql
status 2
err_has "SOURCE is missing"
run atwalk sql tasks.kdump "SELECT * FROM walk('no_such_symbol')"
status 2
said_err=1

t "every query of docs/queries.md, on a dump"
awk '/```sql/ { n++; on = 1; next } /```/ { on = 0 } on { print > ("query" n ".sql") }' \
	"$top/docs/queries.md"
yes [ "$(printf '%s\n' query*.sql | wc -l)" = 20 ]
for query in query*.sql; do
	run atwalk sql tasks.kdump --format csv <"$query"
	said_err=1 said_status=1
	case $query in
	query4.sql) yes [ "$rc" = 4 ] ;; # the dump does not say what is RAM
	*) yes [ "$rc" = 0 ] ;;
	esac
done

t "rows of queries are those that the listings have"
# A page that one process writes and another runs, by pages of which it is not the first.
{
	printf 'H: atwalk-capture, 1\nH: page, 4096\nH: machine, x86_64\n'
	for pid in 1 2 3; do
		can=000000FB bits=052
		[ $pid = 1 ] || can=00000075 bits=612
		printf 'T: p%d, %d, %08X, 0, 0, 0, 0, 0, 0, 0, tgid=%d, start=1\n' $pid $pid $((pid * 16)) $pid
		printf 'V: 00010000, 0001FFFF, 00010000, 0000%d000, -, %s, /lib/x, dev=FE:1, inode=1\n' \
			$((pid + 1)) $can
		printf 'P: %d, 0, %d, 0, 1\nM: 10000*%d=000%d%s, 1, 00000028, map=3 |\n' \
			$((pid + 1)) $((pid + 1)) $((pid + 1)) $((20 + pid)) $bits
	done
} >wx.cap
echo "E: $(wc -l <wx.cap), 3, 3, 0" >>wx.cap
if ! command -v python3 >/dev/null; then skip "there is no python3"; else
	for source in tasks.kdump wx.cap; do
		for n in 3 5 10 11 13; do
			run atwalk sql "$source" --format json <"query$n.sql"
			cp "$work/log/out" "$n.json"
		done
		run atwalk pages "$source" --format json \
			--columns pid,task,size,physical,rights,flags,pageflags,area
		cp "$work/log/out" pages.json
		run atwalk pages "$source" --areas-only --format json --columns pid,area,pss
		cp "$work/log/out" areas.json
		run python3 "$cli/queries.py" pages.json areas.json .
		cp "$work/log/out" "$source.said"
		out <"$source.said"
	done
	yes [ "$(paste -sd, tasks.kdump.said)" = '3 rows,5 rows,11 no rows,13 rows' ]
	yes [ "$(paste -sd, wx.cap.said)" = '3 rows,5 rows,11 rows,13 no rows' ]
fi
ram_cap >ram.cap
run atwalk sql ram.cap --format csv <query4.sql
sed 1d "$work/log/out" | awk -F, '{ n += $2 } END { print n }' >got
run atwalk report machine ram.cap --format csv --columns size --filter 'use=RAM and not node>=0'
sed 1d "$work/log/out" >wanted
yes cmp got wanted

t "a hint about a process is a constraint of the query"
sql "$data/captures/server.cap" "SELECT * FROM ranges"
status 3
err_has "specify a process: the kernel's own pages are not known"
err_has "        add WHERE pid = N to the query"
# Which process is meant is part of the statement: it is wrong, and not without rows.
for from in "walk('401000')" "memory('401000+8')" "(SELECT '401000' AS a) JOIN walk(a)"; do
	sql tasks.kdump "SELECT count(*) n FROM $from"
	status 2
	no_out
	err_has "atwalk: tasks.kdump: 401000"
	err_has ": 22 processes map it: 1 (init), "
	err_has "        add WHERE pid = N to the query"
done
sql tasks.kdump "SELECT count(*) n FROM walk('401000') WHERE pid IN (92, 99)"
out <<<$'n\n8'
sql tasks.kdump "SELECT pid, level, state FROM walk('7000')"
out <<<$'pid,level,state\n,,absent'
said_err=1

t "what a process of the running kernel maps, of /proc alone as well"
sleep 300 &
child=$!
await grep -qx sleep "/proc/$child/comm"
for source in live live:pagemap; do
	sql "$source" "SELECT address, \"end\", state, pid, task FROM ranges WHERE pid = $child"
	cp "$work/log/out" got.csv
	yes [ "$(wc -l <got.csv)" -gt 10 ]
	run atwalk map -q "$source" --pid $child --columns address,end,state,pid,task --format csv
	same "$work/log/out" got.csv
done
kill $child

t "a query of the running kernel is one look at one process"
if ! atwalk info -q live:bpf >/dev/null 2>why; then skip "$(head -n 1 why)"; else
	sleep 300 &
	child=$!
	await grep -qx sleep "/proc/$child/comm"
	sql live "SELECT pid, task, rss FROM tasks JOIN totals USING (pid, task) WHERE pid = $child"
	out <<<"pid,task,rss
$child,sleep,$(awk '/^Rss:/ { print $2 * 1024 }' "/proc/$child/smaps_rollup")"
	sql live "SELECT count(*) n FROM vmas WHERE pid = $child"
	out <<<"n
$(grep -vc vsyscall "/proc/$child/maps")"
	# Memory of a process: its program begins as ELF files do; by a join as well.
	first=$(sed -n '1s/-.*//p' "/proc/$child/maps")
	word=0x$(od -An -tx8 -N8 "/proc/$child/exe" | tr -d ' ')
	for from in "memory('$first+8') WHERE pid = $child" \
		"tasks JOIN memory('$first+8') USING (pid, task) WHERE tasks.pid = $child" \
		"memory('$first+8') WHERE pid IN (1, $child) AND value IS NOT NULL"; do
		sql live "SELECT pid, task, value FROM $from"
		out <<<$'pid,task,value\n'"$child,sleep,$word"
	done
	sql live "SELECT count(*) n FROM memory('$first+8') WHERE pid = $child AND pid = 1"
	out <<<$'n\n0'
	sql live "SELECT DISTINCT pid, task FROM memory('_stext+8')"
	out <<<$'pid,task\n,'
	for query in query{1,2,5,7,8,12,17,20}.sql; do
		run atwalk sql live --allow-unreadable --format csv <"$query"
		said_err=1 said_status=1
		yes [ $((rc & ~4)) = 0 ]
	done
	kill "$child"
fi

t "a query for one process of the running kernel reads no other one"
as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
if [ -n "${WRAP:-}" ]; then skip "valgrind is what would be denied"
elif [ "$(id -u)" -ne 0 ] || ! "${as[@]}" true 2>why; then skip "needs root and setpriv, to drop privileges"
else
	cp "$built/atwalk" atwalk-copy
	chmod 755 atwalk-copy
	"${as[@]}" sleep 300 &
	child=$!
	await grep -qx sleep "/proc/$child/comm"
	nobody() { run "${as[@]}" ./atwalk-copy sql --no-config live:pagemap --format csv "$@"; }
	# Processes of others are denied to this user, and reading one would end with 4.
	for of in pages vmas totals tasks report_use; do
		query="SELECT count(*) > 0 n FROM $of"
		run "${as[@]}" ./atwalk-copy sql --no-config live:pagemap --format csv "$query"
		[ "$of" = tasks ] || status 4
		said_err=1 said_status=1
		run "${as[@]}" ./atwalk-copy sql --no-config live:pagemap --format csv "$query WHERE pid = $child"
		out <<<$'n\n1'
	done
	run "${as[@]}" ./atwalk-copy sql --no-config live:pagemap --format csv \
		"SELECT count(*) > 9 n FROM vmas v JOIN pages p ON p.pid = v.pid WHERE v.pid = $child"
	out <<<$'n\n1'
	# Whatever each table is asked for: thousands of rows, of one process.
	run "${as[@]}" ./atwalk-copy sql --no-config live:pagemap --format csv \
		"SELECT count(*) > 9 n FROM pages v CROSS JOIN pages p ON p.pid = v.pid AND p.address = v.address
			WHERE v.pid = $child"
	out <<<$'n\n1'
	run "${as[@]}" ./atwalk-copy sql --no-config live:pagemap --format csv \
		"SELECT count(*) > 9 n FROM vmas v CROSS JOIN pages p ON p.pid = v.pid
			AND p.address BETWEEN 0 AND 0x7fffffffffff WHERE v.pid = $child"
	out <<<$'n\n1'
	children=$child
	for _ in 1 2 3 4; do
		"${as[@]}" sleep 300 &
		children+=,$!
	done
	for child in ${children//,/ }; do await grep -qx sleep "/proc/$child/comm"; done
	if [ "$lists" ]; then
		for of in pages vmas totals tasks report_use; do
			nobody "SELECT count(DISTINCT pid) n FROM $of WHERE pid IN ($children)"
			out <<<$'n\n5'
		done
		nobody "SELECT count(DISTINCT p.pid) n FROM vmas v CROSS JOIN pages p ON p.pid = v.pid
			WHERE p.pid IN ($children) AND v.pid IN ($children)"
		out <<<$'n\n5'
		# One of them that may not be read: the first says why, and the others are there.
		nobody "SELECT count(DISTINCT pid) n FROM vmas WHERE pid IN (1, $$, $children)"
		status 4
		out <<<$'n\n5'
		yes [ "$(grep -c '^atwalk: ' "$work/log/err")" = 1 ]
		err_has "atwalk: live:pagemap: /proc/1/maps: Permission denied"
		nobody --allow-unreadable "SELECT count(DISTINCT pid) n FROM vmas WHERE pid IN (1, $$, $children)"
		out <<<$'n\n5'
		said_err=1
		nobody "SELECT count(DISTINCT pid) n FROM vmas WHERE pid IN (1, $$)"
		status 3
		no_out
		yes [ "$(grep -c '^atwalk: ' "$work/log/err")" = 1 ]
		err_has "atwalk: live:pagemap: /proc/1/maps: Permission denied"
	fi
	# Those of a join: as the listing of all processes.
	nobody "SELECT count(DISTINCT v.pid) n FROM (SELECT 1 AS pid UNION ALL SELECT $child) t CROSS JOIN vmas v ON v.pid = t.pid"
	status 4
	out <<<$'n\n1'
	err_has "processes: no permission to read them"
	said_err=1
	for child in ${children//,/ }; do kill "$child"; done
fi

finish
