#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A long process is listed in parts, by several threads: rows, headings, messages and exit
# status are those of one, whatever lies where a part ends. Of the process `sparse`, 5.3 GiB
# in parts of 32 MiB and of 84 MiB, mappings of 1 GiB are changed, and areas.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
need_tasks
atwalk extract -q --pages -o whole.elf tasks.kdump >/dev/null || exit 1

alike() {                         # ARGUMENTS...
	local one n
	atwalk pages hurt.elf "$@" --jobs 1 >one.out 2>one.err
	one=$?
	for n in 2 5; do
		run timeout "$limit" "$O/atwalk" pages hurt.elf "$@" --jobs $n
		status $one
		same "$work/log/out" one.out
		same "$work/log/err" one.err
		said_err=1
	done
}

every_form() {
	alike --pid 98
	alike --pid 98 --format csv --columns +entry,level,flags
	alike --pid 98 --format json --filter 'size > 4K'
	alike --pid 98 --filter 'size > 4K'
	alike --pid 98 --filter 'state = present'
	alike --pid 98 --areas anonymous --format csv
	alike --pid 98 --areas stack --columns address,size
	alike --format csv
	alike
}

# Rows of the process that are larger than a part.
large() {
	run atwalk pages hurt.elf --pid 98 --format csv --columns address,size,state --filter 'size >= 512M'
	said_err=1
}

# entry LEVEL ADDRESS: where the entry of that level lies.
entry() {
	local at
	at=$(atwalk walk --pid 98 -p --format csv --columns level,entry_at whole.elf "$2" |
		sed -n "s/^$1,0x//p")
	printf %x $((16#$at + offset))
}
offset=$((16#$(poke whole.elf 'task:98.task_struct.mm*.mm_struct.pgd*') -
	16#$(atwalk ps --format csv --columns root --filter pid=98 tasks.kdump | sed -n 's/^0x//p')))
hurt() { cp whole.elf hurt.elf; }
times() {                         # N BYTES
	local i
	for ((i = 0; i < $1; i++)); do printf %s "$2"; done
}

t "absent pages, of several parts"
hurt
every_form
for gib in 7fefc0000000 7ff000000000 7ff040000000 7ff080000000; do
	yes poke hurt.elf "$(entry PUD $gib)" 0000000000000000
done
every_form
large
out <<'END'
address,size,state
0x00007fefc0000000,4294967296,absent
0x00007ff0c0000000,861855744,absent
END

t "parts of another size"
hurt
yes poke hurt.elf "$(poke whole.elf 'task:98.task_struct.mm*.mm_struct.total_vm')" 0000150000000000
every_form

t "one page of 1 GiB"
hurt
yes poke hurt.elf "$(entry PUD 7ff000000000)" e700004000000000
every_form
large
out <<'END'
address,size,state
0x00007ff000000000,1073741824,present
0x00007ff0c0000000,861855744,absent
END

t "one entry that is bad"
hurt
yes poke hurt.elf "$(entry PUD 7ff000000000)" e720004000000000
every_form
large
out <<'END'
address,size,state
0x00007ff000000000,1073741824,bad
0x00007ff0c0000000,861855744,absent
END

t "entries that are bad, from one area into the next"
hurt
yes poke hurt.elf "$(poke whole.elf 'task:98.task_struct.mm*.mm_struct.total_vm')" 00802f0000000000
for gib in 7fef40000000 7fef80000000 7fefc0000000; do
	yes poke hurt.elf "$(entry PUD $gib)" e720004000000000
done
every_form

t "tables that repeat, more than there can be"
hurt
yes poke hurt.elf "$(entry PTE 7fefc0000000)" "$(times 512 0000000000000000)"
yes poke hurt.elf "$(entry PMD 7fefc0000000)" "$(times 512 67a0e90300000000)"
yes poke hurt.elf "$(printf %x $((16#$(entry PUD 7fefc0000000) & ~4095)))" "$(times 512 6790e90300000000)"
every_form
run atwalk pages hurt.elf --pid 98 --format csv --jobs 2
status 4
err_has "more than this memory can hold, unless they repeat"

t "a table that is lost"
hurt
yes poke hurt.elf "$(entry PUD 7ff000000000)" 67f0ffff7f000000
every_form
large
status 4
out <<'END'
address,size,state
0x00007ff000000000,1073741824,lost
0x00007ff0c0000000,861855744,absent
END

t "a table that is damaged"
table=$(atwalk walk --pid 98 -p --format csv --columns level,physical whole.elf 7ff000000000 |
	sed -n 's/^PUD,0x//p')
if [ -n "$table" ] && redump whole.elf kdump-zlib hurt.elf --corrupt-page $((16#$table / 4096)) >/dev/null 2>&1; then
	every_form
	large
	status 4
	err_has "zlib data do not decompress"
	out <<'END'
address,size,state
0x00007ff000000000,1073741824,lost
0x00007ff0c0000000,861855744,absent
END
fi

t "a table full of guards, poison, swap"
for word in 00000000000000f0 00000000000000fa 0200000000000078; do
	hurt
	yes poke hurt.elf "$(entry PMD 7ff040000000)" "$(times 512 $word)"
	every_form
done

t "areas that cannot be read, in front of a part, in it, and behind it"
areas='task:98.task_struct.mm*.mm_struct.mm_mt.ma_root@.maple_arange_64.slot'
# The heap, the three that are long, and what follows.
for slot in 40 50 58 60 68; do
	for member in vm_end vm_file; do
		hurt
		yes poke hurt.elf "$(poke whole.elf "$areas@.maple_range_64.slot+$slot*.vm_area_struct.$member")" \
			3412000000000012
		every_form
	done
done
for at in '' +8; do
	hurt
	yes poke hurt.elf "$(poke whole.elf "$areas$at")" 3412000000000012
	every_form
done

finish
