#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# map --columns +node shows the NUMA node of memory: in a dump with one node, in the same
# dump with a second node that this test adds to its memory, and for a process that this
# test starts, compared with /proc/PID/numa_maps.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

zstd=''
grep -q '^  found:.* zstd' "$built/found.txt" || zstd="this build has no zstd"

t "nodes are read only for the column node"
run atwalk map x86.elf ffffffff91400000+16M --format csv --columns address
run atwalk map x86.elf ffffffff91400000+16M --format csv --columns address,node
yes grep -qx '0xffffffff91400000,' "$work/log/out"
err_has "x86.elf: cannot read NUMA nodes: "

t "one node: all frames with a struct page are on it, devices on none"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk map tasks.kdump --task thp --format csv --group node
	out <<'END'
node,count,size
0,57,11149312
END
	run atwalk map tasks.kdump --group node
	yes grep -q '^by node: [0-9.]*M on 0, [0-9.]*M unknown$' "$work/log/out"
	run atwalk map tasks.kdump --format csv --columns physical,node --filter 'physical>=fec00000'
	yes grep -qx '0x00000000fec00000,' "$work/log/out"
fi

# Two nodes: 0 has the frames below $1, node 3 the others. Its pglist_data overwrites
# memory that is not read otherwise.
two() {
	local off at

	cp whole.elf two.elf
	off=$((16#$(poke whole.elf 'node_data*.pglist_data.node_start_pfn') -
	       16#$(poke whole.elf 'node_data*')))
	at=$(printf %x $((16#$(poke whole.elf transparent_hugepage_flags) + 0x100 - off)))
	yes poke two.elf "$at.pglist_data.node_start_pfn" "$(le "$1")"
	yes poke two.elf "$at.pglist_data.node_spanned_pages" "$(le $((0x10000 - $1)))"
	yes poke two.elf "$at.pglist_data.node_id" 03000000
	yes poke two.elf 'node_data*.pglist_data.node_spanned_pages' "$(le $(($1 - 1)))"
	yes poke two.elf node_data+18 "=$at"
	yes poke two.elf node_online_map "$(le 9)"
}

# A number as bytes.
le() {
	local i

	for ((i = 0; i < 64; i += 8)); do printf %02x $(($1 >> i & 255)); done
}

t "two nodes: ranges are split between nodes"
if [ -n "$zstd" ]; then skip "$zstd"; else
	atwalk extract -q --pages -o whole.elf tasks.kdump >"$work/log/extract"
	two $((0x4380))
	run atwalk map two.elf --task thp --format csv --columns address,size,physical,node 7ff0f2c00000-7ff0f3400000
	out <<'END'
address,size,physical,node
0x00007ff0f2c00000,2097152,0x0000000004000000,0
0x00007ff0f2e00000,1048576,0x0000000004200000,0
0x00007ff0f2f00000,4096,0x0000000004300000,0
0x00007ff0f2f01000,520192,0x0000000004301000,0
0x00007ff0f2f80000,524288,0x0000000004380000,3
0x00007ff0f3000000,524288,0x0000000004600000,3
0x00007ff0f3083000,1560576,0x0000000004683000,3
0x00007ff0f3200000,2097152,0x0000000004c00000,3
END
	run atwalk map two.elf --task thp --group node --format csv
	sed 1d "$work/log/out" | sort -n | cut -d , -f 3 >got
	for side in '<' '>='; do
		run atwalk map tasks.kdump --task thp --all --format csv --group state \
			--filter "physical${side}4380000"
		sed 1d "$work/log/out" | cut -d , -f 3
	done >wanted
	same got wanted
	run atwalk map two.elf --task thp --filter node=3 --columns node,size
	yes grep -q '^by node: [0-9.]*M on 3$' "$work/log/out"
fi

t "two nodes: a large page may span both"
if [ -n "$zstd" ]; then skip "$zstd"; else
	two $((0x4100))
	run atwalk map two.elf --task thp --format csv --columns address,size,page,node 7ff0f2c00000+2M
	out <<'END'
address,size,page,node
0x00007ff0f2c00000,1048576,2097152,0
0x00007ff0f2d00000,1048576,2097152,3
END
	run atwalk map two.elf --task thp --all --columns address,size,node 7ff0f2c00000+2M
	out <<'END'
ADDRESS               SIZE      NODE
0x00007ff0f2c00000      2M       n/a

1 range, 2M mapped: 2M in 1 page of 2M
by node: 1M on 0, 1M on 3
END
fi

# ---- a running process ----

cat >child.py <<'END'
import ctypes, mmap, sys

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
at = libc.mmap(None, 16 << 20, 3, 0x22, -1, 0)
for a in range(at, at + (8 << 20), mmap.PAGESIZE):
    ctypes.c_uint64.from_address(a).value = a | 1
print('%x' % at, flush=True)
sys.stdin.read()
END

t "a running process: the same as numa_maps"
if ! command -v python3 >"$work/log/python"; then skip "no python3, which the child is written in"
elif [ ! -r /proc/self/numa_maps ]; then skip "this kernel knows of no nodes"
else
	mkfifo in out
	python3 child.py <in >out 2>"$work/log/child" &
	child=$!
	exec 8>in 9<out
	read -r -t "$limit" -u 9 at
	kill -STOP "$child"
	n=0
	for way in live:bpf live:kcore live:pagemap; do
		run atwalk map $way --pid "$child" "$at+16M" --group node --format csv
		said_err=1 said_status=1
		[ "$rc" -eq 0 ] || continue
		# Hidden frames have no node.
		[ "$way" != live:pagemap ] || ! grep -q ^, "$work/log/out" || continue
		sed '1d' "$work/log/out" | cut -d , -f 1,3 | sort -n >got
		# The row may begin lower, because equal neighbours are merged.
		awk -v at="$at" '$1 <= at { line = $0 } END { print line }' "/proc/$child/numa_maps" |
			grep -o 'N[0-9]*=[0-9]*' | sed 's/^N//; s/=/ /' |
			while read -r node pages; do echo "$node,$((pages * 4096))"; done >wanted
		same got wanted
		n=$((n + 1))
	done
	[ $n -gt 0 ] || skip "frames are hidden here"
	exec 8>&- 9<&-
fi

finish
