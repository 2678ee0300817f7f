#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# extract live works while processes start and end: each extract opens, and has every
# process of this test that lived through it. ATWALK_EXTRACTS: how many are made.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

made=${ATWALK_EXTRACTS:-10}
[ -z "${WRAP:-}" ] || made=2
ours=()
# shellcheck disable=SC2317 # by the trap
end() {
	for p in "${ours[@]}"; do
		kill -KILL "$p" && wait "$p"
	done 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

for _ in 1 2 3 4 5; do
	sleep 10000 &
	ours+=($!)
done
# 20 a second start and end, each of them with a program of its own.
(while :; do
	sleep 0.04 &
	sleep 0.05
done) &
ours+=($!)

# The same extents as in the machine, if they were the same before and after.
maps() {
	atwalk map "$1" --pid "$2" --all --format csv --columns address,end,physical,rights \
		0-7fffffffffff
}

if ! atwalk extract -o first.elf live >"$work/log/first" 2>&1 && [ ! -s first.elf ]; then
	t "extracts of a running machine"
	skip "$(head -n 1 "$work/log/first")"
	finish
fi

t "the number of CPUs and page-table isolation are those of the machine"
same_facts() {                    # FILE
	atwalk info -q "$1" --format csv --filter 'fact=cpus or value~"page-table isolation"' 2>>"$work/log/facts"
}
same_facts live >machine
same_facts first.elf >got
same got machine
yes grep -q '^cpus,[1-9]' got

for i in $(seq "$made"); do
	t "extract $i of $made: it opens, and all that lived through it is in it"
	whole=0
	for p in "${ours[@]}"; do
		maps live "$p" >"before.$p" 2>"$work/log/before"
	done
	atwalk extract -q -o live.elf live >extracted 2>said
	rc=$?
	for p in "${ours[@]}"; do
		maps live "$p" >"after.$p" 2>"$work/log/after"
	done
	# Other processes change all the time, and some may be incomplete in it.
	[ $rc = 0 ] || { [ $rc = 4 ] && [ -s said ] && sed 's/^/note - /' said; } ||
		bad "extract ended with status $rc: $(head -n 3 said)"
	run atwalk info -q live.elf --filter 'fact=root or fact=release'
	said_status=1 said_err=1
	[ "$rc" = 0 ] || status 4
	yes grep -q 'proved by a walk' "$work/log/out"
	run atwalk ps -q live.elf --format csv --columns pid
	said_status=1 said_err=1
	for p in "${ours[@]}"; do
		yes grep -qx "$p" "$work/log/out"
	done
	for p in "${ours[@]}"; do
		run maps live.elf "$p"
		status 0
		said_err=1
		cmp -s "before.$p" "after.$p" || continue
		same "$work/log/out" "before.$p"
		whole=$((whole + 1))
	done
	# The shell that starts processes changes; the others only sleep.
	yes test "$whole" -ge 5
done

finish
