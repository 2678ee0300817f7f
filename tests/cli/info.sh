#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# info describes a source exactly. The roots, modes and control registers here are those
# of QEMU's `info registers`, the memory that of the guest's /proc/iomem.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

for arch in x86 arm64 riscv; do
	t "$arch: every fact, and where it was found"
	run atwalk info -v $arch.elf
	golden info-$arch
	err_is "atwalk: $arch.elf: *, root: VMCOREINFO note, proved by a walk to _stext"
done

t "without -v the first 16 ranges are listed, and it says so"
run atwalk info x86.elf
yes [ "$(grep -c '^memory  *0x' "$work/log/out")" = 16 ]
yes grep -q '^memory  *508K data in 31 ranges; the first 16 are listed, -v lists all$' "$work/log/out"

t "control registers by name, and what they protect"
run atwalk info --filter 'fact=CR0 or fact=CR4' x86.elf
out <<'E'
FACT            VALUE
CR0             0x80050033 (all 2 CPUs): PE MP ET NE WP AM PG
CR4             0x750ef0 (CPU 0): PSE PAE MCE PGE OSFXSR OSXMMEXCPT UMIP FSGSBASE OSXSAVE SMEP SMAP PKE
CR4             0x750ee0 (CPU 1): PAE MCE PGE OSFXSR OSXMMEXCPT UMIP FSGSBASE OSXSAVE SMEP SMAP PKE
E
if grep -q '^  found:.* zstd' "$built/found.txt"; then
	run atwalk info --filter 'fact=protection and (value~isolation or value~WP)' tasks.kdump
	out <<'E'
FACT            VALUE
protection      page-table isolation: on (user mode has tables of its own)
protection      WP: on (CR0.WP)
E
fi

t "--log: a number of lines; what is not in a dump is said with the reason"
run atwalk info --log 5 --filter 'fact=log or fact=panic' --format csv x86.elf
yes grep -q '^panic,"\?not known: kernel address 0x[0-9a-f]*: its page at 0x[0-9a-f]* is not in the source' "$work/log/out"
yes grep -q '^log,"\?cannot be read: kernel address ' "$work/log/out"
run atwalk info --log five x86.elf
status 2
no_out
err_has "--log"

t "--cpu and --root say so"
run atwalk info --cpu 1 --filter 'fact=root' x86.elf
out <<'E'
FACT            VALUE
root            0x3ea6000 (CR3 of CPU 1)
E
run atwalk info --root 3ea6000 --filter 'fact=root' --format jsonl x86.elf
yes grep -q '"value":"0x3ea6000 (as given)"' "$work/log/out"

t "facts are rows: csv"
run atwalk info --format csv --filter 'fact=machine or fact=release or fact=kaslr' x86.elf
out <<'E'
fact,value
machine,x86_64
release,6.1.0-56-amd64
kaslr,0x10400000
E

t "--paging-modes: all of them, without a SOURCE"
run atwalk info --paging-modes
golden info-modes

t "--paging-modes for programs: sizes in bytes, bits as numbers"
run atwalk info --paging-modes --format jsonl --filter 'page=64K and virtual<48 and not mode~s2'
out <<'E'
{"mode":"arm64-64k-42","levels":2,"page":65536,"virtual":42,"physical":52,"about":"arm64, 64K pages, 4 TiB a half"}
E

t "every mode of --paging-modes is one that --paging takes"
run atwalk info --paging-modes --format csv --columns mode
mapfile -t modes < <(sed 1d "$work/log/out")
for mode in "${modes[@]}"; do
	run atwalk map --root 0 --paging "$mode" x86.elf
	status 4
	err_is "*"
done

t "--paging-flags: those of a mode, with bits and levels"
run atwalk info --paging-flags x86_64-5
golden info-flags

t "--paging-flags: with what an extension adds"
run atwalk info --paging-flags riscv64-sv39 --columns flag --format csv
cp "$work/log/out" plain
run atwalk info --paging-flags riscv64-sv39 --pte-ext thead --columns flag --format csv
yes [ "$(diff plain "$work/log/out" | grep -c '^>')" -gt 0 ]

t "--paging-flags: an unknown mode, or an extension it does not take"
run atwalk info --paging-flags x86_64-6
status 2
no_out
err <<'E'
atwalk: --paging-flags: unknown mode 'x86_64-6'; --paging-modes lists them
        see: atwalk info --help
E
run atwalk info --paging-flags x86_64-4 --pte-ext thead
status 2
no_out
err_has 'atwalk: --pte-ext: '

t "every mode of the manual is there"
for mode in x86_64-4 x86_64-5 arm64-4k-39 arm64-4k-42 arm64-4k-48 arm64-4k-52 \
	    arm64-16k-36 arm64-16k-47 arm64-16k-48 arm64-16k-52 arm64-64k-42 \
	    arm64-64k-48 arm64-64k-52 riscv64-sv39 riscv64-sv48 riscv64-sv57 \
	    i386 i386-pae arm arm-lpae riscv32-sv32 {ept,npt}-{4,5} \
	    arm64-s2-4k-{32,36,40,42,44,48,52} arm64-s2-16k-{40,48,52} \
	    arm64-s2-64k-{40,48,52} riscv64-sv{39,48,57}x4; do
	yes grep -q "^$mode " "$cli/golden/info-modes.txt"
done

t "a split dump: how many of its parts are there"
run redump x86.elf kdump-zlib part --split 3
run atwalk info -S part.3 -S part.1 part.2 --filter fact=format
out <<'E'
FACT            VALUE
format          kdump-compressed v6, zlib, split, all 3 parts
E

t "a source without a kernel is described all the same: exit status 4"
run redump x86.elf lime dump.lime
run atwalk info --filter 'fact=format or fact=cpus' dump.lime
status 4
out <<'E'
FACT            VALUE
format          LiME, 31 ranges
cpus            not recorded in this source
E
err <<'E'
atwalk: dump.lime: no page-table root was found: no VMCOREINFO note, no VMCOREINFO in memory that leads to a kernel, and no CPU's CR3
        specify it with --root PHYS --paging MODE
E

t "through a pipe"
# shellcheck disable=SC2094
run bash -c "cat x86.elf | '$O/atwalk' info --filter fact=paging -"
out <<'E'
FACT            VALUE
paging          x86_64-4 (x86 4-level paging, 256 TiB)
E

finish
