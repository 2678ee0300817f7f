#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --freeze stops the process that runs a guest while the guest is read, and the guest goes on
# however atwalk ends.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump
atwalk pages tasks.kdump --all --format csv >wanted

# The distinct states of its threads.
states() {
	cat "/proc/$guest"/task/*/stat 2>"$work/log/stat" | sed 's/.*) \(.\) .*/\1/' | sort -u | tr -d '\n'
}
is_stopped() { [ "$(states)" = t ]; }
goes_on() { [ "$(states)" = S ]; }

# A listing that is longer than a pipe and the rows that are kept ahead of it: atwalk waits
# for its reader.
kernel=0xffff800000000000-0xffffffffffffffff
long=(map --all --format csv)
ranges=("$kernel" "$kernel" "$kernel" "$kernel" "$kernel" "$kernel" "$kernel" "$kernel")
look() {
	rm -f pipe
	mkfifo pipe
	"$O/atwalk" "${long[@]}" "qemu:$guest" --freeze "${ranges[@]}" >pipe 2>"$work/log/looker" &
	looker=$!
	exec 7<pipe
	await is_stopped
}
gone() {
	exec 7<&-
	wait "$looker" 2>"$work/log/kill"
	rc=$?
}

why=''
atwalk pages "qemu:$guest" --freeze --totals >"$work/log/out" 2>"$work/log/err" ||
	grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err" && why=$(head -n 1 "$work/log/err")

t "without a process: the guest is stopped as a whole, and the answer is its dump's"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk pages "qemu:$guest" --freeze --all --format csv
	status 0
	same "$work/log/out" wanted
	await goes_on
	run atwalk map "qemu:$guest" --freeze --pid 1
	status 0
	# A dump has no pages of a host.
	sed '/^of the guest/,$d' "$work/log/out" >one
	run atwalk map tasks.kdump --pid 1
	same "$work/log/out" one
	await goes_on
fi

t "-v: for how long"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk pages "qemu:$guest" --freeze --totals -v
	said_err=1
	yes grep -qE "^atwalk: qemu:$guest: process $guest was stopped for [0-9]+\.[0-9]{3} ms, with 1 thread$" "$work/log/err"
	yes [ "$(grep -c 'root:' "$work/log/err")" -eq 1 ]
fi

t "stopped until the listing was read"
if [ -n "$why" ]; then skip "$why"; else
	look
	yes is_stopped
	cat pipe <&7 >"$work/log/out" 2>"$work/log/cat"
	gone
	yes [ "$rc" -eq 0 ]
	cp "$work/log/out" one
	run atwalk "${long[@]}" tasks.kdump "${ranges[@]}"
	same "$work/log/out" one
	await goes_on
fi

t "SIGKILL to atwalk, 50 times: the guest goes on"
if [ -n "$why" ]; then skip "$why"; else
	for ((i = 0; i < 50; i++)); do
		look
		kill -KILL "$looker"
		gone
		yes [ "$rc" -eq 137 ]
		await goes_on
	done
	run atwalk ps "qemu:$guest" --format csv
	cp "$work/log/out" one
	run atwalk ps tasks.kdump --format csv
	same "$work/log/out" one
fi

t "a dump is not frozen"
run atwalk pages tasks.kdump --freeze
status 2
no_out
err_has '--freeze needs --pid or --task'

finish
