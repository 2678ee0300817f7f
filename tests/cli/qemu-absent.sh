#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pages of a guest that its process does not have: swapped out by this machine, or not filled
# in yet by userfaultfd. The processes are those of tests/tools/vmram.c.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"
need_tasks

# Bytes of the process on swap.
swapped() { awk '$1 == "VmSwap:" { print $2 * 1024 }' "/proc/$guest/status"; }
root=$(atwalk info tasks.kdump | awk '$1 == "root" { print $2 }')
root_is=(--root "$root" --paging x86_64-4)
run atwalk ps --columns pid,task,mm,root --format csv tasks.kdump
cp "$work/log/out" tasks
list=(map --all --columns "address,physical,page,rights" --format csv)
run atwalk "${list[@]}" tasks.kdump
cp "$work/log/out" tables

# A machine without swap has it for these tests; pages that it takes of others come back.
lend_swap() {
	[ "$(wc -l </proc/swaps)" -gt 1 ] && return
	[ "$(id -u)" -eq 0 ] || return
	fallocate -l 128M swap && chmod 600 swap && mkswap -q swap && swapon swap || return
	trap 'swapoff "$work/cwd/swap"; end' EXIT
}

t "swapped: what a command needs is read, and -v counts it"
if ! lend_swap >"$work/log/swap" 2>&1; then skip "no swap: $(tail -n 1 "$work/log/swap")"; else
	guest qemu-system-x86_64 -m 256 -M q35 -x swapped 0 tasks.kdump
	first=$(swapped)
	if [ "$first" -eq 0 ] || grep -q 'no swap' ready; then skip "no page was swapped out"; else
		run atwalk "${list[@]}" "qemu:$guest" "${root_is[@]}" -v
		status 0
		same "$work/log/out" tables
		said_err=1
		yes grep -qE '^atwalk: qemu:[0-9]*: [1-9][0-9]* bytes that were read had been swapped out' \
			"$work/log/err"
		yes [ "$(swapped)" -lt "$first" ]
		yes [ "$(swapped)" -gt 0 ]
		# The second time, nothing is left to be swapped in.
		run atwalk "${list[@]}" "qemu:$guest" "${root_is[@]}" -v
		same "$work/log/out" tables
		said_status=1 said_err=1
		yes test -z "$(grep 'swapped out' "$work/log/err")"
	fi
fi

t "swapped: a search leaves it there, and so does a list of all memory"
if [ -z "${first:-}" ] || [ "$first" -eq 0 ]; then skip "no swap"; else
	guest qemu-system-x86_64 -m 256 -M q35 -x swapped 0 tasks.kdump
	first=$(swapped)
	run atwalk search --physical --text 'Linux version' "qemu:$guest"
	said_status=1 said_err=1
	yes [ "$(swapped)" -eq "$first" ]
	run atwalk vms "$guest" --format csv --columns swapped
	out <<<"swapped
$first"
	said_err=1
	yes [ "$(swapped)" -eq "$first" ]
fi

t "userfaultfd: what has not been filled in is missing, and not zero"
guest qemu-system-x86_64 -m 256 -M q35 -x uffd 0 tasks.kdump
if grep -q 'no userfaultfd' ready; then skip "no userfaultfd"; else
	absent="atwalk: qemu:$guest: pages of the guest that userfaultfd has not filled in yet are missing"
	run atwalk info "qemu:$guest" -v
	said_status=1
	err_has "$absent"
	cp "$work/log/out" info
	# The lower half has zeroes and no holes, the upper half the other way round.
	yes grep -qE '^memory +0x0000000000000000-0x0000000001000000 16M zero' info
	yes test -z "$(grep -E '^memory +0x000000000[89a-f].* zero' info)"
	run atwalk rd --physical --format csv --columns address,bytes,state "qemu:$guest" 1000+2
	status 0
	out <<<"address,bytes,state
0x0000000000001000,00 00,present"
	err_has "$absent"
	run atwalk rd --physical --format csv --columns address,bytes,state "qemu:$guest" ffff000+2
	status 4
	out <<<"address,bytes,state
0x000000000ffff000,,lost"
	err_has "$absent"
	# What it has filled in is read, and the rest is not waited for.
	run atwalk ps --columns pid,task,mm,root --format csv "qemu:$guest" "${root_is[@]}"
	status 4
	same "$work/log/out" tasks
	err_has "$absent"
	run atwalk vms "$guest" --columns ram,resident --format csv
	status 0
	said_err=1
fi

finish
