#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The same memory in every container gives the same answers, byte for byte.
# tests/tools/redump writes the containers and shares no code with the readers.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

declare -A root=([x86]=9a10000 [arm64]=41f16000 [riscv]=81fca000)
declare -A paging=([x86]=x86_64-4 [arm64]=arm64-4k-52 [riscv]=riscv64-sv57)
declare -A first=([x86]=0x1000000 [arm64]=0x41f16000 [riscv]=0x81fc2000)
declare -A addresses=(
	[x86]='ffffffff91400000 ffffffff92e1aa40 ffff8b3ac0099000 ffffff3a00010000 ffffa00000000000'
	[arm64]='ffff932df3c10000 ffff932df5c49540 fff0000000200000 ffff932df60f0000'
	[riscv]='ffffffff80002000 ff20000000003000 ff1bffffff000000 ff20000000004000'
)

# What a dump says, into a folder: options and SOURCE are the arguments.
ask() {
	local to=$1
	shift
	mkdir -p "$to"
	{ atwalk map "$@"; echo "status $?"; } >"$to/map" 2>&1
	{ atwalk map --format csv --columns +pages,level,entry "$@"; echo "status $?"; } >"$to/csv" 2>&1
	# shellcheck disable=SC2086 # a list of words
	{ atwalk walk -p "$@" ${addresses[$arch]}; echo "status $?"; } >"$to/walk" 2>&1
	# shellcheck disable=SC2086
	{ atwalk walk -p --format jsonl "$@" ${addresses[$arch]}; echo "status $?"; } >"$to/json" 2>&1
}

agrees() {
	for what in map csv walk json; do
		same "$1/$what" "$2/$what"
	done
}

# Under valgrind, the readers of one are the readers of all.
archs='x86 arm64 riscv'
[ -z "${WRAP:-}" ] || archs=arm64
for arch in $archs; do
	given=(--root "${root[$arch]}" --paging "${paging[$arch]}")
	t "$arch: ELF, what the others are measured by"
	ask elf "$arch.elf"
	ask elf-given "${given[@]}" "$arch.elf"
	yes grep -q '^status 0$' elf/map
	yes grep -q '^status 1$' elf/walk
	yes [ "$(wc -l <elf/csv)" -gt 100 ]

	for codec in zlib lzo snappy zstd none; do
		t "$arch: kdump-compressed, $codec"
		run redump "$arch.elf" kdump-$codec dump
		ask got dump
		agrees got elf
	done

	t "$arch: flattened, as a file and through a pipe"
	run redump "$arch.elf" kdump-zlib flat --flattened
	ask got flat
	agrees got elf
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat flat | atwalk map - >piped 2>&1
	echo "status $?" >>piped
	same piped elf/map

	# Its records come last to first, so that no first bytes tell what it is.
	t "$arch: ELF, flattened, in an order that has to be named"
	run redump "$arch.elf" elf flat-elf --flattened
	ask got elf:flat-elf
	agrees got elf
	# shellcheck disable=SC2002
	cat flat-elf | atwalk map elf:- >piped 2>&1
	echo "status $?" >>piped
	same piped elf/map

	t "$arch: a plain ELF file through a pipe"
	# shellcheck disable=SC2002
	cat "$arch.elf" | atwalk map - >piped 2>&1
	echo "status $?" >>piped
	same piped elf/map

	t "$arch: split in three, the parts in any order"
	run redump "$arch.elf" kdump-lzo part --split 3
	for order in '1 2 3' '3 1 2' '2 3 1' '3 2 1'; do
		read -r a b c <<<"$order"
		ask got -S "part.$b" -S "part.$c" "part.$a"
		agrees got elf
	done

	t "$arch: LiME"
	run redump "$arch.elf" lime dump
	ask got "${given[@]}" dump
	agrees got elf-given

	t "$arch: AVML"
	run redump "$arch.elf" avml dump
	ask got "${given[@]}" dump
	agrees got elf-given

	t "$arch: raw, from its load address on"
	run redump "$arch.elf" raw dump
	ask got "${given[@]}" "raw:dump@${first[$arch]}"
	agrees got elf-given
	rm -f dump
done

t "a format that is forced is the one that is read"
run atwalk elf:x86.elf ffffffff91400000
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffff91400000     2M  0x0000000008000000  PMD    r-x-    present   accessed,dirty,large,global,wb
E
run atwalk kdump:x86.elf ffffffff91400000
status 3
no_out
err_is 'atwalk: x86.elf: does not start like a kdump-compressed dump'

t "a sparse image: its holes are zero, and no search goes through them"
rm -f sparse.raw
truncate -s 4T sparse.raw
printf 'x' | dd of=sparse.raw bs=1 seek=$((1 << 40)) conv=notrunc status=none
if [ "$(du -k sparse.raw | cut -f 1)" -gt 4096 ]; then skip "no sparse files here"
elif [ -n "${WRAP:-}" ]; then skip "valgrind maps no 4 TiB"; else
	run timeout 60 "$O/atwalk" info raw:sparse.raw --format csv --filter 'fact=memory'
	status 4
	out <<'END'
fact,value
memory,0x0000000000000000-0x0000010000000000 1T zero
memory,0x0000010000000000-0x0000010000001000 4K data
memory,0x0000010000001000-0x0000040000000000 2.9T zero
memory,4K data in 1 range
memory,3.9T zero in 2 ranges
END
	said_err=1
	run atwalk map --root 3000 --paging x86_64-4 raw:sparse.raw
	status 1
	said_err=1
fi

finish
