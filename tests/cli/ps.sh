#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ps reports what is possible of dumps that hold page tables and no tasks. Those with
# tasks are in tests/vm.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

t "a dump without the kernel's types"
run atwalk ps x86.elf
status 3
no_out
err_has "x86.elf: the list of tasks cannot be found"

t "columns are checked before tasks are looked for"
run atwalk ps --columns nothing x86.elf
status 2
err_is "atwalk: --columns: unknown column 'nothing'; known: pid, tgid, ppid, task, state, mm, root, user_root, resident, resident_small, resident_large, hugetlb, page_sizes, lost, kind, at"
run atwalk ps --filter 'kinds=thread' x86.elf
status 2
err_has "--filter"

t "numbers of processes"
for n in 0 x -1 4294967296 0x1 ''; do
	run atwalk ps x86.elf -- "$n"
	status 2
	err_has "'$n' is not a process number"
done

t "SOURCE is needed"
run atwalk ps
status 2
err_has "SOURCE is missing"
run atwalk ps there-is-none
status 3
err_has "there-is-none"

t "--pid is not for ps"
run atwalk ps --pid 1 x86.elf
status 2
err_has "--pid"

t "nothing is written where the answer is none"
run atwalk ps -o rows x86.elf
status 3
err_has "the list of tasks"
yes [ ! -e rows ]

finish
