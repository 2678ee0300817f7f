#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pages, ps, find, map and info read captures: captures written by hand, the figure of the
# LPMA paper, truncated, damaged and hostile ones; and a capture of a process that this test
# starts and stops, where all rows equal those of live:pagemap.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

all=pid,address,end,size,physical,rights,state,flags,entry,node,count,kcount,swap,pageflags,order

# One of each: a large page with differing frames, one page many times, swap with a known
# and an unknown slot, states, areas in parts, and pages outside of areas.
cat >all.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: way, kcore
H: begun, 1732132226.25
H: machine, x86_64
H: release, 6.12.1
H: cpus, 4
H: bits, 6D2
R: 00001000, 7FFFFFFF, System RAM, node=0
R: 80000000, FFFFFFFF, System RAM, node=1
S: 0, 8191, 323, /dev/vda2
T: kthreadd, 2, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=2, ppid=0
T: app, 10, 0000000A, 0, 0, 0, 0, 0, 0, 0, tgid=10, ppid=1
V: 00400000, 00403FFF, 00004000, 00003000, -, 00000075, /bin/app, dev=FE:1, inode=7
P: 3, 3, 3, 2, 1
M: 00400000*2=00100212, 1, 0000086C, refs=1 | 00403000=80000612, 3, 0000086C, refs=2 |
V: 00600000, 009FFFFF, 00400000, 00201000, -, 00000073, NULL, more=1
P: 513, 0, 0, 513, 0, huge=512
M: 00600000=00200052, 1, 00409828, order=9, folio=9 | 00601000*511=00201052, 1, 00411800, order=9, folio=9 |
M: 00900000=00500452, 1, 00005828, raw=8000000000500067 |
V: 00A00000, 00BFFFFF, 00200000, 00000000, -, 00000073, NULL
P: 0, 0, 0, 0, 0, swap=3
M: 00A00000*2=00000000, -, -, swap=0:10 | 00A02000=00000000, -, -, swap=5:10 |
M: 00A04000*4=00000000, -, -, state=guard | 00A08000=00000000, -, -, state=migration |
M: 00A09000=00000000, -, -, state=poison | 00A0A000=00000000, -, -, state=private | 00A0B000=00000000, -, -, state=marker |
V: 7F0000000000, 7F0000003FFF, 00004000, 00004000, -, 00000071, [heap]
P: 4, 0, 4, 0, 4
M: 7F0000000000*3=00009012, 0, 01000000, refs=9, state=zero, same=1 | 7F0000003000=00006002, -, - |
V: 7F0000010000, 7F0000010FFF, 00001000, 00001000, -, -, NULL
P: 1, 0, 0, 0, 0
M: 7F0000010000=00600052, -, - |
V: 7FFF00000000, 7FFF00001FFF, 00002000, 00001000, -, 000000FB, /dev/fb0, shared=1
P: 1, 0, 0, 0, 0
M: 7FFF00000000=F0000000052, -, -, state=device |
T: app, 11, 0000000A, 0, 0, 0, 0, 0, 0, 0, tgid=10
T: twin, 12, 0000000A, 0, 0, 0, 0, 0, 0, 0, tgid=12
T: other, 20, 00000014, 0, 0, 0, 0, 0, 0, 0, tgid=20
L: 20, page table, the source does not have it, start=7000, last=7FFF
V: 00005000, 00008FFF, 00004000, 00001000, 00000212, -, odd\040name
P: 1, 1, 1, 0, 1
M: 00005000=80000212, 3, 0000086C, refs=2 |
L: 20, struct pages, one of them is damaged
E: 42, 5, 7, 2
END

t "every row of a capture"
run atwalk pages all.cap --pid 10 --columns $all
golden capture-pages
run atwalk pages all.cap --pid 10 --all --filter 'address>=0x600000 and address<0x604000' --format csv --columns address,size,physical,kcount,pageflags,order
out <<'END'
address,size,physical,kcount,pageflags,order
0x0000000000600000,4096,0x0000000000200000,1,"UPTODATE,LRU,MMAP,ANON,COMPOUND_HEAD,THP",9
0x0000000000601000,4096,0x0000000000201000,1,"MMAP,ANON,COMPOUND_TAIL,THP",9
0x0000000000602000,4096,0x0000000000202000,1,"MMAP,ANON,COMPOUND_TAIL,THP",9
0x0000000000603000,4096,0x0000000000203000,1,"MMAP,ANON,COMPOUND_TAIL,THP",9
END

t "areas and their totals"
run atwalk pages all.cap --areas-only --pid 10
golden capture-areas
run atwalk pages all.cap --totals --pid 10
golden capture-totals

t "--progress: a capture is read before it is listed"
for command in 'ps all.cap' 'info all.cap' 'pages all.cap' 'map all.cap --pid 10' 'find all.cap 100000'; do
	read -ra words <<<"$command"
	run atwalk "${words[@]}" --progress
	said_status=1
	err_has 'atwalk: all.cap: 1 tasks'
	run atwalk "${words[@]}" --progress -q
	said_status=1 said_err=1
	yes [ "$(grep -c ' tasks$' "$work/log/err")" = 0 ]
done

t "tasks that share an address space have the same areas"
run atwalk pages all.cap -q --areas-only --pid 10 --format csv --columns address,mapped
cp "$work/log/out" want
for pid in 11 12; do
	run atwalk pages all.cap -q --areas-only --pid $pid --format csv --columns address,mapped
	same "$work/log/out" want
done

t "pages that were unreadable at capture time are reported as lost"
run atwalk pages all.cap --task other
status 4
golden capture-lost
err <<'END'
atwalk: all.cap: when the capture was taken, process 20: struct pages: one of them is damaged
atwalk: all.cap: when the capture was taken, process 20: page table at 0x7000: the source does not have it
atwalk: all.cap: cannot determine what is in 1 range
END

t "all processes"
run atwalk pages all.cap --format csv --group pid
status 4
out <<'END'
pid,count,size
10,25,6336512
12,25,6336512
20,4,16384
END
said_err=1

t "a part of an address space begins in the middle of a large page"
run atwalk pages all.cap --pid 10 --address 654321 --columns address,size,physical,pageflags --format csv
out <<'END'
address,size,physical,pageflags
0x0000000000600000,2097152,0x0000000000200000,"UPTODATE,LRU,MMAP,ANON,COMPOUND_HEAD,THP"
END
run atwalk pages all.cap --pid 10 --all --address 654321 --columns address,size,physical,pageflags --format csv
out <<'END'
address,size,physical,pageflags
0x0000000000654000,4096,0x0000000000254000,"MMAP,ANON,COMPOUND_TAIL,THP"
END
run atwalk pages all.cap --pid 10 600000+8K 402000-404000 --columns address,size,physical,state --format csv
out <<'END'
address,size,physical,state
0x0000000000600000,8192,0x0000000000200000,present
0x0000000000402000,4096,,absent
0x0000000000403000,4096,0x0000000080000000,present
END

# $1: lines to insert between the H: lines and the tasks.
denied() {
	printf 'H: atwalk-capture, 1\nH: page, 4096\n%sT: app, 10, 10, 0, -, -, -, -, -, -, tgid=10\n' "$1"
	printf 'V: 00400000, 00400FFF, 00001000, 00001000, -, 00000075, /bin/app\nM: 00400000=80000612, 1, 0000086C, refs=1 |\n'
	printf 'E: %s, 1, 1, %s\n' "$2" "$3"
}

t "H: unsized: page sizes are unknown, everything else is known"
sed 's/^E: 144,/H: unsized, 3\nE: 145,/' "$data/captures/server.cap" >unsized.cap
run atwalk report use unsized.cap --format csv --columns pid,rss,huge,thp_anon,thp_shmem,thp_file,hugetlb
out <<'END'
pid,rss,huge,thp_anon,thp_shmem,thp_file,hugetlb
100,163840,,,,,0
110,118784,,,,,0
END
run atwalk pages --totals unsized.cap --format csv --columns pid,rss,pss,huge,thp_anon,hugetlb
out <<'END'
pid,rss,pss,huge,thp_anon,hugetlb
100,163840,108544,,,0
110,118784,73728,,,0
END

t "--allow-unreadable: unreadable processes do not make the result partial"
denied $'L: 0, 1 of 2 processes, this process may not read them, denied=1\n' 6 1 >denied.cap
for command in pages 'pages --totals' ps 'report use' collect; do
	# shellcheck disable=SC2086 # a command with its options
	run atwalk $command denied.cap
	status 4
	case $command in
	pages | ps) err_has 'atwalk: denied.cap: when the capture was taken, 1 of 2 processes: this process may not read them' ;;
	esac
	said_err=1
	cp "$work/log/out" without
	# shellcheck disable=SC2086 # likewise
	run atwalk $command denied.cap --allow-unreadable
	err_is 'atwalk: denied.cap: *1 of 2 processes could not be read: this process may not read them'
	case $command in
	collect) yes grep -q '^L: 0, 1 of 2 processes, this process may not read them, denied=1$' "$work/log/out" ;;
	*) yes grep -q '^left out: .*1 of 2 processes, which could not be read$' "$work/log/out" ;;
	esac
	sed -i '/^left out: /d; /read errors\{0,1\}: see standard/d; /^$/d' "$work/log/out" without
	same "$work/log/out" without
done

t "--allow-unreadable: other read errors do"
denied $'L: 0, 1 of 2 processes, this process may not read them, denied=1\nL: 10, areas, it is damaged\n' 7 2 >damaged.cap
for command in 'pages --totals' ps 'report use' collect; do
	# shellcheck disable=SC2086 # likewise
	run atwalk $command damaged.cap --allow-unreadable
	status 4
	err_has 'could not be read: this process may not read them'
done

t "tasks"
run atwalk ps all.cap --columns pid,tgid,ppid,task,state,mm,root,resident,resident_small,resident_large,page_sizes,lost,kind -T
status 4
golden capture-ps
said_err=1
run atwalk ps all.cap 12 --format csv --columns pid,task,resident
out <<'END'
pid,task,resident
12,twin,2121728
END
run atwalk ps all.cap 99
status 1
no_out_rows() { yes [ "$(grep -c twin "$work/log/out")" = 0 ]; }
no_out_rows
err <<'END'
atwalk: all.cap: there is no process or thread 99
END

t "find: the mappings of a frame"
run atwalk find all.cap 80000123 --format csv --columns pid,task,address,end,size,physical,rights,state,area,times,processes,level,entry
status 4
out <<'END'
pid,task,address,end,size,physical,rights,state,area,times,processes,level,entry
10,app,0x0000000000403123,0x0000000000404000,4096,0x0000000080000123,r-xu,present,/bin/app,1,"10,12",,
20,other,0x0000000000005123,0x0000000000006000,4096,0x0000000080000123,r-xu,present,odd name,1,20,,
END
said_err=1
run atwalk find all.cap --pid 10 200000+2M 9000 6000 --format csv --columns address,size,page,pages,state,times,stride,area
out <<'END'
address,size,page,pages,state,times,stride,area
0x0000000000600000,2097152,2097152,1,present,1,,""
0x00007f0000000000,4096,4096,1,present,3,4096,[heap]
0x00007f0000003000,4096,,1,protnone,1,,[heap]
END
run atwalk find all.cap --pid 10 700000
status 1
run atwalk find all.cap --pid 10 700000000
status 1
err_has "all.cap: 700000000 is not part of its memory"

t "find: other mappings of the frame at an address of a process"
run atwalk find all.cap 80000123 --format csv --columns pid,address,physical
status 4
said_err=1
cp "$work/log/out" by-frame
run atwalk find all.cap --pid 10 --virtual 403123 --format csv --columns pid,address,physical
status 4
err_has "atwalk: all.cap: 403123 is at physical 0x80000123"
same "$work/log/out" by-frame
run atwalk find all.cap --pid 10 --virtual 402000 --format csv --columns pid
status 1
out <<'END'
pid
END
err_has 'atwalk: all.cap: 402000 is not mapped by process 10 (app)'
run atwalk find all.cap --virtual 403123
status 2
no_out
err <<'END'
atwalk: '403123' is a user-space address: specify a process with --pid or --task
END
run atwalk find all.cap ffffffff81000000
status 3
no_out
err_has 'ffffffff81000000: is a kernel address, and a capture records those of processes only'

t "map: one process"
run atwalk map all.cap --pid 10 --columns address,end,size,physical,page,pages,rights,state,area,node
golden capture-map
run atwalk map all.cap --pid 20
status 4
err_has "page table at 0x7000"

t "info"
run atwalk info all.cap
golden capture-info
run atwalk info all.cap --pid 12
yes grep -q '^process *12 (twin)$' "$work/log/out"

t "by name, prefix, pipe, zstd"
run atwalk pages all.cap --pid 10 --columns $all
cp "$work/log/out" want
run atwalk pages capture:all.cap --pid 10 --columns $all
same "$work/log/out" want
# shellcheck disable=SC2002 # a pipe is meant
cat all.cap | atwalk pages - --pid 10 --columns $all >got
same got want
run atwalk pages <(cat all.cap) --pid 10 --columns $all
same "$work/log/out" want
run atwalk pages capture:x86.elf
status 3
err_is "atwalk: x86.elf: not a capture: its first line is neither *"
run atwalk pages capture:none.cap
status 3
err_has "none.cap"
if grep -q '^  found:.* zstd' "$built/found.txt"; then
	run atwalk collect --zstd -o all.zst all.cap
	said_status=1 said_err=1
	for words in "--pid 10 --columns $all" "-q --areas-only" "--totals"; do
		# shellcheck disable=SC2086 # words
		run atwalk pages all.cap $words
		said_status=1 said_err=1
		cp "$work/log/out" want
		# shellcheck disable=SC2086
		run atwalk pages all.zst $words
		said_status=1 said_err=1
		same "$work/log/out" want
	done
	run atwalk info all.zst
	yes grep -q '^format *capture, version 1, packed by zstd$' "$work/log/out"
fi

t "commands that need page tables end with one error"
for words in 'walk 400000' 'walk 400000 --pid 10' 'map' 'extract -o x.elf' 'walk init_task' \
	'map --large --pid 10' 'map --depth 1 --pid 10' 'ps --kernel vmlinux' \
	'pages --root 1000 --paging x86_64-4' 'find --cpu 0 1000' 'info --root 1000'; do
	read -ra words <<<"$words"
	command=${words[0]}
	case $command in
	walk | find) run atwalk "$command" all.cap "${words[@]:1}" ;;
	*) run atwalk "${words[@]}" all.cap ;;
	esac
	no_out
	case ${words[*]} in
	map) status 2; err_has "specify a process: the kernel's own pages are not known" ;;
	*) status 3; err_has "all.cap: is a capture: it records only which pages processes had" ;;
	esac
done
run atwalk pages all.cap --watch 1
status 2
err_has "--watch: all.cap is a capture, not a live source"
run atwalk pages all.cap --pid 10 --freeze
status 2
err_has "--freeze: all.cap is a capture, not a live source"
run atwalk pages all.cap --rate 1M
status 2
err_has "--rate: all.cap is a capture"
run atwalk map all.cap --pid 10 ffffffff81000000
status 3
err_has "all.cap: ffffffff81000000: is a kernel address, and a capture records those of processes only"

t "process selection"
run atwalk pages all.cap --pid 2
status 1
err_has "all.cap: process 2 is a kernel thread or has ended"
run atwalk pages all.cap --pid 99
status 1
err_has "all.cap: there is no process 99"
run atwalk pages all.cap --pid 99999999999
status 1
err_has "there is no process 99999999999"
run atwalk pages all.cap --task absent
status 1
err_has "there is no process named 'absent'"
# The unreadable line may have been that process.
sed 's/^T: twin, 12,/T: twin, x,/' all.cap >torn.cap
run atwalk pages torn.cap --pid 12
status 3
err_has "torn.cap: there is no process 12"
run atwalk pages torn.cap --task twin
status 3
err_has "there is no process named 'twin'"
cp all.cap two.cap
sed -i 's/^T: twin/T: app/' two.cap
run atwalk pages two.cap --task app
status 1
err_has "2 processes are named 'app': 10 (app), 12 (app)"
run atwalk info two.cap --task app
status 1
no_out
err_has "2 processes are named 'app': 10 (app), 12 (app)"

# ---- LPMA captures ----

t "Figure 1 of the LPMA paper"
run atwalk pages "$data/paper-figure1.txt"
status 4
golden capture-paper
err_has "process 1: 0xfe94000-0xffb1000: 85 of 93 pages that are in memory are not recorded"
run atwalk find "$data/paper-figure1.txt" 25b0000 --format csv --columns pid,task,address,rights,area
status 4
out <<'END'
pid,task,address,rights,area
19,tiny_sys,0x000000000fc44000,r-xu,/lib/
END
said_err=1
run atwalk ps "$data/paper-figure1.txt" --format csv --columns pid,task,mm,resident,lost,kind,tgid
status 4
out <<'END'
pid,task,mm,resident,lost,kind,tgid
0,swapper,,,,kernel,
1,init,0x00000000c018c0a0,81920,1,process,
2,keventd,,,,kernel,
3,ksoftirq,,,,kernel,
19,tiny_sys,0x00000000c018c2a0,20480,0,process,
END
said_err=1

t "pages that lead to one page are one range, as with page tables"
cat >same.cap <<'END'
H: atwalk-capture, 1
T: a, 7, 00000001, 0, 0, 0, 0, 0, 0, 0, tgid=7
V: 00400000, 00404FFF, 00005000, 00005000, -, 00000071, NULL
M: 00400000=00005452, 3, 00000000 | 00401000=00005452, 3, 00000000 | 00402000=00005452, 3, 00000000 | 00403000=00006452, 1, 00000000 | 00404000=00007452, 1, 00000000 |
E: 4, 1, 1, 0
END
run atwalk map same.cap --pid 7 --format csv --columns address,size,physical,flags
out <<END
address,size,physical,flags
0x0000000000400000,12288,0x0000000000005000,"accessed,same-page"
0x0000000000403000,8192,0x0000000000006000,accessed
END
run atwalk map same.cap --pid 7 --format csv --columns address --filter same-page
yes [ "$(wc -l <"$work/log/out")" = 2 ]

# ---- truncated and damaged captures ----

# The file is cut after each line; everything before the cut is listed as before.
t "truncated after each line"
lines=$(wc -l <all.cap)
atwalk pages all.cap --format csv --columns pid,address,size,state >want 2>"$work/log/cut"
for ((i = 12; i < lines; i++)); do
	head -n $i all.cap >cut.cap
	run atwalk pages cut.cap --format csv --columns pid,address,size,state
	status 4
	err_has "no E: line: cut off behind line $i"
	# Rows that the complete capture lacks describe unknown pages.
	grep -vxFf want "$work/log/out" | grep -v ',lost$' | grep -v ',absent$' >others
	yes [ ! -s others ]
done
head -n 23 all.cap >cut.cap
run atwalk pages cut.cap --pid 10 --format csv --columns address,end,state --filter 'address>=0xa00000'
status 4
out <<'END'
address,end,state
0x0000000000a00000,0x0000000000a01000,swap
0x0000000000a01000,0x0000000000a02000,swap
0x0000000000a02000,0x0000000000a03000,swap
0x0000000000a03000,0x0000000000c00000,lost
END
said_err=1
run atwalk info cut.cap
status 4
yes grep -q '^complete *no: see standard error$' "$work/log/out"
said_err=1

t "truncated after each byte of a line"
for ((i = 1200; i < 1400; i += 7)); do
	head -c $i all.cap >cut.cap
	for command in 'pages' 'ps' 'find' 'info' 'pages -q --areas-only' 'map --pid 10'; do
		read -ra words <<<"$command"
		[ "${words[0]}" != find ] || words=(find --filter 'size>0')
		if [ "${words[0]}" = find ]; then run atwalk "${words[@]}" cut.cap 100000
		else run atwalk "${words[@]}" cut.cap; fi
		status 4
		said_err=1
	done
done

t "invalid lines and runs"
bad_line() {
	sed "$1" all.cap >bad.cap
	run atwalk pages bad.cap --pid 10 --format csv --columns address,end,state --filter "$2"
	status 4
	err_has "bad.cap: "
	err_has "$3"
	[ -z "$4" ] || yes [ "$(sed 1d "$work/log/out" | head -n 1)" = "$4" ]
}
bad_line '16s/00403000=/00999000=/' 'address>=0x400000' 'line 16: M: 999000: 1 pages: not within the area' \
	'0x0000000000400000,0x0000000000401000,present'
bad_line '16s/00403000=/00999000=/' 'address>=0x402000' 'line 16' \
	'0x0000000000402000,0x0000000000404000,lost'
bad_line '14s/00403FFF/00403FFE/' 'address<0x600000' 'line 14: V: 400000 to 403FFE' ''
bad_line '19s/.*/X: what is this/' 'address>=0x500000' 'line 19' \
	'0x0000000000600000,0x0000000000a00000,lost'
bad_line '12s/tgid=2/tgid=99999999999/' 'address=0x400000' \
	'line 12: T: tgid is 99999999999, which no task has' '0x0000000000400000,0x0000000000401000,present'
bad_line '13s/, 10,/, 4294967296,/;s/, 12,/, 10,/' 'address=0x400000' \
	'line 13: T: pid is 4294967296, which no task has' ''

t "hostile"
# A page that is larger than all memory; one in parts with gaps.
sed 's/order=9, folio=9/order=52, folio=52/g' all.cap >bad.cap
run atwalk pages bad.cap --pid 10 600000+4K --columns address,size,physical --format csv
out <<'END'
address,size,physical
0x0000000000600000,4096,0x0000000000200000
END
sed 's/00601000\*511=00201052/00601000*100=00201052/; s/00201000, -, 00000073/00066000, -, 00000073/' all.cap >bad.cap
run atwalk pages bad.cap --pid 10 600000-900000 --columns address,size,physical,state --format csv
out <<'END'
address,size,physical,state
0x0000000000600000,413696,0x0000000000200000,present
0x0000000000665000,2732032,,absent
END
# Endless pages: totals do not visit them one by one.
cat >bad.cap <<'END'
H: atwalk-capture, 1
T: big, 1, 00000001, -, -, -, -, -, -, -
V: 00000000, 3FFFFFFFFFFFFFFF, 4000000000000000, 4000000000000000, -, 00000073, NULL
P: 1125899906842624, 0, 0, 0, 0
M: 00000000*1125899906842624=00001012, -, -, same=1 |
E: 5, 1, 1, 0
END
run timeout $limit "$O/atwalk" pages bad.cap -q --areas-only --format csv --columns size,mapped
out <<'END'
size,mapped
4611686018427387904,4611686018427387904
END
run timeout $limit "$O/atwalk" pages bad.cap --totals --format csv --columns rss,mapped,pss,task
out <<'END'
rss,mapped,pss,task
4611686018427387904,4611686018427387904,,big
END
run timeout $limit "$O/atwalk" ps bad.cap --format csv --columns pid,resident
out <<'END'
pid,resident
1,4611686018427387904
END
run timeout $limit "$O/atwalk" find bad.cap 5000
status 1
# More holes than a real process has, in no order.
{
	printf 'H: atwalk-capture, 1\nT: holes, 1, 00000001, -, -, -, -, -, -, -\n'
	for ((i = 5000; i > 0; i--)); do
		printf 'L: 1, page table, gone, start=%X, last=%X\n' $((i * 8192)) $((i * 8192 + 4095))
	done
	printf 'V: 00000000, 0FFFFFFF, 10000000, 00000000, -, 00000073, NULL\nP: 0, 0, 0, 0, 0\nE: 5004, 1, 1, 5000\n'
} >bad.cap
run timeout $limit "$O/atwalk" pages bad.cap --format csv --group state
status 4
err_has "when the capture was taken, process 1: page table at 0x2710000: gone"
# 4096 of them are stored; beyond them the pages between holes are unknown, too.
out <<'STATES'
state,count,size
absent,4097,244252672
lost,4096,24182784
STATES
# The permissions of the area and its owner are missing.
sed '14s/-, 00000075/-, -/' all.cap >bad.cap
run atwalk pages bad.cap --pid 10 400000+4K
yes grep -qx '10 app: /bin/app 0x0000000000400000-0x0000000000404000 16K ????' "$work/log/out"
run atwalk pages bad.cap --pid 10 -q --areas-only 400000+4K --format csv --columns address,rights
out <<'AREA'
address,rights
0x0000000000400000,
AREA
printf '\x28\xb5\x2f\xfd nonsense' >bad.zst
run atwalk pages bad.zst
status 3
err_has "bad.zst: "
printf 'H: atwalk-capture, 2\nT: a, 1, 00000001, -, -, -, -, -, -, -\n' >bad.cap
run atwalk pages bad.cap
status 3
err_has "version 2, and this program reads version 1"

# ---- a dump and its capture ----

t "a capture of a dump has the rows of the dump"
if ! grep -q '^  found:.* zstd' "$built/found.txt"; then skip "this build has no zstd"; else
	run atwalk collect --raw -o dump.cap tasks.kdump
	for words in '' --all '-q --columns +rights' --totals; do
		shown=()
		case $words in
		'' | --all) shown=(--columns "pid,task,address,end,size,physical,rights,state,count,kcount,swap,pageflags,area") ;;
		esac
		# shellcheck disable=SC2086 # words
		run atwalk pages tasks.kdump $words "${shown[@]}" --format csv
		cp "$work/log/out" want
		# shellcheck disable=SC2086
		run atwalk pages dump.cap $words "${shown[@]}" --format csv
		same "$work/log/out" want
		yes [ "$(wc -l <want)" -gt 20 ]
	done
	run atwalk ps tasks.kdump --columns pid,tgid,ppid,task,resident,resident_small,resident_large,page_sizes --sort pid --format csv
	cp "$work/log/out" want
	run atwalk ps dump.cap --columns pid,tgid,ppid,task,resident,resident_small,resident_large,page_sizes --sort pid --format csv
	same "$work/log/out" want
	columns=pid,task,address,end,size,physical,page,pages,rights,state,area,times,stride,processes
	run atwalk find tasks.kdump 0-10000000 --all --columns $columns --format csv --filter 'pid>0 and state!=table'
	said_err=1
	cp "$work/log/out" want
	run atwalk find dump.cap 0-10000000 --all --columns $columns --format csv
	same "$work/log/out" want
	run atwalk map tasks.kdump --task thp --format csv --columns address,end,size,physical,page,pages,rights,state,area
	cp "$work/log/out" want
	run atwalk map dump.cap --task thp --format csv --columns address,end,size,physical,page,pages,rights,state,area
	same "$work/log/out" want
fi

# ---- a stopped process ----

why=''
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
cat >child.py <<'END'
import ctypes, sys
from live_memory import *

libc.prctl(1, 9)                 # ends with its parent
touch(area('pages', 2 * M), 2 * M)
touch(area('every-other', M), M, 2 * PAGE)
area('untouched', M)
large = area('large', 4 * M, HUGE, align=2 * M)
touch(large, 4 * M)
zero = area('zero', M)
for a in range(zero, zero + M, PAGE):
    ctypes.c_uint64.from_address(a).value
none = area('protnone', M)
touch(none, M)
libc.mprotect(none, M, 0)
guard = area('guarded', M)
touch(guard, M)
libc.madvise(guard + 16 * PAGE, 16 * PAGE, GUARD)
print('READY', flush=True)
sys.stdin.read()
END
start() {
	mkfifo in from
	python3 child.py <in >from 2>"$work/log/child" &
	child=$!
	exec 8>in 9<from
	while read -r -t "$limit" -u 9 line && [ "$line" != READY ]; do :; done
	[ "$line" = READY ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
	kill -STOP "$child"
}
[ -n "$why" ] || start

# Other processes start and end meanwhile and map the same libraries and the zero page.
shared() { sed 's/exclusive,file/file/; s/"file"/file/' "$1"; }
ours() { python3 -c '
import csv, sys
GONE = ("REFERENCED", "ACTIVE", "IDLE")
for row in csv.DictReader(sys.stdin):
    if "ANON" not in row.get("pageflags", ""):
        row["count"] = row["kcount"] = row["pageflags"] = "-"
        row["flags"] = row["flags"].replace("exclusive,", "")
    row["pageflags"] = ",".join(f for f in row["pageflags"].split(",") if f not in GONE)
    print(";".join(row.values()))'; }

t "a stopped process: every row is the same as with live:pagemap"
if [ -n "$why" ]; then skip "$why"; else
	columns=pid,task,address,end,size,physical,rights,state,flags,count,kcount,swap,pageflags,node,area
	for try in 1 2 3; do
		run atwalk collect --raw --pid "$child" -o live.cap live:pagemap
		said_err=1
		run atwalk pages live:pagemap --pid "$child" --columns $columns --format csv
		said_err=1
		ours <"$work/log/out" | grep -v '\[vvar' >want
		run atwalk pages live.cap --pid "$child" --columns $columns --format csv
		# /proc has no pagemap entries for [vsyscall] and [vvar], so these runs have no facts.
		ours <"$work/log/out" | grep -v '\[vsyscall\]\|\[vvar' >got
		cmp -s got want && break
		echo "note - pages moved, try $try: $(diff got want | sed -n 2p)"
	done
	same got want
	yes [ "$(wc -l <want)" -gt 2000 ]
	yes grep -q ';protnone;' want
	# The end of a range also depends on the mappings of other processes.
	for command in map "pages -q --areas-only"; do
		for try in 1 2 3 4 5; do
			run atwalk collect --raw --pid "$child" -o live.cap live:pagemap
			said_err=1
			# shellcheck disable=SC2086 # options
			run atwalk $command live:pagemap --pid "$child" --format csv
			said_err=1
			shared "$work/log/out" | grep -v '\[vvar' >want
			# shellcheck disable=SC2086
			run atwalk $command live.cap --pid "$child" --format csv
			shared "$work/log/out" | grep -v 'vsyscall\|\[vvar' >got
			cmp -s got want && break
		done
		same got want
	done
fi

finish
