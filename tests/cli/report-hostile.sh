#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports of small captures that describe huge machines end within the limit of a test, and
# name what they did not count.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

few=${WRAP:+20}                  # fewer under valgrind

t "very many areas of different files in one process"
awk -v n="${few:+2}0000" 'BEGIN {
	print "H: atwalk-capture, 1\nT: cat, 812, 1, 1, 98, 0, 0, 0, 0, 1"
	for (k = 1; k <= n; k++)
		printf "V: %X000, %XFFF, 1000, 1000, -, 75, /%d\nM: %X000=%X212, 1, 0 |\n", 2 * k, 2 * k, k, 2 * k, 2 * k
}' >areas.cap
run atwalk report stacks areas.cap --format csv -q
status 4
yes [ "$(wc -l <"$work/log/out")" -gt 0 ]
err_has "no E: line"
if [ -z "$few" ]; then
	awk 'BEGIN {
		print "H: atwalk-capture, 1\nT: cat, 812, 1, 1, 98, 0, 0, 0, 0, 1"
		for (k = 1; k <= 150000; k++)
			printf "V: %X000, %XFFF, 1000, 1000, -, 75, /%d\nM: %X000=%X012, 1, 0 |\n", 2 * k, 2 * k, k, 2 * k, 2 * k
	}' >areas.cap
	run atwalk report stacks areas.cap --format csv -q
	status 4
	yes [ "$(wc -l <"$work/log/out")" = 150001 ]
	err_has "no E: line"
fi

t "files that are merged one by one into a long chain"
awk -v n="${few:+1}000" 'BEGIN {
	if (n < 1000)
		n = 30000
	print "H: atwalk-capture, 1\nT: cat, 812, 1, 1, 98, 0, 0, 0, 0, 1"
	for (i = 0; i < n; i++)
		printf "U: 1:1, %d, /f%d\n", i + 1, i
	for (i = n - 1; i > 0; i--)
		if (i % 2)
			printf "U: 1:1, %d, /f%d, build=%08X\nU: 1:1, %d, /f%d, build=%08X\n", i, i - 1, i, i + 1, i, i
		else
			for (j = i; j >= i - 1; j--) {
				printf "V: %X000, %XFFF, 1000, 1000, -, 75, /f%d, dev=1:1, inode=%d, offset=0\n", 2 * ++k, 2 * k, j, j + 1
				printf "M: %X000=%X212, 1, 0 |\n", 2 * k, i
			}
	for (i = 1; i <= n; i++) {
		k++
		printf "V: %X000, %XFFF, 1000, 0, -, 75, /f%d, dev=1:1, inode=%d, offset=0\n", 2 * k, 2 * k, n - 1, n
	}
}' >chain.cap
run atwalk report totals chain.cap --format csv --columns name -q
status 4
out <<'END'
name
/f0
END
err_has "no E: line"
run atwalk report use chain.cap --by unit --format csv --columns name -q
status 4
out <<'END'
name
/f0
END
err_has "no E: line"

t "runs of absent file pages, many times"
awk -v n="${few:-200}" 'BEGIN {
	print "H: atwalk-capture, 1"
	for (i = 1; i <= n; i++)
		printf "T: a, %d, %d, -, -, -, -, -, -, -\nV: 0, 3FFFFFFFFF, 4000000000, 0, -, 77, /a, dev=1:1, inode=1, offset=0\nM: 0*67108864=2002, 1, 0, same=1 |\n", i, i
}' >claims.cap
if [ -n "$few" ]; then skip "it takes as long as it may without valgrind"; else
	run atwalk report units claims.cap -q
	status 4
	err_has "claims.cap: line 100: units: not counted: /a: with it programs and libraries are mapped more than 2147483648 times, page by page"
fi

# The invalid process is reported by file and line, and all others keep their results.
cat >lie.cap <<'END'
H: atwalk-capture, 1
T: first, 1, 1, -, -, -, -, -, -, -, uid=1
V: 1000, 4FFF, 4000, 2000, -, 75, /lib/a, dev=1:1, inode=1, offset=0
M: 1000*2=5212, 2, 0, refs=2 |
T: liar, 2, 2, -, -, -, -, -, -, -, uid=2
V: 0, 7FFFFFFFFFFF, 800000000000, 2000, -, 75, /lib/liar, dev=1:1, inode=2, offset=0
M: 0*34359738368=10000212, 2, 0, refs=2 |
T: last, 3, 3, -, -, -, -, -, -, -, uid=3
V: 1000, 4FFF, 4000, 2000, -, 75, /lib/a, dev=1:1, inode=1, offset=0
M: 1000*2=5212, 2, 0, refs=2 |
V: 5000, 5FFF, 1000, 1000, -, 73, NULL
M: 5000=9052, 1, 0, refs=1 |
E: 12, 3, 4, 0
END
said="lie.cap: line 7"

t "an implausible area: units"
run atwalk report units lie.cap --columns name,used,vsize,resident,mappings,map
status 4
err <<END
atwalk: $said: units: not counted: /lib/liar: the area has more than 67108864 pages in memory
END
out <<'END'
NAME                               USED        VSIZE  RESIDENT  MAPPINGS  MAP
/lib/a                                2            4         2         4  2*2 .*2
[22..                                                            ]
/lib/liar                             1  34359738368       n/a       n/a  n/a

n/a: 1 part with more pages than are counted
END

t "an implausible area: totals and count"
run atwalk report totals lie.cap --columns name,virtual,text,total --format csv
status 4
err <<END
atwalk: $said: totals: not counted: /lib/liar: the area has more than 67108864 pages in memory
END
out <<'END'
name,virtual,text,total
/lib/a,4,2,2
/lib/liar,34359738368,,
END
run atwalk report count lie.cap --format csv
status 4
err <<END
atwalk: $said: count: not counted: the frames it names would be more than 8589934592 pages of memory
END
out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
,,,34359738373,0,3
END
run atwalk report count lie.cap --paper -q
status 4
err_has "$said: count: not counted"
yes grep -qx "User space pages: n/a" "$work/log/out"

t "an implausible area: use"
run atwalk report use lie.cap --by user --format csv --columns name,rss,pss,uss
status 4
err <<END
atwalk: $said: use: cannot compute uss: more than 67108864 pages are shared
END
out <<'END'
name,rss,pss,uss
2,140737488355328,70368744177664,
3,12288,8192,4096
1,8192,4096,0
END

t "an implausible area: several reports in one pass"
run atwalk report count,basic,units,totals lie.cap --format csv
status 4
err_is "atwalk: $said: count: not counted: *"
yes grep -q '^3,last,1,2,3,' "$work/log/out"
yes grep -q '^/lib/a,2,4,2,4,' "$work/log/out"
yes grep -q '^/lib/a,2,4,0,0,4,2,0,0,2,' "$work/log/out"

t "many implausible processes take no more time than one, and others are counted"
awk -v n="${few:-20000}" 'BEGIN {
	print "H: atwalk-capture, 1"
	for (k = 1; k <= n; k++)
		printf "T: a, %d, %X, -, -, -, -, -, -, -, uid=%d\nV: 0, FFFFFFFFFFF, 100000000000, 0, -, 75, /lib/%d, dev=1:1, inode=%d, offset=0\nM: 0*4294967296=212, 2, 0, same=1 |\n", k, k, k, k, k
	print "T: b, 99999, FFFFF, -, -, -, -, -, -, -, uid=99999\nV: 1000, 4FFF, 4000, 2000, -, 75, /lib/a, dev=1:1, inode=999999, offset=0\nM: 1000*2=5212, 2, 0, refs=2 |"
}' >lies.cap
run atwalk report units,totals,use lies.cap --format csv --by user
status 4
err_has "lies.cap: line 4: units: not counted: /lib/1: "
yes grep -q '^/lib/a,1,4,2,2,' "$work/log/out"
yes grep -q '^/lib/a,1,4,0,0,4,2,0,0,2,' "$work/log/out"
yes grep -q '^,1,8192,4096,0,' "$work/log/out"

t "long runs are single rows, not a row per page"
cat >long.cap <<'END'
H: atwalk-capture, 1
T: a, 1, 1, -, -, -, -, -, -, -
V: 0, FFFFFFFFFFFF, 1000000000000, 2000, -, 75, NULL
M: 1000*17179869184=5212, 1, 0, refs=1 | 500000000000*3=600000005212, 1, 0, refs=1 | 600000000000*3=600000008212, 1, 0, refs=1 |
V: 1000000000000, 1000000003FFF, 4000, 4000, -, 73, NULL
M: 1000000000000*4=600000009212, 1, 0, refs=1 | 
E: 6, 1, 2, 0
END
run atwalk report pages long.cap --format csv
out <<'END'
physical,pages,pte_flag,vma_flag,vma_sym,page_flags,count,kcount,owner
0x0000000000005000,17179869184,0x0000000000000212,0x0000000000000075,--r-x-,0x0000000000000000,1,1,a
0x0000600000005000,6,0x0000000000000212,0x0000000000000075,--r-x-,0x0000000000000000,1,1,a
0x000060000000b000,2,0x0000000000000212,0x0000000000000073,--rw-B,0x0000000000000000,1,1,a
END
run atwalk report pages long.cap --format html -o long.html
yes [ "$(wc -c <long.html)" -lt 24000 ]
run atwalk report pages long.cap --paper
sed -n '2,4p' "$work/log/out" >got
cat >want <<'END'
0X00005000	0X00000212	0X00000075	..r.x.	0X00000000	1	a
[... 17179869183 more pages like this one, up to 0X400000004000]
0X600000005000	0X00000212	0X00000075	..r.x.	0X00000000	1	a
END
same got want
yes [ "$(wc -l <"$work/log/out")" = 11 ]

t "an HTML page has a limited number of rows, and names the limit"
awk 'BEGIN {
	print "H: atwalk-capture, 1\nT: a, 1, 1, -, -, -, -, -, -, -\nV: 0, FFFFFFFFF, 1000000000, 2000, -, 75, NULL"
	for (i = 0; i < 100003; i++)
		printf "M: %X000=%X212, 1, 0, refs=1 |\n", i, 2 * i
	print "E: 100006, 1, 1, 0"
}' >rows.cap
run atwalk report pages rows.cap --format html -o rows.html
yes [ "$(grep -c '^<tr>' rows.html)" = 100 ]
yes grep -q '^<noscript><p class="cut">These are the first 100 of 100003 rows[.] ' rows.html
yes grep -q '^<p class="cut">This page has the first 100000 of 100003 rows. CSV and JSON output has all; a filter or another order chooses others.</p>$' rows.html
run atwalk report pages rows.cap --format csv -o rows.csv
yes [ "$(wc -l <rows.csv)" = 100004 ]
run atwalk report pages rows.cap --filter 'physical<0x100000' --format html -o few.html
yes [ "$(grep -c '^<tr>' few.html)" = 100 ]
yes [ "$(grep -c '^<p class="cut"' few.html)" = 0 ]

t "a fully present part of a file is not drawn page by page"
awk 'BEGIN {
	print "H: atwalk-capture, 1"
	for (i = 1; i <= 4; i++)
		printf "T: a, %d, %d, -, -, -, -, -, -, -\nV: 0, 3FFFFFFFFF, 4000000000, 0, -, 75, /a, dev=1:1, inode=1, offset=0\nM: 0*67108864=212, 4, 0, same=1 |\n", i, i
	print "E: 13, 4, 4, 0"
}' >drawn.cap
run atwalk report units drawn.cap --columns name,resident,mappings,map
out <<'END'
NAME                              RESIDENT   MAPPINGS  MAP
/a                                67108864  268435456  4*67108864
[4444444444444444444444444444444444444444444444444444444444444444]
[... 1048575 more lines like this one]
END

t "tasks with PIDs that collide in a hash table"
awk -v n="${few:-200}000" 'BEGIN {
	print "H: atwalk-capture, 1"
	for (k = 1; k <= n; k++)
		printf "T: a, %d, %X, -, -, -, -, -, -, -, start=%d\n", k, k, 31 * (300000 - k)
}' >meet.cap
run atwalk report growth meet.cap --format csv -q
status 4
err_has "no E: line"

t "growth keeps little memory per task"
if [ -n "$few" ] || grep -q -e '-fsanitize' "$built/flags" || ! command -v python3 >/dev/null; then
	skip "measured with python3, and without valgrind"
else
	sed '/^E:/d' meet.cap | head -n 20001 >meet-few.cap
	run python3 - "$O/atwalk" <<'E'
import os, subprocess, sys
def peak(name):
    p = subprocess.Popen([sys.argv[1], "report", "growth", name, "-q"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.wait4(p.pid, 0)[2].ru_maxrss
each = (peak("meet.cap") - peak("meet-few.cap")) * 1024 / 180000
assert each < 250, each
E
	no_out
fi

# Hash tables have a random seed in each run.
t "the order of rows is the same in every run"
"$O/tests/tools/mkcapture" -f -m 1G -p 60 -r 20000 -s 7 >many.cap
all=basic,areas,units,totals,alerts,count,pages,use,stacks,machine
for n in 1 2 3 ${few:-4 5 6}; do
	run atwalk report "$all" many.cap --format csv -o "order$n"
	run atwalk report growth,thrash many.cap many.cap --format csv -o "looks$n"
	run atwalk report areas,units,totals many.cap -o "maps$n" -q
	run atwalk report stacks many.cap --format svg -o "flame$n"
	run atwalk report use many.cap --by unit --format csv -o "use$n"
	run atwalk report pages many.cap --group owner --format csv -o "group$n"
	[ "$n" = 1 ] && continue
	for f in order looks maps flame use group; do
		yes diff -rq "${f}1" "$f$n"
	done
done

# zstd expands one byte to 30000.
if ! command -v zstd >/dev/null || ! grep -q '^  found:.* zstd' "$built/found.txt"; then
	t "a decompression bomb"
	skip "there is no zstd"
else
	t "a decompression bomb: lines without data"
	{ echo "H: atwalk-capture, 1"; command yes "H: a, b" | head -c 100M; } | zstd -q -o heads.zst
	run atwalk report count heads.zst --format csv
	status 4
	err_has "of it become more than 4096 times as many"
	err_has "if that is as it should be, unpack it with zstd -d"

	t "a decompression bomb: empty lines"
	{ echo "T: a, 1, 1, 1, 0, 0, 0, 0, 0, 0"; head -c 100M /dev/zero | tr '\0' '\n'; } | zstd -q -o empty.zst
	run atwalk report count empty.zst --format csv
	status 4
	err_has "of it become more than 4096 times as many"
	out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
0,0,0,0,,1
END

	t "a decompression bomb: a capture as a source"
	run atwalk ps empty.zst --format csv --columns pid
	status 4
	err_has "of it become more than 4096 times as many"
	err_has "if that is as it should be, unpack it with zstd -d"
	out <<'END'
pid
1
END

	t "realistic compression ratios are read completely"
	{ echo "T: a, 1, 1, 1, 0, 0, 0, 0, 0, 0"; head -c 60M /dev/zero | tr '\0' '\n'; } | zstd -q -o some.zst
	run atwalk report count some.zst --format csv
	out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
0,0,0,0,,1
END
fi

t "reading stops after very many invalid lines"
{ echo "H: atwalk-capture, 1"; command yes "" | head -n 1100000; echo "T: a, 1, 1, -, -, -, -, -, -, -"; } >wrong.cap
run atwalk report count wrong.cap --format csv
status 4
err_has "atwalk: wrong.cap: line 1048577: 1048576 lines or runs were wrong so far: nothing behind it is read"
out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
0,0,0,0,0,0
END

t "reading stops after very many invalid lines: a capture as a source"
{ echo "H: atwalk-capture, 1"; echo "T: a, 1, 1, -, -, -, -, -, -, -"; command yes "" | head -n 1100000; echo "T: b, 2, 2, -, -, -, -, -, -, -"; } >wrong.cap
run atwalk ps wrong.cap --format csv --columns pid
status 4
err_has "atwalk: wrong.cap: line 1048578: 1048576 lines were wrong so far: nothing behind it is read"
out <<'END'
pid
1
END

t "reading stops after very many invalid runs"
{
	printf 'H: atwalk-capture, 1\nT: a, 1, 1, -, -, -, -, -, -, -\nV: 1000, 2FFF, 2000, 1000, -, 75, NULL\nM: 1000=5212, 1, 0 |\n'
	awk 'BEGIN { for (i = 0; i < 1100; i++) { printf "M: "; for (k = 0; k < 1000; k++) printf "x |"; print "" } }'
	printf 'M: 2000=6212, 1, 0 |\nV: 5000, 5FFF, 1000, 1000, -, 75, NULL\nM: 5000=7212, 1, 0 |\n'
} >runs.cap
run atwalk pages runs.cap --pid 1 --all --format csv --columns address,size,state
status 4
out <<'END'
address,size,state
0x0000000000001000,4096,present
0x0000000000002000,4096,lost
0x0000000000003000,8192,lost
0x0000000000005000,4096,lost
0x0000000000006000,18446744073709527040,lost
END
err_has "runs.cap: a run is wrong: line 5: M: 'x' is not VA=ENTRY, COUNT, FLAGS"

t "an empty picture"
printf 'H: atwalk-capture, 1\n' >nothing.cap
run atwalk report growth nothing.cap --format svg -q
status 4
yes grep -q '</svg>' "$work/log/out"
err_has "no E: line"

finish
