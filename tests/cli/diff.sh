#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# diff lists exactly the changes between two sources: captures written by hand with a known
# list of changes between them; a dump, its capture and its extract, which do not differ; and
# a process that this test starts, at two moments.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"
trap end EXIT

cat >a.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: machine, x86_64
R: 00000000, 0FFFFFFF, System RAM
S: 0, 1000, 3, /dev/vda2
T: init, 1, 00000010, 0, 0, 0, 0, 0, 0, 0, tgid=1, start=5
V: 00400000, 00401FFF, 00002000, 00002000, -, 00000075, /sbin/init, dev=FE:1, inode=1, offset=0
M: 00400000*2=00100612, 1, 0000006C, refs=1 |
T: app, 10, 00000020, 0, 0, 0, 0, 0, 0, 0, tgid=10, start=100
V: 00400000, 00403FFF, 00004000, 00004000, -, 00000075, /bin/app, dev=FE:1, inode=7, offset=0
M: 00400000*4=00200612, 1, 0000006C, refs=1 |
V: 00600000, 00603FFF, 00004000, 00003000, -, 00100073, /bin/app, dev=FE:1, inode=7, offset=4000
M: 00600000*3=00210412, 1, 0000006C, refs=1 |
V: 01000000, 01003FFF, 00004000, 00002000, -, 00100073, [heap]
M: 01000000*2=00300452, 1, 00005868, refs=1 | 01002000*2=00000000, -, -, swap=0:10 |
V: 7F0000000000, 7F0000001FFF, 00002000, 00001000, -, 00100073, NULL
M: 7F0000000000=00400452, 1, 00005868, refs=1 |
V: 7F0000010000, 7F0000017FFF, 00008000, 00000000, -, 00100073, NULL
P: 0, 0, 0, 0, 0, swap=0, anon=0, file=0, huge=0
T: old, 20, 00000030, 0, 0, 0, 0, 0, 0, 0, tgid=20, start=200
V: 00400000, 00400FFF, 00001000, 00001000, -, 00000075, /bin/old, dev=FE:1, inode=8, offset=0
M: 00400000=00500612, 1, 0000006C, refs=1 |
T: gone, 30, 00000040, 0, 0, 0, 0, 0, 0, 0, tgid=30, start=300
V: 00400000, 00402FFF, 00003000, 00001000, -, 00000075, /bin/gone, dev=FE:1, inode=9, offset=0
M: 00400000=00600612, 1, 0000006C, refs=1 |
END
# The last line of a capture counts the others.
end_capture() {
	sed -i '/^E:/d' "$1"
	echo "E: $(wc -l <"$1"), $(grep -c ^T "$1"), $(grep -c ^V "$1"), $(grep -c ^L "$1")" >>"$1"
}
cp a.cap b0.cap
end_capture a.cap
sed -E '
	# A page of text is elsewhere.
	s/^M: 00400000\*4=00200612.*/M: 00400000=00200612, 1, 0000006C, refs=1 | 00401000=00280612, 1, 0000006C, refs=1 | 00402000*2=00202612, 1, 0000006C, refs=1 |/
	# One of data was written (copied), the last ones were touched, and one was dropped.
	s/^M: 00600000\*3=00210412.*/M: 00600000=00281452, 1, 00005868, refs=1 | 00602000*2=00212412, 1, 0000006C, refs=1 |/
	# The heap has grown by two pages; one page went to swap and one came back.
	s/^V: 01000000.*/V: 01000000, 01005FFF, 00006000, 00003000, -, 00100073, [heap]/
	s/^M: 01000000\*2=00300452.*/M: 01000000=00300452, 1, 00005868, refs=1 | 01001000=00000000, -, -, swap=0:20 | 01002000=00302452, 1, 00005868, refs=1 | 01003000=00000000, -, -, swap=0:11 | 01004000=00303452, 1, 00005868, refs=1 |/
	# An area is gone; the second page of another is no longer writable.
	/^V: 7F0000000000/,/^M: 7F0000000000/d
	s/^(V: 7F00000100)00, .*/\100, 7F0000010FFF, 00001000, 00000000, -, 00100073, NULL\nP: 0, 0, 0, 0, 0\nV: 7F0000011000, 7F0000011FFF, 00001000, 00000000, -, 00100071, NULL\nP: 0, 0, 0, 0, 0\nV: 7F0000012000, 7F0000017FFF, 00006000, 00000000, -, 00100073, NULL/
	# A file is mapped; process 20 is another one, process 30 is gone, and 40 new.
	s/^T: old, 20, (.*) start=200/V: 7F0000020000, 7F0000021FFF, 00002000, 00001000, -, 00000075, \/lib\/new.so, dev=FE:1, inode=11, offset=0\nM: 7F0000020000=00700612, 1, 0000006C, refs=1 |\nT: new, 20, \1 start=900/
	s/^T: gone, 30, (.*) tgid=30/T: later, 40, \1 tgid=40/' b0.cap >b.cap

t "a known list of changes: exactly these; the end of a truncated capture is not known"
run atwalk diff a.cap b.cap --format csv --columns pid,task,address,size,change,before,after,area
status 4
err_has "atwalk: b.cap: no E: line: cut off behind line "
golden diff-changes

t "they differ, and all of it is known: status 1"
end_capture b.cap
run atwalk diff a.cap b.cap --format csv --columns pid,task,address,size,change,before,after,area
status 1
golden diff-changes

t "the other way round: as many rows"
run atwalk diff b.cap a.cap --format csv
status 1
yes [ "$(wc -l <"$work/log/out")" = "$(wc -l <"$cli/golden/diff-changes.txt")" ]
yes [ "$(grep -c 'area-shrunk' "$work/log/out")" = 1 ]

t "as a table"
run atwalk diff a.cap b.cap --pid 10
status 1
golden diff-table

t "--all lists what is in processes and areas of one side"
run atwalk diff --all a.cap b.cap --format csv --columns pid,address,size,change,before,after --filter 'pid=30 or address=7f0000000000 or address=1004000'
status 1
out <<'END'
pid,address,size,change,before,after
10,0x0000000001004000,8192,area-grown,16384,24576
10,0x00007f0000000000,8192,area-unmapped,rw-p,absent
10,0x0000000001004000,4096,page-mapped,absent,0x0000000000303000
10,0x00007f0000000000,4096,page-unmapped,0x0000000000400000,absent
30,,12288,process-ended,present,absent
30,0x0000000000400000,12288,area-unmapped,r-xp,absent
30,0x0000000000400000,4096,page-unmapped,0x0000000000600000,absent
END

t "a filter compares sizes before and after as numbers, whatever the table shows"
for format in plain csv; do
	for each in 'before=16384 1' 'before=16K 1' 'before>=8K 1' 'before<8K 0' 'after>16384 1' \
		'after!=24K 0' 'before<=0x4000 1' 'before=absent 0'; do
		run atwalk diff a.cap b.cap --format "$format" --columns before -q \
			--filter "change=area-grown and ${each% *}"
		status 1
		yes [ "$(grep -c '^16' "$work/log/out")" = "${each##* }" ]
	done
done
run atwalk diff a.cap b.cap --format csv --columns change --filter 'before>0' -q
status 1
out <<'END'
change
area-grown
END
run atwalk diff a.cap b.cap --filter 'before>absent'
status 2
err_has "--filter: 'absent' at character 8 is not a number (4096, 0x1000, 4K, 1.5M)"
run atwalk diff --all a.cap b.cap --filter 'before=0x0000000000400000 and page-unmapped' --format csv --columns pid -q
status 1
out <<'END'
pid
10
END

t "--areas-only"
run atwalk diff --areas-only --task app a.cap b.cap --format csv --columns address,end,change,area
status 1
out <<'END'
address,end,change,area
0x0000000001004000,0x0000000001006000,area-grown,[heap]
0x00007f0000000000,0x00007f0000002000,area-unmapped,""
0x00007f0000011000,0x00007f0000012000,area-rights,""
0x00007f0000020000,0x00007f0000022000,area-mapped,/lib/new.so
END

t "--by process: sums, also of what one side alone has"
run atwalk diff --by process --format csv a.cap b.cap
status 1
out <<'END'
pid,task,mapped,unmapped,moved,rights_changed,swapped_out,swapped_in,grown
10,app,12288,8192,8192,4096,4096,4096,8192
20,old,0,4096,0,0,0,0,-4096
20,new,4096,0,0,0,0,0,4096
30,gone,0,4096,0,0,0,0,-12288
40,later,4096,0,0,0,0,0,12288
END

t "--by unit"
run atwalk diff --by unit --format csv --columns area,mapped,unmapped,moved,grown --sort area a.cap b.cap
status 1
out <<'END'
area,mapped,unmapped,moved,grown
/bin/app,4096,4096,8192,0
/bin/gone,4096,4096,0,0
/bin/old,4096,4096,0,0
/lib/new.so,4096,0,0,8192
[anonymous],0,4096,0,-8192
[heap],4096,0,0,8192
END

t "a capture and itself"
for f in a.cap "$data/captures/server.cap" "$data/captures/narrow.cap"; do
	run atwalk diff "$f" "$f" --format csv
	out <<<'pid,task,address,size,change,before,after,area'
done

t "--pid and --task limit the comparison"
run atwalk diff --pid 1 a.cap b.cap --format csv
out <<<'pid,task,address,size,change,before,after,area'
run atwalk diff --task init a.cap b.cap
out <<'END'
     PID  TASK             ADDRESS               SIZE  CHANGE           BEFORE              AFTER               AREA

no difference
END

t "a process that is in neither source"
run atwalk diff --pid 99 a.cap b.cap
status 1
no_out
err <<'END'
atwalk: there is no process 99 in either source
END
run atwalk diff --task none a.cap b.cap
status 1
no_out
err <<'END'
atwalk: there is no process called 'none' in either source
END

t "without times, processes are matched by name"
sed 's/, start=[0-9]*//' a.cap >c.cap
run atwalk diff --pid 1 a.cap c.cap --format csv
out <<<'pid,task,address,size,change,before,after,area'
run atwalk diff --pid 20 c.cap b.cap --format csv --columns task,change
status 1
out <<'END'
task,change
old,process-ended
new,process-started
END

t "what one side lacks is no change: physical addresses"
sed 's/=00100612/=00000612/; s/refs=1/noframe=1/' a.cap >d.cap
run atwalk diff --pid 1 a.cap d.cap
status 4
out <<'END'
     PID  TASK             ADDRESS               SIZE  CHANGE           BEFORE              AFTER               AREA

no difference in what is known
END
err <<'END'
atwalk: d.cap: whether 8K moved is not known: only one side has physical addresses
END

t "what one side lacks is no change: rights of pages"
sed '3i H: bits, 412' a.cap >e.cap
end_capture e.cap
run atwalk diff --pid 1 a.cap e.cap
status 4
err <<'END'
atwalk: e.cap: rights of pages of 8K cannot be compared: only one side has them
END
run atwalk diff --pid 1 e.cap e.cap
out <<'END'
     PID  TASK             ADDRESS               SIZE  CHANGE           BEFORE              AFTER               AREA

no difference
rights of pages are not compared: neither side has them
END

t "what one side lacks is no change: areas of a process"
sed -E '/^T: init/,/^T: app/{/^[VM]/d}; s/^E: .*/L: 1, areas, Permission denied/' a.cap >f.cap
end_capture f.cap
run atwalk diff --pid 1 f.cap a.cap --format csv
status 4
out <<<'pid,task,address,size,change,before,after,area'
err_has 'atwalk: a.cap: 8K of memory areas cannot be compared: areas of one side cannot be read'

# ---- dumps ----

t "what one side lacks is no change: [vsyscall], which is in no address space"
cat >gate1.cap <<'END'
H: atwalk-capture, 1
T: a, 7, 00000001, 0, 0, 0, 0, 0, 0, 0, tgid=7, start=5
V: 00401000, 00401FFF, 00001000, 00000000, -, 00000005, /bin/a, dev=8:1, inode=4, offset=0
E: 3, 1, 1, 0
END
sed 's/^E:.*/V: FFFFFFFFFF600000, FFFFFFFFFF600FFF, 00001000, 00000000, -, 00000004, [vsyscall]\nE: 4, 1, 2, 0/' gate1.cap >gate2.cap
for pair in "gate1.cap gate2.cap" "gate2.cap gate1.cap"; do
	# shellcheck disable=SC2086
	run atwalk diff -q --areas-only --format csv $pair
	yes [ "$(wc -l <"$work/log/out")" = 1 ]
done

t "a dump, its capture and its extract do not differ"
if ! grep -q '^  found:.* zstd' "$built/found.txt"; then skip "this build has no zstd"; else
	run atwalk collect -o tasks.cap tasks.kdump
	run atwalk extract -q -o tasks.elf tasks.kdump
	for pair in 'tasks.kdump tasks.kdump' 'tasks.kdump tasks.cap' 'tasks.cap tasks.kdump' \
		    'tasks.kdump tasks.elf'; do
		read -ra both <<<"$pair"
		run atwalk diff --format csv "${both[@]}"
		out <<<'pid,task,address,size,change,before,after,area'
	done

	t "two dumps of one guest: exactly the changes that were made to its memory"
	atwalk extract -q --pages -o before.elf tasks.kdump >/dev/null
	cp before.elf after.elf
	root=$(atwalk ps --format csv --columns root --filter pid=99 tasks.kdump | sed -n 's/^0x//p')
	# The direct map is as far from physical addresses as the kernel's pointer to the root.
	offset=$((16#$(poke before.elf 'task:99.task_struct.mm*.mm_struct.pgd*') - 16#$root))
	pte() {
		local entry

		entry=$(atwalk walk --pid 99 -p --format csv --columns level,entry_at before.elf "$1" |
			sed -n 's/^PTE,0x//p')
		yes poke after.elf "$(printf %x $((16#$entry + offset)))" "$2"
	}
	pte 400000 2560000000000000      # absent: 0x6000, not writable
	pte 401000 00000000              # unmapped
	pte 403000 2550000000000000      # at 0x5000 instead
	pte 404000 27                    # writable
	slots=$(poke before.elf 'task:99.task_struct.mm*.mm_struct.mm_mt.ma_root@.maple_arange_64.slot@.maple_range_64.slot')
	yes poke after.elf "$slots+18*.vm_area_struct.vm_flags" 75
	run atwalk diff before.elf after.elf --format csv --columns pid,address,size,change,before,after
	status 1
	out <<'END'
pid,address,size,change,before,after
99,0x00000000004a9000,184320,area-rights,r--p,r-xp
99,0x0000000000400000,4096,page-mapped,absent,0x0000000000006000
99,0x0000000000401000,4096,page-unmapped,0x000000000f83d000,absent
99,0x0000000000403000,4096,page-moved,0x000000000fe08000,0x0000000000005000
99,0x0000000000404000,4096,page-rights,r-x,rwx
END
	run atwalk diff --expect 5 before.elf after.elf
	run atwalk diff --expect none --filter page-state before.elf after.elf

	t "--kernel-map: changes of the kernel's own mappings"
	cp before.elf after.elf
	entry=$(atwalk walk -p --format csv --columns level,entry_at before.elf ffffffffc0393000 |
		sed -n 's/^PTE,0x//p')
	yes poke after.elf "$(printf %x $((16#$entry + offset)))" 00000000
	run atwalk diff before.elf after.elf --format csv
	out <<<'pid,task,address,size,change,before,after,area'
	run atwalk diff --kernel-map before.elf after.elf --format csv
	status 1
	out <<'END'
pid,task,address,size,change,before,after,area
,kernel,0xffffffffc0393000,4096,page-unmapped,0x0000000003c1c000,absent,modules
END
	run atwalk diff --kernel-map --by process before.elf after.elf --format csv --columns pid,task,unmapped
	status 1
	out <<'END'
pid,task,unmapped
,kernel,4096
END
	run atwalk diff --kernel-map a.cap b.cap
	status 3
	no_out
	err_has 'this needs page tables'

	t "a dump and a capture without one of its processes"
	awk '/^T:/ { drop = $2 == "thp," } !drop' tasks.cap >less.cap
	end_capture less.cap
	run atwalk diff tasks.kdump less.cap --format csv --columns task,change,before,after
	status 1
	out <<'END'
task,change,before,after
thp,process-ended,present,absent
END
fi

# ---- live ----

t "--interval: a process that maps and touches memory meanwhile"
[ -n "$why" ] || start_child
if [ -n "$why" ] || [ "$(id -u)" -ne 0 ]; then skip "${why:-needs root}"; else
	tell take 100000000000 8192
	{ sleep 1; tell take 100010000000 16384; } &
	run atwalk diff --interval 4 --pid "$child" --areas-only live:pagemap --format csv --columns address,size,change --filter 'address=100010000000'
	wait $!
	status 1
	out <<'END'
address,size,change
0x0000100010000000,16384,area-mapped
END
fi

# ---- wrong usage ----

t "two sources are needed, or one with --interval"
run atwalk diff a.cap
status 2
err <<'END'
atwalk: two sources are needed, A and B
        see: atwalk diff --help
END
run atwalk diff a.cap b.cap a.cap
status 2
err <<'END'
atwalk: it takes two sources, A and B
        see: atwalk diff --help
END
run atwalk diff --interval 1 a.cap b.cap
status 2
err <<'END'
atwalk: --interval takes one SOURCE
        see: atwalk diff --help
END
run atwalk diff --interval soon live
status 2
err <<'END'
atwalk: --interval: 'soon' is no number of seconds
        see: atwalk diff --help
END
run atwalk diff --interval 1 a.cap
status 2
err <<'END'
atwalk: --interval is for a live SOURCE, and a.cap is none
        see: atwalk diff --help
END
run atwalk diff -S x a.cap b.cap
status 2
err <<'END'
atwalk: --part: it is not known which of the sources it belongs to
        see: atwalk diff --help
END

t "a source that is missing, and memory without a kernel"
run atwalk diff a.cap none.cap
status 3
no_out
err <<'END'
atwalk: none.cap: No such file or directory
END
head -c 65536 /dev/zero >raw.bin
run atwalk diff a.cap raw:raw.bin@0
status 3
no_out
err_has 'atwalk: raw:raw.bin@0: '

finish
