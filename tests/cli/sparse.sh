#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sparse dumps of hundreds of GiB: what the file does not store is not read.
# A search through all of it would exceed the time limit.
source "$(dirname "$0")/lib.sh"

truncate -s 64M probe
if [ "$(du -k probe | cut -f 1)" -gt 1024 ]; then
	t "sparse dumps"
	skip "no sparse files here"
	finish
fi
rm probe

# le N VALUE...: numbers of N bytes.
le() {
	local n=$1 v i s
	shift
	for v; do
		s=
		for ((i = 0; i < n; i++)); do
			s+=$(printf '\\x%02x' $((v >> 8 * i & 255)))
		done
		printf '%b' "$s"
	done
}

# at FILE OFFSET: standard input goes there.
at() {
	dd of="$1" bs=64K oflag=seek_bytes seek="$2" conv=notrunc status=none
}

# Of x86_64: 512 GiB, of which 4 KiB are stored in the middle.
t "an ELF core: info, and the search for a kernel in it"
size=$((512 << 30))
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0'
	le 2 4 62
	le 4 1
	le 8 0 64 0
	le 4 0
	le 2 64 56 1 0 0 0
	le 4 1 0
	le 8 4096 0 0 $size $size 0
} >core
truncate -s $((4096 + size)) core
echo x | at core $((4096 + (256 << 30)))
run timeout 60 "$O/atwalk" info core --format csv --filter 'fact=memory or fact=format'
status 4
out <<'END'
fact,value
format,"ELF64 core, x86_64, 1 memory segment"
memory,0x0000000000000000-0x0000004000000000 256G zero
memory,0x0000004000000000-0x0000004000001000 4K data
memory,0x0000004000001000-0x0000008000000000 255.9G zero
memory,4K data in 1 range
memory,511.9G zero in 2 ranges
END
said_err=1
run timeout 60 "$O/atwalk" find core 4000000000
status 3
no_out
err_has 'no page-table root was found'
run timeout 60 "$O/atwalk" map --root 4000000000 --paging x86_64-4 core
status 1
out <<'END'
ADDRESS             END                   SIZE  PHYSICAL            PAGE  RIGHTS  STATE     FLAGS
0x0000000000000000  0x0000008000000000    512G  n/a                  n/a  n/a     swap      n/a

1 range, 0B mapped
1 entry holds what the CPU ignores (swap, protnone, ...)
END
said_err=1

t "an ELF core without a byte that is stored"
rm core
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0'
	le 2 4 62
	le 4 1
	le 8 0 64 0
	le 4 0
	le 2 64 56 1 0 0 0
	le 4 1 0
	le 8 4096 0 0 $size $size 0
} >core
truncate -s $((4096 + size)) core
run timeout 60 "$O/atwalk" info core --format csv --filter 'fact=memory or fact=format'
status 4
out <<'END'
fact,value
format,"ELF64 core, x86_64, 1 memory segment"
memory,0x0000000000000000-0x0000008000000000 512G zero
memory,512G zero in 1 range
END
said_err=1
rm core

t "LiME"
{
	le 4 $((0x4c694d45)) 1
	le 8 0 $((size - 1)) 0
} >lime
truncate -s $((32 + size)) lime
run timeout 60 "$O/atwalk" info lime --format csv --filter 'fact=memory or fact=format'
status 4
out <<'END'
fact,value
format,"LiME, 1 range"
memory,0x0000000000000000-0x0000000000001000 4K data
memory,0x0000000000001000-0x0000008000000000 511.9G zero
memory,4K data in 1 range
memory,511.9G zero in 1 range
END
said_err=1
rm lime

t "AVML: a chunk cannot be a hole"
{
	le 4 $((0x4c4d5641)) 2
	le 8 0 $((size - 1)) 0
} >avml
truncate -s $((32 + size)) avml
run timeout 60 "$O/atwalk" info avml
status 3
no_out
said_err=1
rm avml

finish
