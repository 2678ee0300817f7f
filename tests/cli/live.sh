#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Page tables of the running kernel, for a process that this test starts, agree with
# /proc/PID/pagemap. Skipped where the kernel forbids reading or hides frame numbers. Only
# children of this test are read.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || kill -KILL "$child" 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

# ---- without permission ----

t "/proc/kcore: its absence is reported"
if [ -e /proc/kcore ]; then skip "this kernel has one"; else
	run atwalk live:kcore ffffffff81000000
	status 3
	no_out
	err <<'END'
atwalk: live: this kernel has no /proc/kcore (CONFIG_PROC_KCORE)
END
	run atwalk /proc/kcore 0
	status 3
	err <<'END'
atwalk: /proc/kcore: No such file or directory
        live:kcore reads the running kernel through it
END
fi

t "an unknown backend for the running kernel"
run atwalk live:tea 0
status 2
err <<'END'
atwalk: live: 'tea' is no way to read the running kernel
        live, live:kcore, live:bpf or live:pagemap; a dump called live is ./live
END

t "a file called live is a file"
ln -sf x86.elf live
run atwalk ./live _stext --format csv --columns state
out <<'END'
state
present
END
rm live

t "--pid without types in a dump"
run atwalk --pid 1 x86.elf 1000
status 3
err_is 'atwalk: x86.elf: the list of tasks cannot be found without the kernel*s types (BTF)'
run atwalk --pid 1 --cpu 0 x86.elf 1000
status 2
err <<'END'
atwalk: --pid and --cpu cannot be used together
END

t "without permission: the missing capability, and the command to grant it"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
fi
chmod 755 "$work" "$work/cwd"
cp "$built/atwalk" "$work/cwd/atwalk-copy" && chmod 755 "$work/cwd/atwalk-copy"
# shellcheck disable=SC2086 # WRAP is a command with its options
run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./atwalk-copy live ffffffff81000000
status 3
no_out
err <<END
atwalk: live: reading the running kernel needs CAP_BPF and CAP_PERFMON, which this process does not have
        run it as root, or allow it once: sudo setcap cap_bpf,cap_perfmon+ep $work/cwd/atwalk-copy
END

# ---- is it allowed here? ----

why=''
atwalk info live:bpf >"$work/log/info" 2>"$work/log/why"
rc=$?
if [ $rc -ne 0 ]; then
	why=$(head -n 1 "$work/log/why")
	case $why in
	*" needs CAP_"* | *" use BPF "* | *lockdown* | *"this kernel "* | *"does not tell "*) ;;
	*) why='' ;;             # a bug: the tests will show it
	esac
fi
[ "$(getconf PAGESIZE)" -eq 4096 ] || why="this test counts in pages of 4 KiB"
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"

# A child with memory of every kind, which prints "NAME START LENGTH" and sleeps.
cat >child.py <<'END'
import ctypes, os, sys, tempfile
from live_memory import *

touch(area('pages', 64 * M), 64 * M)
touch(area('every-other', 8 * M), 8 * M, 2 * PAGE)
area('untouched', 4 * M)
touch(area('huge', 8 * M, HUGE, align=2 * M), 8 * M)
zero = area('zero', M)
for a in range(zero, zero + M, PAGE):
    ctypes.c_uint64.from_address(a).value    # reads only
locked = area('read-only', M)
touch(locked, M)
libc.mprotect(locked, M, 1)
none = area('protnone', M)
touch(none, M)
libc.mprotect(none, M, 0)
with tempfile.TemporaryFile() as f:
    f.truncate(4 * M)
    touch(area('shared', 3 * M, flags=SHARED, fd=f.fileno()), 3 * M)
print('ready', flush=True)
sys.stdin.read()
END

# pagemap.py PID START LENGTH: prints "VA PA" of present pages, or "hidden".
cat >pagemap.py <<'END'
import struct, sys

pid, start, size = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
with open(f'/proc/{pid}/pagemap', 'rb') as f:
    f.seek(start // 4096 * 8)
    data = f.read(size // 4096 * 8)
for i, (e,) in enumerate(struct.iter_unpack('<Q', data)):
    if e >> 63:
        if not e & (1 << 55) - 1:
            sys.exit('hidden')
        print('%x %x' % (start + i * 4096, (e & (1 << 55) - 1) * 4096))
END

# `map --all`, a line for each page of 4 KiB, large pages cut into them.
pages_of() {
	run atwalk map live --pid "$child" --all --format csv --columns physical,address,size,state "$2"
	said_status=1            # 1 where nothing is mapped: PROT_NONE
	awk -F, -v want="$1" 'NR > 1 && $4 == want { print substr($1, 3), substr($2, 3), $3 }' <"$work/log/out" |
		while read -r pa va size; do
			for ((i = 0; i < size; i += 4096)); do
				printf '%x %x\n' $((16#$va + i)) $((16#$pa + i))
			done
		done
}

declare -A at len
if [ -z "$why" ]; then
	mkfifo stdin stdout
	python3 child.py <stdin >stdout 2>"$work/log/child" &
	child=$!
	exec 8>stdin 9<stdout
	while read -r -t "$limit" -u 9 what start size && [ "$what" != ready ]; do
		at[$what]=$start len[$what]=$size
	done
	[ "$what" = ready ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
	# Stopped, it changes nothing itself; the kernel may still move pages.
	[ -n "$why" ] || kill -STOP "$child"
	[ -n "$why" ] || python3 pagemap.py "$child" "${at[pages]}" 4096 >"$work/log/frames" 2>&1 ||
		why="/proc/PID/pagemap gives no frame numbers here"
fi

# check NAME STATE: all pages of an area, exactly. Repeated if pagemap differs before and
# after, because the kernel migrated pages meanwhile.
counted=0
check() {
	local start=${at[$1]} size=${len[$1]} try

	for try in 1 2 3 4 5; do
		python3 pagemap.py "$child" "$start" "$size" >before
		pages_of "$2" "$start+$size" >got
		[ "$rc" -eq 0 ] || [ "$rc" -eq 1 ] || break
		python3 pagemap.py "$child" "$start" "$size" >wanted
		cmp -s before wanted && break
		echo "note - pages moved, try $try"
	done
	same got wanted
	n=$(wc -l <wanted)
	counted=$((counted + n))
}

# ---- pages ----

t "touched pages are at the addresses in pagemap"
if [ -n "$why" ]; then skip "$why"; else
	check pages present
	yes [ "$n" -eq 16384 ]
fi

t "with every other page touched, only these are present"
if [ -n "$why" ]; then skip "$why"; else
	check every-other present
	yes [ "$n" -eq 1024 ]
fi

t "untouched pages are absent"
if [ -n "$why" ]; then skip "$why"; else
	check untouched present
	status 1
	yes [ "$n" -eq 0 ]
	run atwalk live --pid "$child" "${at[untouched]}" --format csv --columns state
	status 1
	out <<'END'
state
absent
END
fi

t "a large page is one row, with the addresses in pagemap"
if [ -n "$why" ]; then skip "$why"; else
	check huge present
	run atwalk map live --pid "$child" --all --format csv --columns page "${at[huge]}+${len[huge]}"
	if [ "$n" -eq 2048 ] && ! grep -q 2097152 "$work/log/out"; then
		skip "the kernel gave no large page"
	else
		yes [ "$n" -eq 2048 ]
		yes [ "$(grep -c 2097152 "$work/log/out")" -ge 1 ]
	fi
fi

t "pages that were only read are the zero page; file pages are in the page cache"
if [ -n "$why" ]; then skip "$why"; else
	check zero present
	yes [ "$n" -eq 256 ]
	no_zero_page ||
		yes [ "$(cut -d ' ' -f 2 wanted | sort -u | wc -l)" -eq 1 ]
	check shared present
	yes [ "$n" -eq 768 ]
fi

t "permissions are those of the VMA"
if [ -n "$why" ]; then skip "$why"; else
	check read-only present
	run atwalk map live --pid "$child" --format csv --columns rights "${at[read-only]}+${len[read-only]}"
	yes [ "$(sed 1d "$work/log/out" | sort -u)" = r--u ]
	check protnone protnone
	yes [ "$n" -eq 256 ]
fi

t "the path to a page lists the tables"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk live --pid "$child" "${at[pages]}" -p --format csv --columns level,state,physical
	yes [ "$(sed 1d "$work/log/out" | cut -d , -f 1 | paste -sd ' ')" != "" ]
	yes [ "$(tail -n 1 "$work/log/out" | cut -d , -f 1,2)" = PTE,present ]
	yes grep -q "$(python3 pagemap.py "$child" "${at[pages]}" 4096 | cut -d ' ' -f 2)\$" "$work/log/out"
fi
t "the tree of a range: each table once, with the addresses in pagemap"
if [ -n "$why" ]; then skip "$why"; else
	for area in pages huge zero; do
		for try in 1 2 3 4 5; do
			python3 pagemap.py "$child" "${at[$area]}" "${len[$area]}" >before
			run atwalk live --pid "$child" "${at[$area]}+${len[$area]}" -p --format csv \
				--columns address,size,physical,pages,step,level,entry_at,state
			said_status=1
			cp "$work/log/out" tree.csv
			python3 pagemap.py "$child" "${at[$area]}" "${len[$area]}" >wanted
			cmp -s before wanted && break
		done
		# shellcheck disable=SC2094 # tree.csv is read twice
		run python3 "$cli/tree.py" "${at[$area]}" \
			"$(printf %x $((16#${at[$area]#0x} + len[$area] - 1)))" <tree.csv
		err_has ' tables, '
		while read -r va pa size; do
			for ((i = 0; i < size; i += 4096)); do
				printf '%x %x\n' $((16#$va + i)) $((16#$pa + i))
			done
		done <"$work/log/out" >got
		yes [ -s got ]
		same got wanted
	done
fi
[ -n "$why" ] || echo "note - $counted pages compared with pagemap"

# ---- the rest ----

t "without --pid, the process that maps a user address is found"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk live "${at[pages]}" --format csv --columns physical
	printf 'physical\n0x%016x\n' \
		"0x$(python3 pagemap.py "$child" "${at[pages]}" 4096 | cut -d ' ' -f 2)" | out
	err_has "is mapped only by process $child (python3)"
	run atwalk live 1000 --format csv --columns address,physical,state
	status 1
	out <<'END'
address,physical,state
0x0000000000001000,,absent
END
	err <<'END'
atwalk: live: 1000: no process maps it
END
	run atwalk map live "${at[pages]}+4K" --format csv --columns physical,task
	printf 'physical,task\n0x%016x,python3\n' \
		"0x$(python3 pagemap.py "$child" "${at[pages]}" 4096 | cut -d ' ' -f 2)" | out
	err_has "is mapped only by process $child (python3)"
	run atwalk map live 1000+4K --format csv --columns address
	status 1
	out <<'END'
address
END
	err <<'END'
atwalk: live: 1000+4K: no process maps it
END
fi

# ---- areas and pages ----

# "START END NAME" of both.
t "VMAs are those of /proc/PID/maps"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk pages live --pid "$child" -q --areas-only --format csv --columns address,end,area
	sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) \(....\) [^ ]* [^ ]* [^ ]* *\(.*\)$/\1 \2 \4/p' \
		"/proc/$child/maps" >wanted
	sed -n 's/^0x0*\([0-9a-f]*\),0x0*\([0-9a-f]*\),\(.*\)$/\1 \2 \3/p' <"$work/log/out" | sed 's/""$//' >got.all
	# At least eight digits are printed there. [vsyscall] belongs to no process, and
	# the variable for its mode is rarely in kallsyms.
	sed 's/^0*//; s/ 0*/ /; /\[vsyscall\]$/d' wanted >wanted.all
	sed -i '/\[vsyscall\]$/d' got.all
	same got.all wanted.all
	yes [ "$(wc -l <got.all)" -gt 20 ]
fi

# kpage.py PID < "VA PA COUNT FLAGS": prints differences from the kernel's files.
cat >kpage.py <<'END'
import struct, sys

# Ageing continues meanwhile (referenced, lru, active, idle), and so does writeback of
# the file (locked, dirty, writeback, reclaim).
MOVING = 1 << 2 | 1 << 5 | 1 << 6 | 1 << 25 | 1 << 0 | 1 << 4 | 1 << 8 | 1 << 9
NAMES = '''LOCKED ERROR REFERENCED UPTODATE DIRTY LRU ACTIVE SLAB WRITEBACK RECLAIM BUDDY
MMAP ANON SWAPCACHE SWAPBACKED COMPOUND_HEAD COMPOUND_TAIL HUGE UNEVICTABLE HWPOISON
NOPAGE KSM THP OFFLINE ZERO_PAGE IDLE PGTABLE'''.split()
BIT = {name: i for i, name in enumerate(NAMES)}
flags_file = open('/proc/kpageflags', 'rb')
count_file = open('/proc/kpagecount', 'rb')
compared = 0


def word(file, pfn):
    file.seek(pfn * 8)
    return struct.unpack('<Q', file.read(8))[0]


for line in sys.stdin:
    va, pa, count, names = line.split(' ')
    pfn = int(pa, 16) >> 12
    flags = sum(1 << BIT[n] for n in names.strip().split(',') if n in BIT)
    want = word(flags_file, pfn) & (1 << 27) - 1
    # 6.10 to 7.1 call every anonymous page KSM (81401cebfc15).
    wrong = (flags ^ want) & ~(MOVING | 1 << BIT['KSM'])
    # Files are also mapped by other processes, which start and end.
    own = flags >> BIT['ANON'] & 1
    if wrong or (own and word(count_file, pfn) != int(count)):
        print(f'{va} {pa}: flags {flags:x} count {count}, kernel {want:x} '
              f'{word(count_file, pfn)}')
    compared += 1
print(f'{compared} compared')
END

t "flags and counts are those of /proc/kpageflags and kpagecount"
if [ -n "$why" ]; then skip "$why"; elif [ ! -r /proc/kpageflags ]; then
	skip "/proc/kpageflags cannot be read here"
else
	run atwalk pages live --pid "$child" --all --filter present --format csv \
		--columns address,physical,kcount,pageflags
	sed -n 's/"//g; s/^\(0x[0-9a-f]*\),\(0x[0-9a-f]*\),\([0-9]*\),/\1 \2 \3 /p' <"$work/log/out" |
		python3 kpage.py >"$work/log/compared"
	# Pages that the kernel migrates in between may differ; they are few.
	yes [ "$(wc -l <"$work/log/compared")" -le 4 ]
	yes [ "$(sed -n 's/ compared$//p' "$work/log/compared")" -gt 20000 ]
fi

t "memory cgroups are those of /proc/kpagecgroup"
if [ -n "$why" ]; then skip "$why"; elif [ ! -r /proc/kpagecgroup ]; then
	skip "this kernel has no memory cgroups"
else
	for way in bpf pagemap; do
		run atwalk pages live:$way --pid "$child" "${at[pages]}+4M" --format csv \
			--columns address,physical,cgroup
		cp "$work/log/out" "cgroups.$way"
	done
	same cgroups.bpf cgroups.pagemap
	yes [ "$(wc -l <cgroups.bpf)" = 1025 ]
fi

t "files in the page cache are those of fincore(1), mapped or not"
if [ -n "$why" ]; then skip "$why"; elif ! command -v fincore >/dev/null; then
	skip "no fincore"
else
	head -c 3000000 /dev/urandom >cached.data
	head -c 100001 /dev/urandom >cached.part
	sync cached.data cached.part
	# A part of it is evicted, where the file system does that.
	python3 -c 'import os
fd = os.open("cached.data", os.O_RDONLY)
os.posix_fadvise(fd, 16 * 4096, 100 * 4096, os.POSIX_FADV_DONTNEED)'
	run atwalk collect live --cached --pid "$child"
	all_frames
	for i in cached.data cached.part; do
		pages=$(fincore -nr -o PAGES "$i")
		yes grep -q "^C: [0-9A-F]*:[0-9A-F]*, $(stat -c %i $i), $pages, 0, [^,]*/$i\(, node=[0-9]*\)\?\(, cgroup=/[^,]*\)\?\$" \
			"$work/log/out"
	done
	# What this shell wrote is charged to its own cgroup, or to one above that counts memory.
	if [ -r /proc/kpagecgroup ]; then
		charged=$(sed -n 's|^C: .*/cached.data.*, cgroup=||p' "$work/log/out")
		own=$(sed -n "s/^T: .*, $child, .*, cgroup=\([^,]*\).*/\1/p" "$work/log/out")
		yes [ -n "$charged" ]
		yes [ "${own#"$charged"}" != "$own" ]
	fi
	# Adds up to what the kernel counts, which goes on meanwhile: within 5 percent.
	cat >sums.awk <<'EOF'
/^H: (Cached|Buffers),/ { kib += $2 }
/^C:/ { mine += $3 * page / 1024 }
END { exit !(mine > kib * 0.95 && mine < kib * 1.05) }
EOF
	yes awk -F', ' -v page="$(getconf PAGESIZE)" -f sums.awk "$work/log/out"
	yes grep -q '^R: .*, zone=' "$work/log/out"
fi

t "the kernel's own text is executable and cannot be written"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk live:bpf _stext --format csv --columns rights,state
	out <<END
rights,state
r-x$(paravirtual && echo u || echo -),present
END
fi

t "data of a kernel that lists functions alone: how to add it"
if [ -n "$why" ]; then skip "$why"
elif grep -qw init_task /proc/kallsyms; then skip "this kernel lists data (CONFIG_KALLSYMS_ALL)"
else
	for command in walk find; do
		run atwalk $command live:bpf init_task
		status 2
		err_has "'init_task' is neither a hexadecimal address nor a symbol of live:bpf"
		err_has "        this kernel lists functions and no data (CONFIG_KALLSYMS_ALL): --kernel System.map adds it"
	done
fi

t "info names the kernel and the process"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk info live --pid "$child" --format csv
	yes grep -q "^release,$(uname -r)\$" "$work/log/out"
	yes grep -q "^machine,$(uname -m)\$" "$work/log/out"
	yes grep -q "^root,.*process $child\\b" "$work/log/out"
fi

t "CAP_BPF and CAP_PERFMON are enough"
if [ -n "$why" ]; then
	skip "$why"
elif [ "$(id -u)" -ne 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon true 2>"$work/log/setpriv"; then
	skip "needs root and a setpriv that supports these capabilities"
elif [ ! -d /sys/firmware/memmap ]; then
	skip "RAM ranges are only in /proc/iomem here, which requires CAP_SYS_ADMIN"
else
	# shellcheck disable=SC2086
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon \
		--ambient-caps=+bpf,+perfmon ${WRAP:-} ./atwalk-copy live _stext --format csv --columns state
	out <<'END'
state
present
END
fi

t "a process that has ended is missing"
if [ -n "$why" ]; then skip "$why"; else
	exec 8>&- 9<&-
	gone=$child
	kill -KILL "$child"
	wait "$child" 2>"$work/log/kill"
	child=''
	run atwalk live --pid "$gone" "${at[pages]}"
	status 1
	no_out
	err_is "atwalk: *: there is no process $gone"
fi

t "--cpu: its page table is that of the task on it"
if [ -n "$why" ]; then skip "$why"; fi
python3 - >spin 2>"$work/log/spin" <<'END' &
import contextlib, ctypes, os, mmap
# Whatever else runs on that CPU.
with contextlib.suppress(PermissionError):
    os.setpriority(os.PRIO_PROCESS, 0, -20)
os.sched_setaffinity(0, {0})
m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m[0] = 1
print('%x' % ctypes.addressof(ctypes.c_char.from_buffer(m)), flush=True)
while True:
    pass
END
spinner=$!
await [ -s spin ]
# The CPU is shared, so this is repeated until the task is on it.
for _ in $(seq 2000); do
	! atwalk --cpu 0 live:bpf "$(cat spin)" --format csv --columns physical,state \
		>by-cpu 2>"$work/log/cpu" || break
done
run atwalk --pid $spinner live:bpf "$(cat spin)" --format csv --columns physical,state
out <by-cpu
kill -KILL $spinner && wait $spinner 2>"$work/log/wait"

t "find succeeds although processes end meanwhile"
sleep 1000 &
sleeper=$!
await grep -q '(sleep) S' /proc/$sleeper/stat
# A page of the child, and its frame.
one_page() {
	atwalk pages live:bpf --pid $sleeper --areas heap --filter 'present and kcount=1' --format csv \
		--columns address,physical >"$work/log/page" 2>&1
}
if ! one_page; then
	skip "$(head -n 1 "$work/log/page")"
else
	while :; do for _ in 1 2 3 4 5 6 7 8; do :& done; done 2>"$work/log/churn" &
	churn=$!
	# The kernel may migrate it meanwhile, so the frame is compared before and after.
	for _ in 1 2 3 4 5; do
		IFS=, read -r at page < <(sed -n 2p "$work/log/page")
		for _ in {1..12}; do
			atwalk find live:bpf "$page" --format csv --columns task,address >found 2>"$work/log/find"
			echo "$?,$(grep -c "$at" found),$(grep -c '^\[kernel\]' found)"
		done | sed 's/^[04],/answer,/' | sort -u >answers
		one_page
		! grep -qx "$at,$page" "$work/log/page" || break
	done
	{ kill $churn && wait $churn; } 2>"$work/log/kill"
	run cat answers
	out <<'END'
answer,1,1
END
fi
{ kill $sleeper && wait $sleeper; } 2>"$work/log/kill"

finish
