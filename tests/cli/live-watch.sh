#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --watch reports changes between snapshots of processes that this test starts; where every
# process is read, that is in a PID namespace.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317,SC2016
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

t "--watch requires an interval, a number and a live source"
for text in 0 x 1,0 1,x ,5 '1,' 0.0001 -1 1.2.3 '' .; do
	for command in map pages; do
		run atwalk $command live:pagemap --pid $$ --watch "$text"
		status 2
		no_out
		err <<END
atwalk: --watch: '$text' is not SECONDS[,TIMES] (2, 0.5, 1,60)
        see: atwalk $command --help
END
	done
done
run atwalk map x86.elf --watch 1,1
status 2
no_out
err <<'END'
atwalk: --watch: x86.elf is a dump, not a live source
END
run atwalk map live:pagemap --watch 1,1
status 2
err_has "atwalk: live:pagemap: specify a process: the kernel's own pages are not known"

much=210000000000 more=220000000000
# Sanitizers cover this instead.
case ${WRAP:-} in *valgrind*) why="valgrind does not know pidfd_open(2)" ;; esac
start_child
tell take $much 1048576

t "TIMES snapshots at the interval, without spurious changes"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk map live:pagemap --pid "$child" --watch 0.1,4 --format csv
	yes [ "$(head -n 1 "$work/log/out")" = time,ranges,d_ranges,mapped,d_mapped,4k,d_4k,2m,d_2m ]
	yes [ "$(sed 1d "$work/log/out" | wc -l)" = 4 ]
	yes grep -q '^0\.000,[0-9]*,,[0-9]*,,[0-9]*,,[0-9]*,$' "$work/log/out"
	# Each snapshot is on time or late, never early.
	yes awk -F, 'NR > 1 && $1 < (NR - 2) * 0.1 - 0.001 { exit 1 } NR > 2 && $1 <= last { exit 1 } { last = $1 }' "$work/log/out"
	yes awk -F, 'NR > 1 && $4 != $6 + $8 { exit 1 }' "$work/log/out"
	yes [ "$(sed 1,2d "$work/log/out" | cut -d , -f 3,5,7,9 | sort -u)" = 0,0,0,0 ]
	run atwalk map live:pagemap --pid "$child" --watch .05,2 $much+1M --columns ranges,d_ranges,mapped,d_mapped
	ranges=$(awk 'NR == 2 { print $1 }' "$work/log/out")
	out <<END
RANGES  D_RANGES  MAPPED  D_MAPPED
$(printf %6d "$ranges")       n/a      1M       n/a
$(printf %6d "$ranges")         0      1M         0
END
	run atwalk map live:pagemap --pid "$child" --watch 0.01,3 --format jsonl --columns mapped,d_mapped \
		--filter 'd_mapped>=0' $much+1M
	out <<'END'
{"mapped":1048576,"d_mapped":0}
{"mapped":1048576,"d_mapped":0}
END
fi

# begin ARGUMENTS...: starts it, with its rows on file descriptor 7.
watcher=''
begin() {
	[ -z "$why$wrong" ] || return
	rm -f rows
	mkfifo rows
	# Background jobs ignore SIGINT, and the shell may have been started so.
	env --default-signal=INT "$O/atwalk" "$@" >rows 2>"$work/log/watcher" &
	watcher=$!
	exec 7<rows
}
# has_signal FIELD BIT: in /proc/PID/status of the watcher.
has_signal() {
	local set

	set=$(sed -n "s/^$1:[^0-9a-f]*//p" "/proc/$watcher/status" 2>"$work/log/status")
	((0x${set:-0} & $2))
}
# Waits until it catches SIGINT, and so SIGTERM.
until_caught() { await has_signal SigCgt 2; }
# Number of bytes that it has read.
bytes_read() { sed -n 's/^rchar: //p' "/proc/$watcher/io"; }
has_read() { [ "$(bytes_read)" -ge "$1" ]; }
# Waits until it has read that many more bytes.
reads_on() { await has_read $(($(bytes_read) + $1)); }
# Sends SIGTERM twice, the second after the first was caught. Succeeds if they were within the
# second in which they count as one.
tell_twice() {
	local from to

	read -r from _ </proc/uptime
	kill -TERM "$watcher"
	while has_signal ShdPnd 0x4000; do :; done
	kill -TERM "$watcher" 2>"$work/log/kill"
	read -r to _ </proc/uptime
	[ $((10#${to/./} - 10#${from/./})) -lt 95 ]
}
# over [SIGNAL]: ends it, and keeps its status.
over() {
	[ -z "$watcher" ] || [ -z "${1:-}" ] || kill "-$1" "$watcher"
	[ -n "$why$wrong" ] || cat <&7 >"$work/log/out"
	exec 7<&-
	[ -z "$watcher" ] || wait "$watcher" 2>"$work/log/kill"
	rc=$?
	watcher=''
	cp "$work/log/watcher" "$work/log/err"
}

for way in pagemap bpf; do
	skip_it=$why
	if [ -z "$why" ] && [ $way = bpf ] && ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then
		skip_it=$(head -n 1 "$work/log/bpf")
	fi
	for signal in INT TERM; do
		t "live:$way: snapshots are printed at once with changes; SIG$signal ends it cleanly"
		if [ -n "$skip_it" ]; then skip "$skip_it"; else
			begin map live:$way --pid "$child" --watch 0.1 --format csv --columns mapped,d_mapped,d_4k \
				$much+8M $more+8M
			until_row '1048576,,'
			until_row '1048576,0,0'
			tell take $more $((3 << 20))
			until_row '4194304,3145728,3145728'
			until_row '4194304,0,0'
			tell drop $more $((3 << 20))
			until_row '1048576,-3145728,-3145728'
			over $signal
			yes [ "$rc" -eq 0 ]
			yes [ ! -s "$work/log/err" ]
		fi
	done
done

t "two signals within a second, as timeout(1) sends: clean end"
if [ -n "$why" ]; then skip "$why"; else
	# A machine under load may be too slow for that several times.
	for _ in {1..50}; do
		# A snapshot takes a second, so the signal arrives in the middle.
		begin map live:pagemap --pid "$child" --watch 0.1 --rate 64K --format csv --columns time $much+32M
		until_row '*[1-9]*'
		reads_on 20000
		tell_twice && twice=soon || twice=late
		over
		[ "$twice" = late ] || break
	done
	yes [ "$twice" = soon ]
	yes [ "$rc" -eq 0 ]
	begin map live:pagemap --pid "$child" --watch 0.3 -o there --format csv --columns mapped $much+1M
	until_caught
	over TERM
	yes [ -s there ]
	rm -f there
fi

t "a later second signal ends it immediately"
if [ -n "$why" ]; then skip "$why"; else
	begin map live:pagemap --pid "$child" --watch 0.1 --rate 1 --format csv --columns mapped $much+64M
	until_caught
	kill -TERM "$watcher"
	# Longer than the second in which both signals count as one.
	sleep 1.2
	yes kill -0 "$watcher"
	over TERM
	yes [ "$rc" -eq 143 ]
fi

t "columns are the page sizes of the mode"
if [ -n "$skip_it" ]; then skip "$skip_it"; else
	run atwalk map live:bpf --pid "$child" --watch 0.01,2 --format csv
	yes [ "$(head -n 1 "$work/log/out")" = time,ranges,d_ranges,mapped,d_mapped,4k,d_4k,2m,d_2m,1g,d_1g ]
	yes awk -F, 'NR > 1 && $4 != $6 + $8 + $10 { exit 1 }' "$work/log/out"
fi

t "with -o the file is complete or absent"
if [ -n "$why" ]; then skip "$why"; else
	begin map live:pagemap --pid "$child" --watch 0.05 -o there --format csv --columns d_mapped $much+1M
	until_caught
	reads_on 30000
	yes [ ! -e there ]
	over INT
	yes [ "$rc" -eq 0 ]
	yes [ "$(head -n 2 there)" = d_mapped ]
	yes [ -z "$(sed 1,2d there | grep -vx 0)" ]
fi

t "--watch continues after execve(2)"
if [ -n "$why" ]; then skip "$why"; else
	for way in pagemap bpf; do
		[ $way = pagemap ] || [ -z "$skip_it" ] || continue
		begin map live:$way --pid "$child" --watch 0.05 --format csv --columns mapped $much+1M
		until_row 1048576
		echo exec >&8
		read -r -t "$limit" -u 9 said
		until_row 0
		tell take $much 1048576
		until_row 1048576
		over INT
		yes [ "$rc" -eq 0 ]
	done
fi

counted() { [ "$(od -An -v -t u8 counters)" != "$1" ]; }
t "--freeze stops the process during a snapshot, not between"
if [ -n "$why" ] || ! atwalk map live:pagemap --freeze --pid "$child" >"$work/log/out" 2>"$work/log/err"; then
	skip "${why:-$(head -n 1 "$work/log/err")}"
else
	run atwalk map live:pagemap --pid "$child" --watch 0.01,5 --freeze -v --format csv --columns mapped
	yes [ "$(grep -c ' was stopped for ' "$work/log/err")" -eq 5 ]
	said_err=1
	tell run 1
	begin map live:pagemap --pid "$child" --watch 0.1 --freeze --format csv --columns mapped
	until_row '[1-9]*'
	# The process counts while it is watched.
	for _ in 1 2 3; do
		await counted "$(od -An -v -t u8 counters)"
		until_row '[1-9]*'
	done
	over TERM
	yes [ "$rc" -eq 0 ]
fi

# ---- pages ----

t "pages: totals of one process and their changes"
if [ -n "$why" ]; then skip "$why"; else
	begin pages live:pagemap --pid "$child" --watch 0.1 --format csv \
		--columns what,processes,mapped,d_mapped,swapped,d_swapped,pid,task $much+8M $more+8M
	until_row "first,1,1048576,,0,,$child,python3"
	until_row "same,1,1048576,0,0,0,$child,python3"
	tell take $more $((3 << 20))
	until_row "changed,1,4194304,3145728,0,0,$child,python3"
	tell drop $more $((3 << 20))
	until_row "changed,1,1048576,-3145728,0,0,$child,python3"
	over INT
	yes [ "$rc" -eq 0 ]
	run atwalk pages live:pagemap --pid "$child" --watch 0.01,2 --filter first --columns private,d_private,huge \
		$much+1M
	said_err=1               # frames may be hidden
	yes [ "$(head -n 1 "$work/log/out")" = 'PRIVATE  D_PRIVATE    HUGE' ]
	yes [ "$(wc -l <"$work/log/out")" -eq 2 ]
fi

t "pages: processes that start and end, and the number of unchanged ones"
if [ -n "$why" ]; then skip "$why"
elif ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	cp "$(command -v sleep)" one-of-us
	cat >several <<END
./one-of-us 10000 &
mkfifo all
$O/atwalk pages live:pagemap --watch 0.1,600 --format csv --columns what,processes,d_mapped,task >all 2>all.err &
watcher=\$!
exec 7<all
# The shell, the process, and atwalk itself are unchanged.
until_row() {
	while read -r -u 7 row; do
		case \$row in \$1) echo "\$row" | cut -d , -f \$2; return ;; esac
	done
	echo "none is \$1"
}
until_row first,1,,one-of-us 1-4
until_row 'same,[1-9]*,0,' 1,3-4
cp one-of-us another
./another 10000 &
other=\$!
until_row 'began,1,[1-9]*,another' 1-2,4
kill \$other
wait \$other 2>kill.err
until_row 'ended,1,-*,another' 1-2,4
kill \$watcher
wait \$watcher
echo \$?
kill %1
END
	run unshare --pid --fork --mount-proc bash several
	out <<'END'
first,1,,one-of-us
same,0,
began,1,another
ended,1,another
0
END
fi

t "--watch ends with a message when the process ends"
if [ -n "$why" ]; then skip "$why"; else
	begin map live:pagemap --pid "$child" --watch 30 --format csv --columns d_mapped
	until_row ''
	gone=$child
	end_child
	over
	yes [ "$rc" -eq 0 ]
	said_status=1
	run cat "$work/log/watcher"
	out <<END
atwalk: live:pagemap: process $gone (python3) has ended
END
fi

finish
