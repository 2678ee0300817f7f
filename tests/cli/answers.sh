#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk agrees with QEMU's MMU and with the guest's own kernel about the same memory.
# tests/data/answers holds their answers; nothing in it was made by atwalk.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
answers=$data/answers

# `map --all` as QEMU's `info tlb` prints it: the leaf's own bits.
as_tlb() {
	awk -F, 'NR > 1 {
		f = $0; sub(/^[^,]*,[^,]*,/, ",", f); gsub(/"/, "", f); f = f ","
		print substr($1, 3) ": " substr($2, 3) " " \
			(f ~ /,nx,/ ? "X" : "-") (f ~ /,global,/ ? "G" : "-") \
			(f ~ /,(large|pat),/ ? "P" : "-") (f ~ /,dirty,/ ? "D" : "-") \
			(f ~ /,accessed,/ ? "A" : "-") (f ~ /,pcd,/ ? "C" : "-") \
			(f ~ /,pwt,/ ? "T" : "-") (f ~ /,us,/ ? "U" : "-") \
			(f ~ /,rw,/ ? "W" : "-")
	}'
}

# The same as QEMU's `info mem` prints it: neighbours with equal rights, where
# rights are what all levels leave. The column of sizes is left out.
as_mem() {
	awk -F, 'function put() { if (start) print start "-" end " " rights }
	NR > 1 {
		r = ($3 ~ /u/ ? "u" : "-") "r" ($3 ~ /w/ ? "w" : "-")
		if (substr($1, 3) != end || r != rights) {
			put(); start = substr($1, 3); rights = r
		}
		end = substr($2, 3)
	}
	END { put() }'
}

for cpu in 0 1; do
	t "x86_64, CPU $cpu: the leaves of map --all are those of info tlb, bit by bit"
	run atwalk map --all --cpu $cpu --format csv --columns address,physical,flags x86.elf
	as_tlb <"$work/log/out" >got
	unpack_tlb <"$answers/x86_64-4level.tlb.$cpu" >wanted
	yes [ "$(wc -l <wanted)" -gt 75000 ]
	same got wanted

	t "x86_64, CPU $cpu: the rights of map --all are those of info mem"
	run atwalk map --all --cpu $cpu --format csv --columns address,end,rights x86.elf
	as_mem <"$work/log/out" >got
	unpack_mem <"$answers/x86_64-4level.mem.$cpu" | cut -d ' ' -f 1,3 >wanted
	same got wanted
done

# NX is the only bit of rights that info mem leaves out; in these tables no
# level above the leaf sets it for kernel memory that has a leaf without it.
t "x86_64: executable is what no level forbids"
run atwalk map --all --format csv --columns flags,rights x86.elf
yes [ "$(grep -c 'nx.*r.x' "$work/log/out")" = 0 ]
yes [ "$(grep -v nx "$work/log/out" | grep -c 'r.-')" = 0 ]

# Every address of a .gva2gpa file, walked; absent ones have no physical.
walked() {
	local arch=$1 cpu=$2 file=$3
	shift 3
	mapfile -t addresses < <(awk -v cpu="$cpu" '$1 == cpu { print $2 }' "$file")
	run atwalk walk --format csv --columns address,physical "$@" "$arch.elf" "${addresses[@]}"
	awk -F, 'NR > 1 { print $1, $2 == "" ? "unmapped" : $2 }' "$work/log/out" >got
	awk -v cpu="$cpu" '$1 == cpu { print $2, $3 }' "$file" | while read -r va pa; do
		if [ "$pa" = unmapped ]; then
			printf '0x%016x unmapped\n' "$va"
		else
			printf '0x%016x 0x%016x\n' "$va" "$pa"
		fi
	done >wanted
}

t "x86_64, CPU 0: walk agrees with gva2gpa"
walked x86 0 "$answers/x86_64-4level.gva2gpa" --cpu 0
yes [ "$(wc -l <wanted)" = 61 ]
same got wanted

t "x86_64, CPU 1: walk agrees with gva2gpa"
walked x86 1 "$answers/x86_64-4level.gva2gpa" --cpu 1
yes [ "$(wc -l <wanted)" = 40 ]
same got wanted

t "arm64: walk agrees with gva2gpa, and one of them is not mapped"
walked arm64 0 "$answers/arm64-lpa2.gva2gpa"
status 1
yes [ "$(wc -l <wanted)" = 20 ]
same got wanted

t "riscv64: walk agrees with gva2gpa below the roots in satp of both CPUs"
walked riscv 0 "$answers/riscv64-sv57.gva2gpa" --root 883db000
yes [ "$(wc -l <wanted)" = 40 ]
same got wanted
walked riscv 1 "$answers/riscv64-sv57.gva2gpa" --root 82de5000
yes [ "$(wc -l <wanted)" = 40 ]
same got wanted

# What the guest's kernel said of the process that was running.
as_pagemap() {
	awk -F, 'NR > 1 { print substr($1, 3) ": " substr($2, 3) " present" }'
}

t "x86_64, CPU 1: user pages are those of /proc/PID/pagemap"
run atwalk map --all --cpu 1 --format csv --columns address,physical x86.elf 0-7fffffffffff
as_pagemap <"$work/log/out" >got
unpack_tlb <"$answers/x86_64-4level.pagemap" >wanted
yes [ "$(wc -l <wanted)" = 398 ]
same got wanted

t "riscv64, CPU 0: user pages are those of /proc/PID/pagemap"
run atwalk map --all --root 883db000 --format csv --columns address,physical riscv.elf 0-ffffffffffffff
as_pagemap <"$work/log/out" >got
unpack_tlb <"$answers/riscv64-sv57.pagemap" >wanted
yes [ "$(wc -l <wanted)" = 369 ]
same got wanted

finish
