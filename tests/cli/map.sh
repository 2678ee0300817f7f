#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# map merges ranges as documented, and its output is exact. That it lists all mappings and
# no other is checked against QEMU in answers.sh.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

for arch in x86 arm64 riscv; do
	t "$arch: the kernel's address space, merged"
	run atwalk map $arch.elf
	golden map-$arch

	t "$arch: merged ranges cover what the single pages cover, and no more"
	ranges=()
	# All of the linear map are 100000 pages; some of it will do.
	[ $arch != arm64 ] || ranges=(fff0000000000000+64M ffff800000000000-0)
	run atwalk map --columns address,end,physical,page,rights,state --format csv $arch.elf "${ranges[@]}"
	cp "$work/log/out" merged
	run atwalk map --all --columns address,end,physical,page,rights,state --format csv $arch.elf "${ranges[@]}"
	# Neighbours that agree are joined; hexadecimal sums are bash's.
	tail -n +2 "$work/log/out" | while IFS=, read -r address end physical page rights state; do
		if [ "${start:-}" ] && [ "$address" = "$last" ] &&
		   [ "$page,$rights,$state" = "$what" ] && [ $((physical)) -eq "$next" ]; then
			last=$end next=$((next + end - address))
			continue
		fi
		[ -z "${start:-}" ] || echo "$start,$last,$from,$what"
		start=$address last=$end from=$physical what=$page,$rights,$state
		next=$((physical + end - address))
	done >joined
	# The last one, and tables that repeat, stand only in one of the two.
	tail -n +2 merged | grep -v ',repeat$' | head -n -1 >wanted
	if [ $arch = x86 ]; then
		grep -v '^0xffffff3' joined >joined.new
		grep -v '^0xffffff3' wanted >wanted.new
		mv joined.new joined
		mv wanted.new wanted
	fi
	same joined wanted
done

t "--cpu 1: a process, user half only"
run atwalk map --cpu 1 x86.elf 0-800000000000
golden map-x86-user

t "ranges limit the list, in the order they are given"
run atwalk map x86.elf ffffffffc03fd000+16K ffffffff91400000-ffffffff92400000
out <<'E'
ADDRESS             END                   SIZE  PHYSICAL            PAGE  RIGHTS  STATE     AREA            FLAGS
0xffffffffc03fd000  0xffffffffc03ff000      8K  0x00000000038cc000    4K  rw--    present   modules         rw,accessed,dirty,global,wb,nx
0xffffffff91400000  0xffffffff92200000     14M  0x0000000008000000    2M  r-x-    present   kernel image    accessed,dirty,large,global,wb
0xffffffff92200000  0xffffffff92202000      8K  0x0000000008e00000    4K  r-x-    present   kernel image    accessed,dirty,global,wb
0xffffffff92202000  0xffffffff92400000    1.9M  0x0000000008e02000    4K  rw--    present   kernel image    rw,accessed,dirty,global,wb,nx

4 ranges, 16.0M mapped: 2.0M in 514 pages of 4K, 14M in 7 pages of 2M
E

t "--all: every page by itself"
run atwalk map --all x86.elf ffffffff91400000+4M
out <<'E'
ADDRESS             END                   SIZE  PHYSICAL            PAGE  RIGHTS  STATE     AREA            FLAGS
0xffffffff91400000  0xffffffff91600000      2M  0x0000000008000000    2M  r-x-    present   kernel image    accessed,dirty,large,global,wb
0xffffffff91600000  0xffffffff91800000      2M  0x0000000008200000    2M  r-x-    present   kernel image    accessed,dirty,large,global,wb

2 ranges, 4M mapped: 4M in 2 pages of 2M
E

t "--all: contiguous pages of arm64 are pages of 64K"
run atwalk map --all --format csv --columns address,size,page arm64.elf ffff932df6000000+128K
yes [ "$(sed 1d "$work/log/out" | cut -d , -f 3 | sort -u)" = 65536 ]

t "nothing there: exit status 1, and a list that is empty and not missing"
run atwalk map x86.elf ffffa00000000000+1M
status 1
out <<'E'
ADDRESS             END                   SIZE  PHYSICAL            PAGE  RIGHTS  STATE     AREA            FLAGS

0 ranges, 0B mapped
E
run atwalk map --format json x86.elf ffffa00000000000+1M
status 1
out <<'E'
[]
E

t "--split flags: rights and size of page follow from the flags"
run atwalk map --split rights,page,physical,flags --format csv --columns address,end,flags x86.elf ffffffff91400000+16M
out <<'E'
address,end,flags
0xffffffff91400000,0xffffffff92200000,"accessed,dirty,large,global,wb"
0xffffffff92200000,0xffffffff92202000,"accessed,dirty,global,wb"
0xffffffff92202000,0xffffffff92400000,"rw,accessed,dirty,global,wb,nx"
E

t "--split rights: pages of all sizes go together"
run atwalk map --split rights --format csv --columns address,end,rights x86.elf ffffffff91400000+16M
out <<'E'
address,end,rights
0xffffffff91400000,0xffffffff92202000,r-x-
0xffffffff92202000,0xffffffff92400000,rw--
E

t "--split rights,page: memory that is scattered goes together"
run atwalk map --split rights,page --format csv --columns address,end,pages x86.elf ffffffffc03f5000+8K
cp "$work/log/out" two
run atwalk map --split rights,level --format csv --columns address,end,pages x86.elf ffffffffc03f5000+8K
same "$work/log/out" two

t "-s: tables that were not followed"
run atwalk map -s 1 --format csv --columns address,end,state riscv.elf ffffffff80000000-0
out <<'E'
address,end,state
0xffffffff80000000,0x0000000000000000,table
E

t "the usual columns are those of --help, hidden ones come when they are named"
run atwalk map --columns address,pages,level,entry --format csv x86.elf ffffffff91400000+16M
out <<'E'
address,pages,level,entry
0xffffffff91400000,7,PMD,0x00000000080001e1
0xffffffff92200000,2,PTE,0x0000000008e00161
0xffffffff92202000,510,PTE,0x8000000008e02163
E

t "tables that recur are one row, with what they repeat"
run atwalk map --columns address,end,repeat,state --format csv --filter repeat x86.elf
out <<'E'
address,end,repeat,state
0xffffff3a00200000,0xffffff3a40000000,2097152,repeat
0xffffff3a40200000,0xffffff3a80000000,2097152,repeat
0xffffff3a80200000,0xffffff3ac0000000,2097152,repeat
0xffffff3ac0200000,0xffffff3b00000000,2097152,repeat
E

t "a range ends where a region of the kernel's does, whatever else agrees"
run atwalk map --split rights --format csv --columns address,end,rights,area riscv.elf ff1bfffffec00000+8M
out <<'E'
address,end,rights,area
0xff1bfffffec00000,0xff1bffffff000000,rw--,fixmap
0xff1bffffff000000,0xff1bffffff010000,rw--,PCI I/O
E

t "regions can be asked for"
run atwalk map --format csv --columns address,size,area --filter 'area="direct map" and executable' x86.elf
out <<'E'
address,size,area
0xffff8b3ac0099000,8192,direct map
E

t "and grouped by"
run atwalk map --group area --format csv riscv.elf
out <<'E'
area,count,size
PCI I/O,1,65536
direct map,25,335544320
fixmap,1,4194304
kernel image,5,33554432
modules,26,290816
vmalloc,153,276664320
vmemmap,1,6291456
E

t "of a root given by hand no region is named"
run atwalk map --root 9a10000 --paging x86_64-4 --format csv x86.elf ffff8b3ac0000000+4K
out <<'E'
address,end,size,physical,page,rights,state,flags
0xffff8b3ac0000000,0xffff8b3ac0001000,4096,0x0000000000000000,4096,rw--,present,"rw,accessed,dirty,global,wb,nx"
E

t "user addresses are in none"
run atwalk map --cpu 0 --format csv --columns address,area x86.elf 400000+4K
out <<'E'
address,area
0x0000000000400000,
E

t "tables may lie at any byte of a dump"
if ! command -v python3 >"$work/log/python"; then skip "no python3, to shift them"; else
	python3 - x86.elf shifted.elf <<'END'
import struct
import sys

data = bytearray(open(sys.argv[1], 'rb').read())
first, = struct.unpack_from('<Q', data, 32)
count, = struct.unpack_from('<H', data, 56)
for i in range(count):
    at = first + i * 56 + 8
    struct.pack_into('<Q', data, at, struct.unpack_from('<Q', data, at)[0] + 3)
end = first + count * 56
data[end:end] = bytes(3)
open(sys.argv[2], 'wb').write(data)
END
	run atwalk map x86.elf --format csv
	cp "$work/log/out" want
	run atwalk map shifted.elf --format csv
	same "$work/log/out" want
	yes [ -s want ]
fi

t "what could not be read is counted where rows do not show it"
head -c 4096 /dev/zero >root.raw
# Entry 0 leads to a table at 0, which is not in it.
printf '\143' | dd of=root.raw bs=1 conv=notrunc status=none
hidden='atwalk: raw:root.raw@7000: cannot read 1 range, which is not listed'
for by in '--filter present' '--filter present -q' '--group state' '--format json --filter present'; do
	# shellcheck disable=SC2086 # words
	run atwalk map --root 7000 --paging x86_64-4 $by raw:root.raw@7000
	status 4
	err <<<"$hidden"
done
run atwalk map --root 7000 --paging x86_64-4 --filter lost raw:root.raw@7000
status 4
err <<<'atwalk: raw:root.raw@7000: cannot read 1 range'

finish
