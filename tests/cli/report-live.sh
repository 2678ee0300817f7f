#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports of two processes that this test starts agree with smaps and with a capture: one
# shares memory, and one has a text relocation and a deleted library. No other process is
# read.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

rogue=''
# shellcheck disable=SC2317 # by the trap
end_all() {
	[ -z "$rogue" ] || { kill -KILL "$rogue"; wait "$rogue"; } 2>"$work/log/kill"
	end
}
trap end_all EXIT

# shellcheck disable=SC2317 # by `run`
of() {
	atwalk report "$@" --pid "$rogue" --no-refs --format csv live:pagemap
}

# ---- a process that triggers alerts ----

mkfifo ready
"$built/tests/tools/badtext" "$work/cwd/libgone.so" >ready 2>"$work/log/rogue" &
rogue=$!
read -r -t "$limit" said <ready
no_rogue=''
[ "$said" = ready ] || no_rogue="the child did not start: $(tail -n 1 "$work/log/rogue")"
[ "$(getconf PAGESIZE)" = 4096 ] || no_rogue="pages are said to be of 4096 bytes here"
# Without frame numbers the zero page looks like any other.
of count >"$work/log/way" 2>&1
grep -q '^[1-9]' "$work/log/way" ||
	no_rogue="no frames of live:pagemap: $(tail -n 1 "$work/log/way")"

t "growth of the running system needs --watch"
run atwalk report growth live:pagemap --pid $$
status 4
err <<END
atwalk: report growth: growth needs two looks: give two or more captures, in order
        --watch SECONDS,TIMES looks at a live SOURCE several times
END
run atwalk report growth live:pagemap --pid $$ --watch 0.1,2
status 0

t "areas are those of maps, with resident and swapped sizes exact to the page"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run of areas --columns address,end,vsize,resident,swapped
	# [vsyscall] is a kernel address; smaps does not count [vvar] and similar areas.
	awk '/^[0-9a-f]+-/ { split($1, at, "-"); seen = at[1] !~ /^ffffffffff/; special = $6 ~ /^\[v/ }
		/^Rss:/ { rss = $2 / 4 }
		/^Swap:/ && seen { print at[1], at[2], special ? "" : rss "," $2 / 4 }' \
		"/proc/$rogue/smaps" |
		while read -r from to pages; do
			printf '0x%016x,0x%016x,%d,%s\n' "0x$from" "0x$to" $(((16#$to - 16#$from) / 4096)) "$pages"
		done >want
	awk -F, 'NR == FNR { want[$1] = $4 != ""; next }
		FNR > 1 && $1 !~ /^0xffffffffff/ { print $1 "," $2 "," $3 "," (want[$1] ? $4 "," $5 : "") }' \
		want "$work/log/out" >got
	yes [ "$(wc -l <want)" -gt 10 ]
	same got want
fi

t "a capture of it has the same rows"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run atwalk collect --no-refs --pid "$rogue" live:pagemap -o rogue.cap
	# The mapcounts of libc change all the time.
	for report in 'basic total,stack,data,text,heap,lib_bss,lib_data,lib_text,other' \
		'areas address,end,vsize,resident,flags,class,guess,name' 'units +map' 'totals +build' \
		'count +zeroes' 'pages physical,pages,pte_flag,vma_flag,vma_sym,owner,pid,class'; do
		run of "${report% *}" --columns "${report#* }" -o live.csv
		run atwalk report "${report% *}" --columns "${report#* }" --format csv rogue.cap -o capture.csv
		# So runs of equal pages differ, too, and pages are compared one by one.
		[ "${report% *}" != pages ] || for f in live capture; do
			while IFS=, read -r pa n rest; do
				[ "$pa" != physical ] || continue
				for ((i = 0; i < n; i++)); do
					printf '%x,%s\n' $((pa + i * 4096)) "$rest"
				done
			done <$f.csv >$f.each
			mv $f.each $f.csv
		done
		yes same live.csv capture.csv
	done
fi

t "the process with written code"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run of alerts --filter 'cause=text_relocations' --columns pid,task,name,copied
	out <<END
pid,task,name,copied
$rogue,badtext,$(readlink -f "$built/tests/tools/badtext"),1
END
fi

t "the process with a deleted library"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run of totals --filter deleted --columns name,used,text
	out <<END
name,used,text
$work/cwd/libgone.so,1,2
END
fi

t "areas of the program itself"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run of areas --filter 'own and (text or data or rodata or relro or heap)' --columns name
	sed 1d "$work/log/out" | sort -u >got
	printf '%s\n' "$(readlink -f "$built/tests/tools/badtext")" >want
	grep -q '\[heap\]' "/proc/$rogue/maps" && echo '[heap]' >>want
	sort -o want want
	yes same want got
	run of areas --filter 'stack and guessed' --columns address
	yes [ "$(wc -l <"$work/log/out")" = 1 ]
fi

# Names are those of this machine, and a capture may be of another one.
t "users have names only on the machine itself"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	id=$(id -u)
	run of use --by user
	yes [ "$(sed -n 1p "$work/log/out")" = pid,processes,rss,pss,uss,anon,file,swap,huge,hugetlb,user,name ]
	yes [ "$(sed -n 2p "$work/log/out" | cut -d , -f 11,12)" = \
		"$(awk -F: -v id="$id" '$3 == id { print $1; exit }' /etc/passwd),$id" ]
	run atwalk report use --by user --format csv rogue.cap
	yes [ "$(sed -n 1p "$work/log/out")" = pid,processes,rss,pss,uss,anon,file,swap,huge,hugetlb,name ]
	run atwalk report use --by user --format csv --columns user,name rogue.cap
	out <<END
user,name
,$id
END
fi

# ---- a process that shares memory ----

[ "$(id -u)" = 0 ] || why="frames are hidden from all but root"
bpf=''
atwalk info -q live:bpf >"$work/log/bpf" 2>&1 || bpf=$(head -n 1 "$work/log/bpf")
start_child

# RSS, PSS and USS in KiB of areas called NAME, as the kernel rounds them.
kernel_says() {
	awk -v name="$1" '
		/^[0-9a-f]+-/ { at = $6 == name }
		at && /^Rss:/ { rss += $2 }
		at && /^Pss:/ { pss += $2 }
		at && /^Private_(Clean|Dirty):/ { uss += $2 }
		END { print rss + 0, pss + 0, uss + 0 }' "/proc/$child/smaps"
}

t "memory that two processes share counts half: a file, and anonymous memory after fork(2)"
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
	t "mapcounts agree with the kernel: $way"
	if [ -n "$why" ] || { [ "$way" = live:bpf ] && [ -n "$bpf" ]; }; then
		skip "${why:-$bpf}"
	else
		wanted=$(awk '$1 == "Rss:" { r = $2 / 4 } $1 == "Swap:" { s = $2 / 4 } END { print r, s }' \
			"/proc/$child/smaps_rollup")
		run atwalk report use "$way" --pid "$child" --format csv --columns rss,swap
		yes [ "$(sed -n 2p "$work/log/out")" = $((${wanted% *} * 4096)),$((${wanted#* } * 4096)) ]
		run atwalk report basic "$way" --pid "$child" --format csv --columns total,swapped
		yes [ "$(sed -n 2p "$work/log/out")" = "${wanted% *},${wanted#* }" ]
	fi
	t "sums agree with the kernel, with and without page flags: $way"
	if [ -n "$why" ] || { [ "$way" = live:bpf ] && [ -n "$bpf" ]; }; then
		skip "${why:-$bpf}"
	else
		# Not USS and PSS: pages of libraries are exclusive until others map them.
		# live-totals compares these, with static programs.
		wanted=$(awk '$1 == "Rss:" { r = $2 } $1 == "Anonymous:" { a = $2 }
			END { printf "%d,%d\n", r * 1024, a * 1024 }' "/proc/$child/smaps_rollup")
		run atwalk report use "$way" --pid "$child" --format csv --columns rss,anon
		yes [ "$(sed -n 2p "$work/log/out")" = "$wanted" ]
		run atwalk report use "$way" --pid "$child" --format csv --columns rss,uss
		yes [ "$(sed -n '2s/,.*//p' "$work/log/out")" = "${wanted%,*}" ]
		# All processes are counted, even if one is listed.
		atwalk report use "$way" --filter "pid=$child" --format csv --columns rss,uss \
			>all.csv 2>"$work/log/all"
		yes [ "$(sed -n '2s/,.*//p' all.csv)" = "${wanted%,*}" ]
	fi
done

t "use --watch: rows of each snapshot, without sums over several"
# shellcheck disable=SC2154 # of live-child.sh
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run atwalk report use live:pagemap --pid "$rogue" --no-refs --watch 0.01,3 --format csv \
		--columns look,pid,processes
	out <<END
look,pid,processes
1,$rogue,1
2,$rogue,1
3,$rogue,1
END
	run atwalk report use live:pagemap --pid "$rogue" --no-refs --watch 0.01,2
	yes [ "$(head -n 1 "$work/log/out" | awk '{ print $1, $2 }')" = 'LOOK PID' ]
	yes [ "$(grep -c '^ *[12] ' "$work/log/out")" = 2 ]
	yes [ "$(grep -c '(sum)' "$work/log/out")" = 0 ]
	run atwalk report use live:pagemap --pid "$rogue" --by unit --no-refs --watch 0.01,2 --limit 1 \
		--format csv --columns look
	said_err=1
	out <<END
look
1
2
END
fi
t "use --watch: the source is opened once for all snapshots"
if [ -n "$no_rogue" ]; then skip "$no_rogue"; else
	run atwalk report use live:pagemap --pid "$rogue" --no-refs --watch 0.01,3 -v --format csv \
		--columns look
	said_err=1
	yes [ "$(grep -c '^[123]$' "$work/log/out")" = 3 ]
	yes [ "$(grep -c ': cost: ' "$work/log/err")" = 1 ]
fi
t "--watch takes one report of those that can be repeated"
run atwalk report use,thrash live:pagemap --watch 1
status 2
err_has "use must be the only report with --watch"
run atwalk report basic live:pagemap --watch 1
status 2
err_has "basic takes only one snapshot"

finish
