#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# extract writes a small file from which every command prints the same. Tasks, VMAs and the
# absence of user data are checked on dumps of real kernels in tests/vm.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

no_tasks="cannot find tasks; the extract has only the page tables of the kernel and of CPUs"
about='fact=release or fact=paging or fact=kaslr or fact=root'

# The same command on both files; the output does not contain the file's name.
both() {
	run atwalk "$@" "$whole_file"
	cp "$work/log/out" whole
	said_err=1 said_status=1
	run atwalk "$@" "$small_file"
	said_err=1 said_status=1
	same "$work/log/out" whole
	yes [ -s whole ]
}

for arch in x86 arm64 riscv; do
	whole_file=$arch.elf small_file=small.elf
	t "$arch: walk, map and the kernel's facts of info are the same"
	run atwalk extract -o small.elf $arch.elf
	status 4
	err_has "$arch.elf: $no_tasks"
	both map --format csv --columns +pages,level,entry
	if [ $arch = x86 ]; then
		both map --cpu 0 --format csv
		both map --cpu 1 --format csv --columns +pages,level,entry
	fi
	both info --filter "$about"
	run atwalk walk -p $arch.elf _stext swapper_pg_dir
	cp "$work/log/out" whole
	run atwalk walk -p small.elf _stext swapper_pg_dir
	same "$work/log/out" whole

	t "$arch: an extract of an extract is the same file"
	run atwalk extract -q -o again.elf small.elf
	status 4
	err_has "$no_tasks"
	same again.elf small.elf
done

t "the same frames have a struct page, and so a node"
whole_file=tasks.kdump small_file=small.elf
run atwalk extract -q -o small.elf tasks.kdump
both map --task thp --format csv --columns +node
both map --task init --format csv --columns +node
yes grep -q ',0x0000000009211000,.*,0$' whole
both ps --format csv -T --columns +user_root,page_sizes,lost

t "the huge zero page is no memory of a process, with or without struct pages"
run atwalk pages -q --totals --task thp tasks.kdump --format csv --columns rss,huge,hugetlb,swapped
out <<'END'
rss,huge,hugetlb,swapped
9052160,4194304,0,0
END
both pages -q --totals --format csv --columns pid,rss,huge,hugetlb,swapped

t "the contents of the file"
run atwalk extract -q -o small.elf x86.elf
status 4
err_has "$no_tasks"
golden extract-x86

t "info: the format, and the CPUs with registers"
run atwalk info -q small.elf --format csv
yes grep -q '^format,"ELF64 core, x86_64, [0-9]* memory segments, an extract' "$work/log/out"
whole_file=x86.elf
both info -q --format csv --filter 'fact=cpu0 or fact=cpu1 or fact=cpus'
both info -q --format csv --filter 'fact=protection or fact=EFER or fact=CR4'
whole_file=tasks.kdump small_file=tasks.elf
run atwalk extract -q -o tasks.elf tasks.kdump
both info -q --format csv --filter 'fact=protection or fact=EFER or fact=CR4 or fact=cpus'
whole_file=x86.elf small_file=small.elf

t "struct pages that are left out are not known, and not zero"
run atwalk pages tasks.elf --format csv --columns pageflags
said_status=1 said_err=1
yes [ "$(grep -cv LRU "$work/log/out")" -gt 100 ]
yes [ "$(grep -c '^"\{0,1\}MMAP"\{0,1\}$' "$work/log/out")" = 0 ]

t "-o - writes only the file to standard output"
run atwalk extract -q -o - x86.elf
status 4
err_has "$no_tasks"
same "$work/log/out" small.elf

t "--root and --paging can be repeated on the extract"
run atwalk extract -q -o given.elf --root 3ea6000 --paging x86_64-4 x86.elf
status 4
err_has "$no_tasks"
small_file=given.elf
both map --root 3ea6000 --paging x86_64-4

t "the note of the extract replaces --root and --paging"
head -c 4096 /dev/zero >root.raw
printf '\x63' >entry
dd if=entry of=root.raw bs=1 conv=notrunc status=none
run atwalk extract -q -o noted.elf --root 7000 --paging x86_64-4 raw:root.raw@7000
status 4
err_has "cannot find tasks"
run atwalk info -q noted.elf --format csv --filter fact=root
out <<END
fact,value
root,0x7000 (the extract's note; not proved)
END

t "a source without page tables leaves no file"
run atwalk extract -o none2.elf --root 123000 --paging x86_64-4 raw:small.elf@100000000
status 3
err_has "none of the page tables is in it"
yes [ ! -e none2.elf ]

t "unknown columns are refused, without a file"
run atwalk extract -o none3.elf --columns nonsense x86.elf
status 2
err_has "nonsense"
yes [ ! -e none3.elf ]

t "usage"
run atwalk extract x86.elf
status 2
err_has "-o FILE is missing"
run atwalk extract -o x86.elf x86.elf
status 2
err_has "this is the source itself"
run atwalk extract -o a.elf
status 2
err_has "SOURCE is missing"
run atwalk extract -o a.elf x86.elf arm64.elf
status 2
err_has "too many arguments; expected one SOURCE"
run atwalk extract -o /dev/full x86.elf
status 3
err_has "/dev/full: cannot write: No space left on device"
run atwalk extract -o no/such/folder x86.elf
status 3
err_has "no/such/folder"

t "what was written is read again: a disk that loses some of it leaves no file"
if [ -n "${WRAP:-}" ] || grep -q fsanitize "$built/flags"; then skip "a write(2) that fails needs a build as it is"; else
	# Bytes at LOSE_AT of a file become zero, and write(2) reports success.
	cat >lose.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*next)(int, const void *, size_t) =
		(ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	unsigned long lose = strtoul(getenv("LOSE_AT"), NULL, 16), at;
	struct stat st;
	char *copy;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !(copy = malloc(len + 1)))
		return next(fd, data, len);
	at = (unsigned long)lseek(fd, 0, SEEK_CUR);
	memcpy(copy, data, len);
	for (size_t i = 0; i < len; i++)
		if (at + i - lose < 16)
			copy[i] = 0;
	n = next(fd, copy, len);
	free(copy);
	return n;
}
END
	yes "${CC:-cc}" -shared -fPIC -o lose.so lose.c -ldl
	yes atwalk extract -q -o good.elf tasks.kdump
	cp good.elf poked.elf
	yes poke poked.elf task:99.task_struct.tasks 0000000000000000
	list=$(cmp -l good.elf poked.elf | awk 'NR == 1 { printf "%x", $1 - 1 }')
	# The file's first bytes, and the list of tasks. A file that was there stays as it was.
	mkdir lost
	echo before >lost/old.elf
	for at in 0 "$list"; do
		for file in new old; do
			run env LOSE_AT="$at" LD_PRELOAD="$PWD/lose.so" "$O/atwalk" extract -q -o lost/$file.elf tasks.kdump
			status 3
			no_out
			if [ "$at" = 0 ]; then
				err_is "atwalk: tasks.kdump: verification failed, and the extract was not written: lost/$file.elf: not an ELF file"
			else
				err_is "atwalk: tasks.kdump: verification failed, and the extract was not written: the list of tasks is broken at the task at 0xffff895783e8c180: the link at 0xffff895783e8ca10 leads to 0xffff895783e8a950, and that one's back to 0x0"
			fi
		done
	done
	yes [ "$(ls -A lost)" = old.elf ]
	yes [ "$(cat lost/old.elf)" = before ]
	# With nothing lost the same way leads to the same file.
	run env LOSE_AT=ffffffffff LD_PRELOAD="$PWD/lose.so" "$O/atwalk" extract -q -o lost.elf tasks.kdump
	same lost.elf good.elf
fi

t "a new file is readable by its owner only"
run atwalk extract -q -o mode.elf x86.elf
status 4
err_has "$no_tasks"
yes [ "$(stat -c %a mode.elf)" = 600 ]
chmod 644 mode.elf
run atwalk extract -q -o mode.elf x86.elf
status 4
err_has "$no_tasks"
yes [ "$(stat -c %a mode.elf)" = 644 ]

finish
