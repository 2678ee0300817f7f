#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report --paper prints the figures of the LPMA paper from its captures. Its layout loses no
# page: each row adds up, for captures of the paper and of today, and the sums are those of
# the report without --paper.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

captures=$data/captures

# Figure 2's layout: each row must add up; prints rows without PID for comparison.
basic_adds_up() {
	awk -F ', ' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			n = $(at["Total"])
			parts = $(at["Stack"]) + $(at[".Data"]) + $(at[".Text"]) + $(at["Heap"]) + \
				$(at["Lib .bss"]) + $(at["Lib .data"]) + $(at["Lib .text"]) + \
				("Other" in at ? $(at["Other"]) : 0)
			if (n != $(at["RW Count"]) + $(at["RX Count"]) || n != parts)
				print "row " NR ": " $0
			if ($(at["Single"]) != "n/a" && $(at["Lib .text"]) != $(at["Single"]) + $(at["Multi"]))
				print "code of row " NR ": " $0
			rows++
		}
		END { if (!rows) print "no row" }' "$1"
}

# Figure 4's layout: areas and their maps must add up to the sums of the process.
areas_add_up() {
	awk '
		function number(key,   s) {
			s = $0
			if (!sub(".*[ ,]" key ": *", "", s)) return 0
			return s + 0
		}
		function end_area() {
			# The position of some pages may be missing.
			if (seen && (hidden ? marks > there : marks != there))
				print "map of " area ": " marks " marks, not " there
			seen = 0
		}
		/^  vsize:/ {
			end_area()
			area = $0
			there = number("single") + number("shared") + number("other") + number("resident")
			sum += there
			marks = hidden = 0
			seen = 1
		}
		/^\[/ {
			s = $0
			if (/more lines like this one/) { print "folded: " $0; next }
			marks += gsub(/[1-9#?]/, "", s)
			hidden += gsub(/!/, "", s)
		}
		/^Process "/ {
			end_area()
			total = $0
			sub(/.* pages, \(/, "", total)
			if (total + 0 != sum) print $0 ": areas have " sum
			sum = 0
			processes++
			pages = total + 0
		}
		/^\tFor \[/ { s = $0; sub(/.*\]: /, "", s); split(s, v, /[ ,]+/); own = v[1] + v[3] + v[5] + v[7] }
		/^\tFor libraries/ { s = $0; sub(/.*: /, "", s); split(s, v, /[ ,]+/); libs = v[1] + v[3] + v[5] }
		/^\tFor libraries/ { wants = pages - own - libs }
		/^\tOf neither/ { wants -= $3 }
		/^[^\t \[].*:$/ || /^Process/ { if (wants) print "sums are short of " wants; if (/:$/) wants = 0 }
		END { if (wants) print "sums are short of " wants; if (!processes) print "no process" }' "$1"
}

# FILE: both layouts add up, and agree with the report without --paper.
adds_up() {
	run atwalk report -q basic --paper "$1"
	said_status=1 said_err=1
	cp "$work/log/out" basic.txt
	yes [ "$(basic_adds_up basic.txt)" = "" ]
	run atwalk report -q basic --kernel-threads --format csv --columns name,rw_count,rx_count,total,stack,data,text,heap,lib_bss,lib_data,lib_text,single,multi,other "$1"
	said_status=1 said_err=1
	sed 1d "$work/log/out" | tr -d '"' | sort >want
	awk -F ', ' 'NR == 1 { other = $15 == "Other"; next } { print $1 "," $2 "," $3 "," $4 "," $6 "," $7 "," $8 "," $9 "," $10 "," $11 "," $12 "," $13 "," $14 "," (other ? $15 : 0) }' basic.txt | sort >got
	yes same want got
	run atwalk report -q areas --paper "$1"
	said_status=1 said_err=1
	cp "$work/log/out" areas.txt
	yes [ "$(areas_add_up areas.txt)" = "" ]
}

# ---- figures of the paper ----

t "Figure 1: P: lines are used where M: lines are missing"
run atwalk report basic --paper "$data/paper-figure1.txt"
status 4
said_err=1
out <<'END'
Name, RW Count, RX Count, Total, Name, Stack, .Data, .Text, Heap, Lib .bss, Lib .data, Lib .text, Single, Multi
swapper, 0, 0, 0, swapper, 0, 0, 0, 0, 0, 0, 0, 0, 0
init, 12, 93, 105, init, 0, 0, 0, 0, 4, 8, 93, 0, 93
keventd, 0, 0, 0, keventd, 0, 0, 0, 0, 0, 0, 0, 0, 0
ksoftirq, 0, 0, 0, ksoftirq, 0, 0, 0, 0, 0, 0, 0, 0, 0
tiny_sys, 2, 3, 5, tiny_sys, 0, 0, 0, 0, 0, 2, 3, 0, 3
END
run atwalk report areas --paper "$data/paper-figure1.txt"
status 4
said_err=1
golden report-figure1

t "Figure 1: frames without a line are n/a"
run atwalk report areas --format csv --columns pid,vsize,resident,single,shared,map "$data/paper-figure1.txt" --limit 1
status 4
said_err=1
out <<'END'
pid,vsize,resident,single,shared,map
1,285,93,0,93,#*8 !*277
END
run atwalk report count --format csv "$data/paper-figure1.txt"
status 4
said_err=1
out <<'END'
user_space_pages,anon,file,mappings,swapped,processes
,,,110,,2
END
run atwalk report units --format csv --columns name,vsize,resident,mappings,map "$data/paper-figure1.txt" --filter 'vsize=285'
status 4
said_err=1
out <<'END'
name,vsize,resident,mappings,map
/lib/,285,,,1*8 !*277
END
run atwalk report totals --format csv --columns name,virtual_text,text "$data/paper-figure1.txt"
status 4
said_err=1
out <<'END'
name,virtual_text,text
/lib/,285,
END

t "Figure 2: from P: lines alone, to the byte"
run atwalk report basic --paper "$captures/figure2.txt"
status 4
said_err=1
out <<'END'
Name, RW Count, RX Count, Total, Name, Stack, .Data, .Text, Heap, Lib .bss, Lib .data, Lib .text, Single, Multi
swapper, 0, 0, 0, swapper, 0, 0, 0, 0, 0, 0, 0, 0, 0
init, 24, 130, 154, init, 4, 1, 12, 4, 5, 10, 118, 0, 118
tiny_sys, 40, 243, 283, tiny_sys, 2, 1, 2, 2, 8, 27, 241, 0, 241
softdog, 20, 112, 132, softdog, 2, 1, 1, 3, 5, 9, 111, 0, 111
link-mon, 24, 132, 156, link-mon, 2, 1, 29, 8, 4, 9, 103, 0, 103
inetd, 24, 115, 139, inetd, 2, 1, 4, 5, 6, 10, 111, 0, 111
END

t "Figures 4, 5, 7 and 9"
run atwalk report areas --paper "$captures/figure4.txt"
golden report-figure4
run atwalk report units --paper "$captures/figure5.txt"
golden report-figure5
run atwalk report alerts --paper "$captures/figure4.txt"
out <<'END'
Alert! VMA [/lib/libc-2] in "link-mon" has 2 single usage and 6 shared usage, flags = 00000077
Alert! VMA [NULL] in "link-mon" has 6 single usage and 2 shared usage, flags = 20001077
Alert! VMA [NULL] in "link-mon" has 1 single usage and 1 shared usage, flags = 00000177
END
run atwalk report pages --paper "$captures/figure9.txt"
golden report-figure9

t "P: lines that contradict V: or M: lines are ignored"
sed 's/^P: 93, 0, 93, 0, 93$/P: 94, 0, 94, 0, 94/' "$data/paper-figure1.txt" >bad.txt
run atwalk report areas --format csv --columns resident,single,shared bad.txt --limit 1
status 4
said_err=1
out <<'END'
resident,single,shared
,,
END
sed 's/^P: 93, 0, 93, 0, 93$/P: 93, 0, 93, 8, 85/' "$data/paper-figure1.txt" >some.txt
run atwalk report areas --format csv --columns resident,single,shared some.txt --limit 1
status 4
said_err=1
out <<'END'
resident,single,shared
93,8,85
END
# The mapcounts of five of them are missing.
sed 's/^P: 93, 0, 93, 0, 93$/P: 93, 0, 93, 0, 88/' "$data/paper-figure1.txt" >some.txt
run atwalk report areas --format csv --columns resident,single,shared some.txt --limit 1
status 4
said_err=1
out <<'END'
resident,single,shared
93,,
END

# ---- faults ----

t "tasks: faults and times of Figure 1, and threads with their process"
run atwalk report tasks -q --format csv "$data/paper-figure1.txt"
status 4
out <<'END'
pid,tgid,task,kind,cpu,threads,minor,major,child_minor,child_major,user,system
0,,swapper,kernel,0,,0,0,0,0,0.000,396.260
1,,init,process,0,,392597,160,69857,174569,87.710,301.930
2,,keventd,kernel,0,,0,0,0,0,0.000,2.290
3,,ksoftirq,kernel,0,,0,0,0,0,0.000,2.310
19,,tiny_sys,process,0,,14,7,0,0,7.620,19.710
END
err <<END
atwalk: $data/paper-figure1.txt: 1 read error: -v lists them
END
sed 's/^T: keventd , 2, 00000000, 0, 0/T: init-io, 2, c018c0a0, 0, 3/' "$data/paper-figure1.txt" >thread.txt
run atwalk report tasks -q --format csv --columns pid,mm,kind,minor --filter 'kind=thread' thread.txt
status 4
out <<'END'
pid,mm,kind,minor
2,0x00000000c018c0a0,thread,3
END
said_err=1
# The thread has the memory of init, which is listed once.
run atwalk report basic -q --paper thread.txt
status 4
said_err=1
yes [ "$(grep -c init "$work/log/out")" = 1 ]
cat >tasks.cap <<'END'
H: atwalk-capture, 1
H: hz, 1000
T: a, 7, 00000001, 1, 5, 6, 7, 8, 1500, 250, tgid=7, ppid=1, uid=3, start=2500, threads=2
T: a-io, 8, 00000001, -, -, -, -, -, -, -, tgid=7
T: vfork, 9, 00000001, 0, 0, 0, 0, 0, 0, 0, tgid=9
E: 5, 3, 0, 0
END
# An idle task, a thread of the kernel, one that has ended, and one that may be either.
cat >kinds.cap <<'END'
H: atwalk-capture, 1
T: swapper/0, 0, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=0, kthread=1
T: kthreadd, 2, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=2, kthread=1
T: gone, 7, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=7, kthread=0
T: gone-io, 8, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=7, kthread=0
T: either, 9, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=9
E: 6, 5, 0, 0
END
cat >want <<'END'
pid,kind
2,kernel
7,process
8,thread
9,
END
run atwalk report tasks --format csv --columns pid,kind kinds.cap
same "$work/log/out" want
run atwalk ps --threads --format csv --columns pid,kind kinds.cap
same "$work/log/out" want
run atwalk report basic --kernel-threads --format csv --columns pid kinds.cap
yes [ "$(tr '\n' ' ' <"$work/log/out")" = "pid 2 7 8 9 " ]
run atwalk export --as csv --host a --time 1795842907.5 kinds.cap fleet
yes [ "$(wc -l <"$(echo fleet/tasks/*/*/*)")" = 5 ]
yes [ "$(python3 -c 'import csv, sys
print(next(csv.DictReader(open(sys.argv[1])))["tasks"])' fleet/captures/*/*/*)" = 4 ]
run atwalk report tasks --format csv --columns pid,tgid,ppid,task,kind,cpu,threads,minor,major,child_minor,child_major,user,system,uid,start tasks.cap
out <<'END'
pid,tgid,ppid,task,kind,cpu,threads,minor,major,child_minor,child_major,user,system,uid,start
7,7,1,a,process,1,2,5,6,7,8,1.500,0.250,3,2.500
8,7,,a-io,thread,,,,,,,,,,
9,9,,vfork,process,0,,0,0,0,0,0.000,0.000,,
END

t "thrash: the counters of the paper, from two LPMA captures"
sed 's/^T: tiny_sys, 19, c018c2a0, 0, 14, 7,/T: tiny_sys, 19, c018c2a0, 0, 20, 4007,/' "$data/paper-figure1.txt" >later.txt
run atwalk report thrash -q --columns look,pid,task,minor,major "$data/paper-figure1.txt" later.txt
status 4
out <<'END'
LOOK      PID  TASK                  MINOR     MAJOR
   2      n/a  (all)                     6      4000
   2       19  tiny_sys                  6      4000

cannot detect thrashing: the times of the looks are not known; from look 1 to look 2 processes had 4000 major faults and 6 others
most major faults: process 19 (tiny_sys), 4000 of 4000 that processes had
END
err <<END
atwalk: $data/paper-figure1.txt: 1 read error: -v lists them
atwalk: later.txt: 1 read error: -v lists them
END

t "tasks: threads of the running system, with their own counters"
if [ -n "$why" ]; then skip "$why"; else
	cat >threads.py <<'END'
import threading, mmap, sys
def fault():
    memory = mmap.mmap(-1, 2000 * 4096)
    for i in range(2000):
        memory[i * 4096] = 1
    print(threading.get_native_id(), flush=True)
    done.wait()
done = threading.Event()
threading.Thread(target=fault).start()
sys.stdin.readline()
done.set()
END
	mkfifo quit
	python3 threads.py <quit >tid &
	many=$!
	exec 5>quit
	await [ -s tid ]
	run atwalk report tasks --pid $many --format csv --columns pid,tgid,kind live:pagemap
	said_status=1 said_err=1
	out <<END
pid,tgid,kind
$many,$many,process
$(cat tid),$many,thread
END
	run atwalk report tasks --pid $many --format csv --columns pid,minor live:pagemap --filter 'kind=thread'
	said_status=1 said_err=1
	minor=$(sed -n '2s/.*,//p' "$work/log/out")
	# Each large page may be one fault.
	yes [ "$minor" -ge 4 ]
	yes [ "$minor" = "$(sed 's/.*) //' "/proc/$many/task/$(cat tid)/stat" | cut -d ' ' -f 8)" ]
	echo >&5
	exec 5>&-
	wait $many
fi

# ---- the kernel, by slab cache ----

t "kernel: slab caches of a capture, largest first"
cat >slabs.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: Slab, 700
H: slab.kmalloc-64, 64 1536 1500 24 24
H: slab.dentry, 192 1344 - 64 128
H: slab.odd\054one, 8192 4 4 1 8
H: slab.damaged, 64 1 2 1 1
T: a, 7, 00000001, 0, 0, 0, 0, 0, 0, 0
E: 8, 1, 0, 0
END
run atwalk report kernel slabs.cap
out <<'END'
CACHE                       SIZE   OBJECTS    ACTIVE    SLABS     PAGES
dentry                      192B      1344       n/a       64       128
kmalloc-64                   64B      1536      1500       24        24
odd,one                       8K         4         4        1         8
(sum)                                 2884       n/a       89       160

Slab of /proc/meminfo has 60K more: large blocks of kmalloc(), which are in no cache
END
run atwalk report kernel --format csv "$captures/server.cap"
status 4
out <<'END'
cache,size,objects,active,slabs,pages
END
err_has "slab caches are not recorded"

t "kernel: slab caches of the running system are those of /proc/slabinfo"
if ! [ -r /proc/slabinfo ]; then skip "no /proc/slabinfo for us"; else
	awk 'NR > 2 { print $1 "," $4 }' /proc/slabinfo | sort >before
	run atwalk report kernel --format csv --columns cache,size live:pagemap
	sed 1d "$work/log/out" | tr -d '"' | sort >got
	awk 'NR > 2 { print $1 "," $4 }' /proc/slabinfo | sort >after
	# Caches may be created and destroyed meanwhile.
	comm -12 before after >stay
	yes [ "$(comm -23 stay got)" = "" ]
	sort -u before after >any
	yes [ "$(comm -13 any got)" = "" ]
fi

# ---- each row adds up ----

for file in figure2.txt figure4.txt figure5.txt figure9.txt server.cap; do
	t "$file adds up in the paper's layout"
	adds_up "$captures/$file"
done
t "Figure 1 adds up in the paper's layout"
run atwalk report -q basic --paper "$data/paper-figure1.txt"
status 4
err <<END
atwalk: $data/paper-figure1.txt: 1 read error: -v lists them
END
cp "$work/log/out" basic.txt
yes [ "$(basic_adds_up basic.txt)" = "" ]

t "memory that the paper lacks: shared memory, mapped files, swap, the zero page"
cat >kinds.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
T: a, 1, 00000001, 0, 0, 0, 0, 0, 0, 0
V: 00010000, 00017FFF, 00008000, 00005000, -, 00000073, NULL
M: 00010000*2=00100052, 1, - | 00012000*3=00000000, -, -, swap=0:10 | 00015000=00009012, -, -, state=zero | 00016000*2=00200052, 0, - |
V: 00100000, 001FFFFF, 00100000, 00100000, -, 000000FB, /dev/shm/a, dev=0:19, inode=2, offset=0
M: 00100000*256=01000052, 2, - |
E: 7, 1, 2, 0
END
adds_up kinds.cap
run atwalk report basic --paper kinds.cap
out <<'END'
Name, RW Count, RX Count, Total, Name, Stack, .Data, .Text, Heap, Lib .bss, Lib .data, Lib .text, Single, Multi, Other, Swapped
a, 260, 0, 260, a, 0, 0, 0, 4, 0, 0, 0, 0, 0, 256, 3
END
run atwalk report areas --paper kinds.cap
out <<'END'
a:
  vsize:    8, single:    2, shared:    0, other:    2, swapped:    3, flags: ..rw.B, 0X00010000, 0X00017FFF, name: NULL
[11sss0??                                                        ]
  vsize:  256, single:    0, shared:  256, flags: ..rw.., 0X00100000, 0X001FFFFF, name: /dev/shm/a
[2222222222222222222222222222222222222222222222222222222222222222]
[2222222222222222222222222222222222222222222222222222222222222222]
[2222222222222222222222222222222222222222222222222222222222222222]
[2222222222222222222222222222222222222222222222222222222222222222]
Process "a" has 260 rw and 0 rx pages, (260 pages total)
	For [a]: 0 stack, 0 data, 0 .text, 4 heap
	For libraries: 0 .bss, 0 .data, 0 .text
	  0 are used only in this process, 0 are shared
	Of neither: 256
END
run atwalk report count --paper kinds.cap
out <<'END'
User space pages: 260
Swapped pages: 3
END

t "a running process adds up in the paper's layout"
[ -n "$why" ] || start_child
if [ -n "$why" ]; then skip "$why"
elif [ "$(id -u)" -ne 0 ]; then skip "needs root"; else
	tell take 100000000000 $((1 << 20))
	run atwalk collect --pid "$child" -o child.cap live:pagemap
	said_status=1 said_err=1
	adds_up child.cap
	# Its 256 pages at that address are in the map.
	yes grep -q 'vsize:  256, .*0X100000000000' areas.txt
fi

finish
