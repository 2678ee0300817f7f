#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect writes exact captures of the small dump with processes, and of processes that this
# test starts, through /proc and through page tables. They are compared with data of the
# processes themselves and with `atwalk pages`.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child='' hidden=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

columns=pid,address,size,physical,state,kcount,swap,pageflags
why=''
command -v python3 >"$work/log/python" || why="no python3, which reads the lines"

# The same pages, as lines of a capture and as rows.
of_capture() { python3 "$cli/capture_pages.py" capture <"$1" | sort; }
of_rows() { python3 "$cli/capture_pages.py" pages <"$1" | sort; }

# lacks PATTERN: no line of the capture matches.
lacks() { yes [ -z "$(grep -E "$1" "$2" | head -n 3)" ]; }

t "usage"
run atwalk collect
status 2
err_has "SOURCE is missing"
run atwalk collect a b
status 2
err_has "too many arguments; expected one SOURCE"
run atwalk collect --columns pid x86.elf
status 2
err_has "--columns cannot be used with 'collect'"
run atwalk collect none.kdump
status 3
err_has "none.kdump"
run atwalk collect -o x86.elf x86.elf
status 2
err_has "this is the source itself"
run atwalk collect --freeze live
status 2
err_has "--freeze needs --pid or --task"

t "sources without processes are refused"
run atwalk collect -o none.cap x86.elf
status 3
err_has "x86.elf"
yes [ ! -e none.cap ]

tasks=''
grep -q '^  found:.* zstd' "$built/found.txt" || tasks="this build has no zstd"

t "a dump: swap, and hugetlb"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect --task swap tasks.kdump
	golden collect-swap
	run atwalk collect --task hugetlb tasks.kdump
	golden collect-hugetlb
fi

t "a dump: every page agrees with the command pages"
if [ -n "$why$tasks" ]; then skip "$why$tasks"; else
	run atwalk collect -o all.cap tasks.kdump
	no_out
	of_capture all.cap >got
	run atwalk pages tasks.kdump --all --format csv --columns $columns
	of_rows "$work/log/out" >want
	same got want
	yes [ "$(wc -l <want)" = 7488 ]
	# Every task but threads of listed processes, in the order of ps, after the idle task.
	run atwalk ps tasks.kdump --format csv --columns pid,task
	sed '1s|.*|0,swapper/0|' "$work/log/out" | tr -d '"' >want
	sed -n 's/^T: \([^,]*\), \([0-9]*\), .*/\2,\1/p' all.cap | tr -d '"' >got
	same got want
	run atwalk report basic --paper all.cap
	sed -n '2,$s/,.*//p' "$work/log/out" >got
	sed '1d; s/^[0-9]*,//' want >names
	same got names
fi

t "an extract: the same, without data read from file pages"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk extract -q --pages -o small.elf tasks.kdump
	run atwalk collect small.elf
	sed 's/^H: way, elf$/H: way, kdump/' "$work/log/out" >got
	same got all.cap
fi

t "a dump: threads follow their process, with the same memory"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect --threads -o threads.cap tasks.kdump
	run atwalk ps --threads tasks.kdump --format csv --columns pid,tgid,task
	sed '1s|.*|0,0,swapper/0|' "$work/log/out" | tr -d '"' >want
	sed -n 's/^T: \([^,]*\), \([0-9]*\), .*tgid=\([0-9]*\).*/\2,\3,\1/p' threads.cap | tr -d '"' >got
	same got want
	yes [ "$(awk -F, '$1 != $2' want | wc -l)" -gt 1 ]
	run atwalk report tasks threads.cap --format csv --columns pid,tgid,kind,mm
	awk -F, '$3 == "thread" { if ($4 == "" || $4 != mm[$2]) print "thread " $1; n++ } { mm[$1] = $4 }
		END { if (!n) print "none" }' "$work/log/out" >odd
	yes [ ! -s odd ]
	# Everything else is the same.
	for report in basic areas count; do
		run atwalk report $report all.cap
		cp "$work/log/out" want
		run atwalk report $report threads.cap
		same "$work/log/out" want
	done
	# Of a capture every command says the same of tasks as of what it was taken of.
	run atwalk ps --threads tasks.kdump --format csv --columns pid,kind
	cp "$work/log/out" want
	yes [ "$(sed -n 's/.*,//p' want | sort -u | wc -l)" = 4 ]
	run atwalk ps --threads threads.cap --format csv --columns pid,kind
	same "$work/log/out" want
	run atwalk report tasks threads.cap --format csv --columns pid,kind
	same "$work/log/out" want
	run atwalk sql threads.cap "SELECT count(*) FROM threads" --format csv
	yes [ "$(sed -n 2p "$work/log/out")" = $(($(wc -l <want) - 1)) ]
	run atwalk info threads.cap --format csv
	yes grep -q "^tasks,\"$(($(wc -l <want) - 1)), with " "$work/log/out"
	run atwalk collect --threads all.cap
	status 2
	err_has "--threads: all.cap is a capture, and taken already"
fi

t "a dump: raw entries, and all flags"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect --raw --task zombie tasks.kdump
	status 1
	err_has "process 97 has ended"
	run atwalk collect --raw --pid 86 -o raw.cap tasks.kdump
	run atwalk walk --pid 86 tasks.kdump 401000 --format csv --columns entry
	word=$(sed -n 's/^0x0*//p' "$work/log/out")
	yes grep -q "^M:.* 00401000=[^|]*, raw=${word^^} |" raw.cap
	yes grep -qx 'H: pageflags, FFFFFFFFFFFFFFFF' raw.cap
fi

t "a dump: frames by use"
if [ -n "$tasks" ]; then skip "$tasks"; else
	# This dump does not have the kernel's list of RAM.
	run atwalk collect --frames tasks.kdump
	status 4
	err_has "1 read error"
	yes grep -qx 'L: 0, frames, which addresses are RAM is not known' "$work/log/out"
	lacks '^[RF]:' "$work/log/out"
fi

t "a capture of a capture is the same, compressed or not"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect all.cap
	same "$work/log/out" all.cap
	run atwalk collect --zstd -o all.zst all.cap
	yes [ "$(wc -c <all.zst)" -lt "$(wc -c <all.cap)" ]
	run atwalk collect all.zst
	same "$work/log/out" all.cap
	atwalk collect --zstd all.cap | atwalk collect - >"$work/log/out"
	same "$work/log/out" all.cap
	for of in all.cap all.zst; do
		run atwalk collect --task init $of
		cp "$work/log/out" task.cap
		run atwalk collect --pid 1 $of
		same task.cap "$work/log/out"
	done
	run atwalk report use --task nothing all.cap
	status 1
	err_has "all.cap: --task: there is no process named 'nothing'"
	atwalk collect --task init - <all.cap 2>"$work/log/err"
	err_has "--task: - is not a file, and can be read only once"
	err_has "use --pid N to select a process"
	run atwalk collect --frames all.cap
	status 2
	err_has "--frames: all.cap is a capture, and taken already"
fi

t "one process of a capture"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect --pid 99 all.cap
	cp "$work/log/out" one.cap
	yes [ "$(grep -c '^T:' one.cap)" -eq 1 ]
	yes [ "$(sed -n '/^T: [^,]*, 99,/,/^T:/{/^[VPM]:/p}' all.cap | cksum)" = "$(grep '^[VPM]:' one.cap | cksum)" ]
	run atwalk report basic --format csv --pid 99 all.cap
	cp "$work/log/out" want
	run atwalk report basic --format csv one.cap
	same "$work/log/out" want
	run atwalk report basic --pid 98765 all.cap
	status 1
	no_out
	err <<'END'
atwalk: all.cap: there is no process 98765
END
	run atwalk report growth --pid 98765 all.cap all.cap
	err_has "all.cap: there is no process 98765"
fi

t "Figure 1 of the LPMA paper, converted to today's format"
run atwalk collect "$data/paper-figure1.txt"
status 4
said_err=1
golden collect-paper
cp "$work/log/out" today.cap
for report in basic areas units totals alerts count pages; do
	run atwalk report $report "$data/paper-figure1.txt"
	status 4
	said_err=1
	cp "$work/log/out" want
	run atwalk report $report today.cap
	status 4
	said_err=1
	same "$work/log/out" want
done
run atwalk collect today.cap
status 4
said_err=1
same "$work/log/out" today.cap

t "a capture that is cut off, and one that is damaged"
if [ -n "$tasks" ]; then skip "$tasks"; else
	head -n 100 all.cap >cut.cap
	run atwalk collect -o again.cap cut.cap
	status 4
	err_has "cut.cap"
	yes [ "$(head -n 100 again.cap | cmp - cut.cap)" = "" ]
	yes grep -q '^L: [0-9]*, capture, no E: line: cut off behind line 100' again.cap
	yes [ "$(tail -n 1 again.cap | cut -d , -f 1)" = "E: $(($(wc -l <again.cap) - 1))" ]
	run atwalk report count again.cap
	status 4
	err_has "again.cap: 2 read errors"
	sed '50s/.*/X: what is this/' all.cap >bad.cap
	run atwalk collect -o again.cap bad.cap
	status 4
	err_has "line 50"
	yes grep -q "^L: [0-9]*, capture, line 50: 'X:' is no line of version 1$" again.cap
fi

t "a missing page table: its areas have no sums, and only its areas"
if [ -n "$tasks" ]; then skip "$tasks"; else
	atwalk extract -q --pages -o whole.elf tasks.kdump >/dev/null
	cp whole.elf lost.elf
	# The first entry points beyond the memory.
	yes poke lost.elf "$(poke whole.elf 'task:99.task_struct.mm*.mm_struct.pgd*')" 67f0ffff7f000000
	run atwalk collect --pid 99 -o lost.cap lost.elf
	status 4
	err_has "see the L: lines"
	atwalk collect --pid 99 -o found.cap whole.elf
	areas() { grep '^V:' "$1" | cut -d , -f 1,2; }
	yes [ "$(areas lost.cap)" = "$(areas found.cap)" ]
	yes [ "$(grep -A 1 '^L: 99, page table, ' lost.cap | grep -c '^V:')" -ge 4 ]
	yes [ "$(sed -n '/^V: 00400000/,/^V: 21E77000/p' lost.cap | grep -c '^P:')" -eq 0 ]
	run atwalk report basic --format csv --columns pid,text,data,total lost.cap
	status 4
	said_err=1
	out <<'END'
pid,text,data,total
99,,,
END
fi

t "a new file is readable by its owner only"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect --task swap -o mode.cap tasks.kdump
	yes [ "$(stat -c %a mode.cap)" = 600 ]
	chmod 640 mode.cap
	run atwalk collect --task swap -o mode.cap tasks.kdump
	yes [ "$(stat -c %a mode.cap)" = 640 ]
fi

t "a full device, without leftovers"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect -o /dev/full tasks.kdump
	status 3
	err_has "/dev/full: cannot write: No space left on device"
	run atwalk collect -o no/such/folder tasks.kdump
	status 3
	err_has "no/such/folder"
	mkdir folder
	run atwalk collect -o folder/a.cap none.kdump
	status 3
	err_has "none.kdump"
	yes [ -z "$(ls -A folder)" ]
fi

t "progress is printed with --progress"
if [ -n "$tasks" ]; then skip "$tasks"; else
	run atwalk collect -o again.cap --progress tasks.kdump
	err <<'END'
atwalk: tasks.kdump: 0 %
END
	same again.cap all.cap
	run atwalk collect -o again.cap --progress -q tasks.kdump
fi

# ---- running processes ----

# A child with memory of several kinds: kinds-child.py.
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
chmod 755 "$work" "$work/cwd"

start() {
	mkfifo in out
	python3 "$cli/kinds-child.py" few <in >out 2>"$work/log/child" &
	child=$!
	exec 8>in 9<out
	: >areas
	while read -r -t "$limit" -u 9 line && [ "$line" != ready ]; do
		echo "$line" >>areas
	done
	[ "$line" = ready ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
}
[ -n "$why" ] || start
if [ -z "$why" ]; then
	atwalk pages live:pagemap --pid "$child" -q --areas-only --columns address >"$work/log/hidden" 2>&1
	! grep -q 'hides frame numbers' "$work/log/hidden" || hidden="frame numbers are hidden from us"
fi

# Other processes start and end meanwhile, so the mapcounts of libraries vary.
ours() { awk '!/ANON/ { $5 = "-" } { print }'; }

for way in pagemap bpf; do
	t "live:$way: every page of a child agrees with the command pages"
	if [ -n "$why$hidden" ]; then skip "$why$hidden"
	elif ! atwalk info "live:$way" >"$work/log/way" 2>&1; then
		skip "$(head -n 1 "$work/log/way")"
	else
		# Other processes may unmap shared pages meanwhile.
		for try in 1 2 3; do
			run atwalk collect --no-refs --pid "$child" "live:$way" -o "$way.cap"
			said_err=1
			of_capture "$way.cap" | ours >got
			run atwalk pages "live:$way" --pid "$child" --all --format csv --columns $columns
			said_err=1
			of_rows "$work/log/out" | ours >want
			cmp -s got want && break
			echo "note - pages moved, try $try"
		done
		same got want
		yes [ "$(wc -l <want)" -gt 2000 ]
	fi

	t "live:$way: areas are those of /proc/PID/maps"
	if [ -n "$why" ] || [ ! -s "$way.cap" ]; then skip "see above"; else
		# [vsyscall] belongs to no process, and may be missing in page tables.
		sed -n '/vsyscall/d; s/^\([0-9a-f]*\)-\([0-9a-f]*\) .*/\1 \2/p' "/proc/$child/maps" |
		while read -r a b; do
			printf '%08X, %08X\n' $((16#$a)) $((16#$b - 1))
		done >want
		sed -n '/vsyscall/d; s/^V: \([0-9A-F]*, [0-9A-F]*\),.*/\1/p' "$way.cap" >got
		same got want
	fi

	t "live:$way: the task agrees with /proc"
	if [ -n "$why" ] || [ ! -s "$way.cap" ]; then skip "see above"; else
		read -r -a stat < <(sed 's/.*) //' "/proc/$child/stat")
		exe=$(readlink "/proc/$child/exe")
		yes grep -q "^T: python3*[^,]*, $child, .*, tgid=$child, ppid=$$, uid=$(id -u), start=${stat[19]}, cgroup=.*, exe=$exe, code=.*, threads=1\$" "$way.cap"
		yes [ "$(sed -n 's/^T: \([^,]*, \)\{4\}\([0-9]*\), .*/\2/p' "$way.cap")" = "${stat[7]}" ]
	fi

	t "live:$way: files have their build id and program headers"
	if [ -n "$why" ] || [ ! -s "$way.cap" ]; then skip "see above"
	elif ! command -v readelf >"$work/log/readelf"; then skip "no readelf to compare with"; else
		build=$(readelf -n "$exe" | sed -n 's/.*Build ID: //p' | tr a-f A-F)
		loads=$(readelf -lW "$exe" | awk '$1 == "LOAD" || $1 == "GNU_RELRO"' | wc -l)
		line=$(grep "^U: [^,]*, $(stat -Lc %i "$exe"), " "$way.cap")
		yes [ "$(grep -c . <<<"$line")" = 1 ]
		[ -z "$build" ] || yes grep -q ", build=$build, " <<<"$line"
		yes [ "$(tr '|' '\n' <<<"${line##*loads=}" | wc -l)" = "$loads" ]
	fi
done

t "/proc and page tables have the same frames"
if [ -n "$why" ] || [ ! -s pagemap.cap ] || [ ! -s bpf.cap ]; then skip "see above"; else
	for way in pagemap bpf; do
		of_capture $way.cap | grep ANON >$way.frames
	done
	same pagemap.frames bpf.frames
fi

t "mapcounts from all processes"
if [ -n "$why$hidden" ]; then skip "$why$hidden"
elif ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	cat >alone <<END
mkfifo in2 out2
python3 "$cli/kinds-child.py" few <in2 >out2 &
exec 8>in2 9<out2
while read -r -t "$limit" -u 9 line && [ "\$line" != ready ]; do
	echo "\$line" >>areas2
done
"\$@" -o alone.cap live:pagemap
status=\$?
kill \$!
exit \$status
END
	run unshare --pid --fork --mount-proc bash alone "$O/atwalk" collect
	said_err=1
	# Two processes, one of which has written to half of what was forked.
	# shellcheck disable=SC2046 # words
	python3 "$cli/capture_pages.py" sums $(cat areas2) <alone.cap >got
	{
		echo 'pages present 2=1024'
		echo 'every-other present 2=256'
		echo 'untouched'
		# fork(2) copies no page tables of shared memory or memory never written.
		no_zero_page && echo 'zero present 2=512' || echo 'zero zero=256'
		echo 'protnone protnone 2=512'
		echo 'cow present 1=512 present 2=512'
		echo 'shared present 1=256'
		if grep -q '^guard ' areas2; then
			echo 'guarded guard=32 present 2=480'
			echo 'guard guard=32'
		else
			echo 'guarded present 2=512'
		fi
	} >want
	same got want
	yes grep -q '^H: MemTotal, [0-9]*$' alone.cap
	yes [ "$(sed -n 's/^H: MemTotal, //p' alone.cap)" = "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)" ]
	yes grep -q '^R: .*, System RAM' alone.cap
fi

t "without privileges: frames and counts are n/a, not 0"
as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind is what would be denied"
elif [ "$(id -u)" -ne 0 ] || ! "${as[@]}" true 2>"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
elif ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	cp "$built/atwalk" atwalk-copy
	chmod 755 atwalk-copy
	mkdir -m 777 room
	cat >unprivileged <<'END'
sleep 10000 &
until grep -q '(sleep) S' /proc/$!/stat; do sleep 0.02; done
./atwalk-copy collect -o room/unprivileged.cap --pid $! live:pagemap
status=$?
kill $!
exit $status
END
	run unshare --pid --fork --mount-proc "${as[@]}" bash unprivileged
	err_has "hides frame numbers from this process"
	yes grep -q '^T: sleep, .*, code=' room/unprivileged.cap
	yes grep -q '^M: .*=00000012, -, -, map=[0-9A-F]*, noframe=1 |' room/unprivileged.cap
	lacks 'refs=' room/unprivileged.cap
	# The number of pages mapped once is unknown.
	lacks '^P: [1-9]' room/unprivileged.cap
fi

t "a missing process"
run atwalk collect --pid 4194305 live:pagemap
status 1
no_out
err_has "there is no process 4194305"

finish
