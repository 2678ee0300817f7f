#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --freeze stops a process while it is read, and the process goes on whatever becomes of
# atwalk. Only the process that this test starts is read and stopped.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

t "--freeze is of one process, of what runs"
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
atwalk: --freeze: tasks.kdump is a dump, and stands still
END
fi

t "who started atwalk is not stopped"
run atwalk map live:pagemap --freeze --pid $$
status 2
no_out
err <<END
atwalk: live:pagemap: --freeze: process $$ ($(cat /proc/$$/comm)) is one that this one was started by: it is not stopped
END

t "who reads what atwalk writes is not stopped, unless that goes elsewhere"
mkfifo heard
cat <heard >"$work/log/heard" &
reader=$!
exec 6>heard
await grep -qx cat /proc/$reader/comm
"$O/atwalk" map live:pagemap --freeze --pid $reader >&6 2>"$work/log/err"
rc=$?
status 2
err <<END
atwalk: live:pagemap: --freeze: process $reader (cat) has the pipe open that this one writes to: it is not stopped
        -o FILE writes elsewhere
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

# Letters of the threads' states, each once.
states() {
	cat "/proc/$child"/task/*/stat 2>"$work/log/stat" | sed 's/.*) \(.\) .*/\1/' | sort -u | tr -d '\n'
}
counters() {
	od -An -v -t u8 counters
}
counted() { [ "$(counters)" != "$1" ]; }
state_is() { [ "$(states)" = "$1" ]; }
runs() { await counted "$(counters)"; }
# Every thread at each of many looks, and none of them has counted in between.
stands_still() {
	local before i

	before=$(counters)
	for ((i = 0; i < 20; i++)); do state_is t || return; done
	! counted "$before"
}
stopped_or_over() { state_is t || [ ! -e "/proc/$looker" ] || waits_in "$looker" Z; }
# A listing that is longer than its reader accepts: atwalk blocks until it is read.
looker=''
look() {
	[ -z "$why$wrong" ] || return
	rm -f pipe
	mkfifo pipe
	# The shell has it ignore SIGINT, or was itself started so.
	env --default-signal=INT "$O/atwalk" map live:pagemap --pid "$child" --freeze --all --format csv $much+64M >pipe 2>"$work/log/looker" &
	looker=$!
	exec 7<pipe
	await stopped_or_over
	state_is t || bad "it is not stopped: $(states) $(<"$work/log/looker")"
}
# What became of the looker.
gone() {
	exec 7<&-
	wait "$looker" 2>"$work/log/kill"
	rc=$?
}

if [ -z "$why" ]; then
	atwalk map live:pagemap --pid "$child" --freeze $much >"$work/log/out" 2>"$work/log/err" ||
		grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err" && why=$(head -n 1 "$work/log/err")
fi

t "every thread stands still until the listing ends, and then all of them run"
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
	t "it goes on when atwalk is ended by SIG$signal"
	if [ -n "$why" ]; then skip "$why"; else
		look
		yes stands_still
		kill -$signal "$looker"
		gone
		runs
		yes [ "$rc" -gt 128 ]
	fi
done

t "it goes on when nobody reads any more"
if [ -n "$why" ]; then skip "$why"; else
	look
	yes stands_still
	gone
	runs
fi

t "two cannot stop it at once"
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

t "what was stopped stays stopped"
if [ -n "$why" ]; then skip "$why"; else
	kill -STOP "$child"
	await state_is T
	run atwalk map live:pagemap --pid "$child" --freeze $much
	await state_is T
	kill -CONT "$child"
	runs
fi

t "-v says for how long"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk pages live:pagemap --pid "$child" --freeze -v --totals --columns mapped
	grep '^atwalk: live:pagemap: process' "$work/log/err" >"$work/log/said"
	cp "$work/log/said" "$work/log/err"
	err_is "atwalk: live:pagemap: process $child stood still for *.??? ms, with [0-9]* threads"
	run atwalk pages live:pagemap --pid "$child" --freeze --totals --columns mapped
fi

bpf=$why
if [ -z "$why" ] && ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then
	bpf=$(head -n 1 "$work/log/bpf")
fi
t "a picture of page tables is exact"
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

t "without permission: what is missing, and the command that gives it"
if [ -n "$bpf" ]; then skip "$bpf"
elif [ "$(id -u)" -ne 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon true 2>"$work/log/setpriv"; then
	skip "needs root and a setpriv that knows them"
elif [ ! -d /sys/firmware/memmap ]; then
	skip "here only /proc/iomem tells what is RAM, and that to CAP_SYS_ADMIN only"
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
