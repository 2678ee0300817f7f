#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# With very many processes, each is counted exactly once by all commands. All of them are
# started by this test. ATWALK_CROWD: their number.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/crowd.sh
. "$cli/crowd.sh"

crowd=${ATWALK_CROWD:-5000}
name_of_all=crowd$$              # unique to this run
[ -z "${WRAP:-}" ] || crowd=100
crowd "$crowd" "$name_of_all" || crowd=0

for way in live:bpf live:pagemap; do
	t "$way: each process is counted once"
	if [ "$crowd" = 0 ]; then
		skip "so many processes are not allowed: $(cat "$work/log/crowd")"
	elif ! atwalk pages $way --pid "$parent" --address "$own" --format csv \
		--columns physical >"$work/log/own" 2>&1 || ! grep -q 0x "$work/log/own"; then
		skip "$(head -n 1 "$work/log/own")"
	else
		run atwalk pages $way --pid "$parent" --address "$shared" --format csv \
			--columns address,count,kcount
		status 0
		out <<END
address,count,kcount
0x$(printf %016x "$shared"),$crowd,$crowd
END
		run atwalk pages $way --pid "$parent" --address "$own" --format csv \
			--columns address,count,kcount
		out <<END
address,count,kcount
0x$(printf %016x "$own"),1,1
END
	fi

	t "$way: totals of all of them"
	if [ "$crowd" = 0 ] || ! grep -q 0x "$work/log/own"; then
		skip "as above"
	else
		# Other processes may end meanwhile.
		atwalk pages $way "$shared+1000" "$own+1000" --totals --format csv --filter task=$name_of_all \
			--columns size,mapped,private,shared,pss,uss >rows 2>err
		sort rows | uniq -c | sed 's/^ *//' >counted
		run cat counted
		out <<END
$crowd 8192,8192,4096,4096,$((4096 + (4096 + crowd / 2) / crowd)),4096
1 size,mapped,private,shared,pss,uss
END
	fi
done

t "ps lists them all"
if [ "$crowd" = 0 ]; then skip "as above"; else
	run atwalk ps live:bpf --filter "ppid=$parent or pid=$parent" --format csv --columns pid
	rc=0 said_err=1
	sort -u "$work/log/out" | grep -c '[0-9]' >counted
	run cat counted
	out <<END
$crowd
END
fi

# What a capture has of these processes: areas, and the frame of each page. How others map and
# use it depends on when it is read, and so do the lengths of runs.
cat >pages.py <<'END'
import sys

mine = False
with open(sys.argv[1], encoding='ascii') as capture:
    for line in capture:
        if line.startswith('T:'):
            fields = line[3:].split(', ')
            mine = fields[0] == sys.argv[2]
            if mine:
                print(fields[1])
        elif mine and line.startswith('V:'):
            print(line, end='')
        elif mine and line.startswith('M:'):
            for run in line[2:].rstrip(' |\n').split(' | '):
                place, entry = run.split(',')[0].split('=')
                address, _, pages = place.partition('*')
                if int(address, 16) == int(sys.argv[3], 16):
                    print('shared by', run.partition('refs=')[2])
                for i in range(int(pages or 1)):
                    print(hex(int(address, 16) + i * 4096), hex((int(entry, 16) >> 12) + i))
END

t "collect by several threads: the same tasks, in the same order, with the same pages"
if [ "$crowd" = 0 ] || ! grep -q 0x "$work/log/own"; then skip "as above"; else
	for jobs in 1 3; do
		atwalk collect live:bpf --jobs $jobs -o cap$jobs 2>>err
		python3 pages.py cap$jobs $name_of_all "$shared" >crowd$jobs
	done
	run cmp crowd1 crowd3
	status 0
	run grep -c '^[0-9]*$' crowd3
	out <<END
$crowd
END
	run grep -c "^shared by $crowd$" crowd3
	out <<END
$crowd
END
fi

t "find: all processes that share a page, while others start and end"
if [ "$crowd" = 0 ] || ! grep -q 0x "$work/log/own"; then skip "as above"; else
	(while :; do (:); done) &
	breeder=$!
	physical=$(atwalk pages live:bpf --pid "$parent" --address "$shared" --format csv \
		--columns physical | tail -n 1)
	for _ in 1 2 3; do
		run atwalk find live:bpf "$physical+1" --filter task=$name_of_all --format csv --columns pid
		status 0
		said_err=1
		yes [ "$(sed 1d "$work/log/out" | sort -u | wc -l)" = "$crowd" ]
	done
	kill -KILL $breeder && wait $breeder 2>"$work/log/wait"
fi

# Each child maps and unmaps memory, so that its tables come and go, and ends.
cat >breed.py <<'END'
import mmap
import os

with open('/proc/self/comm', 'w', encoding='ascii') as comm:
    comm.write('breeder')
while True:
    child = os.fork()
    if not child:
        for _ in range(4):
            with mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as m:
                m[::2 << 20] = bytes(32)
        os._exit(0)
    os.waitpid(child, 0)
END

t "find: tables of processes that end meanwhile are none, and others have flags"
if ! atwalk find live:bpf 0-1000 >"$work/log/find" 2>&1 && [ $? = 3 ]; then
	skip "$(head -n 1 "$work/log/find")"
else
	breeders=()
	for _ in 1 2 3; do
		python3 breed.py &
		breeders+=($!)
		# shellcheck disable=SC2016 # by bash
		await bash -c '[ "$(cat /proc/$0/comm)" = breeder ]' $!
	done
	for _ in 1 2 3; do
		run atwalk find live:bpf 0-fffffffffffff --filter 'task=breeder and state=table' \
			--format csv --columns pid,address,entry_at,pageflags
		said_err=1
		yes [ "$(sed 1d "$work/log/out" | wc -l)" -gt 0 ]
		grep ',$' "$work/log/out" >flagless
		yes [ ! -s flagless ]
		yes [ "$(grep -c 'the process ended while its areas were read' "$work/log/err")" = 0 ]
	done
	kill -KILL "${breeders[@]}" && wait "${breeders[@]}" 2>"$work/log/wait"
fi

t "uss: pages that are also mapped by hidden processes are not unique"
if [ "$crowd" = 0 ] || ! grep -q 0x "$work/log/own"; then skip "as above"
elif ! unshare -pf --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespaces here: $(head -n 1 "$work/log/unshare")"
else
	# shellcheck disable=SC2016 # for the shell inside
	run unshare -pf --mount-proc bash -c 'sleep 10000 &
		until grep -q "(sleep) S" /proc/$!/stat; do sleep 0.02; done
		"$0" pages live:pagemap --pid $! --totals --format csv --columns private,uss
		kill -KILL $!' "$O/atwalk"
	# shellcheck disable=SC2016 # columns
	yes awk -F, 'NR == 2 && $2 != "" && $2 <= $1 { ok = 1 } END { exit !ok }' "$work/log/out"
	said_err=1
fi

finish
