# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# vmram.sh - processes that look like those of a VMM (tests/tools/vmram.c), for tests that
# have sourced lib.sh.

others=()
# shellcheck disable=SC2317 # by the trap
end() {
	for process in "${others[@]}"; do
		kill -KILL "$process" && wait "$process"
	done 2>>"$work/log/end"
	rm -rf "$work"
}
trap end EXIT

# guest PROGRAM ARGUMENT...: starts it under that name; its PID in $guest
guest() {
	local program=$1
	shift
	# The last one wrote to that file, too.
	rm -f "$program" ready
	: >ready
	cp "$built/tests/tools/vmram" "$program" || { bad "vmram is not built"; return; }
	"./$program" "$@" >ready 2>"$work/log/guest" &
	guest=$!
	others+=("$guest")
	await grep -q ready ready
}
