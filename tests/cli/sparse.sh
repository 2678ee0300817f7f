#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sparse dumps of hundreds of GiB: what the file does not store is not read.
# A search through all of it would exceed the time limit.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

truncate -s 64M probe
if [ "$(du -k probe | cut -f 1)" -gt 1024 ]; then
	t "sparse dumps"
	skip "no sparse files here"
	finish
fi
rm probe
if [ -n "${WRAP:-}" ]; then
	t "sparse dumps"
	skip "valgrind maps no TiB"
	finish
fi

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
1 entry holds a value that the CPU ignores (swap, protnone, ...)
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

# 2^36 frames of 4 KiB: two bitmaps of 8 GiB. Only frame 2^35 is stored; the frames
# around it were left out.
kdump() {
	local frames=$((1 << 36)) sub=4096 first=8192 half=$((1 << 33))
	local descs=$((first + 2 * half))
	{
		printf 'KDUMP   '
		le 4 6
	} >"$1"
	le 4 0 4096 1 $((2 * half / 4096)) $((0xffffffff)) | at "$1" 424
	le 8 $frames | at "$1" $((sub + 96))
	printf '\377' | at "$1" $((first + (1 << 32)))
	printf '\001' | at "$1" $((first + half + (1 << 32)))
	{
		le 8 $((descs + 4096))
		le 4 4096 0
		le 8 0
	} | at "$1" $descs
	echo hello | at "$1" $((descs + 4096))
	truncate -s 64G "$1"
}

# most COMMAND...: runs it, and prints the KiB of memory that it had at most, of files
# as well.
most() {
	python3 -c '
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as f:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=f)
sys.exit(status)' most.kib "$@"
}

t "a kdump-compressed dump: neither bitmap is read where it is a hole"
kdump dump
run timeout 60 "$O/atwalk" info dump --format csv --filter 'fact=memory or fact=format'
status 4
out <<'END'
fact,value
format,"kdump-compressed v6, uncompressed"
memory,0x0000800000000000-0x0000800000001000 4K data
memory,0x0000800000001000-0x0000800000008000 28K excluded
memory,4K data in 1 range
memory,28K excluded in 1 range
END
said_err=1
run most timeout 60 "$O/atwalk" find dump --root 800000000000 --paging x86_64-4 0
status 1
said_err=1
if [ -z "${WRAP:-}" ] && [ "$(cat most.kib)" -gt 262144 ]; then
	echo "had $(cat most.kib) KiB" >&2
	yes false
fi

t "the same, flattened: bitmaps in pieces are not copied out of holes"
python3 - <<'END'
import struct
frames, first, half = 1 << 36, 8192, 1 << 33
with open("flat", "wb") as f:
    f.write(b"makedumpfile".ljust(16, b"\0") + struct.pack(">QQ", 1, 1))
    f.seek(4096)
    main = b"KDUMP   " + struct.pack("<I", 6)
    main = main.ljust(424, b"\0") + struct.pack("<IIIII", 0, 4096, 1, 2 * half // 4096, 0xffffffff)
    main = main.ljust(4096 + 96, b"\0") + struct.pack("<Q", frames)
    f.write(struct.pack(">QQ", 0, 8192) + main.ljust(8192, b"\0"))
    for i in range(8):
        f.write(struct.pack(">QQ", first + i * (half // 4), half // 4))
        f.seek(half // 4, 1)
    f.write(struct.pack(">qq", -1, -1))
END
run most timeout 60 "$O/atwalk" info flat
status 3
no_out
err_is 'atwalk: flat: bitmaps of 8589934592 bytes are more than the file holds'
rm -f dump flat

t "notes: a name of 4 GiB of zeroes is not read"
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0'
	le 2 4 62
	le 4 1
	le 8 0 64 0
	le 4 0
	le 2 64 56 2 0 0 0
	le 4 4 0
	le 8 8192 0 0 $((size / 2)) 0 0
	le 4 1 0
	le 8 4096 0 0 4096 4096 0
} >core
for ((i = 0; i < 64; i++)); do
	le 4 $((0xfffffff0)) 0 1 | at core $((8192 + i * (0xfffffff0 + 12)))
done
truncate -s $((8192 + size)) core
run most timeout 60 "$O/atwalk" info core --format csv --filter 'fact=memory or fact=format'
status 4
out <<'END'
fact,value
format,"ELF64 core, x86_64, 1 memory segment"
memory,0x0000000000000000-0x0000000000001000 4K data
memory,4K data in 1 range
END
said_err=1
rm core

finish
