#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# annotate: addresses of profiles and traces get the same physical address, state, frame and
# area as other commands list; what cannot be looked up is said, each reason by its name.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
need_tasks

# ---- places ----

cat >mixed.csv <<'END'
pid,tid,address,op,size
1,1,0x400010,r,8
99,99,0x7ff0f2a12345,w,8
102,102,0x7ff0f3000008,rw,4
103,103,0x7ff0f34ee010,r,8
104,104,0x7ff0f35df000,r,8
108,108,0x7ff0f35ed010,w,4
1,1,0x10,r,1
92,93,0x401000,x,3
1,1,0xffffffffab21aa40,r,8
1,1,0xffff800000000000,r,8
END

t "an address of each state, with all columns"
run atwalk annotate tasks.kdump mixed.csv --format csv \
	--columns line,pid,task,address,kind,size,events,physical,page,node,state,rights,use,area_rights,area
golden annotate-places

t "the same as a table, with its last lines"
run atwalk annotate tasks.kdump mixed.csv
golden annotate-table
fits_but '/'

t "as JSON, from standard input, with the line itself"
run atwalk annotate tasks.kdump --format json --columns address,physical,weight,input --filter 'pid=99' <mixed.csv
out <<'END'
[
{"address":"0x00007ff0f2a12345","physical":"0x0000000002a12345","weight":null,"input":"99,99,0x7ff0f2a12345,w,8"}
]
END

t "every page of every process is where pages lists it"
atwalk pages tasks.kdump --all --format csv --columns pid,address,physical,state,pageflags,area \
	--filter 'present or absent or swap or protnone or guard or device or marker or poison or migration' >pages.csv
python3 - pages.csv <<'END' || bad "no list of pages"
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))[1:]
assert len(rows) > 4000
with open('all.csv', 'w') as trace, open('want', 'w') as want:
    trace.write('pid,addr\n')
    for pid, address, physical, state, flags, area in rows:
        trace.write(f'{pid},{address}\n')
        want.write(repr([pid, address, physical, state, flags, area]) + '\n')
END
run atwalk annotate tasks.kdump all.csv --format csv --columns pid,address,physical,state,pageflags,area
python3 - "$work/log/out" >got <<'END'
import csv, sys
for row in list(csv.reader(open(sys.argv[1])))[1:]:
    print(repr(row))
END
same want got

t "a capture has the same places as the dump it was made of"
yes atwalk collect -q -o tasks.cap tasks.kdump
for source in tasks.kdump tasks.cap; do
	run atwalk annotate "$source" all.csv --format csv --columns pid,address,physical,area
	cp "$work/log/out" "$source.places"
done
same tasks.kdump.places tasks.cap.places

# ---- forms ----

t "every form of input leads to the same place"
want=$'address,physical,state\n0x00007ff0f2a12345,0x0000000002a12345,present'
cat >perf.txt <<'END'
# captured on: Mon Nov 23 18:16:41 2026
             thp    99 [001] 34969.610259:          1 page-faults:     7ff0f2a12345 [unknown] ([anon]) ffffffff81b75d98 _copy_to_user+0x28 ([kernel.kallsyms])
END
cat >fields.txt <<'END'
 99     7ff0f2a12345      35     7fad7c47425d
END
cat >lackey.txt <<'END'
==99== Lackey, an example Valgrind tool
 S 7ff0f2a12345,8
END
cat >view.txt <<'END'
           1           0:          99 <marker: tid 99 on core 1>
           2           1:          99 write        8 byte(s) @ 0x00007ff0f2a12345 by PC 0x0000000000401000
END
printf 'where\tpid\n7ff0f2a12345\t99\n' >where.tsv
columns='--format csv --columns address,physical,state'
# shellcheck disable=SC2086 # options
for args in perf.txt '--input perf --fields pid,addr,weight,ip fields.txt' lackey.txt view.txt \
	    '--address-column where where.tsv'; do
	run atwalk annotate $columns tasks.kdump $args
	out <<<"$want"
done

t "--address-column ip: instructions of perf script"
run atwalk annotate tasks.kdump --pid 1 --address-column ip --format csv --columns address,kind,area - <<'END'
 init 1 1.000001: 1 cycles:u:  401010 main+0x10 (/init)
END
out <<'END'
address,kind,area
0x0000000000401010,fetch,/init
END

t "--pid and --task: every address is of that process"
run atwalk annotate tasks.kdump lackey.txt --pid 103 --format csv --columns pid,task,state
out <<'END'
pid,task,state
103,swap,absent
END
run atwalk annotate tasks.kdump lackey.txt --task thp --format csv --columns pid,task,state
out <<'END'
pid,task,state
99,thp,present
END

t "what the profiler saw: weight, source of the data, TLB, its own physical address"
cat >mem.txt <<'END'
 thp 99/99 [002] 546.882384: 1000 cpu/mem-loads,ldlat=30/P:     7ff0f2a12345     10650100842 |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L2 miss|LCK No|BLK  N/A               144           401010 f+0x1 (/init)      23456345 2M
END
run atwalk annotate tasks.kdump mem.txt --format csv \
	--columns address,events,weight,cache,tlb,ip,symbol,time_ns,cpu,tid,physical,page,sampled_physical,sampled_page
out <<'END'
address,events,weight,cache,tlb,ip,symbol,time_ns,cpu,tid,physical,page,sampled_physical,sampled_page
0x00007ff0f2a12345,1000,144,L3,miss,0x0000000000401010,f+0x1,546882384000,2,99,0x0000000002a12345,2097152,0x0000000023456345,2097152
END

# ---- sums ----

# Loads that RAM answered, those of the TLB's misses with higher weights: of a large page, of
# small ones in a block of an area, in an area smaller than a block, at the edge of one, and
# of no page.
ln -s "$data/samples.perf" samples.perf

t "--summary: by area and page size, and what large pages would avoid"
run atwalk annotate tasks.kdump samples.perf --summary
golden annotate-summary

t "--summary as rows"
run atwalk annotate tasks.kdump samples.perf --summary --format csv --columns pid,area_address,page,state,samples,events,share,tlb_misses,why
golden annotate-summary-rows

t "--summary without what a TLB did: events count"
run atwalk annotate tasks.kdump mixed.csv --summary --filter 'why=possible'
yes grep -q '^10 events: 3 (30%) on 4K pages, 3 (30%) on 2M pages, 4 (40%) on pages of unknown size, or on none$' "$work/log/out"

t "--summary of a capture: which areas may have large pages is not known"
run atwalk annotate tasks.cap samples.perf --summary
yes grep -q '^large pages: the source does not say which areas may have them$' "$work/log/out"

t "--summary of counts that sum to more than 64 bits: refused, and no wrong number"
for period in 9223372036854775807 9223372036854775808 1; do
	sed "s/ 1000 cpu/ $period cpu/" mem.txt
done >half.txt
head -n 2 half.txt >fits.txt
run atwalk annotate tasks.kdump fits.txt --summary --format csv --columns events
yes grep -qx 18446744073709551615 "$work/log/out"
run atwalk annotate tasks.kdump half.txt --summary --format csv --columns events
status 4
out <<<events
err_is 'atwalk: *counts or weights sum to more than 2^64-1'

# ---- no places ----

t "absent is no failure; processes that are not in the source are"
printf 'pid,addr\n1,0x10\n' >absent.csv
run atwalk annotate tasks.kdump absent.csv --format csv --columns state
out <<<$'state\nabsent'
printf 'pid,addr\n5000,0x401000\n2,0x401000\n0,0x401000\n1,0x401000\n' >gone.csv
run atwalk annotate tasks.kdump gone.csv --format csv --columns pid,state
status 4
err_has "there is no process or thread 5000"
err_has "process 2 is a kernel thread"
err_has "process 0 is the idle task"
err_has "3 addresses are of processes that are not in it"
out <<'END'
pid,state
5000,
2,
0,
1,present
END

t "lost, excluded, bad: each by its name"
atwalk extract -q --pages -o whole.elf tasks.kdump >/dev/null
# entry LEVEL ADDRESS: where the entry of that level lies.
entry() {
	atwalk walk --pid 99 -p --format csv --columns level,entry_at whole.elf "$2" |
		sed -n "s/^$1,0x//p"
}
offset=$((16#$(poke whole.elf 'task:99.task_struct.mm*.mm_struct.pgd*') -
	16#$(atwalk ps --format csv --columns root --filter pid=99 tasks.kdump | sed -n 's/^0x//p')))
cp whole.elf bad.elf
# Bits 13 to 20 of an entry of a large page are reserved.
yes poke bad.elf "$(printf %x $((16#$(entry PMD 7ff0f2a00000) + offset)))" e720
printf 'pid,addr\n99,0x7ff0f2a00000\n99,0x7ff0f2e00000\n99,0x402000\n' >three.csv
run atwalk annotate bad.elf three.csv --format csv --columns address,state
out <<'END'
address,state
0x00007ff0f2a00000,bad
0x00007ff0f2e00000,present
0x0000000000402000,present
END
page=$((16#$(entry PTE 7ff0f2e00000) & ~4095))
run redump whole.elf kdump-none excluded.kd --exclude-range "$(printf '%x-%x' $page $((page + 4096)))"
run atwalk annotate excluded.kd three.csv --format csv --columns address,state
status 4
err_has "excluded.kd: cannot read the page tables of 1 address (0 lost, 1 excluded, 0 unstable)"
out <<'END'
address,state
0x00007ff0f2a00000,present
0x00007ff0f2e00000,excluded
0x0000000000402000,present
END
cp whole.elf lost.elf
yes poke lost.elf "$(printf %x $((16#$(entry PMD 7ff0f2e00000) + offset)))" 67f0ffff7f000000
run atwalk annotate lost.elf three.csv --format csv --columns address,state
status 4
err_has "cannot read the page tables of 1 address (1 lost, 0 excluded, 0 unstable)"
out <<'END'
address,state
0x00007ff0f2a00000,present
0x00007ff0f2e00000,lost
0x0000000000402000,present
END

t "addresses of the kernel, where the source has none of its tables"
printf 'pid,addr\n1,0xffffffffab21aa40\n1,0x401000\n' >kernel.csv
run atwalk annotate tasks.cap kernel.csv --format csv --columns address,state
status 4
err_has "cannot look up 1 address of the kernel"
out <<'END'
address,state
0xffffffffab21aa40,
0x0000000000401000,present
END

# ---- bad input ----

t "lines that cannot be parsed: one sentence each, the others are rows"
{
	printf 'pid,addr\n1,0x401000\n1,zzz\n1\n1,0x12345678123456789\n'
	head -c 20000 /dev/zero | tr '\0' 7
	printf '\n99999999999,0x1\n1,0x402000\n'
} >bad.csv
run atwalk annotate tasks.kdump bad.csv --format csv --columns line,address
status 4
err <<'END'
atwalk: bad.csv: line 3: 'zzz' is not an address: decimal or with 0x
atwalk: bad.csv: line 4 has 1 of 2 fields
atwalk: bad.csv: line 5: '0x12345678123456789' is not an address: decimal or with 0x
atwalk: bad.csv: line 6 has 20000 bytes, more than 16384
atwalk: bad.csv: line 7: '99999999999' is not the number of a process
atwalk: bad.csv: cannot parse 5 lines
END
out <<'END'
line,address
2,0x0000000000401000
8,0x0000000000402000
END

t "very many of them: the first ones are said, all are counted"
{
	echo pid,addr
	for i in {1..1000}; do echo 1,x; done
} >many.csv
run atwalk annotate tasks.kdump many.csv
status 4
err_has "many.csv: cannot parse 1000 lines"
yes [ "$(wc -l <"$work/log/err")" -le 12 ]

t "a file of no known format, an empty one, bytes, and none"
echo 'Dear reader' >letter
run atwalk annotate tasks.kdump letter
status 3
no_out
err_has "letter: the first lines have no known format"
err_has "specify its form: --input perf, csv, lackey or dynamorio"
: >empty
run atwalk annotate tasks.kdump empty
status 3
err <<<"atwalk: empty: it contains no line"
head -c 300000 /dev/zero | tr '\0' 7 >long
run atwalk annotate tasks.kdump long
status 3
err_has "atwalk: long: line 1 has more than 16384 bytes"
run atwalk annotate tasks.kdump whole.elf
status 3
err_has "whole.elf: is not text: it has bytes that are 0"
run atwalk annotate tasks.kdump missing.txt
status 3
err_is "atwalk: cannot open 'missing.txt': No such file or directory"

t "columns and fields that are not there"
printf 'pid,value\n1,2\n' >none.csv
run atwalk annotate tasks.kdump none.csv
status 3
err_has "none.csv: the head has no column with a common name of addresses, such as address or addr"
err_has "--address-column NAME"
run atwalk annotate tasks.kdump none.csv --address-column there
status 2
err_has "none.csv: the head has no column 'there'"
run atwalk annotate tasks.kdump fields.txt --input perf --fields pid,ip
status 3
err_has "fields.txt: the fields have no addr"
run atwalk annotate tasks.kdump fields.txt --input perf --fields pid,color
status 2
err_has "unknown field 'color' of perf script"
run atwalk annotate tasks.kdump mixed.csv --fields addr
status 2
err_has "fields can only be named for 'perf script'"
run atwalk annotate tasks.kdump mixed.csv --input pin
status 2
err_has "pin"

t "a profile without data addresses"
echo ' init 1 1.000001: 1 cycles:u:  401010 main+0x10 (/init)' >code.txt
run atwalk annotate tasks.kdump code.txt
status 1
err_has "code.txt: there is no address in 1 line"
err_has "record data addresses with"

t "an address of an unknown process"
printf ' L 401000,8\n' >nobody.txt
run atwalk annotate tasks.kdump nobody.txt
status 2
err_has "nobody.txt: line 1: 0x401000 is a user-space address of an unknown process"
err_has "specify its process with --pid N"

t "words that are missing or too many"
run atwalk annotate
status 2
err_has "SOURCE is missing"
run atwalk annotate tasks.kdump mixed.csv more
status 2
err_has "too many arguments; expected SOURCE and FILE"

finish
