#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports of a live process, beside what the kernel's own smaps say of it: RSS, PSS
# and USS, what it has of each file, and all of that out of a capture as well. The
# process is this test's own, and no other is looked at.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

[ "$(id -u)" = 0 ] || why="frames are hidden from all but root"
bpf=''
atwalk info -q live:bpf >"$work/log/bpf" 2>&1 || bpf=$(head -n 1 "$work/log/bpf")

# RSS, PSS and USS in KiB of areas called NAME, as the kernel rounds them.
kernel_says() {
	awk -v name="$1" '
		/^[0-9a-f]+-/ { at = $6 == name }
		at && /^Rss:/ { rss += $2 }
		at && /^Pss:/ { pss += $2 }
		at && /^Private_(Clean|Dirty):/ { uss += $2 }
		END { print rss + 0, pss + 0, uss + 0 }' "/proc/$child/smaps"
}

t "what two processes share is half of each one's: a file, and what is left of fork(2)"
start_child
if [ -n "$why" ]; then skip "$why"; else
	head -c 1200000 /dev/zero >shared.dat
	tell map "$PWD/shared.dat"
	tell fork
	run atwalk report use live:pagemap --pid "$child" --by unit --format csv \
		--columns name,rss,pss,uss
	awk -F, -v file="$PWD/shared.dat" '$1 == file || $1 == "[heap]" {
		print $1, $2 / 1024, int($3 / 1024), $4 / 1024 }' "$work/log/out" | sort >said
	for name in "$PWD/shared.dat" "[heap]"; do
		echo "$name $(kernel_says "$name")"
	done | sort >wanted
	same said wanted
	grep -q '/shared.dat 1172 586 0$' said || bad "the file is not shared by two"
fi

for way in live:pagemap live:bpf; do
	t "RSS is the kernel's: $way"
	if [ -n "$why" ] || { [ "$way" = live:bpf ] && [ -n "$bpf" ]; }; then
		skip "${why:-$bpf}"
	else
		run atwalk report use "$way" --pid "$child" --format csv --columns rss
		said=$(($(sed -n 2p "$work/log/out") / 1024))
		wanted=$(awk '/^Rss:/ { print $2 }' "/proc/$child/smaps_rollup")
		[ "$said" = "$wanted" ] || bad "it is said to be $said KiB, and is $wanted"
	fi
done

t "each area, to the page"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk report areas live:pagemap --pid "$child" --format csv \
		--columns address,resident,swapped
	sed -n '2,$p' "$work/log/out" >said
	# [vvar] and the like have pages that smaps does not count.
	awk '/^[0-9a-f]+-/ { split($1, at, "-"); special = $6 ~ /^\[v/ }
	     /^Rss:/ { rss = $2 / 4 }
	     /^Swap:/ && !special { printf "0x%016s,%d,%d\n", at[1], rss, $2 / 4 }' \
		"/proc/$child/smaps" | sed 's/x */x/' |
		awk -F, '{ while (length($1) < 18) sub(/x/, "x0", $1); print $1 "," $2 "," $3 }' >wanted
	awk -F, 'NR == FNR { want[$1] = 1; next } $1 in want' wanted said >both
	same both wanted
fi

finish
