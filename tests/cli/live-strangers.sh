#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unusual processes are listed completely and equally through page tables and /proc: one with
# a main thread that has exited while others run, and one that shares its memory with another
# process (clone(2) with CLONE_VM alone, vfork(2)). All are started by this test.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# Number of exclusive pages of each, in an area of their own.
own=300

stranger=''
end_stranger() {
	exec 8>&- 9<&-
	[ -z "$stranger" ] || { kill -KILL "$stranger"; wait "$stranger"; } 2>"$work/log/kill"
	stranger=''
}
# shellcheck disable=SC2317 # by the trap
end() {
	end_stranger
	rm -rf "$work"
}
trap end EXIT

why=''
[ "$(getconf PAGESIZE)" = 4096 ] || why="pages are said to be of 4096 bytes here"
ways=live:pagemap
if atwalk info live:bpf >"$work/log/bpf" 2>&1; then ways="live:pagemap live:bpf"
else echo "note - live:bpf: $(head -n 1 "$work/log/bpf")"
fi

# start SHAPE: sets $pid, $other and $at from the output of strangers.c.
start() {
	end_stranger
	rm -f in out
	mkfifo in out
	"$built/tests/tools/strangers" "$1" odd $own <in >out 2>"$work/log/stranger" &
	stranger=$!
	exec 8>in 9<out
	read -r -t "$limit" -u 9 pid other at || why="it did not start: $(tail -n 1 "$work/log/stranger")"
	[ -n "$why" ] || atwalk pages live:pagemap --pid $$ --format csv --columns physical 2>&1 |
		grep -q 0x || why="/proc/PID/pagemap gives no frame numbers here"
}

# listed FILE: of a capture, the task, its areas, the number of tasks and all L: lines.
# [vsyscall] lies among the kernel's addresses, and no page table of a process has it.
listed() {
	sed -n 's/^[TV]: \([^,]*, [^,]*\), .*/\1/p; s/^E: [0-9]*, \([0-9]*\), [0-9]*, /\1, /p; /^L/p' "$1" |
		grep -v '^FFFFFFFFFF'
}

# The same in /proc, for the process or thread with this memory.
truth() {
	echo "odd, $pid"
	while IFS='- ' read -r from to _; do
		printf '%X, %X\n' $((16#$from)) $((16#$to - 1))
	done <"/proc/$other/maps" | grep -v '^FFFFFFFFFF'
	echo "1, 0"
}

# The pages of its own area, if the process is listed completely.
totals() {
	run atwalk pages "$1" --pid "$2" --totals --format csv --columns pid,task,size,mapped "$at+$((own * 4))K"
	out <<OUT
pid,task,size,mapped
$pid,odd,$((own * 4096)),$((own * 4096))
OUT
}

for shape in headless shared vfork; do
	start $shape
	for way in $ways; do
		t "$shape, $way: it is listed completely, with its own name and PID"
		if [ -n "$why" ]; then skip "$why"; else
			totals "$way" "$pid"
			run atwalk collect "$way" --pid "$pid" --no-refs
			listed "$work/log/out" >got
			truth >want
			same got want
		fi
	done

	t "$shape: reports of page tables and of /proc agree"
	if [ -n "$why" ]; then skip "$why"
	elif [ "$ways" = live:pagemap ]; then skip "$(head -n 1 "$work/log/bpf")"
	else
		# Other processes change which pages of libraries are present, and their mapcounts.
		own_columns=pid,name,rw_count,rx_count,total,stack,data,text,heap,lib_bss,lib_data,lib_text,other
		for report in "basic --columns $own_columns" count; do
			for try in 1 2 3; do
				for way in $ways; do
					# shellcheck disable=SC2086 # one with its columns
					run atwalk report $report "$way" --pid "$pid" --no-refs --format csv
					cp "$work/log/out" "$way"
				done
				cmp -s live:bpf live:pagemap && break
				echo "note - $shape: pages moved, try $try"
			done
			same live:bpf live:pagemap
			cp live:bpf "${report%% *}"
		done
		yes grep -q "^$pid,odd,[1-9]" basic
		yes grep -q '^[1-9].*,1$' count
		yes [ "$(sed '1d; s/,.*//' count)" -gt $own ]
	fi
done

# ---- without its main thread ----

start headless
collect=$built/atwalk-collect

t "headless: atwalk-collect lists it, also by the TID of a thread"
if [ -n "$why" ]; then skip "$why"
elif [ ! -x "$collect" ]; then skip "there is no static libc here"
else
	truth >want
	for number in "$pid" "$other"; do
		run "$collect" --no-refs --pid "$number"
		listed "$work/log/out" >got
		same got want
		yes grep -q "^T: odd, $pid, 00000001, .*, exe=$built/tests/tools/strangers, code=[^,]*, data=[^,]*, brk=[^,]*, stack=[^,]*, threads=3\$" "$work/log/out"
	done
fi

for way in $ways; do
	t "headless, $way: it is listed and stopped like others"
	if [ -n "$why" ]; then skip "$why"; else
		run atwalk "$way" --pid "$pid" "${at#0x}" --format csv --columns size,rights,state
		out <<'END'
size,rights,state
4096,rw-u,present
END
		run atwalk pages "$way" --pid "$pid" --freeze -v --totals --format csv --columns pid,mapped "$at+$((own * 4))K"
		if grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err"; then
			skip "$(head -n 1 "$work/log/err")"
		else
			out <<END
pid,mapped
$pid,$((own * 4096))
END
			err_has ' ms, with 2 threads'
		fi
	fi
done

t "headless: ps has its memory"
if [ -n "$why" ]; then skip "$why"
elif [ "$ways" = live:pagemap ]; then skip "$(head -n 1 "$work/log/bpf")"
else
	run atwalk ps live:bpf "$pid" --format csv --columns pid,task,state,resident
	sed -E 's/,[0-9]{7,}$/,much/' "$work/log/out" >got
	cat >want <<END
pid,task,state,resident
$pid,odd,Z,much
END
	same got want
fi

t "headless: it is listed once among all others"
if [ -n "$why" ]; then skip "$why"
elif ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	cat >alone <<END
mkfifo in2 out2
"$built/tests/tools/strangers" headless odd $own <in2 >out2 &
exec 8>in2 9<out2
read -r pid other at <&9
$O/atwalk collect live:pagemap >all
echo \$? \$(wc -l <"/proc/\$other/maps")
$O/atwalk pages live:pagemap --totals --format csv --columns task,mapped --filter task=odd "\$at+$((own * 4))K"
$O/atwalk pages live:pagemap --format csv --columns count,kcount,task --filter task=odd "\$at+4K"
$O/atwalk pages live:pagemap --task odd --totals --format csv --columns mapped "\$at+4K"
exec 8>&-
wait
END
	run unshare --pid --fork --mount-proc bash alone
	said_err=1
	yes [ "$(grep -c '^T: odd, ' all)" = 1 ]
	areas=$(sed -n '/^T: odd,/,/^T: [^o]/p' all | grep -c '^V')
	out <<END
0 $areas
task,mapped
odd,$((own * 4096))
count,kcount,task
1,1,odd
mapped
4096
END
fi
finish
