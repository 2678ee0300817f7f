#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk probe reports what this machine allows, and the commands it names have the effect
# it names. Asks about no process but those of this test.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

t "every capability has an answer"
run atwalk probe --pid $$ --format csv --columns capability,allowed
yes [ "$(wc -l <"$work/log/out")" = 11 ]
yes [ "$(sed 1d "$work/log/out" | grep -cvE ',(yes|no)$')" = 0 ]
yes grep -qx 'all processes,yes' "$work/log/out"

t "a command is a command; what is none is part of why"
run atwalk probe --pid $$ --format csv --columns command --filter no
yes [ "$(sed 1d "$work/log/out" | grep -cvE '^("?sudo (setcap|sysctl) .*)?$')" = 0 ]
if ! unshare -Urpf --mount-proc true 2>"$work/log/unshare"; then
	echo "note - no user namespace: $(head -n 1 "$work/log/unshare")"
else
	run unshare -Urpf --mount-proc "$built/atwalk" probe --pid 1 --format csv --columns why,command \
		--filter 'capability="frame numbers"'
	yes grep -q 'outside of it: sudo .*,$' "$work/log/out"
fi

t "a process that is not there"
run atwalk probe --pid 4194305 --format csv --columns allowed,why,command --filter 'capability="all processes"'
out <<'END'
allowed,why,command
no,there is no process 4194305,
END

run atwalk probe --pid 4294967296 --format csv --columns allowed,why --filter 'capability="all processes"'
out <<'END'
allowed,why
no,there is no process 4294967296
END

t "there is no SOURCE"
run atwalk probe live
status 2
no_out
err_has "'live': probe takes no SOURCE: it probes this machine"

# ---- as another user ----

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
why=''
[ "$(id -u)" -eq 0 ] && command -v setpriv >"$work/log/setpriv" ||
	why="needs root and setpriv, to become somebody else"
chmod 755 "$work" "$work/cwd"
cp "$built/atwalk" copy && chmod 755 copy
kmap=0
[ ! -e "$built/atwalk-kmap" ] || { cp "$built/atwalk-kmap" . && chmod 755 atwalk-kmap && kmap=1; }

# As user nobody: CAPABILITY,ALLOWED and that COLUMN, of all rows.
as_nobody() {
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run "${nobody[@]}" ${WRAP:-} ./copy probe --pid $$ --format csv --columns "capability,allowed,$1"
}

t "without privileges nearly all is denied, and a command would allow it"
if [ -n "$why" ]; then skip "$why"; else
	as_nobody command
	yes grep -qx 'own processes,yes,' "$work/log/out"
	for what in bpf 'all processes' 'frame numbers' 'frame flags' 'frame counts'; do
		yes grep -q "^$what,no,\"\\?sudo setcap .*+ep $work/cwd/copy\"\\?\$" "$work/log/out"
	done
	# Breakpoints are for another program, whose file has its own capabilities.
	[ $kmap = 0 ] ||
		yes grep -qx "breakpoints,no,sudo setcap cap_sys_admin+ep $work/cwd/atwalk-kmap" "$work/log/out"
	cp "$work/log/out" denied
fi

t "without atwalk-kmap there is no answer about breakpoints"
mkdir alone && cp "$built/atwalk" alone/copy
if [ -e "$(cat "$built/prefix")/bin/atwalk-kmap" ]; then skip "one is installed"; else
	run alone/copy probe --pid $$ --format csv --columns allowed,why,command --filter 'capability=breakpoints'
	out <<END
allowed,why,command
no,"cannot run 'kmap': there is no atwalk-kmap in $work/cwd/alone, nor in $(cat "$built/prefix")/bin",
END
fi

t "that very command does allow it"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind runs no program that has capabilities"
elif ! command -v setcap >"$work/log/setcap"; then skip "no setcap"
elif ! setcap cap_bpf,cap_perfmon+ep copy 2>"$work/log/setcap" ||
	! "${nobody[@]}" ./copy --version >"$work/log/copy" 2>&1; then
	skip "files have no capabilities here: $(head -n 1 "$work/log/setcap")"
else
	n=0
	while IFS=, read -r what _ command; do
		command=${command#\"} command=${command%\"}
		[[ $command == "sudo setcap "* ]] || continue
		# As it stands there, but for the sudo that this test does not need.
		# shellcheck disable=SC2086 # a command with its options
		yes ${command#sudo }
		# Breakpoints are few, and another test may have them for a while.
		for ((i = 0; i < limit; i++)); do
			as_nobody why
			grep -q "^$what,no,.*in use" "$work/log/out" || break
			sleep 1
		done
		# BPF may be forbidden by more than a lack of capabilities.
		[ "$what" = bpf ] && ! atwalk info live:bpf >"$work/log/bpf" 2>&1 && continue
		[ "$what" = bpf ] && [ ! -d /sys/firmware/memmap ] && continue
		yes grep -q "^$what,yes," "$work/log/out"
		n=$((n + 1))
	done < <(sed 1d denied)
	yes [ "$n" -ge $((kmap ? 5 : 4)) ]
	echo "note - $n commands tried"
fi

t "a command keeps the capabilities that the file has"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind runs no program that has capabilities"
elif ! setcap cap_kill,cap_setfcap+ep copy 2>"$work/log/setcap" ||
	! "${nobody[@]}" ./copy --version >"$work/log/copy" 2>&1; then
	skip "files have no capabilities here: $(head -n 1 "$work/log/setcap")"
else
	as_nobody command
	yes grep -qx "bpf,no,\"sudo setcap cap_bpf,cap_perfmon,cap_kill,cap_setfcap+ep $work/cwd/copy\"" "$work/log/out"
	run "${nobody[@]}" ./copy info live:bpf
	status 3
	err_has "sudo setcap cap_bpf,cap_perfmon,cap_kill,cap_setfcap+ep $work/cwd/copy"
	# What one hint allows the next one keeps.
	setcap cap_bpf,cap_perfmon+ep copy
	as_nobody command
	yes grep -q "^frame flags,no,\"sudo setcap cap_dac_read_search,.*cap_perfmon,cap_bpf+ep $work/cwd/copy\"\$" "$work/log/out"
fi

t "a command keeps what is inherited, and gives it to nobody else"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind runs no program that has capabilities"
elif ! setcap cap_kill+ep copy 2>"$work/log/setcap" || ! setcap -r copy ||
	! "${nobody[@]}" --inh-caps=+dac_read_search --ambient-caps=+dac_read_search true 2>"$work/log/setcap"; then
	skip "no capabilities of files, or none to inherit: $(head -n 1 "$work/log/setcap")"
else
	plain=("${nobody[@]}")
	nobody+=(--inh-caps=+dac_read_search --ambient-caps=+dac_read_search)
	as_nobody command
	yes grep -qx 'frame flags,yes,' "$work/log/out"
	yes grep -qx "bpf,no,\"sudo setcap 'cap_bpf,cap_perfmon+ep cap_dac_read_search+ei' $work/cwd/copy\"" "$work/log/out"
	# The file's capabilities clear the ambient set: the command alone keeps this one.
	command=$(sed -n 's/^bpf,no,"sudo \(.*\)"/\1/p' "$work/log/out")
	yes eval "$command"
	as_nobody command
	yes grep -qx 'frame flags,yes,' "$work/log/out"
	nobody=("${plain[@]}")
	as_nobody command
	yes grep -qx "frame flags,no,\"sudo setcap cap_dac_read_search,cap_perfmon,cap_bpf+ep $work/cwd/copy\"" "$work/log/out"
fi

t "all at once is one command"
if [ -n "$why" ]; then skip "$why"; else
	setcap -r copy 2>"$work/log/setcap"
	# shellcheck disable=SC2086
	run "${nobody[@]}" ${WRAP:-} ./copy probe --pid $$
	yes grep -q "all at once: sudo setcap cap_bpf,cap_perfmon,cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $work/cwd/copy\$" "$work/log/out"
fi

finish
