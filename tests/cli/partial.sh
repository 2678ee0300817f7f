#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Exit status 4 and standard error: with -q every command that answers in part writes why,
# one that answers in full writes nothing, and no line comes twice.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
need_tasks

parts=0 wholes=0

# Of any other status nothing is asked here but that it is one.
ask() {
	run timeout "$limit" "$O/atwalk" "$@"
	said_status=1 said_err=1
	case $rc in
	4)
		parts=$((parts + 1))
		[ -s "$work/log/err" ] || bad "$last_run
ended with status 4, and nothing is on standard error" ;;
	0)
		wholes=$((wholes + 1))
		[ ! -s "$work/log/err" ] || bad "$last_run
ended with status 0, and says: $(head -n 3 "$work/log/err")" ;;
	1 | 2 | 3) ;;
	*) bad "$last_run
ended with status $rc: $(head -n 3 "$work/log/err")" ;;
	esac
	sort "$work/log/err" | uniq -d >twice
	[ ! -s twice ] || bad "$last_run
says twice: $(cat twice)"
}

# Every command that takes a source, as rows and as a table, and with a filter that hides all.
every_command() {
	local dump=$1 of=${2:-} format

	ask info -q "$dump"
	ask info -q --format csv "$dump"
	ask collect -q -o c.cap "$dump"
	for format in plain csv; do
		ask map -q --format $format "$dump"
		ask map -q --format $format --filter 'size=1' "$dump"
		ask map -q --format $format --group state "$dump"
		ask walk -q --format $format "$dump" ffffffff91400000
		ask walk -q -p --format $format --filter 'size=1' "$dump" ffffffff91400000
		ask find -q --format $format "$dump" 9220000
		ask find -q --virtual --format $format "$dump" ffffffff91400000
		ask ps -q --format $format "$dump"
		ask ps -q --threads --format $format --filter 'pid=1' "$dump"
		ask pages -q --format $format "$dump"
		ask pages -q --areas-only --format $format "$dump"
		ask pages -q --totals --format $format "$dump"
		ask report basic -q --format $format "$dump"
		ask report use -q --format $format "$dump"
		ask report machine -q --format $format "$dump"
		[ -n "$of" ] || continue
		ask map -q --format $format --pid "$of" "$dump"
		ask map -q --large --format $format --pid "$of" "$dump"
		ask walk -q --format $format --pid "$of" "$dump" 401000
		ask find -q --format $format --pid "$of" "$dump" 401000
		ask pages -q --format $format --pid "$of" "$dump"
		ask pages -q --format $format --pid "$of" --address 401000 "$dump"
	done
}

# So that a test of nothing is none.
some_were_parts() {
	[ "$parts" -ge "$1" ] || bad "$parts runs ended with status 4, and $1 should"
	parts=0
}

t "whole dumps: nothing is said"
every_command x86.elf
every_command tasks.kdump 99
[ "$wholes" -ge 30 ] || bad "$wholes runs ended with status 0"
parts=0

t "a table of the kernel's that is not in the dump, is excluded, does not decompress"
shrink x86.elf lost.elf --without 9a16000 >made 2>&1
redump x86.elf kdump-zlib excluded.kd --exclude-range 9a16000-9a17000 >made 2>&1
redump x86.elf kdump-zlib broken.kd --corrupt-page 0x9a16 >made 2>&1
for dump in lost.elf excluded.kd broken.kd; do
	every_command $dump
done
some_were_parts 24

t "dumps that are cut off"
head -c 300000 x86.elf >cut.elf
size=$(stat -L -c %s tasks.kdump)
head -c $((size - 300000)) tasks.kdump >cut.kd
every_command cut.elf
every_command cut.kd 99
some_were_parts 20

t "tables, areas and tasks of processes that lie"
atwalk extract -q --pages -o whole.elf tasks.kdump >made
mm=$(poke whole.elf 'task:99.task_struct.mm*')
pgd=$(poke whole.elf "$mm.mm_struct.pgd*")
root=$(poke whole.elf "$mm.mm_struct.mm_mt.ma_root")
hurt() {
	cp whole.elf d.elf
	yes poke d.elf "$1" "$2"
	every_command d.elf 99
}
hurt "$(poke whole.elf 'task:99.task_struct.tasks')" dec0adde55aa55aa
hurt "$(poke whole.elf 'task:99.task_struct.mm')" dec0adde55aa55aa
hurt "$root" dec0adde55aa55aa
hurt "$pgd" 67f0ffffff0f0000
hurt "$(poke whole.elf page:9220.page.compound_head)" 0101ffffffffffff
ask pages d.elf
ask extract -q -o x.elf d.elf
some_were_parts 60

t "captures: ranges that were not read, damaged lines, one that is cut off"
for of in copies:10 hidden:50 narrow:100; do
	every_command "$data/captures/${of%:*}.cap" "${of#*:}"
done
sed 's/^M: .*/&broken/' "$data/captures/copies.cap" >damaged.cap
head -c "$(($(stat -c %s "$data/captures/server.cap") / 2))" "$data/captures/server.cap" >cut.cap
cat >lost.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
T: app, 10, 0000000A, 0, 0, 0, 0, 0, 0, 0, tgid=10
V: 00400000, 00403FFF, 00004000, 00001000, -, 00000075, /bin/app
P: 1, 0, 0, 0, 0
M: 00400000=00100212, -, - | 00401000*2=-, -, -, state=lost |
L: 10, page table, the source does not have it, start=401000, last=402FFF
END
for of in damaged.cap cut.cap lost.cap; do
	every_command $of 10
done
some_were_parts 30

t "recordings: lines that are damaged, files that are cut off"
for of in "$data"/kmap/*.kmap; do
	size=$(stat -c %s "$of")
	head -c $((size * 2 / 3)) "$of" >cut.kmap
	for words in 'kmap show' 'kmap report caches' 'kmap convert --to v2 -o x.kmap'; do
		read -ra words <<<"$words"
		ask "${words[@]}" -q "$of"
		ask "${words[@]}" -q cut.kmap
	done
done
some_were_parts 1

finish
