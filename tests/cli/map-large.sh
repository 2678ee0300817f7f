#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# map --large and the lines below map report large pages and the reason for each small page,
# for the small dump and for processes that this test starts, with a VMA for each reason. No
# other process is read.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child='' other=''
# shellcheck disable=SC2317 # by the trap
end() {
	for p in $child $other; do
		{ kill -KILL "$p"; wait "$p"; } 2>"$work/log/kill"
	done
	rm -rf "$work"
}
trap end EXIT

t "--large requires a process"
run atwalk map x86.elf --large
status 2
no_out
err_has "--large requires --pid or --task"

t "options about ranges are refused"
run atwalk map x86.elf --large --all
status 2
no_out
err_has "--all, --split and --depth cannot be used with --large"

# ---- a dump ----

zstd=''
grep -q '^  found:.* zstd' "$built/found.txt" || zstd="this build has no zstd"

t "a dump: one row per area"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk map tasks.kdump --task thp --large --columns +holes
	golden map-large-thp
	run atwalk map tasks.kdump --task hugetlb --large --format csv
	golden map-large-hugetlb
fi

t "a dump: the lines below the ranges"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk map tasks.kdump --task thp --sort size:desc
	golden map-large-below
fi

t "every process of a dump: the reasons add up to the small pages"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk ps tasks.kdump --filter process --format csv --columns pid,mm
	sed 1d "$work/log/out" | grep ,0x | cut -d , -f 1 >pids
	while read -r pid; do
		run atwalk map tasks.kdump --pid "$pid" --units bytes
		sed -n '/^large pages/,$p' "$work/log/out" >below
		run atwalk map tasks.kdump --pid "$pid" --format csv --columns size,page --filter present
		awk -F, 'NR > 1 { n[$2 >= 2097152] += $1 } END { print n[1] + 0, n[0] + 0 }' \
			"$work/log/out" >>wanted
		awk 'NR == 1 { large = $4; small = $7 } NR > 1 { sum += $1 }
			END { print large, small == sum ? small : "reasons add up to " sum }' below >>got
	done <pids
	same got wanted
	yes [ "$(wc -l <pids)" -gt 20 ]
fi

t "TLB entries: one per page of any size"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk map tasks.kdump --task thp
	yes grep -q ' mapped: .* in [0-9]* pages of 4K, .* in [0-9]* pages\? of 2M$' "$work/log/out"
	pages=$(sed -n 's/.* in \([0-9]*\) pages of 4K, .* in \([0-9]*\) pages\? of 2M$/\1 \2/p' "$work/log/out")
	yes grep -qE "^TLB entries: $((${pages% *} + ${pages#* })) for what is mapped now, [0-9]+ if every block with small pages were one large page\$" \
		"$work/log/out"
	# The size of the TLB is known only for the running system.
	yes [ "$(grep -c '^TLB reach' "$work/log/out")" = 0 ]
fi

t "filters accept the reasons; ranges select whole areas"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk map tasks.kdump --task thp --large --filter 'sparse and blocks>1' --format csv \
		--columns address,smaller,blocks,full,holes,why 7ff0f3000000+4K 400000
	out <<'END'
address,smaller,blocks,full,holes,why
0x00007ff0f2f01000,3129344,2,0,12288,sparse
END
	run atwalk map tasks.kdump --task thp --large --format json --sort large:desc \
		--columns address,large,why 7ff0f2c00000-7ff0f2f01000
	out <<'END'
[
{"address":"0x00007ff0f2c00000","large":2097152,"why":"-"},
{"address":"0x00007ff0f2e00000","large":0,"why":"small"},
{"address":"0x00007ff0f2f00000","large":0,"why":"small"}
]
END
	run atwalk map tasks.kdump --task thp --large 10000+4K --format csv --columns address
	status 1
	out <<'END'
address
END
fi

t "with ranges, filters or another format, the lines below are left out"
if [ -n "$zstd" ]; then skip "$zstd"; else
	for o in '400000+1M' '--filter present' '--depth 3' -q '--format csv'; do
		# shellcheck disable=SC2086 # several words
		run atwalk map tasks.kdump --task thp $o
		yes [ "$(grep -c 'large pages' "$work/log/out")" = 0 ]
	done
fi

# The dump is an extract without the settings; a complete one has them.
t "a dump: the kernel's settings, and prctl() of the process"
if [ -n "$zstd" ]; then skip "$zstd"; else
	atwalk extract -q --pages -o whole.elf tasks.kdump >"$work/log/extract"
	why() { run atwalk map "$1.elf" --task thp --large --format csv --columns why 7ff0f3000000; }
	why whole
	yes grep -qx sparse "$work/log/out"
	# Without the bits for always and madvise: never.
	cp whole.elf never.elf
	yes poke never.elf "$(poke whole.elf transparent_hugepage_flags)" 0001000000000000
	why never
	yes grep -qx disabled "$work/log/out"
	# PR_SET_THP_DISABLE, with the dumpable bits, which are never 0.
	cp whole.elf off.elf
	yes poke off.elf "$(poke whole.elf 'task:99.task_struct.mm*.mm_struct.flags')" cd00000100000000
	why off
	yes grep -qx disabled "$work/log/out"
	run atwalk map off.elf --task thp
	yes grep -q 'disabled *large pages are off for the process (prctl, PR_SET_THP_DISABLE); to fill the blocks takes 12K more$' \
		"$work/log/out"
	# The reason names the file.
	run atwalk map never.elf --task thp
	yes grep -q 'disabled */sys/kernel/mm/transparent_hugepage/enabled is never; to fill ' "$work/log/out"
	# An extract of it keeps the reason.
	atwalk extract -q -o again.elf off.elf >"$work/log/extract"
	why again
	yes grep -qx disabled "$work/log/out"
	atwalk extract -q -o again.elf never.elf >"$work/log/extract"
	why again
	yes grep -qx disabled "$work/log/out"
fi

# ---- running processes ----

# Areas in a reserved range, with gaps, so that none is merged with another. Where
# khugepaged must not collapse a block, one of its pages is in a pipe.
cat >child.py <<'END'
import ctypes, mmap, os, sys, tempfile
from live_memory import *

BLOCK = 2 * M

if len(sys.argv) > 1:
    libc.prctl(41, 1, 0, 0, 0)   # PR_SET_THP_DISABLE
place = libc.mmap(None, 256 * M, 0, PRIVATE | ANONYMOUS | NORESERVE, -1, 0)
place = (place + BLOCK - 1) // BLOCK * BLOCK
pin = os.pipe()


def area(name, size, at=0, advice=None, flags=PRIVATE | ANONYMOUS, fd=-1, offset=0):
    global place
    start = libc.mmap(place + at, size, 3, flags | FIXED, fd, offset)
    if start != place + at:
        sys.exit('mmap')
    place += (at + size + 2 * BLOCK - 1) // BLOCK * BLOCK
    if advice:
        libc.madvise(start, size, advice)
    print(name, '%x' % start, size)
    return start


def touch(at, size):
    for a in range(at, at + size, PAGE):
        ctypes.c_uint64.from_address(a).value = a | 1


# Small pages where large ones are allowed now, but were not when touched.
def small(name, size, each=BLOCK):
    at = area(name, size, advice=NOHUGE)
    for block in range(at, at + size, BLOCK):
        touch(block, each)
        vec = (ctypes.c_uint64 * 2)(block, PAGE)
        if libc.vmsplice(pin[1], ctypes.byref(vec), 1, 0) != PAGE:
            sys.exit('vmsplice')
    libc.madvise(at, size, HUGE)
    return at


touch(area('small', M), M)
touch(area('unaligned', 2 * M, at=M), 2 * M)
touch(area('ends', 6 * M, at=M, advice=NOHUGE), 6 * M)
touch(area('nohugepage', 4 * M, advice=NOHUGE), 4 * M)
touch(area('unadvised', 4 * M), 4 * M)
touch(area('huge', 4 * M, advice=HUGE), 4 * M)
area('untouched', 4 * M)
small('sparse', 4 * M, M)
small('possible', 4 * M)
guarded = small('guard', 2 * M)
if libc.madvise(guarded + M, 16 * PAGE, GUARD) < 0:
    print('noguard', 0, 0)
with tempfile.TemporaryFile() as f:
    f.truncate(5 * M)
    touch(area('file', 4 * M, flags=SHARED, fd=f.fileno(), offset=PAGE), 4 * M)
fd = os.memfd_create('test')
os.truncate(fd, 5 * M)
touch(area('shm', 4 * M, flags=SHARED, fd=fd), 4 * M)
touch(area('shm-unaligned', 4 * M, flags=SHARED, fd=fd, offset=PAGE), 4 * M)
cow = small('cow', 2 * M)
r, w = os.pipe()
if os.fork() == 0:
    libc.prctl(1, 9)             # ends with its parent
    os.write(w, b'x')
    sys.stdin.read()
    os._exit(0)
os.read(r, 1)
touch(cow, M)
print('ready', flush=True)
sys.stdin.read()
END

thp=/sys/kernel/mm/transparent_hugepage
declare -A at len
why=''
[ "$(uname -m)" = x86_64 ] || why="large pages are said to be of 2 MiB here"
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"
[ -r $thp/enabled ] || why="this kernel has no transparent large pages"

# The settings for this size: anon, shmem.
setting() {
	local one

	one=$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$thp/hugepages-2048kB/$1" 2>"$work/log/sed")
	case $one in
	''|inherit) sed -n 's/.*\[\(.*\)\].*/\1/p' "$thp/$1" ;;
	*) echo "$one" ;;
	esac
}
anon='' shmem=''
if [ -z "$why" ]; then
	anon=$(setting enabled) shmem=$(setting shmem_enabled)
fi

# start NAME [ARG]: starts a child, with its areas in at[] and len[]; it is stopped at the end.
start() {
	local what from size

	mkfifo "$1.in" "$1.out"
	python3 child.py ${2:+"$2"} <"$1.in" >"$1.out" 2>"$work/log/child" &
	started=$!
	exec 8>"$1.in" 9<"$1.out"
	while read -r -t "$limit" -u 9 what from size && [ "$what" != ready ]; do
		at[$what]=$from len[$what]=$size
	done
	if [ "$what" != ready ]; then
		why="the child did not start: $(tail -n 1 "$work/log/child")"
	fi
	kill -STOP "$started"
}

if [ -z "$why" ]; then
	start first
	child=$started
	exec 6>&8 7<&9
fi
# Backends that are available here.
ways=(live:pagemap)
for way in live:bpf live:kcore; do
	[ -n "$why" ] || ! atwalk map "$way" --pid "$child" 1000 >"$work/log/way" 2>&1 8>&- || ways+=("$way")
	[ ! -s "$work/log/way" ] || ! grep -q '^ADDRESS' "$work/log/way" || [[ " ${ways[*]} " = *" $way "* ]] ||
		ways+=("$way")
done

# area NAME LARGE SMALLER BLOCKS FULL HOLES WHY: checks the row with every backend.
area() {
	local name=$1 way

	shift
	for way in "${ways[@]}"; do
		run atwalk map "$way" --pid "${of:-$child}" --large "${at[$name]}+${len[$name]}" \
			--format csv --columns address,size,large,smaller,blocks,full,holes,why
		said_err=1 said_status=1
		printf 'address,size,large,smaller,blocks,full,holes,why\n0x%016x,%d,%s\n' \
			"0x${at[$name]}" "${len[$name]}" "$(IFS=,; echo "$*")" | out
	done
}

M=1048576
t "areas without room for a large page"
if [ -n "$why" ]; then skip "$why"; else
	area small 0 $M 0 0 0 small
	area unaligned 0 $((2 * M)) 0 0 0 unaligned
	area untouched 0 0 2 0 0 -
fi

t "areas with MADV_NOHUGEPAGE; their ends count separately"
if [ -n "$why" ]; then skip "$why"; else
	area nohugepage 0 $((4 * M)) 2 2 0 nohugepage
	area ends 0 $((6 * M)) 2 2 0 nohugepage
fi

t "holes, guard pages, and no reason"
if [ -n "$why" ]; then skip "$why"
elif [ "$anon" = never ]; then
	area sparse 0 $((2 * M)) 2 0 $((2 * M)) disabled
	area possible 0 $((4 * M)) 2 2 0 disabled
else
	area sparse 0 $((2 * M)) 2 0 $((2 * M)) sparse
	area possible 0 $((4 * M)) 2 2 0 possible
	[ -n "${at[noguard]:-}" ] || area guard 0 $((2 * M - 65536)) 1 0 0 rights
fi

t "without MADV_HUGEPAGE"
if [ -n "$why" ]; then skip "$why"
elif [ "$anon" = always ]; then skip "large pages do not require it here"
else
	area unadvised 0 $((4 * M)) 2 2 0 disabled
fi

t "large pages"
if [ -n "$why" ]; then skip "$why"
elif ! awk -v from="${at[huge]}" '$1 ~ "^" from "-" { on = 1 } on && /^AnonHugePages:/ { exit $2 != 4096 }' \
	"/proc/$child/smaps"; then skip "the kernel gave fewer"
else
	area huge $((4 * M)) 0 2 0 0 -
fi

t "TLB reach: as many entries as this CPU says, of the size that it says"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk map live:pagemap --pid "$child"
	said_err=1 said_status=1
	reach=$(grep '^TLB reach: ' "$work/log/out")
	# "N for pages of 4K, which reach 12M", and the like of 2M; or none, with the reason.
	yes grep -qE '^TLB reach: (CPUID reports [1-9][0-9]* for pages of |n/a, because this CPU does not report)' <<<"$reach"
	while read -r n size of; do
		yes test "$(numfmt --from=iec "$of")" = $((n * $(numfmt --from=iec "$size")))
	done < <(grep -oE '[0-9]+ for pages of [24][KM], which reach [0-9.]+[KMGT]' <<<"$reach" |
		sed 's/ for pages of / /; s/, which reach / /')
	# What Linux read of AMD's CPUs, of which we take the level that data has: part of it.
	linux=$(sed -n '/^TLB size/{s/^.*: \([0-9]*\) 4K pages$/\1/p;q}' /proc/cpuinfo)
	n=${reach#*CPUID reports } n=${n%% for pages of 4K*}
	[ -z "$linux" ] || [ "$n" = "$reach" ] || yes test "$n" -le "$linux"
fi

t "unaligned files, and shared memory"
if [ -n "$why" ]; then skip "$why"; else
	area file 0 $((4 * M)) 2 2 0 file
	case $shmem in
	never|deny|advise)
		area shm 0 $((4 * M)) 2 2 0 disabled
		# Off for aligned and unaligned areas.
		area shm-unaligned 0 $((4 * M)) 2 2 0 disabled
		for way in "${ways[@]}"; do
			run atwalk map "$way" --pid "$child" --large "${at[shm]}+${len[shm]}" \
				"${at[shm-unaligned]}+${len[shm-unaligned]}"
			said_err=1 said_status=1
			yes grep -qE " 8M disabled   /sys/kernel/mm/transparent_hugepage/(hugepages-2048kB/)?shmem_enabled is $shmem(, and MADV_HUGEPAGE was not given)?; 8M of it in full blocks\$" \
				"$work/log/out"
		done ;;
	*)
		area shm-unaligned 0 $((4 * M)) 2 2 0 file ;;
	esac
fi

t "copied pages among uncopied ones are visible in page tables"
if [ -n "$why" ]; then skip "$why"
elif [ "$anon" = never ]; then skip "large pages are off here"
else
	all=("${ways[@]}")
	ways=(live:pagemap)
	area cow 0 $((2 * M)) 1 1 0 possible
	ways=("${all[@]:1}")
	area cow 0 $((2 * M)) 1 1 0 rights
	[ ${#ways[@]} -gt 0 ] || skip "no page tables can be read here"
	ways=("${all[@]}")
fi

t "all reasons add up to the size of small pages"
if [ -n "$why" ]; then skip "$why"; else
	for way in "${ways[@]}"; do
		# Three attempts; in between, khugepaged may make a large page.
		for _ in 1 2 3 4 5; do
			run atwalk map "$way" --pid "$child" --units bytes
			said_err=1
			awk '/^large pages/ { on = 1; large = $4; small = $7; next } on { sum += $1 }
				END { print large, small, sum }' "$work/log/out" >got
			run atwalk map "$way" --pid "$child" --large --format csv --columns large,smaller
			said_err=1
			awk -F, 'NR > 1 { l += $1; s += $2 } END { print l, s, s }' "$work/log/out" >areas
			run atwalk map "$way" --pid "$child" --format csv --columns size,page --filter present
			said_err=1
			awk -F, 'NR > 1 { n[$2 >= 2097152] += $1 } END { print n[1] + 0, n[0], n[0] }' \
				"$work/log/out" >wanted
			if cmp -s got areas && cmp -s got wanted; then break; fi
		done
		same got areas
		same got wanted
	done
	yes [ "$(cut -d ' ' -f 2 got)" -gt $((32 * M)) ]
fi

t "large pages are off for a process"
if [ -n "$why" ]; then skip "$why"; else
	start second off
	other=$started of=$started
	area possible 0 $((4 * M)) 2 2 0 disabled
	area nohugepage 0 $((4 * M)) 2 2 0 nohugepage
	area file 0 $((4 * M)) 2 2 0 disabled
	run atwalk map live:pagemap --pid "$other" -q --large
	yes grep -q ' disabled *large pages are off for the process' "$work/log/out"
fi

exec 6>&- 7<&- 8>&- 9<&-
finish
