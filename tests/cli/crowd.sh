# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
#
# crowd.sh - many processes of a test's own, which share memory; sourced by the tests that
# list all processes.

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	exec 8>&- 9<&-
	[ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

# $child is their parent, which waits for lines on descriptor 8 and answers on 9. Sets $shared and
# $own, addresses of memory that all share and that each has alone, and $parent. Fails if so many
# are not allowed: $work/log/crowd has the reason.
crowd() {                         # COUNT NAME
	mkfifo in out
	"$built/tests/tools/crowd" "$1" "$2" <in >out 2>"$work/log/crowd" &
	child=$!
	exec 8>in 9<out
	read -r -t "$limit" shared own parent <&9
}
