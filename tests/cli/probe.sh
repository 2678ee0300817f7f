#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk probe reports which data sources this machine allows, and the commands in its rows
# have the stated effect. Only processes of this test are probed.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

t "every capability has a row"
run atwalk probe --pid $$ --format csv --columns capability,allowed
yes [ "$(wc -l <"$work/log/out")" = 15 ]
yes [ "$(sed 1d "$work/log/out" | grep -cvE ',(yes|no)$')" = 0 ]
yes grep -qx 'all processes,yes' "$work/log/out"

t "the column command has only commands; other advice is in the column why"
run atwalk probe --pid $$ --format csv --columns command --filter no
yes [ "$(sed 1d "$work/log/out" | grep -cvE '^("?sudo (setcap|sysctl) .*)?$')" = 0 ]
if ! unshare -Urpf --mount-proc true 2>"$work/log/unshare"; then
	echo "note - no user namespace: $(head -n 1 "$work/log/unshare")"
else
	run unshare -Urpf --mount-proc "$built/atwalk" probe --pid 1 --format csv --columns why,command \
		--filter 'capability="frame numbers"'
	yes grep -q 'outside of it: sudo .*,$' "$work/log/out"
fi

t "a missing process"
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

t "SOURCE is refused"
run atwalk probe live
status 2
no_out
err_has "'live': probe takes no SOURCE"

# ---- as another user ----

drop=(setpriv --reuid=65534 --regid=65534 --clear-groups)
why=''
[ "$(id -u)" -eq 0 ] && command -v setpriv >"$work/log/setpriv" ||
	why="needs root and setpriv, to drop privileges"
chmod 755 "$work" "$work/cwd"
cp "$built/atwalk" copy && chmod 755 copy
kmap=0
[ ! -e "$built/atwalk-kmap" ] || { cp "$built/atwalk-kmap" . && chmod 755 atwalk-kmap && kmap=1; }

# as_user COLUMN: all rows with CAPABILITY, ALLOWED and COLUMN, without privileges.
as_user() {
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run "${drop[@]}" ${WRAP:-} ./copy probe --pid $$ --format csv --columns "capability,allowed,$1"
}

t "without privileges nearly everything is denied, with a command to allow it"
if [ -n "$why" ]; then skip "$why"; else
	as_user command
	yes grep -qx 'own processes,yes,' "$work/log/out"
	for what in bpf 'all processes' 'frame numbers' 'frame flags' 'frame counts'; do
		yes grep -q "^$what,no,\"\\?sudo setcap .*+ep $work/cwd/copy\"\\?\$" "$work/log/out"
	done
	# Breakpoints are used by another program, with capabilities of its own file.
	cp "$work/log/out" denied
	command="sudo setcap cap_sys_admin+ep $work/cwd/atwalk-kmap"
	# Where the machine has none, a capability is of no use.
	! atwalk probe --columns why --filter 'capability=breakpoints' | grep -q 'never stops' ||
		command=
	[ $kmap = 0 ] || yes grep -qx "breakpoints,no,$command" denied
fi

t "without atwalk-kmap breakpoints cannot be used"
mkdir alone && cp "$built/atwalk" alone/copy
run alone/copy probe --pid $$ --format csv --columns allowed,why,command --filter 'capability=breakpoints'
out <<END
allowed,why,command
no,cannot run 'kmap': there is no atwalk-kmap in $work/cwd/alone,
END

t "the command allows it"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind runs no program that has capabilities"
elif ! command -v setcap >"$work/log/setcap"; then skip "no setcap"
elif ! setcap cap_bpf,cap_perfmon+ep copy 2>"$work/log/setcap" ||
	! "${drop[@]}" ./copy --version >"$work/log/copy" 2>&1; then
	skip "files have no capabilities here: $(head -n 1 "$work/log/setcap")"
else
	n=0
	while IFS=, read -r what _ command; do
		command=${command#\"} command=${command%\"}
		[[ $command == "sudo setcap "* ]] || continue
		# Verbatim, except for sudo, which this test does not need.
		# shellcheck disable=SC2086 # a command with its options
		yes ${command#sudo }
		# Another test may be using the few hardware breakpoints.
		for ((i = 0; i < limit; i++)); do
			as_user why
			grep -q "^$what,no,.*in use" "$work/log/out" || break
			sleep 1
		done
		# BPF may be forbidden for other reasons than missing capabilities.
		[ "$what" = bpf ] && ! atwalk info live:bpf >"$work/log/bpf" 2>&1 && continue
		[ "$what" = bpf ] && [ ! -d /sys/firmware/memmap ] && continue
		yes grep -q "^$what,yes," "$work/log/out"
		n=$((n + 1))
	done < <(sed 1d denied)
	yes [ "$n" -ge $((kmap ? 5 : 4)) ]
	echo "note - $n commands tried"
fi

t "a command keeps the capabilities of the file"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind runs no program that has capabilities"
elif ! setcap cap_kill,cap_setfcap+ep copy 2>"$work/log/setcap" ||
	! "${drop[@]}" ./copy --version >"$work/log/copy" 2>&1; then
	skip "files have no capabilities here: $(head -n 1 "$work/log/setcap")"
else
	as_user command
	yes grep -qx "bpf,no,\"sudo setcap cap_bpf,cap_perfmon,cap_kill,cap_setfcap+ep $work/cwd/copy\"" "$work/log/out"
	run "${drop[@]}" ./copy info live:bpf
	status 3
	err_has "sudo setcap cap_bpf,cap_perfmon,cap_kill,cap_setfcap+ep $work/cwd/copy"
	# Capabilities granted by one hint are kept by the next.
	setcap cap_bpf,cap_perfmon+ep copy
	as_user command
	yes grep -q "^frame flags,no,\"sudo setcap cap_dac_read_search,.*cap_perfmon,cap_bpf+ep $work/cwd/copy\"\$" "$work/log/out"
fi

t "a command keeps inheritable capabilities, without permitting them to others"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind runs no program that has capabilities"
elif ! setcap cap_kill+ep copy 2>"$work/log/setcap" || ! setcap -r copy ||
	! "${drop[@]}" --inh-caps=+dac_read_search --ambient-caps=+dac_read_search true 2>"$work/log/setcap"; then
	skip "no capabilities of files, or none to inherit: $(head -n 1 "$work/log/setcap")"
else
	plain=("${drop[@]}")
	drop+=(--inh-caps=+dac_read_search --ambient-caps=+dac_read_search)
	as_user command
	yes grep -qx 'frame flags,yes,' "$work/log/out"
	yes grep -qx "bpf,no,\"sudo setcap 'cap_bpf,cap_perfmon+ep cap_dac_read_search+ei' $work/cwd/copy\"" "$work/log/out"
	# The file's capabilities clear the ambient set: the command alone keeps this one.
	command=$(sed -n 's/^bpf,no,"sudo \(.*\)"/\1/p' "$work/log/out")
	yes eval "$command"
	as_user command
	yes grep -qx 'frame flags,yes,' "$work/log/out"
	drop=("${plain[@]}")
	as_user command
	yes grep -qx "frame flags,no,\"sudo setcap cap_dac_read_search,cap_perfmon,cap_bpf+ep $work/cwd/copy\"" "$work/log/out"
fi

t "one command allows everything"
if [ -n "$why" ]; then skip "$why"; else
	setcap -r copy 2>"$work/log/setcap"
	# shellcheck disable=SC2086
	run "${drop[@]}" ${WRAP:-} ./copy probe --pid $$
	yes grep -q "all at once: sudo setcap cap_bpf,cap_perfmon,cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $work/cwd/copy\$" "$work/log/out"
fi

finish
