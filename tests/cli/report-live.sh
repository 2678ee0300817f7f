#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report, of a process that this test starts and of no other: what the kernel says of it
# in smaps_rollup, a capture of it, and what it does that it should not.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

bad='' why=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$bad" ] || { kill -KILL "$bad"; wait "$bad"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

mkfifo ready
"$built/tests/tools/badtext" "$work/cwd/libgone.so" >ready 2>"$work/log/child" &
bad=$!
read -r -t 60 said <ready
[ "$said" = ready ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
[ "$(getconf PAGESIZE)" = 4096 ] || why="pages are said to be of 4096 bytes here"
# shellcheck disable=SC2317 # by `run`
of() {
	atwalk report "$@" --no-refs --pid "$bad" --format csv live:pagemap
}

# Without frames the page of zeroes looks like any other.
of count >"$work/log/way" 2>&1
grep -q '^[1-9]' "$work/log/way" ||
	why="no frames of live:pagemap: $(tail -n 1 "$work/log/way")"

t "pages of a process are those of smaps_rollup"
if [ -n "$why" ]; then
	skip "$why"
else
	run of basic --columns total,swapped
	out <<END
total,swapped
$(awk '$1 == "Rss:" { r = $2 / 4 } $1 == "Swap:" { s = $2 / 4 } END { print r "," s }' "/proc/$bad/smaps_rollup")
END
fi

t "areas are those of maps, with their sizes"
if [ -n "$why" ]; then
	skip "$why"
else
	run of areas --columns address,end,vsize
	awk -F, 'NR > 1 { print $1, $2, $3 }' "$work/log/out" >got
	# [vsyscall] lies among the kernel's addresses.
	sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) .*/\1 \2/p' "/proc/$bad/maps" | grep -v '^ffffffffff' |
		while read -r from to; do
			printf '0x%016x 0x%016x %d\n' "0x$from" "0x$to" $(((16#$to - 16#$from) / 4096))
		done >want
	grep -v '^0xffffffffff' got >ours
	yes same want ours
fi

t "a capture of it says the same"
if [ -n "$why" ]; then
	skip "$why"
else
	run atwalk collect --no-refs --pid "$bad" live:pagemap -o bad.cap
	# How many others have a page of libc changes all the time.
	for report in 'basic total,stack,data,text,heap,lib_bss,lib_data,lib_text,other' \
		'areas address,end,vsize,resident,flags,class,guess,name' 'units +map' 'totals +build' \
		'count +zeroes' 'pages physical,pte_flag,vma_flag,vma_sym,owner,pid,class'; do
		run of "${report% *}" --columns "${report#* }" -o live.csv
		run atwalk report "${report% *}" --columns "${report#* }" --format csv bad.cap -o capture.csv
		yes same live.csv capture.csv
	done
fi

t "who has written to code"
if [ -n "$why" ]; then
	skip "$why"
else
	run of alerts --filter 'cause=text_relocations' --columns pid,task,name,copied
	out <<END
pid,task,name,copied
$bad,badtext,$(readlink -f "$built/tests/tools/badtext"),1
END
fi

t "who keeps a deleted library"
if [ -n "$why" ]; then
	skip "$why"
else
	run of totals --filter deleted --columns name,used,text
	out <<END
name,used,text
$work/cwd/libgone.so,1,2
END
fi

t "its program, and what is of it"
if [ -n "$why" ]; then
	skip "$why"
else
	run of areas --filter 'own and (text or data or rodata or relro or heap)' --columns name
	sed 1d "$work/log/out" | sort -u >got
	printf '%s\n' "$(readlink -f "$built/tests/tools/badtext")" >want
	grep -q '\[heap\]' "/proc/$bad/maps" && echo '[heap]' >>want
	sort -o want want
	yes same want got
	run of areas --filter 'stack and guessed' --columns address
	yes [ "$(wc -l <"$work/log/out")" = 1 ]
fi

finish
