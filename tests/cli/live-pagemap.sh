#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# live:pagemap agrees with the mappings that processes of this test made and with the page
# tables that live:bpf reads, also without privileges. No other process is read: where every
# process is listed or counted, that is in a PID namespace. Kinds of pages: live-kinds.sh.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child='' unprivileged=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	[ -z "$unprivileged" ] || { kill -KILL "$unprivileged"; wait "$unprivileged"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

t "commands that need page tables are refused"
run atwalk extract -o tables.elf live:pagemap
status 3
no_out
err <<'END'
atwalk: live:pagemap: /proc reports only the pages of processes; this needs page tables or the kernel's memory
        live:bpf reads the kernel's own tables
END
yes [ ! -e tables.elf ]
run atwalk map live:pagemap --root 1000
status 3
no_out
err_has '--root needs page tables'
for depth in "map live:pagemap --pid $$" "walk live:pagemap --pid $$ 1000"; do
	# shellcheck disable=SC2086 # a command with its options
	run atwalk $depth --depth 1
	status 3
	no_out
	err_has '--depth needs page tables'
done

t "info lists what this backend provides, and what it lacks"
run atwalk info live:pagemap --pid $$ --format csv
yes grep -qx "machine,$(uname -m)" "$work/log/out"
yes grep -qx "release,$(uname -r)" "$work/log/out"
yes [ "$(cut -d , -f 1 <"$work/log/out" | uniq | paste -sd ,)" = \
	'fact,format,machine,release,frames,pages,large pages,missing,instead,process,cpus' ]
yes grep -qx "process,\"$$ (.*), which may be read\"" "$work/log/out"
run atwalk info live:pagemap --pid 4194305 --format csv
status 4
yes grep -qx "release,$(uname -r)" "$work/log/out"
err <<'END'
atwalk: live:pagemap: there is no process 4194305
END

t "a process must be specified"
run atwalk map live:pagemap
status 2
no_out
err <<'END'
atwalk: live:pagemap: specify a process: the kernel's own pages are not known
        use --pid N to select a process
END
run atwalk live:pagemap --pid $$ ffffffff81000000
status 3
no_out
err_has 'atwalk: live:pagemap: ffffffff81000000: is a kernel address'

t "an address outside of user space is invalid, as with page tables"
if [ "$(uname -m)" != x86_64 ]; then skip "this is of x86"
elif [ -n "${WRAP:-}" ]; then skip "valgrind leaves a program less room than the kernel does"
else
	mode=x86_64-4 bits=48 beyond=800000000000
	! grep -q '^flags.* la57' /proc/cpuinfo || mode=x86_64-5 bits=57 beyond=100000000000000
	for command in walk map pages; do
		run atwalk $command live:pagemap --pid $$ $beyond
		status 2
		no_out
		err <<END
atwalk: $beyond: not an address of $mode, which translates $bits bits
END
	done
fi

t "a missing process: exit status 1"
run atwalk pages live:pagemap --pid 4194305
status 1
no_out
err <<'END'
atwalk: live:pagemap: there is no process 4194305
END


declare -A at len
why=''

t "ps lists what /proc lists"
mkfifo "$work/hold" "$work/held"
python3 -c 'import threading
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire, daemon=True).start()
print("ready", flush=True)
input()' <"$work/hold" >"$work/held" &
held=$!
exec 5>"$work/hold"
read -r -t "$limit" _ <"$work/held"
of() { # FILE KEY: a field of /proc/PID/FILE that has names
	sed -n "s/^$2:[[:blank:]]*\\([^ ]*\\).*/\\1/p" "/proc/$held/$1"
}
run atwalk ps live:pagemap "$held" --format csv \
	--columns pid,tgid,ppid,task,state,mm,root,resident,hugetlb,kind,at
out <<END
pid,tgid,ppid,task,state,mm,root,resident,hugetlb,kind,at
$held,$held,$$,$(of status Name),S,,,$(($(of smaps_rollup Rss) * 1024)),0,process,
END
for other in "/proc/$held/task/"*; do
	[ "${other##*/}" = "$held" ] || break
done
run atwalk ps live:pagemap -T "$held" --format csv --columns pid,tgid,kind,resident
out <<END
pid,tgid,kind,resident
$held,$held,process,$(($(of smaps_rollup Rss) * 1024))
${other##*/},$held,thread,$(($(of smaps_rollup Rss) * 1024))
END
run atwalk ps live:pagemap 2 --format csv --columns pid,ppid,kind,resident
yes grep -Eqx '2,0,kernel,|2,.*,process,.*' "$work/log/out"
run atwalk ps live:pagemap 4194305
status 1
err_is "atwalk: live:pagemap: there is no process or thread 4194305"
echo >&5
exec 5>&-
wait "$held"
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"

# World-readable, wherever the source tree is.
mkdir -m 755 "$work/child"
install -m 644 "$cli/kinds-child.py" "$cli/live_memory.py" "$work/child"

# start NAME COMMAND...: starts a child, with its areas in at[] and len[].
start() {
	local name=$1
	shift
	mkfifo "$name.in" "$name.out"
	"$@" "${python:-python3}" "$work/child/kinds-child.py" many <"$name.in" >"$name.out" 2>"$work/log/child" &
	started=$!
	exec 8>"$name.in" 9<"$name.out"
	while read -r -t "$limit" -u 9 what from size && [ "$what" != ready ]; do
		at[$what]=$from len[$what]=$size
	done
	[ "$what" = ready ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
}

if [ -z "$why" ]; then
	chmod 755 "$work" "$work/cwd"
	start first
	child=$started
	exec 6>&8 7<&9
	hidden=''
	python3 - "$child" "${at[pages]}" <<'END' || hidden="/proc/PID/pagemap gives no frame numbers here"
import struct, sys
with open(f'/proc/{sys.argv[1]}/pagemap', 'rb') as f:
    f.seek(int(sys.argv[2], 16) // 4096 * 8)
    sys.exit(struct.unpack('<Q', f.read(8))[0] & (1 << 55) - 1 == 0)
END
fi

# rows NAME COLUMNS OPTIONS...: one area, with a row for each page of 4 KiB.
rows() {
	local name=$1 columns=$2
	shift 2
	run atwalk pages live:pagemap --pid "$child" --all --format csv --columns "$columns" \
		"${at[$name]}+${len[$name]}" "$@"
	said_err=1               # n/a columns are reported there
}

# counted NAME STATE PAGES
counted() {
	rows "$1" state,size
	said_status=1            # 1 where nothing is mapped
	yes [ "$(awk -F, -v s="$2" '$1 == s { n += $2 } END { print n / 4096 }' "$work/log/out")" = "$3" ]
}

t "the child's pages are those it touched"
if [ -n "$why" ]; then skip "$why"; else
	counted pages present 5120
	counted every-other present 1024
	counted every-other absent 1024
	counted untouched absent 1024
	counted huge present 2048
	counted zero present 256
	counted protnone protnone 256
	counted sparse present 1000
	counted dots present 512
	counted cow present 512
	counted shared present 768
	# Written pages of a private file mapping are copies.
	rows private state --filter 'present and not file'
	yes [ "$(sed 1d "$work/log/out" | wc -l)" = 64 ]
fi

t "pages of a terabyte are where they were touched"
if [ -n "$why" ]; then skip "$why"; else
	rows sparse address,state --filter present
	for ((i = 0; i < 1000; i++)); do
		printf '0x%016x\n' $((16#${at[sparse]} + (i << 30) + i % 7 * 4096))
	done >want
	sed 1d "$work/log/out" | cut -d , -f 1 >got
	same got want
fi

t "guard pages are not swap"
if [ -n "$why" ]; then skip "$why"
elif [ -z "${at[guard]:-}" ]; then skip "this kernel has no MADV_GUARD_INSTALL"; else
	counted guard guard 16
	counted guarded present 240
fi

t "a large page is one row"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk map live:pagemap --pid "$child" --all --format csv --columns page \
		"${at[huge]}+${len[huge]}"
	said_err=1
	if ! grep -q 2097152 "$work/log/out"; then
		skip "the kernel gave no large page"
	else
		yes [ "$(grep -c 2097152 "$work/log/out")" -le 4 ]
		run atwalk live:pagemap --pid "$child" "${at[huge]}" --format csv --columns size,end
		said_err=1
		yes grep -qx "2097152,0x$(printf %016x $((16#${at[huge]} + 2097152)))" "$work/log/out"
	fi
fi

# Flags that other processes may change meanwhile are ignored: idle and referenced.
plain() {
	sed -E 's/"//g; s/\b(IDLE|REFERENCED|ACTIVE)\b,?//g; s/,+/,/g' "$1"
}

t "page tables agree on every page"
if [ -n "$why$hidden" ]; then skip "$why$hidden"
elif ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then
	skip "$(head -n 1 "$work/log/bpf")"
else
	n=0
	for area in "${!at[@]}"; do
		for try in 1 2 3; do
			for way in bpf pagemap; do
				run atwalk pages "live:$way" --pid "$child" --all --format csv \
					--columns address,size,physical,state,kcount,pageflags,swap,node,pid,task,area \
					--filter 'not absent and not guard' "${at[$area]}+${len[$area]}"
				said_err=1 said_status=1
				plain "$work/log/out" >"$way"
			done
			cmp -s bpf pagemap && break
			echo "note - $area: pages moved, try $try"
		done
		same pagemap bpf
		n=$((n + $(wc -l <bpf) - 1))
	done
	echo "note - $n pages compared with page tables"
	yes [ "$n" -gt 10000 ]
fi

t "sizes of large pages agree with page tables"
if [ -n "$why$hidden" ] || [ ! -s bpf ]; then skip "see above"; else
	for way in bpf pagemap; do
		run atwalk pages "live:$way" --pid "$child" --format csv \
			--columns address,end,physical,state "${at[huge]}+${len[huge]}"
		said_err=1 said_status=1
		cp "$work/log/out" "$way"
	done
	same pagemap bpf
fi

t "walk and map print the physical addresses"
if [ -n "$why$hidden" ]; then skip "$why$hidden"; else
	rows pages physical
	first=$(sed -n 2p "$work/log/out")
	run atwalk live:pagemap --pid "$child" "${at[pages]%000}123" --format csv --columns physical,level,entry,rights,state
	out <<END
physical,level,entry,rights,state
${first%000}123,,,rw-u,present
END
	run atwalk map live:pagemap --pid "$child" "${at[pages]}+${len[pages]}" --all --format csv --columns physical
	cp "$work/log/out" got
	rows pages physical
	same got "$work/log/out"
	run atwalk live:pagemap --pid "$child" "${at[untouched]}" --format csv --columns size,state
	status 1
	out <<'END'
size,state
4096,absent
END
fi

t "map names the area of each range, and no range spans two areas"
if [ -n "$why" ]; then skip "$why"; else
	sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) .... [^ ]* [^ ]* [^ ]* *\(.*\)$/\1 \2 \3/p' \
		"/proc/$child/maps" >maps
	run atwalk map live:pagemap --pid "$child" --format csv --columns address,end,area
	said_err=1
	sed '1d; s/"//g' "$work/log/out" >got
	python3 - got maps >want <<'END'
import csv, sys
areas = [line.rstrip('\n').split(' ', 2) for line in open(sys.argv[2])]
areas = [(int(a, 16), int(b, 16), name) for a, b, name in areas]
for a, b, _ in csv.reader(open(sys.argv[1])):
    for first, end, name in areas:
        if first <= int(a, 16) and int(b, 16) <= end:
            print(a, b, name, sep=',')
END
	same got want
	yes [ "$(wc -l <got)" -gt 1000 ]
	yes grep -qF ',[heap]' got
fi

t "forked, half of it written since: one process maps it, or two"
if [ -n "$why$hidden" ]; then skip "$why$hidden"; else
	rows cow kcount
	yes [ "$(sed 1d "$work/log/out" | sort | uniq -c | tr -s ' ' | paste -sd ' ')" = ' 256 1  256 2' ]
fi

t "files in the page cache: an L: line says that /proc does not list them"
if [ -n "$why" ]; then skip "$why"; elif [ ! -r /proc/kpageflags ]; then
	skip "/proc/kpageflags cannot be read here"
else
	run atwalk collect live:pagemap --cached --pid "$child" -o cached.cap
	status 4
	said_err=1
	yes grep -qx 'L: 0, cached, what files the page cache holds is not known: /proc does not list them' cached.cap
	yes [ "$(grep -c '^C:' cached.cap)" = 0 ]
	yes grep -q '^F:' cached.cap
	run atwalk export -q --as csv cached.cap cached
	said_status=1 said_err=1
	# Tables do without it.
	run atwalk export live:pagemap --as csv --pid "$child" tables
	all_frames
	yes [ "$(sed 1d tables/lost/*/*/*.csv | grep -c cached)" = 0 ]
	yes [ "$(sed 1d cached/lost/*/*/*.csv | grep -c cached)" = 1 ]
fi

t "totals are those of smaps"
if [ -n "$why$hidden" ]; then skip "$why$hidden"
elif ! grep -q '^Pss:' "/proc/$child/smaps" 2>"$work/log/smaps"; then
	skip "no smaps here"
else
	# Only anonymous areas: libraries are mapped by atwalk, too.
	awk '/^[0-9a-f]+-/ { wanted = NF == 5 }
		wanted && /^(Private|Shared)_(Clean|Dirty):/ { n[substr($1, 1, 1)] += $2 }
		wanted && /^(Pss|AnonHugePages):/ { n[$1] += $2 }
		END { print n["P"], n["S"], n["AnonHugePages:"], n["Pss:"] }' \
		"/proc/$child/smaps" >want
	run atwalk pages live:pagemap --pid "$child" --totals --areas anonymous --format csv \
		--columns private,shared,huge,pss
	sed 1d "$work/log/out" | awk -F, '{ for (i = 1; i <= 4; i++)
		printf "%d%s", int($i / 1024), i < 4 ? " " : "\n" }' >got
	same got want
fi

t "mapcounts over all processes are those of the kernel"
if [ -n "$why$hidden" ]; then skip "$why$hidden"
elif ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	cat >alone <<END
python3 "$cli/kinds-child.py" many <second.in >second.out &
while read -r name rest && [ "\$name" != ready ]; do
	[ "\$name" = cow ] && cow=\$rest
done <second.out
$O/atwalk pages live:pagemap --format csv --columns count,kcount,pid,address,size \
	--filter 'size=4096' \${cow% *}+2M >counts 2>counts.err
echo \$? >counts.rc
END
	mkfifo second.in second.out
	exec 5<>second.in
	run unshare --pid --fork --mount-proc bash alone
	said_err=1
	exec 5>&-
	yes [ "$(cat counts.rc)" = 0 ]
	# Parent and child: half private, half shared.
	yes [ "$(sed 1d counts | cut -d , -f 1,2 | sort | uniq -c | tr -s ' ' | paste -sd ' ')" = ' 512 1,1  512 2,2' ]
	yes [ "$(sed 1d counts | cut -d , -f 3 | sort -u | wc -l)" = 2 ]
fi

# In a PID namespace, because the names of all processes are read.
t "--task: a unique name, or a list of the processes with that name"
if ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	cp "$(command -v sleep)" one-of-us
	cat >names <<END
./one-of-us 60 &
first=\$!
until grep -q one-of-us /proc/\$!/comm; do :; done
$O/atwalk pages live:pagemap --task one-of-us -q --areas-only --format csv --columns task --areas '[[]stack]'
$O/atwalk map live:pagemap --task one-of-us >map || echo "map: \$?"
./one-of-us 60 &
until grep -q one-of-us /proc/\$!/comm; do :; done
for what in map pages; do
	$O/atwalk \$what live:pagemap --task one-of-us
	echo \$what \$?
done
$O/atwalk report basic live:pagemap --task one-of-us
echo report \$?
$O/atwalk collect live:pagemap --task one-of-us
echo collect \$?
$O/atwalk pages live:pagemap --task absent-name
echo pages \$?
kill \$first \$!
END
	run unshare --pid --fork --mount-proc bash names
	out <<'END'
task
one-of-us
map 1
pages 1
report 1
collect 1
pages 1
END
	said_err=1
	sed 's/[0-9][0-9]*/N/g' "$work/log/err" >got
	two="atwalk: --task: N processes are named 'one-of-us': N (one-of-us), N (one-of-us)
        use --pid N to select one of them"
	printf '%s\n' "$two" "$two" "$two" "$two" \
		"atwalk: live:pagemap: --task: there is no process named 'absent-name'" >want
	same got want
fi

t "processes that end meanwhile do not affect others"
if ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	n=$([ -n "${WRAP:-}" ] && echo 3 || echo 30)
	cat >mayflies <<END
while :; do ./one-of-us 0 & ./one-of-us 0; done &
for ((i = 0; i < $n; i++)); do
	$O/atwalk pages live:pagemap -q --areas-only --format csv --columns pid,task || echo "ended with \$?"
	$O/atwalk pages live:pagemap --totals --format csv --columns pid,task,size || echo "ended with \$?"
done | grep -c '^1,bash,[0-9]\|ended'
kill \$!
END
	run unshare --pid --fork --mount-proc bash mayflies
	out <<END
$n
END
fi

t "PIDs are those of the namespace with every backend"
if ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
else
	ways=pagemap
	! atwalk info live:bpf >"$work/log/bpf" 2>&1 || ways="pagemap bpf"
	cat >numbers <<END
./one-of-us 60 &
until grep -q one-of-us /proc/\$!/comm; do :; done
for way in $ways; do
	$O/atwalk pages live:\$way --pid \$! -q --areas-only --format csv --columns task --areas '[[]stack]'
done
kill \$!
END
	run unshare --pid --fork --mount-proc bash numbers
	for _ in $ways; do printf 'task\none-of-us\n'; done | out
fi

t "without privileges: pages of the user's own process"
if [ -n "$why" ]; then skip "$why"
elif [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
else
	drop=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	cp "$built/atwalk" "$work/cwd/atwalk-copy" && chmod 755 "$work/cwd/atwalk-copy"
	# The first python3 in PATH may be executable by root only.
	python=python3
	"${drop[@]}" python3 -c 0 2>"$work/log/python" || python=/usr/bin/python3
	"${drop[@]}" $python -c 0 2>"$work/log/python" || why="python3 cannot be run without privileges"
fi
if [ -n "$why" ]; then
	skip "$why"
elif [ -z "$skipping" ]; then
	start third "${drop[@]}"
	unprivileged=$started
	for ((i = 0; i < 2; i++)); do
		way=$([ $i = 0 ] && echo live:pagemap || echo live)
		# shellcheck disable=SC2086 # WRAP is a command with its options
		run "${drop[@]}" ${WRAP:-} ./atwalk-copy pages $way --pid "$unprivileged" --format csv \
			--columns state,physical,count,kcount,pageflags,size "${at[every-other]}+16K"
		out <<'END'
state,physical,count,kcount,pageflags,size
present,,,,,4096
absent,,,,,4096
present,,,,,4096
absent,,,,,4096
END
		err <<END
atwalk: $way: /proc/PID/pagemap hides frame numbers from this process: physical addresses and all that is known of frames are n/a
        run it as root, or allow it once: sudo setcap cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $work/cwd/atwalk-copy
END
	done
	# shellcheck disable=SC2086
	run "${drop[@]}" ${WRAP:-} ./atwalk-copy map live:pagemap --pid "$unprivileged" --format csv \
		--columns size,physical,page,rights,state "${at[huge]}+${len[huge]}"
	said_err=1
	! grep -q 2097152, "$work/log/out" || yes grep -qx '8388608,,2097152,rw-u,present' "$work/log/out"
	# shellcheck disable=SC2086
	run "${drop[@]}" ${WRAP:-} ./atwalk-copy pages live:pagemap --pid "$child"
	status 3
	no_out
	err_has 'sudo setcap cap_dac_read_search'
	# Others' tasks are listed; only what they have in memory is not known.
	# shellcheck disable=SC2086
	run "${drop[@]}" ${WRAP:-} ./atwalk-copy ps live:pagemap --filter "pid=$child" --format csv --columns pid,resident
	status 4
	out <<<"pid,resident
$child,"
	err_has 'atwalk: live:pagemap: the memory of processes that may not be read is n/a'
	yes [ "$(grep -c 'some may be missing' "$work/log/err")" = 0 ]
fi

# Without permission the rows are the same, and the hint is correct for this machine.
cat >denied <<'END'
./one-of-us 60 &
until grep -q one-of-us /proc/$!/comm; do :; done
for way in live live:pagemap; do
	"$@" pages $way --pid $! --areas '[[]stack]' --format csv --columns task,state,physical,kcount,count --filter present |
		sed 1d | sort -u
done
"$@" info live --format csv | sed -n 's/^\(format\|not live:bpf\),//p'
"$@" live --pid $! ffffffffff000000
"$@" live ffffffff81000000
"$@" probe --pid $! --format csv --columns capability,allowed,command | grep '^\(own\|frame numbers\)'
kill $!
END

# denied_here HINT WHY-NOT-BPF ITS-HINT COMMAND: checks the output; a hint that is not a
# command is part of the reason instead of COMMAND.
denied_here() {
	local sorry='physical addresses and all that is known of frames are n/a'

	cat >want <<END
one-of-us,present,,,
one-of-us,present,,,
running kernel, processes as /proc reports them
$2; $3
own processes,yes,
frame numbers,no,$4
END
	tr -d '"' <"$work/log/out" >got
	same got want
	cat >want <<END
atwalk: live: /proc/PID/pagemap hides frame numbers from this process: $sorry
        $1
atwalk: live:pagemap: /proc/PID/pagemap hides frame numbers from this process: $sorry
        $1
atwalk: live: ffffffffff000000: is a kernel address, and /proc reports those of processes only
        live:bpf reads the kernel's own tables
atwalk: live: $2
        $3
END
	same "$work/log/err" want
}

cp "$(command -v sleep)" one-of-us
cp "$built/atwalk" atwalk-copy
chmod 755 "$work" "$work/cwd" one-of-us atwalk-copy
self=$work/cwd/atwalk-copy
[ -z "${WRAP:-}" ] || why="valgrind is what would be denied"

t "a user namespace grants nothing, and the hint is to run outside of it"
if [ -n "$why" ]; then skip "$why"
elif ! unshare -Urpf --mount-proc true 2>"$work/log/unshare"; then
	skip "no user namespace: $(head -n 1 "$work/log/unshare")"
else
	run unshare -Urpf --mount-proc bash denied ./atwalk-copy
	said_err=1
	hint="no capability of this user namespace counts; outside of it: sudo $self"
	denied_here "$hint" "$(sed -n 's/; no cap.*//p' "$work/log/out")" "$hint" ""
fi

for user in unprivileged root; do
	t "$user without capabilities: the user's own processes, and a hint"
	if [ -n "$why" ]; then skip "$why"; continue; fi
	as=(setpriv --inh-caps=-all --bounding-set=-all)
	[ $user = root ] || as+=(--reuid=65534 --regid=65534 --clear-groups)
	if [ "$(id -u)" -ne 0 ] || ! "${as[@]}" true 2>"$work/log/setpriv"; then
		skip "needs root and setpriv, to drop privileges"
		continue
	fi
	run unshare --pid --fork --mount-proc "${as[@]}" bash denied ./atwalk-copy
	said_err=1
	if [ $user = root ]; then
		hint='root may, but this one lacks capabilities; in a container:'
		denied_here "$hint --cap-add DAC_READ_SEARCH --cap-add SYS_ADMIN --cap-add SYS_PTRACE" \
			"reading the running kernel needs CAP_BPF and CAP_PERFMON, which this process does not have" \
			"$hint --cap-add BPF --cap-add PERFMON" ""
	else
		hint='run it as root, or allow it once: sudo setcap'
		denied_here "$hint cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $self" \
			"reading the running kernel needs CAP_BPF and CAP_PERFMON, which this process does not have" \
			"$hint cap_bpf,cap_perfmon+ep $self" \
			"sudo setcap cap_dac_read_search,cap_sys_admin+ep $self"
	fi
done

exec 6>&- 7<&- 8>&- 9<&-
finish
