#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report computes the analyses of the LPMA paper exactly, for captures with results known to
# the page. Captures in tests/data/captures with the name of a figure must give that figure;
# tests/data/README describes the others.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

captures=$data/captures
all=basic,areas,units,totals,alerts,count,pages
# First lines of the captures that this test writes.
front=$'H: atwalk-capture, 1\nH: page, 4096\n'
task=$'T: a, 1, 00000001, 0, 0, 0, 0, 0, 0, 0\n'

# ---- figures of the paper ----

t "Figure 4: the areas of init, and its sums"
run atwalk report areas --paper "$captures/figure4.txt"
golden report-figure4

t "Figure 2: the line of init"
run atwalk report basic --paper "$captures/figure4.txt"
out <<'END'
Name, RW Count, RX Count, Total, Name, Stack, .Data, .Text, Heap, Lib .bss, Lib .data, Lib .text, Single, Multi
swapper, 0, 0, 0, swapper, 0, 0, 0, 0, 0, 0, 0, 0, 0
init, 24, 130, 154, init, 4, 1, 12, 4, 5, 10, 118, 0, 118
link-mon, 18, 0, 18, link-mon, 2, 0, 0, 8, 0, 8, 0, 0, 0
END

t "Figure 5: libraries across five processes"
run atwalk report units --paper "$captures/figure5.txt"
golden report-figure5

t "Figure 6: memory of libc, approximately as in the bars"
run atwalk report totals "$captures/figure5.txt" --format csv
out <<'END'
name,used,virtual_text,virtual_data,virtual_bss,virtual,text,data,bss,total,guess,state
/lib/libc-2,5,285,100,25,410,109,40,19,168,~,
/lib/ld-2,5,23,5,5,33,23,5,5,33,~,
END
run atwalk report totals --paper "$captures/figure5.txt"
out <<'END'
Name, .bss, .data, .text, Total
/lib/libc-2, 19, 40, 109, 168
/lib/ld-2, 5, 5, 23, 33
END
run atwalk report totals --paper --virtual "$captures/figure5.txt"
out <<'END'
Name, .bss, .data, .text, Total
/lib/libc-2, 25, 100, 285, 410
/lib/ld-2, 5, 5, 23, 33
END

t "Figure 7: its three alerts"
run atwalk report alerts --paper "$captures/figure4.txt"
out <<'END'
Alert! VMA [/lib/libc-2] in "link-mon" has 2 single usage and 6 shared usage, flags = 00000077
Alert! VMA [NULL] in "link-mon" has 6 single usage and 2 shared usage, flags = 20001077
Alert! VMA [NULL] in "link-mon" has 1 single usage and 1 shared usage, flags = 00000177
END

t "Figure 8: pages"
run atwalk report count --paper "$captures/figure5.txt"
out <<'END'
User space pages: 201
END

t "Figure 9: page structures, byte for byte"
run atwalk report pages --paper "$captures/figure9.txt"
golden report-figure9

# ---- all reports in every format ----

for file in server.cap copies.cap hidden.cap figure4.txt; do
	cap=${file%.*}
	for format in plain csv json paper; do
		t "$cap, $format"
		case $format in
		paper) run atwalk report "$all" --paper -q "$captures/$file" ;;
		*) run atwalk report "$all" --format $format -q "$captures/$file" ;;
		esac
		# Of one process in it nothing could be read.
		[ "$cap" != copies ] || { status 4 && err_has "1 read error"; }
		golden "report-$cap-$format"
	done
done

t "sizes of addresses"
run atwalk report basic --virtual --format csv "$captures/server.cap" --filter pid=100
out <<'END'
pid,name,rw_count,rx_count,total,stack,data,text,heap,lib_bss,lib_data,lib_text,single,multi,other,guess
100,server,36,24,60,12,2,6,11,2,3,11,2,8,13,~
END

t "processes with a deleted library, and with written code"
run atwalk report totals "$captures/server.cap" --filter deleted --format csv --columns name,used,total
out <<'END'
name,used,total
/usr/lib/libbad.so.1,1,2
END
run atwalk report alerts "$captures/server.cap" --filter 'cause=text_relocations' --format csv --columns pid,task,name,single,shared,copied,one_user
out <<'END'
pid,task,name,single,shared,copied,one_user
100,server,/usr/lib/libbad.so.1,2,1,2,0
END

t "pages: the kernel's count beside the computed one; other or missing counts start a new row"
printf '%s%sV: 10000, 13FFF, 4000, 4000, -, 100073, NULL\nM: 10000*2=100052, 5, 5868, refs=1, map=102 | 12000=102052, -, 5868, refs=1, map=102 | 13000=103052, 3, 5868, map=102 |\nE: 5, 1, 1, 0\n' "$front" "$task" >kcount.cap
run atwalk report pages kcount.cap --columns physical,pages,count,kcount,counted --format csv
out <<'END'
physical,pages,count,kcount,counted
0x0000000000100000,2,1,5,seen
0x0000000000102000,1,1,,seen
0x0000000000103000,1,3,3,kernel
END
run atwalk report pages kcount.cap --format csv
yes [ "$(sed -n 1p "$work/log/out")" = physical,pages,pte_flag,vma_flag,vma_sym,page_flags,count,kcount,owner ]
run atwalk report pages kcount.cap --paper
out <<'END'
Address		PTE Flag		VMA Flag		VMA Sym 	Page Flags	Count   	Owner   	        
0X00100000	0X00000052	0X00100073	..rw.B	0X00005868	1	a
0X00101000	0X00000052	0X00100073	..rw.B	0X00005868	1	a
0X00102000	0X00000052	0X00100073	..rw.B	0X00005868	1	a
0X00103000	0X00000052	0X00100073	..rw.B	0X00005868	3	a
END

t "a deleted library and its successor are separate in every report"
{
	printf '%s%sV: 10000, 11FFF, 2000, 2000, -, 75, /lib/libx.so.1 (deleted), dev=8:1, inode=5, offset=0\n' "$front" "$task"
	printf 'M: 10000*2=100212, 1, 6C, refs=1, map=140 |\nV: 20000, 20FFF, 1000, 1000, -, 75, /lib/libx.so.1, dev=8:1, inode=6, offset=0\n'
	printf 'M: 20000=200212, 1, 6C, refs=1, map=140 |\nE: 7, 1, 2, 0\n'
} >successor.cap
run atwalk report use successor.cap --by unit --columns name,rss --format csv
out <<'END'
name,rss
/lib/libx.so.1 (deleted),8192
/lib/libx.so.1,4096
END
# Its frames and those of its successor are not merged as equal neighbours.
sed 's/=200212/=102212/' successor.cap >neighbours.cap
run atwalk report pages neighbours.cap --columns physical,pages,owner --format csv
out <<'END'
physical,pages,owner
0x0000000000100000,2,/lib/libx.so.1 (deleted)
0x0000000000102000,1,/lib/libx.so.1
END
run atwalk report pages neighbours.cap --paper
yes [ "$(cut -f 7 "$work/log/out" | sed 1d | sort -u)" = /lib/libx.so.1 ]
run atwalk report stacks successor.cap --format csv
out <<'END'
stack,pss
a;libx.so.1 (deleted);text,8192
a;libx.so.1;text,4096
END

# NAME INODE FRAME: files with a page of code each, on device 8:1.
of_files() {
	local at=65536 n=0 name inode frame

	printf '%s%s' "$front" "$task"
	while read -r name inode frame; do
		printf 'V: %X, %X, 1000, 1000, -, 75, %s, dev=8:1, inode=%s, offset=1000\n' $at $((at + 4095)) "$name" "$inode"
		printf 'M: %X=%s212, 1, 6C, refs=1, map=140 |\n' $at "$frame"
		at=$((at + 8192)) n=$((n + 1))
	done
	printf 'E: %d, 1, %d, 0\n' $((3 + 2 * n)) $n
}

t "stacks: files with the same name are separate frames, with as much of the path as needed"
of_files >files.cap <<'END'
/a/libx.so 1 101
/b/libx.so 2 102
/b/libx.so 3 103
/a/liby.so 4 104
/b/libx.so 2 105
END
run atwalk report stacks files.cap --format csv
out <<'END'
stack,pss
a;/a/libx.so;text,4096
a;/b/libx.so (8:1 2);text,8192
a;/b/libx.so (8:1 3);text,4096
a;liby.so;text,4096
END
# Copies of a file are merged.
{
	printf '%sU: 8:1, 1, /a/libx.so, build=AB\nU: 8:1, 2, /b/libx.so, build=AB\n' "$front"
	of_files <<<$'/a/libx.so 1 101\n/b/libx.so 2 102' | sed '1,2d; s/^E: 7/E: 9/'
} >copied.cap
run atwalk report stacks copied.cap --format csv
out <<'END'
stack,pss
a;libx.so;text,8192
END

t "basic: largest first; tasks without memory are hidden and counted"
run atwalk report basic "$captures/figure4.txt" --columns pid,total
out <<'END'
    PID     TOTAL
      1       154
     21        18

1 task has no memory of its own, and is not shown: kernel threads, processes that ended; --kernel-threads lists them
END
run atwalk report basic "$captures/figure4.txt" --columns pid,total --kernel-threads
out <<'END'
    PID     TOTAL
      1       154
     21        18
      0         0
END
run atwalk report use "$captures/figure4.txt" --kernel-threads
status 2
err_has '--kernel-threads can only be used with the report basic'

t "--group: numbers of rows and sums of pages"
run atwalk report areas "$captures/figure4.txt" --group task --format csv
out <<'END'
task,count,vsize,resident,single,shared,swapped
init,14,384,154,24,130,
link-mon,3,34,18,9,9,
END
run atwalk report basic --kernel-threads "$captures/figure4.txt" --group name --filter 'total>0' --columns name,count,total,bss --units bytes
out <<'END'
NAME                COUNT     TOTAL              BSS
init                    1    630784                0
link-mon                1     73728                0
END
# 630784 and 73728 bytes.
for filter in 'total>72K' 'total>72.5K' 'total>=154'; do
	run atwalk report basic "$captures/figure4.txt" --filter "$filter" --columns name --format csv
	out <<<$'name\ninit'
done
run atwalk report basic "$captures/figure4.txt" --filter 'total<72.1K' --columns name,total --format csv
out <<<$'name,total\nlink-mon,18'
run atwalk report pages "$captures/figure4.txt" --group owner --format csv
out <<'END'
owner,count,pages
/bin/myinit,3,17
/lib/ld-2,3,25
/lib/libc-2,5,113
/lib/libmyinit,3,3
init,1,4
link-mon,5,10
END

# ---- generated machines with known sums ----

made=(-m 2G -p 60 -r 30000 -s 5)
"$built/tests/tools/mkcapture" "${made[@]}" >made.cap || exit
"$built/tests/tools/mkcapture" -x "${made[@]}" >sums || exit

t "sums of a generated machine: totals, processes, files"
run atwalk report count,basic,totals --format csv -o made made.cap
awk '$1 == "all" { print $7, $6, $8 }' sums >want
awk -F, 'NR > 1 { print $1, $4, $5 }' made/count.csv >got
yes same want got
awk '$1 == "process" { print $2, $3 }' sums | sort >want
awk -F, 'NR > 1 && $2 != "kthread" { print $1, $5 }' made/basic.csv | sort >got
yes [ "$(wc -l <got)" = 60 ]
yes same want got
awk '$1 == "unit" { print $2, $3, $5, $6 }' sums | sort >want
awk -F, 'NR > 1 { print $1, $2, $7, $8 + $9 }' made/totals.csv | sort >got
yes [ "$(wc -l <got)" -gt 5 ]
yes same want got

t "sums of a generated machine: areas and pages"
run atwalk report areas,pages,units --format csv -o made made.cap
awk '$1 == "all" { print $6, $7 }' sums >want
awk -F, 'NR > 1 { n += $6 } END { printf "%d ", n }' made/areas.csv >got
awk -F, 'NR > 1 { n += $2 } END { print n }' made/pages.csv >>got
yes same want got
# Rows are in ascending order.
yes [ "$(sed 1d made/pages.csv | sort -c 2>&1)" = "" ]
run atwalk report basic --columns pid,swapped --format csv --filter 'name!=kthread' made.cap
awk -F, 'NR > 1 { print $1, $2 }' <"$work/log/out" | sort >got
awk '$1 == "process" { print $2, $5 }' sums | sort >want
yes same want got

# ---- command line ----

t "several reports into a folder"
run atwalk report basic,count --format json -o answers "$captures/figure4.txt"
no_out
run cat answers/count.json
out <<'END'
[
{"user_space_pages":172,"anon":null,"file":null,"mappings":172,"swapped":null,"processes":2}
]
END
yes [ "$(ls answers)" = "basic.json
count.json" ]

t "one report into a file, which is never incomplete"
run atwalk report count -o count.csv --format csv "$captures/figure4.txt"
run cat count.csv
out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
172,,,172,,2
END
echo nonsense >bad.cap
run atwalk report basic,count -o nothing capture:bad.cap
status 3
err_has "not a capture"
yes [ ! -e nothing ]
run atwalk report basic -o nothing capture:bad.cap
status 3
err_has "not a capture"
yes [ ! -e nothing ]

t "columns are as wide as their values; longer values are shortened with dots, and listed below"
long=/usr/lib/x86_64-linux-gnu/a/very/long/way/to/go/until/there/is/a/library/libmost.so.6
{
	printf '%s%sV: 1000, 1FFF, 1000, 0, -, 75, /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0, dev=8:1, inode=1, offset=0\n' "$front" "$task"
	printf 'M: 1000=1212, 1, 0, map=140 |\nV: 4000, 5FFF, 2000, 0, -, 75, %s, dev=8:1, inode=2, offset=0\n' $long
	printf 'M: 4000*2=4212, 1, 0, map=140 |\nE: 7, 1, 2, 0\n'
} >long-names.cap
run atwalk report totals long-names.cap --columns name,used,text
out <<'END'
NAME                                                               USED     TEXT
/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0                        1        1
/usr/lib/x86_64-linu.../go/until/there/is/a/library/libmost.so.6      1        2
(sum)                                                                          3
END
run atwalk report totals long-names.cap --columns used,text,name
out <<END
 USED     TEXT  NAME
    1        1  /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0
    1        2  $long
             3  (sum)
END
run atwalk report totals long-names.cap --columns name,text --format csv
out <<END
name,text
/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0,1
$long,2
END

t "--limit: the first rows and the number of the rest; the sum is over all rows"
run atwalk report basic --kernel-threads "$captures/figure4.txt" --columns name,total,single --limit 1 --sort total:desc
out <<'END'
NAME                TOTAL  SINGLE
init                  154       0
... and 2 more
(sum)                 172       0
END
run atwalk report basic --kernel-threads "$captures/figure4.txt" --columns name,total --filter 'total<100' --limit 1
out <<'END'
NAME                TOTAL
link-mon               18
... and 1 more
(sum)                  18
END
run atwalk report basic --kernel-threads "$captures/figure4.txt" --columns name,total --limit 2 --format csv
out <<'END'
name,total
init,154
link-mon,18
END
err <<'END'
atwalk: report basic: --limit leaves out 1 rows
END
run atwalk report basic --kernel-threads "$captures/figure4.txt" --columns total --limit 3
out <<'END'
   TOTAL
     154
      18
       0
END
run atwalk report basic "$captures/figure4.txt" --limit 0
status 2
err_has "--limit must be at least 1"
run atwalk report units "$captures/figure5.txt" --columns used,name --limit 1
yes [ "$(grep -c '^ *[0-9]*  /lib/' "$work/log/out")" = 1 ]
yes [ "$(tail -n 1 "$work/log/out")" = '... and 6 more' ]

t "--units: also pages, with the page size of the capture"
run atwalk report basic --kernel-threads "$captures/figure4.txt" --columns name,total,heap --units human
out <<'END'
NAME                TOTAL      HEAP
init                 616K       16K
link-mon              72K       32K
swapper                0B        0B
(sum)                688K       48K
END
run atwalk report count "$captures/figure5.txt" --columns user_space_pages,mappings --units bytes
out <<'END'
USER_SPACE_PAGES  MAPPINGS
          823296       617
END
run atwalk report basic "$captures/figure4.txt" --columns name,total --units bytes --format csv
out <<'END'
name,total
init,154
link-mon,18
END
printf 'H: atwalk-capture, 1\nH: page, 65536\n%sV: 10000, 3FFFF, 30000, 0, -, 73, NULL\nM: 10000*2=10052, 1, 0, map=100 |\nE: 5, 1, 1, 0\n' "$task" >large-pages.cap
run atwalk report basic,use large-pages.cap --columns name --units human
run atwalk report basic large-pages.cap --columns name,total --units human
out <<'END'
NAME                TOTAL
a                    128K
END
run atwalk report basic large-pages.cap --columns name --format csv --filter 'total=128K and total>1.99K'
out <<<$'name\na'
printf '[a]\nover = report basic\nforbid = total=128K\n' >where.ini
run atwalk check where.ini large-pages.cap --format csv --columns policy,verdict,count
status 1
out <<<$'policy,verdict,count\na,violated,1'
run atwalk report use large-pages.cap --columns rss,name --units pages
out <<'END'
       RSS  NAME
         2  a
END
run atwalk report basic,pages "$captures/figure4.txt" --units human
status 2
no_out
err <<'END'
atwalk: --units: pages has no column of sizes
        see: atwalk report --help
END

t "sums: no sum of shared sizes, and n/a if one value is n/a"
run atwalk report use -q "$captures/server.cap" --columns pid,rss,pss,uss,name
out <<'END'
     PID      RSS      PSS      USS  NAME
     100     160K     106K      52K  server
     110     116K      72K      28K  worker
                      178K      80K  (sum)
END
run atwalk report use "$captures/server.cap" -q --group pid
yes [ "$(grep -c sum "$work/log/out")" = 0 ]
run atwalk report totals "$captures/hidden.cap" -q --columns name,virtual_text,text
yes grep -qx '(sum)  *[0-9]*  *n/a' "$work/log/out"

t "options that do not apply to a report"
while IFS='|' read -r args why; do
	# shellcheck disable=SC2086 # several words
	run atwalk report $args "$captures/figure4.txt"
	status 2
	no_out
	err <<END
atwalk: $why
        see: atwalk report --help
END
done <<'END'
basic --by user|--by can only be used with the report use
basic,count --by unit|--by can only be used with the report use
use --virtual|--virtual: use has no virtual sizes; these have: basic, areas
basic,count --virtual|--virtual: count has no virtual sizes; these have: basic, areas
totals --virtual|--virtual: totals has both sizes in its columns; use it with --paper
basic --paper --units human|--paper cannot be used with --units
basic --paper --limit 1|--paper cannot be used with --limit
END
run atwalk report basic,use --by user --format csv -o byuser "$captures/figure4.txt"
run atwalk report basic,areas --virtual --format csv -o virtual "$captures/figure4.txt"

t "-v: read errors line by line, and their number by reason"
{
	printf '%s%s' "$front" "$task"
	printf 'L: 813, maps, No such process\nL: 814, maps, No such process\n'
	printf 'L: 0, page table, gone, start=1000, last=1FFF\nL: 0, areas, no, start=5000\n'
	printf 'L: 0, 1 of 14 processes, this process may not read them\nE: 8, 1, 0, 5\n'
} >lost.cap
run atwalk report count lost.cap -o lost.txt
status 4
err <<'END'
atwalk: lost.cap: 5 read errors: -v lists them
END
run atwalk report count lost.cap -o lost.txt -v
status 4
err <<'END'
atwalk: lost.cap: not read: process 813: maps: No such process
atwalk: lost.cap: not read: process 814: maps: No such process
atwalk: lost.cap: not read: 0x1000 to 0x1fff: page table: gone
atwalk: lost.cap: not read: 0x5000: areas: no
atwalk: lost.cap: not read: 1 of 14 processes: this process may not read them
atwalk: lost.cap: not read: 2 times: maps: No such process
atwalk: lost.cap: not read: 1 time: page table: gone
atwalk: lost.cap: not read: 1 time: areas: no
atwalk: lost.cap: not read: 1 time: 1 of 14 processes: this process may not read them
atwalk: lost.cap: 5 read errors
END
run atwalk report count lost.cap -o lost.txt -q
status 4
err <<'END'
atwalk: lost.cap: 5 read errors: -v lists them
END

t "several reports need a folder, which is checked first"
echo mine >afile
mkfifo silent
for format in csv svg; do
	run timeout $limit "$O/atwalk" report basic,totals silent --format $format -o afile
	status 3
	err <<'END'
atwalk: afile: not a folder; several reports need a folder
END
done
yes [ "$(cat afile)" = mine ]

t "several reports: all files or none"
mkdir some some/totals.csv
run atwalk report basic,totals "$captures/figure4.txt" --format csv -o some
status 3
err_has "some/totals.csv: cannot write: Is a directory"
yes [ "$(ls -A some)" = totals.csv ]
rm -r some
# Interrupted while it waits for the source.
for format in csv svg; do
	mkfifo "slow.$format"
	env --default-signal=TERM "$O/atwalk" report basic,totals - --format $format -o gone <"slow.$format" &
	exec 9>"slow.$format"
	until [ -d gone ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
	kill -TERM $!
	exec 9>&-
	wait $!
	yes [ $? = 143 ]
	yes [ ! -e gone ]
done
# Interrupted when n files exist: then all of them are kept, or none.
for n in 0 1 2 4 7; do
	rm -rf gone
	env --default-signal=TERM "$O/atwalk" report basic,areas,units,totals,alerts,count,pages,use made.cap --format csv -q -o gone &
	until [ "$(find gone -type f 2>"$work/log/find" | wc -l)" -ge $n ] || ! kill -0 $! 2>"$work/log/kill"; do :; done
	kill -TERM $! 2>"$work/log/kill"
	wait $!
	[ ! -e gone ] || yes [ "$(find gone -name '*.csv' | wc -l)" = 8 ]
done

t "several reports: no files after SIGPIPE on standard error"
mkfifo hung
exec 8<>hung
exec 9>hung
exec 8<&-
env --default-signal=PIPE "$O/atwalk" report basic,totals --progress made.cap --format csv -o absent 2>&9
yes [ $? = 141 ]
exec 9>&-
yes [ ! -e absent ]

t "SOURCE NAME is NAME SOURCE"
run atwalk report basic,totals "$captures/server.cap" --format csv
cp "$work/log/out" in-order
run atwalk report "$captures/server.cap" basic,totals --format csv
same "$work/log/out" in-order
run atwalk report thrash "$captures/server.cap" "$captures/server.cap" --format csv
cp "$work/log/out" in-order
run atwalk report "$captures/server.cap" "$captures/server.cap" thrash --format csv
same "$work/log/out" in-order
run atwalk report "$captures/server.cap" basic,what
status 2
no_out
err_has "there is no report 'what'"
run atwalk report "$captures/server.cap"
status 2
no_out
err_has "NAME is missing: atwalk report use $captures/server.cap"
# A file with the name of a report, after a report.
ln -s "$captures/server.cap" totals
run atwalk report totals totals --format csv

t "a misspelt name of a report"
run atwalk report list
status 2
no_out
err_has "there is no report 'list'; known: basic, areas"
run atwalk report totls "$captures/server.cap"
status 2
no_out
err_has "there is no report 'totls', perhaps 'totals'; known: basic, areas"

t "names of reports"
run atwalk report nothing "$captures/server.cap"
status 2
err_has "there is no report 'nothing'; known: basic, areas, units, totals, alerts, count, pages"
for bad in '' ',' 'basic,' ',basic' 'basic,,count'; do
	run atwalk report "$bad" "$captures/server.cap"
	status 2
	err_has "there is no report ''"
done
run atwalk report basic,areas,basic "$captures/server.cap"
status 2
err_has "'basic' is given twice"
run atwalk report
status 2
err_has "NAME and SOURCE are missing"
run atwalk report basic
status 2
err_has "SOURCE is missing"
run atwalk report basic "$captures/server.cap" "$captures/copies.cap"
status 2
err_has "basic takes only one SOURCE"

t "options that --paper excludes"
for o in --format=csv --columns=pid --filter=pid=1 --sort=pid --group=pid; do
	run atwalk report basic --paper "$o" "$captures/server.cap"
	status 2
	err_has "--paper"
done
run atwalk report basic,machine --paper "$captures/server.cap"
status 2
err_has "--paper: machine is not a report of the LPMA paper"

t "columns of all reports are checked before the source is read"
run atwalk report basic,count --columns pid there-is-none
status 2
err_has "--columns: report count: unknown column 'pid'"
run atwalk report basic --sort nothing there-is-none
status 2
err_has "unknown column 'nothing'"

t "filters and sorting keep maps with their rows"
run atwalk report areas "$captures/server.cap" --filter 'heap and pid=110' --columns pid,vsize,class,name
out <<'END'
    PID     VSIZE  CLASS     NAME
    110         4  heap      [heap]
[221.                                                            ]
END
run atwalk report areas "$captures/server.cap" --filter 'stack' --columns pid,vsize --sort vsize:desc
out <<'END'
    PID     VSIZE
    100         8
    100         4
    110         4
END

# ---- damaged and implausible captures ----


t "a truncated capture is analysed up to its end"
head -n 12 "$captures/server.cap" >cut.cap
run atwalk report count --format csv cut.cap
status 4
err_has "cut off"
out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
1,0,1,1,0,1
END

t "areas that overlap"
printf '%s%sV: 1000, 2FFF, 2000, 0, -, 75, /a\nV: 2000, 2FFF, 1000, 0, -, 75, /a\nE: 5, 1, 2, 0\n' "$front" "$task" >over.cap
run atwalk report $all --format csv over.cap -o over
status 4
err_has "starts at 2000, and the area before ends at 2FFF"

t "pages before any area"
printf '%s%sM: 1000=1012, 1, 0 |\nE: 4, 1, 0, 0\n' "$front" "$task" >early.cap
run atwalk report basic --format csv early.cap
status 4
err_has "no V: line"
out <<'END'
pid,name,rw_count,rx_count,total,stack,data,text,heap,lib_bss,lib_data,lib_text,single,multi,other,guess
1,a,,,,,,,,,,,,,,-
END

t "areas with missing pages, and tasks without areas: n/a, never 0"
cat >missing.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
T: part, 10, 1000, 0, 0, 0, 0, 0, 0, 0, uid=7, brk=100000:140000
V: 00100000, 0013FFFF, 00040000, 00004000, -, 73, [heap]
P: 4, 0, 0, 4, 0
M: 00101000*3=10000052, 1, - |
V: 00200000, 00201FFF, 00002000, 00002000, -, 71, /a
P: 2, 0, 2, 2, 0
M: 00200000*2=20000012, 1, - |
T: none, 11, 2000, 0, 0, 0, 0, 0, 0, 0, uid=7
L: 11, areas, Permission denied
T: thread, 12, 0, 0, 0, 0, 0, 0, 0, 0
T: hole, 13, 3000, 0, 0, 0, 0, 0, 0, 0, brk=100000:140000
L: 13, page table, lost, start=108000, last=10FFFF
V: 00100000, 0010FFFF, 00010000, 00001000, -, 73, [heap]
M: 00100000*1=30000052, 1, - |
E: 16, 4, 3, 2
END
run atwalk report basic --kernel-threads --format csv --columns pid,total,rw_count,rx_count,heap,stack,swapped missing.cap
status 4
out <<'END'
pid,total,rw_count,rx_count,heap,stack,swapped
10,6,4,2,4,0,
13,,,0,,0,
11,,,,,,
12,0,0,0,0,0,0
END
err <<'END'
atwalk: missing.cap: 3 read errors: -v lists them
END
run atwalk report basic --virtual --format csv --columns pid,total,heap missing.cap
status 4
said_err=1
out <<'END'
pid,total,heap
10,66,64
13,16,16
11,,
END
run atwalk report basic --paper missing.cap
status 4
said_err=1
out <<'END'
Name, RW Count, RX Count, Total, Name, Stack, .Data, .Text, Heap, Lib .bss, Lib .data, Lib .text, Single, Multi, Other, Swapped
part, 4, 2, 6, part, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0, n/a
none, n/a, n/a, n/a, none, n/a, n/a, n/a, n/a, n/a, n/a, n/a, n/a, n/a, n/a, n/a
thread, 0, 0, 0, thread, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
hole, n/a, 0, n/a, hole, 0, 0, 0, n/a, 0, 0, 0, 0, 0, 0, n/a
END
run atwalk report areas --format csv --columns pid,resident,single,swapped,map missing.cap
status 4
said_err=1
out <<'END'
pid,resident,single,swapped,map
10,4,4,,!*1 1*3 !*60
10,2,2,0,1*2
13,,,,1*1 !*15
END
run atwalk report use --by process --format csv --columns pid,rss,pss,swap missing.cap
status 4
said_err=1
out <<'END'
pid,rss,pss,swap
10,,,
13,,,
11,,,
END
run atwalk report use --by user --format csv --columns name,processes,rss missing.cap
status 4
said_err=1
out <<'END'
name,processes,rss
7,2,
n/a,1,
END
run atwalk report areas missing.cap -v
status 4
err_has 'missing.cap: not read: process 10: 0x100000 to 0x13ffff: pages: 1 of 4 that are in memory are not recorded'
err_has 'missing.cap: not read: process 11: areas: Permission denied'
yes grep -qx 'Process "none" has n/a rw and n/a rx pages, (n/a pages total)' "$work/log/out"

t "an area across all addresses, and one nearly as long"
printf '%s%sV: 0, FFFFFFFFFFFFFFFF, 0, 0, -, 75, /a\nE: 4, 1, 1, 0\n' "$front" "$task" >all.cap
run atwalk report $all all.cap -o allout
status 4
err_has "V:"
printf '%s%sV: 0, 3FFFFFFFFFFFFFFF, 4000000000000000, 0, -, 75, /a, dev=8:1, inode=1, offset=0\nM: 3FFFFFFFFFFFF000=1212, 1, 0, map=140 |\nE: 5, 1, 1, 0\n' "$front" "$task" >long.cap
run atwalk report areas,units,totals,count,alerts,pages long.cap --format csv -o longout
run cat longout/units.csv
out <<'END'
name,used,vsize,resident,mappings,flags,class,guess,state
/a,1,1125899906842624,1,1,-Xr-x-,text,~,
END
run atwalk report areas long.cap --columns pid,vsize,resident
out <<'END'
    PID             VSIZE  RESIDENT
      1  1125899906842624         1
[................................................................]
[... 17592186044414 more lines like this one]
[...............................................................1]
Process "a" has 0 rw and 1 rx pages, (1 pages total)
	For [a]: 0 stack, 0 data, 1 .text, 0 heap
	For libraries: 0 .bss, 0 .data, 0 .text
	  0 are used only in this process, 0 are shared
END

t "more memory than is possible"
printf '%s%sV: 0, 3FFFFFFFFFFFFFFF, 4000000000000000, 0, -, 75, /a, dev=8:1, inode=1, offset=0\nM: 0*8796093022208=1212, 1, 0, map=140 |\nE: 5, 1, 1, 0\n' "$front" "$task" >much.cap
for report in count totals units; do
	run atwalk report $report much.cap --format csv
	status 4
	err_has "atwalk: much.cap: line 5: $report: not counted: "
	err_has "more than"
	yes grep -q ',,' "$work/log/out"
done

t "noise"
run atwalk report basic capture:x86.elf
status 3
err_has "not a capture"
: >empty
run atwalk report basic capture:empty
status 3
err_has "is empty"

finish
