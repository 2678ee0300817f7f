#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Usage errors of atwalk pages, and a dump without types. Kernels with types: tests/vm.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

t "a dump without types has no processes"
run atwalk pages x86.elf
status 3
no_out
err_has 'the list of tasks cannot be found without the kernel'\''s types'

t "SOURCE is missing"
run atwalk pages
status 2
no_out
err <<'E'
atwalk: SOURCE is missing
        see: atwalk pages --help
E

t "unknown columns are refused, with the known ones"
run atwalk pages x86.elf --columns pageflags,kount
status 2
no_out
err_has 'kcount'

t "names of flags are words for --filter"
run atwalk pages x86.elf --filter 'HWPOISON and no_such_flag'
status 2
no_out
err_has 'no_such_flag'

t "--pid and --task exclude each other"
run atwalk pages x86.elf --pid 1 --task init
status 2
no_out
err_has '--pid and --task cannot be used together'

t "groups are as wide as their longest name"
run atwalk pages tasks.kdump --group pageflags
awk 'NR > 1 && match($0, / +[0-9]+ +[0-9.]+[KMGB]+$/) { print RSTART + RLENGTH }' "$work/log/out" |
	sort -u >ends
yes [ "$(wc -l <ends)" = 1 ]

finish
