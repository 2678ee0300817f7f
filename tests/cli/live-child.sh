# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# live-child.sh - for tests that look at a process and have it do something
# meanwhile; see live-child.py. It ends with the test.
#
#	start_child              $child is its number; if that fails, $why says why
#	tell WORD...             it does that, and has done it; $said is its answer
why='' child=''
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"

end_child() {
	exec 8>&- 9<&-
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	child=''
}
# shellcheck disable=SC2317 # by the trap
end() {
	end_child
	rm -rf "$work"
}
trap end EXIT

start_child() {
	[ -z "$why" ] || return 0
	rm -f to from counters
	truncate -s 4096 counters
	mkfifo to from
	python3 "$cli/live-child.py" counters <to >from 2>"$work/log/child" &
	child=$!
	exec 8>to 9<from
	read -r -t "$limit" -u 9 said || why="the child did not start: $(tail -n 1 "$work/log/child")"
}

tell() {
	[ -z "$why" ] || return 0
	echo "$*" >&8
	read -r -t "$limit" -u 9 said && [[ $said == done* ]] && return
	bad "the child does not do '$*': $(tail -n 1 "$work/log/child")"
}
