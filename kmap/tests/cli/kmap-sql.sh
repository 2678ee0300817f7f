#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap sql, and atwalk sql of a recording: tables have the rows of the listings.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"
k=$data/kmap
if ! grep -q '^  found:.* sqlite3' "$built/found.txt"; then
	t "kmap sql"
	run atwalk kmap sql "$k/own.kmap" 'SELECT 1'
	status 3
	err_has "this build has no SQL"
	finish
fi

# A table is its listing, with all columns.
equal() {                         # FILE TABLE COMMAND...
	local file=$1 table=$2 code

	shift 2
	sql "$file" "SELECT * FROM $table"
	said_status=1 said_err=1
	code=$rc
	bare <"$work/log/out" >got.csv
	run atwalk kmap "$@" "$file" --format csv --columns "$(head -n 1 got.csv)"
	said_status=1 said_err=1
	yes [ "$code" = "$rc" ]
	# SQLite has no numbers from 2^63 on.
	bare <"$work/log/out" | sed 's/18446744073709551615/-1/g' >wanted.csv
	yes cmp got.csv wanted.csv
}

cp "$k/own.kmap" "$k/used.kmap" .
# Reports of every kind have rows of this one.
cat >a.kmap <<'END'
# atwalk-kmap 1
# atwalk-kmap kernel 6.1.0
# atwalk-kmap mode instance
# atwalk-kmap symbol ffffffff81001000 alloc_dentry
# atwalk-kmap symbol ffffffff81002000 dentry_reader
# atwalk-kmap symbol ffffffff81003000 inode_writer
ffffffff81001010,10,ffff888000001000,192,100,200,ffffffff81004008,KMEM_CACHE,bash,dentry,NONE
  ffffffff81001020,5,0,10
  ffffffff81002008,0,7,11
# line 0,5,3
# line 2,0,4
ffffffff81001010,10,ffff888000001100,192,110,0,0000000000000000,KMEM_CACHE,bash,dentry,NONE
  ffffffff81001020,2,0,10
ffffffff81003010,0,ffff888000002000,64,150,0,0000000000000000,KMALLOC,softirq,kmalloc-64,NONE
  ffffffff81003020,9,1,-1
  ffffffff81002008,0,2,11
ffffffff81003010,0,ffff888000002040,64,160,163,00000000deadbeef,KMALLOC,softirq,kmalloc-64,NONE
# atwalk-kmap end objects 4 accesses 5 lost 0
END

t "tables are the listings of files of every version"
for file in a.kmap "$k"/{own,used,v1,v2,v4}.kmap "$k/v3.cmap" "$k/uscope.cmap.comp"; do
	equal "$file" objects show --rows objects
	yes [ "$(wc -l <got.csv)" -gt 1 ]
	equal "$file" accesses show --rows accesses
done

t "and the reports"
atwalk kmap report --help | sed -n '/^KIND:/,/^$/s/^  \([a-z]*\) .*/\1/p' >kinds
yes [ "$(wc -l <kinds)" = 14 ]
while read -r kind; do
	equal a.kmap "report_$kind" report "$kind"
	yes [ "$(wc -l <got.csv)" -gt 1 ]
done <kinds

t "objects and accesses join"
sql a.kmap 'SELECT o.cache, a.function, sum(a.writes) w, sum(a.reads) r FROM accesses a
	JOIN objects o USING (address, alloc_time) GROUP BY 1, 2 ORDER BY 1, 3 DESC'
out <<'END'
cache,function,w,r
dentry,alloc_dentry,7,0
dentry,dentry_reader,0,7
kmalloc-64,inode_writer,9,1
kmalloc-64,dentry_reader,0,2
kmalloc-64,,,
END
sql a.kmap "SELECT address, size FROM objects WHERE fate = 'live' AND size > 100"
out <<'END'
address,size
0xffff888000001100,192
END
run atwalk kmap sql a.kmap 'SELECT count(*) n FROM objects' --format json
out <<<$'[\n{"n":4}\n]'

t "symbols are those of --symbols"
printf 'ffffffff81002000 T another_reader\n' >map
sql --symbols map a.kmap "SELECT DISTINCT function FROM accesses WHERE ip = 0xffffffff81002008"
out <<<$'function\nanother_reader'

t "a compressed recording, and statements from standard input"
if grep -q '^  found:.* zstd' "$built/found.txt"; then
	run atwalk kmap convert --to atwalk a.kmap -o a.kmap.zst
	sql a.kmap.zst 'SELECT count(*) n FROM accesses'
	out <<<$'n\n6'                   # one is of an object without any
	run atwalk sql a.kmap.zst --format csv <<<'SELECT 1 a; SELECT sum(reads) r FROM objects;'
	out <<<$'a\n1\nr\n10'
fi

t "a damaged recording is answered in part"
sed '4a nonsense' a.kmap >damaged.kmap
sql damaged.kmap 'SELECT count(*) n FROM objects'
status 4
out <<<$'n\n4'
said_err=1

t "what is wrong is one sentence"
wrong() {                        # STATUS SENTENCE ARGUMENT...
	local wanted=$1 sentence=$2

	shift 2
	run atwalk "$@"
	status "$wanted"
	no_out
	err_is "$sentence"
}
run atwalk kmap sql
status 2
err_has "FILE is missing"
run atwalk kmap sql - 'SELECT 1'
status 2
err_has "standard input can be read only once: use a file"
wrong 2 'atwalk: sql: no such table: pages' sql a.kmap 'SELECT * FROM pages'
wrong 3 'atwalk: none.kmap: No such file or directory' kmap sql none.kmap 'SELECT * FROM objects'
wrong 3 'atwalk: none.kmap: No such file or directory' kmap sql none.kmap 'SELECT 1'
run atwalk sql a.kmap --root 0 'SELECT 1'
status 2
err_has "--root"
run atwalk sql tasks.kdump --symbols map 'SELECT 1'
status 2
err_has "--symbols: tasks.kdump is no recording of kmap"
printf '0123 is no recording\n' >text
run atwalk sql text 'SELECT * FROM tasks'
status 3
err_has "not a known dump format"

t "a recording attached to a dump has the tables that it has alone"
for table in objects accesses $(sed 's/^/report_/' kinds); do
	sql a.kmap "SELECT * FROM $table"
	said_status=1
	cp "$work/log/out" wanted
	sql --attach rec=a.kmap tasks.kdump "SELECT * FROM rec_$table"
	said_status=1
	same "$work/log/out" wanted
done
for file in "$k"/{own,used}.kmap; do
	sql "$file" 'SELECT * FROM accesses'
	cp "$work/log/out" wanted
	sql --attach rec="$file" tasks.kdump 'SELECT * FROM rec_accesses'
	same "$work/log/out" wanted
done
sql --symbols map --attach rec=a.kmap tasks.kdump \
	'SELECT DISTINCT function FROM rec_accesses WHERE ip = 0xffffffff81002008'
out <<<$'function\nanother_reader'

t "objects of a recording are found in a dump: their process, symbol and place in memory"
mm=$(atwalk ps tasks.kdump 99 --columns mm --format csv | sed 1d)
text=$(atwalk info --symbols tasks.kdump --filter 'symbol=schedule' --columns address --format csv | sed 1d)
at=$(printf '%x' $((text + 4)))
cat >of.kmap <<END
# atwalk-kmap 1
# atwalk-kmap kernel 6.1.0
# atwalk-kmap mode instance
$at,1,${mm#0x},64,100,0,0000000000000000,KMEM_CACHE,thp,mm_struct,NONE
  $at,5,0,10
# atwalk-kmap end objects 1 accesses 1 lost 0
END
sql --attach rec=of.kmap tasks.kdump 'SELECT o.cache, o.size, t.pid, t.task FROM rec_objects o JOIN tasks t ON t.mm = o.address'
out <<<$'cache,size,pid,task\nmm_struct,64,99,thp'
sql --attach rec=of.kmap tasks.kdump "SELECT s.symbol, o.alloc_ip - s.address AS more FROM rec_objects o
	JOIN symbols s ON s.address = (SELECT max(address) FROM symbols WHERE address <= o.alloc_ip)
	WHERE s.symbol = 'schedule'"
out <<<$'symbol,more\nschedule,4'
sql --attach rec=of.kmap tasks.kdump "SELECT r.area, printf('0x%016x', r.physical + o.address - r.address) AS physical
	FROM rec_objects o JOIN ranges r ON o.address >= r.address AND o.address < r.\"end\""
out <<<"area,physical
direct map,$(atwalk walk tasks.kdump "${mm#0x}" --columns physical --format csv | sed 1d)"
physical=$(atwalk walk tasks.kdump "${mm#0x}" --columns physical --format csv | sed 1d)
run atwalk find tasks.kdump "$physical" --columns pid,task,address --format csv
yes [ "$(wc -l <"$work/log/out")" = 2 ]
cp "$work/log/out" frames.csv
sql --attach rec=of.kmap tasks.kdump "SELECT f.pid, f.task, f.address FROM rec_objects o
	JOIN ranges r ON o.address >= r.address AND o.address < r.\"end\"
	JOIN frames(printf('%x', r.physical + o.address - r.address)) f"
same "$work/log/out" frames.csv
sql --attach dump=tasks.kdump of.kmap "SELECT f.pid, f.task, f.address FROM objects o
	JOIN dump_ranges r ON o.address >= r.address AND o.address < r.\"end\"
	JOIN dump_frames(printf('%x', r.physical + o.address - r.address)) f"
same "$work/log/out" frames.csv
sql --attach dump=tasks.kdump of.kmap 'SELECT o.cache, t.pid FROM objects o JOIN dump_tasks t ON t.mm = o.address'
out <<<$'cache,pid\nmm_struct,99'
sql --attach rec=of.kmap --attach cap="$data/captures/server.cap" tasks.kdump 'SELECT (SELECT count(*) FROM rec_objects) a,
	(SELECT count(*) FROM cap_tasks) b, (SELECT count(*) FROM tasks) c, (SELECT count(*) FROM cap_pages WHERE pid = 100) d'
out <<<$'a,b,c,d\n1,3,75,54'

t "sources that are attached: what is wrong is one sentence"
for word in rec 1=x =x rec= 'a b=x'; do
	run atwalk sql tasks.kdump --attach "$word" 'SELECT 1'
	status 2
	err_has "atwalk: --attach: '$word' is not NAME=SOURCE"
done
run atwalk sql tasks.kdump --attach Report=tasks.kdump 'SELECT 1'
status 2
err_has "atwalk: --attach Report: a table Report_tasks is there already"
run atwalk sql tasks.kdump --attach a=a.kmap --attach A=a.kmap 'SELECT 1'
status 2
err_has "atwalk: --attach A: a table A_objects is there already"
wrong 2 'atwalk: sql: no such table: rec_tasks' sql tasks.kdump --attach rec=a.kmap 'SELECT * FROM rec_tasks'
wrong 3 'atwalk: none: No such file or directory' sql tasks.kdump --attach rec=none 'SELECT * FROM rec_tasks'
run atwalk sql tasks.kdump --attach rec=none --format csv "SELECT 'rec_tasks' a"
out <<<$'a\nrec_tasks'
sql --attach rec=damaged.kmap tasks.kdump 'SELECT count(*) > 0 n FROM rec_objects'
status 4
said_err=1
out <<<$'n\n1'

t "without atwalk-kmap, a recording is like any unknown file"
mkdir alone
cp "$built/atwalk" alone/
run ./alone/atwalk sql a.kmap 'SELECT * FROM objects'
status 2
err_is 'atwalk: sql: no such table: objects'
finish
