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

commands=('map' 'pages' 'pages --totals' 'pages --all --format csv' 'ps' 'find' 'report use'
	'report units,totals,areas' 'collect' 'info' 'diff' 'search --text init' 'walk')
each() {                          # SOURCE
	local command words
	for command in "${commands[@]}"; do
		read -ra words <<<"$command"
		case $command in
		report*) words=(report "${words[1]}" "$1") ;;
		diff) words+=("$1" tasks.kdump) ;;
		search*) words+=("$1") ;;
		find) words+=("$1" 1000000-1100000) ;;
		walk) words+=("$1" init_task) ;;
		*) words+=("$1") ;;
		esac
		alike "${words[@]}"
	done
}

t "every command on a dump, zlib"
each tasks.kdump

redump=$built/tests/tools/redump
t "other compressions, flattened, split"
for form in lzo snappy zstd none; do
	if ! "$redump" x86.elf kdump-$form x86.$form >/dev/null 2>&1; then continue; fi
	alike map --format csv x86.$form
	alike info x86.$form
done
yes "$redump" x86.elf kdump-zlib x86.flat --flattened
alike map x86.flat
yes "$redump" x86.elf kdump-zlib x86.split --split 3
alike map x86.split.1 -S x86.split.2 -S x86.split.3
alike map x86.split.1 -S x86.split.3

t "damaged pages"
size=$(stat -c %s tasks.kdump)
for i in 1 2 3 4 5 6 7 8; do
	cp -L tasks.kdump hurt.kdump
	for k in $(seq 40); do
		at=$((size / 20 + (i * 7919 + k * 104729) % (size - size / 20)))
		printf '\125' | dd of=hurt.kdump bs=1 seek=$at conv=notrunc 2>/dev/null
	done
	alike map hurt.kdump --format csv
	alike pages hurt.kdump --format csv
	alike report use hurt.kdump
done
head -c $((size * 3 / 4)) tasks.kdump >short.kdump
alike map short.kdump
alike pages --totals short.kdump

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
