#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --jobs: output, messages and exit status are those of one CPU, of damaged dumps as well.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

alike() {                         # COMMAND...
	local one
	atwalk "$@" --jobs 1 >one.out 2>one.err </dev/null
	one=$?
	for n in 2 5; do
		run atwalk "$@" --jobs $n
		status $one
		same "$work/log/out" one.out
		same "$work/log/err" one.err
		said_err=1
	done
}

commands=('map' 'pages' 'pages --totals' 'pages --all --format csv' 'pages --format json'
	'pages --areas-only --sort size' 'pages --filter size>4K' 'pages --columns +entry,flags'
	'ps' 'find' 'find --all --columns +processes,pageflags --format csv' 'report use'
	'report units,totals,areas' 'collect' 'info' 'diff' 'search --text init' 'walk')
each() {                          # SOURCE
	local command words
	for command in "${commands[@]}"; do
		read -ra words <<<"$command"
		case $command in
		report*) words=(report "${words[1]}" "$1") ;;
		diff) words+=("$1" tasks.kdump) ;;
		search*) words+=("$1") ;;
		find*) words+=("$1" 1000000-1100000) ;;
		walk) words+=("$1" init_task) ;;
		*) words+=("$1") ;;
		esac
		alike "${words[@]}"
	done
}

t "every command on a dump, zlib"
each tasks.kdump

t "commands over other listings"
cat >limits.ini <<'E'
[heaps]
over = pages --areas-only
at most = 387K rss where area='[heap]'
[pages]
over = pages
at most = 3 rows where state=present
[tasks]
over = ps
at least = 76 rows
[mappings]
over = find 1000000-1100000
at most = 2 rows
[use]
over = report use
at least = 8M huge
E
alike check limits.ini tasks.kdump --format csv
alike audit tasks.kdump --format csv
alike audit tasks.kdump
for query in 'select * from pages order by pid, address' 'select * from areas' 'select * from tasks' \
	'select pid, count(*), sum(size) from pages group by pid'; do
	alike sql tasks.kdump "$query" --format csv
done
printf 'pid,addr\n99,0x7ff0f2a00000\n98,0x7ff000000000\n' >two.csv
alike annotate tasks.kdump two.csv --format csv

t "pages: many threads, a full disk, and a reader that has seen enough"
for n in 1 3 7; do
	run atwalk pages tasks.kdump --jobs $n --format csv
	status 0
	cp "$work/log/out" csv$n
	same csv$n csv1
	run atwalk pages tasks.kdump --jobs $n -o /dev/full
	status 3
	err_has "/dev/full: cannot write: No space left on device"
	atwalk pages tasks.kdump --jobs $n --format csv 2>first.err | head -n 1 >first
	head -n 1 csv1 >line
	same first line
	yes [ ! -s first.err ]
done

t "other compressions, flattened, split"
for form in lzo snappy zstd none; do
	if ! redump x86.elf kdump-$form x86.$form >/dev/null 2>&1; then continue; fi
	alike map --format csv x86.$form
	alike info x86.$form
done
yes redump x86.elf kdump-zlib x86.flat --flattened
alike map x86.flat
yes redump x86.elf kdump-zlib x86.split --split 3
alike map x86.split.1 -S x86.split.2 -S x86.split.3
alike map x86.split.1 -S x86.split.3

t "damaged pages"
size=$(stat -c %s tasks.kdump)
for i in 1 2 3 4; do
	cp -L tasks.kdump hurt.kdump
	for k in $(seq 40); do
		at=$((size / 20 + (i * 7919 + k * 104729) % (size - size / 20)))
		printf '\125' | dd of=hurt.kdump bs=1 seek=$at conv=notrunc 2>/dev/null
	done
	alike map hurt.kdump --format csv
	alike pages hurt.kdump --format csv
	alike ps hurt.kdump -T
	alike report use hurt.kdump
done
head -c $((size * 3 / 4)) tasks.kdump >short.kdump
alike map short.kdump
alike pages --totals short.kdump

t "captures: reports, copies, pages, from files and pipes"
atwalk collect -q tasks.kdump -o tasks.cap 2>/dev/null
atwalk collect -q --zstd tasks.kdump -o tasks.zst 2>/dev/null
ln -s "$data/captures/server.cap" "$data/paper-figure1.txt" .
for capture in tasks.cap tasks.zst server.cap paper-figure1.txt; do
	alike report use,basic,units,areas,totals,count,pages,stacks,tasks,alerts $capture
	alike collect $capture
	alike ps $capture
	alike pages --totals $capture
done
for n in 1 2 5; do
	atwalk report areas - --jobs $n -q <tasks.cap >pipe$n 2>/dev/null
	{ head -c 100000 tasks.cap; sleep 0.1; tail -c +100001 tasks.cap; } |
		atwalk report areas - --jobs $n -q >slow$n 2>/dev/null
	same pipe$n pipe1
	same slow$n pipe1
done
yes [ -s pipe1 ]

t "damaged and truncated captures, and lines that are too long"
size=$(stat -c %s tasks.cap)
for i in 1 3 6; do
	cp tasks.cap hurt.cap
	for k in $(seq $((i * i * 4))); do
		at=$((200 + (i * 7919 + k * 104729) % (size - 200)))
		printf '%s' "${i}" | dd of=hurt.cap bs=1 seek=$at conv=notrunc 2>/dev/null
	done
	alike report use,areas hurt.cap
	alike collect hurt.cap
done
for i in 3 7 65536 100000 200001; do
	head -c $i tasks.cap >short.cap
	alike report use short.cap
done
{ head -n 40 tasks.cap; printf 'M: %070000d |\n' 0; printf 'M:%0300000d\n' 0; tail -n +41 tasks.cap
	printf 'M: %0400000d' 0; } >long.cap
alike report use long.cap
alike collect long.cap
head -c 3000 tasks.zst >short.zst
alike report use short.zst
: >empty.cap
alike report use empty.cap

t "a number of CPUs"
run atwalk ps --jobs 0 tasks.kdump
status 2
err_has "--jobs: '0' is not a number of CPUs"
run atwalk ps --jobs x tasks.kdump
status 2
err_has "--jobs: 'x' is not a number of CPUs"
run atwalk probe --jobs 2
status 2
err_has "--jobs cannot be used with 'probe'"
run atwalk ps --jobs 100000 tasks.kdump --format csv
yes [ "$(wc -l <"$work/log/out")" -gt 70 ]

finish
