#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --freeze stops a process while it is read, and the process resumes however atwalk ends.
# Only the process that this test starts is read and stopped.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

t "--freeze requires one process of a live source"
for source in x86.elf live:pagemap; do
	for command in map pages walk find; do
		[ "$command $source" != 'find live:pagemap' ] || continue
		run atwalk $command $source --freeze 0
		status 2
		no_out
		err <<'END'
atwalk: --freeze needs --pid or --task
END
	done
done
if grep -q '^  found:.* zstd' "$built/found.txt"; then
	run atwalk map tasks.kdump --freeze --pid 103
	status 2
	no_out
	err <<'END'
atwalk: --freeze: tasks.kdump is a dump, not a live source
END
fi

t "an ancestor of atwalk is not stopped"
run atwalk map live:pagemap --freeze --pid $$
status 2
no_out
err <<END
atwalk: live:pagemap: --freeze: process $$ ($(cat /proc/$$/comm)) is one that this one was started by: it is not stopped
END

t "the reader of atwalk's output is not stopped, except with -o FILE"
mkfifo heard
cat <heard >"$work/log/heard" &
reader=$!
exec 6>heard
await grep -qx cat /proc/$reader/comm
"$O/atwalk" map live:pagemap --freeze --pid $reader >&6 2>"$work/log/err"
rc=$?
status 2
err <<END
atwalk: live:pagemap: --freeze: cannot stop process $reader (cat): it has the pipe open that atwalk writes to
        use -o FILE to write elsewhere
END
"$O/atwalk" map live:pagemap --freeze --pid $reader -o elsewhere >&6 2>"$work/log/err"
[ -s elsewhere ] || yes grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err"
exec 6>&-
wait $reader
yes [ ! -s "$work/log/heard" ]

much=210000000000
start_child
tell take $much $((64 << 20))
tell run 1
tell run 2
tell churn 3

# The distinct states of all threads.
states() {
	cat "/proc/$child"/task/*/stat 2>"$work/log/stat" | sed 's/.*) \(.\) .*/\1/' | sort -u | tr -d '\n'
}
counters() {
	od -An -v -t u8 counters
}
counted() { [ "$(counters)" != "$1" ]; }
state_is() { [ "$(states)" = "$1" ]; }
runs() { await counted "$(counters)"; }
# All threads are stopped in many samples, and no counter changes between them.
stands_still() {
	local before i

	before=$(counters)
	for ((i = 0; i < 20; i++)); do state_is t || return; done
	! counted "$before"
}
# One sample may precede a thread that has just begun and is stopped next.
stopped_or_over() { stands_still || [ ! -e "/proc/$looker" ] || waits_in "$looker" Z; }
# A listing longer than the pipe buffer: atwalk blocks until it is read.
looker=''
look() {
	[ -z "$why$wrong" ] || return
	rm -f pipe
	mkfifo pipe
	# Background jobs ignore SIGINT, and the shell may have been started so.
	env --default-signal=INT "$O/atwalk" map live:pagemap --pid "$child" --freeze --all --format csv $much+64M >pipe 2>"$work/log/looker" &
	looker=$!
	exec 7<pipe
	await stopped_or_over
	state_is t || bad "it is not stopped: $(states) $(<"$work/log/looker")"
}
# Waits for the looker and keeps its status.
gone() {
	exec 7<&-
	wait "$looker" 2>"$work/log/kill"
	rc=$?
}

if [ -z "$why" ]; then
	atwalk map live:pagemap --pid "$child" --freeze $much >"$work/log/out" 2>"$work/log/err" ||
		grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err" && why=$(head -n 1 "$work/log/err")
fi

t "all threads are stopped until the listing ends, and resume then"
if [ -n "$why" ]; then skip "$why"; else
	look
	yes stands_still
	[ -n "$wrong" ] || cat pipe <&7 >"$work/log/out" 2>"$work/log/cat"
	gone
	yes [ "$rc" -eq 0 ]
	runs
	yes [ "$(states)" != t ]
fi

for signal in KILL TERM INT HUP; do
	t "the process resumes after SIG$signal to atwalk"
	if [ -n "$why" ]; then skip "$why"; else
		look
		yes stands_still
		kill -$signal "$looker"
		gone
		runs
		yes [ "$rc" -gt 128 ]
	fi
done

t "the process resumes when the reader of the pipe exits"
if [ -n "$why" ]; then skip "$why"; else
	look
	yes stands_still
	gone
	runs
fi

t "a second --freeze of the same process is refused"
if [ -n "$why" ]; then skip "$why"; else
	look
	run atwalk map live:pagemap --pid "$child" --freeze $much
	status 3
	no_out
	err <<END
atwalk: live:pagemap: --freeze: process $child cannot be stopped: process $looker ($(cat "/proc/$looker/comm")) traces it already
        end that one first: kill $looker
END
	gone
	runs
fi

t "a process that was stopped before stays stopped"
if [ -n "$why" ]; then skip "$why"; else
	kill -STOP "$child"
	await state_is T
	run atwalk map live:pagemap --pid "$child" --freeze $much
	await state_is T
	kill -CONT "$child"
	runs
fi

t "-v prints the duration"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk pages live:pagemap --pid "$child" --freeze -v --totals --columns mapped
	grep '^atwalk: live:pagemap: process' "$work/log/err" >"$work/log/said"
	cp "$work/log/said" "$work/log/err"
	err_is "atwalk: live:pagemap: process $child was stopped for *.??? ms, with [0-9]* threads"
	run atwalk pages live:pagemap --pid "$child" --freeze --totals --columns mapped
fi

bpf=$why
if [ -z "$why" ] && ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then
	bpf=$(head -n 1 "$work/log/bpf")
fi
t "the listing of a stopped process is exact"
if [ -n "$bpf" ]; then skip "$bpf"; else
	tell keep-taking 220000000000
	for _ in 1 2 3; do
		run atwalk pages live:bpf --pid "$child" --freeze --format csv --columns pid,state --filter 'state=lost'
		yes [ "$(wc -l <"$work/log/out")" -eq 1 ]
		run atwalk map live:bpf --pid "$child" --freeze --format csv --columns state --filter unstable
		yes [ "$(wc -l <"$work/log/out")" -eq 1 ]
	done
	run atwalk walk live:bpf --pid "$child" --freeze $much --format csv --columns physical
	physical=$(sed -n 2p "$work/log/out")
	run atwalk find live:bpf --pid "$child" --freeze "$physical" --format csv --columns pid,address
	out <<END
pid,address
$child,0x0000$much
END
	runs
fi

t "without permission: the missing capability, and the command to grant it"
if [ -n "$bpf" ]; then skip "$bpf"
elif [ "$(id -u)" -ne 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon true 2>"$work/log/setpriv"; then
	skip "needs root and a setpriv that supports these capabilities"
elif [ ! -d /sys/firmware/memmap ]; then
	skip "RAM ranges are only in /proc/iomem here, which requires CAP_SYS_ADMIN"
else
	chmod 755 "$work" "$work/cwd"
	cp "$built/atwalk" atwalk-copy && chmod 755 atwalk-copy
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon \
		--ambient-caps=+bpf,+perfmon ${WRAP:-} ./atwalk-copy map live:bpf --pid "$child" --freeze $much
	status 3
	no_out
	err <<END
atwalk: live:bpf: --freeze: stopping process $child needs CAP_SYS_PTRACE, which this process does not have
        run it as root, or allow it once: sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace+ep $work/cwd/atwalk-copy
END
	runs
fi

finish
