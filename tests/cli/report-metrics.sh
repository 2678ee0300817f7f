#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report metrics: the text format of Prometheus; its sums are those of the reports.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
need_tasks

# The sum of a metric's values.
sum_of() {                        # METRIC FILE
	awk -v name="$1" '{ n = $1; sub(/{.*/, "", n) } n == name { s += $NF } END { printf "%.0f\n", s }' "$2"
}

# The sum of a column of a report of tasks.kdump.
column() {                        # REPORT COLUMN SOURCE
	atwalk report "$1" "$3" --format csv --columns "$2" 2>/dev/null | awk '{ s += $1 } END { printf "%.0f\n", s }'
}

cat >m.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: machine, x86_64
R: 00000000, 000FFFFF, System RAM
T: nginx, 10, 00000010, 0, 0, 0, 0, 0, 0, 0, tgid=10, start=1, cgroup=/system.slice/nginx.service
V: 01000000, 01003FFF, 00004000, 00004000, -, 00100073, [heap]
M: 01000000*4=00010452, 1, 00005868, refs=1 |
T: nginx, 11, 00000020, 0, 0, 0, 0, 0, 0, 0, tgid=11, start=1, cgroup=/system.slice/nginx.service/worker
V: 00400000, 00401FFF, 00002000, 00002000, -, 00000075, /bin/gone (deleted), dev=FE:1, inode=7, offset=0
M: 00400000*2=00020612, 2, 0000006C, refs=2 |
T: sh, 12, 00000030, 0, 0, 0, 0, 0, 0, 0, tgid=12, start=1, cgroup=/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope/init
V: 00400000, 00401FFF, 00002000, 00002000, -, 00000075, /bin/gone (deleted), dev=FE:1, inode=7, offset=0
M: 00400000*2=00020612, 2, 0000006C, refs=2 |
T: pod, 13, 00000040, 0, 0, 0, 0, 0, 0, 0, tgid=13, start=1, cgroup=/kubepods/besteffort/pod1/fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
V: 01000000, 01001FFF, 00002000, 00001000, -, 00100073, [heap]
M: 01000000=00030452, 1, 00005868, refs=1 | 01001000=00000000, -, -, swap=0:10 |
T: login, 14, 00000050, 0, 0, 0, 0, 0, 0, 0, tgid=14, start=1, cgroup=/
V: 01000000, 01000FFF, 00001000, 00001000, -, 00100073, [heap]
M: 01000000=00031452, 1, 00005868, refs=1 |
END
echo "E: $(wc -l <m.cap), $(grep -c ^T m.cap), $(grep -c ^V m.cap), 0" >>m.cap

t "units and containers of control groups, and nothing that is not known"
run atwalk report metrics m.cap
said_err=1 said_status=1
out <<'END'
# HELP atwalk_memory_pss_bytes Memory of processes, shared pages divided by how often they are mapped.
# TYPE atwalk_memory_pss_bytes gauge
atwalk_memory_pss_bytes{unit="nginx.service",class="heap"} 16384
atwalk_memory_pss_bytes{unit="nginx.service",class="text"} 4096
atwalk_memory_pss_bytes{unit="docker-0123456789ab",class="text"} 4096
atwalk_memory_pss_bytes{unit="container-fedcba987654",class="heap"} 4096
atwalk_memory_pss_bytes{unit="other",class="heap"} 4096
# HELP atwalk_memory_uss_bytes Memory of processes that only one of them maps.
# TYPE atwalk_memory_uss_bytes gauge
atwalk_memory_uss_bytes{unit="nginx.service"} 16384
atwalk_memory_uss_bytes{unit="container-fedcba987654"} 4096
atwalk_memory_uss_bytes{unit="docker-0123456789ab"} 0
atwalk_memory_uss_bytes{unit="other"} 4096
# HELP atwalk_memory_swap_bytes Memory of processes on swap.
# TYPE atwalk_memory_swap_bytes gauge
atwalk_memory_swap_bytes{unit="nginx.service"} 0
atwalk_memory_swap_bytes{unit="container-fedcba987654"} 4096
atwalk_memory_swap_bytes{unit="docker-0123456789ab"} 0
atwalk_memory_swap_bytes{unit="other"} 0
# HELP atwalk_memory_huge_bytes Memory of processes that large pages map.
# TYPE atwalk_memory_huge_bytes gauge
atwalk_memory_huge_bytes{unit="nginx.service"} 0
atwalk_memory_huge_bytes{unit="container-fedcba987654"} 0
atwalk_memory_huge_bytes{unit="docker-0123456789ab"} 0
atwalk_memory_huge_bytes{unit="other"} 0
# HELP atwalk_memory_hugetlb_bytes Pages of hugetlbfs that processes map.
# TYPE atwalk_memory_hugetlb_bytes gauge
atwalk_memory_hugetlb_bytes{unit="nginx.service"} 0
atwalk_memory_hugetlb_bytes{unit="container-fedcba987654"} 0
atwalk_memory_hugetlb_bytes{unit="docker-0123456789ab"} 0
atwalk_memory_hugetlb_bytes{unit="other"} 0
# HELP atwalk_memory_deleted_bytes Memory of processes that maps deleted files.
# TYPE atwalk_memory_deleted_bytes gauge
atwalk_memory_deleted_bytes{unit="docker-0123456789ab"} 4096
atwalk_memory_deleted_bytes{unit="nginx.service"} 4096
# HELP atwalk_processes Address spaces.
# TYPE atwalk_processes gauge
atwalk_processes{unit="nginx.service"} 2
atwalk_processes{unit="container-fedcba987654"} 1
atwalk_processes{unit="docker-0123456789ab"} 1
atwalk_processes{unit="other"} 1
# HELP atwalk_lost_tasks Tasks of which something could not be read.
# TYPE atwalk_lost_tasks gauge
atwalk_lost_tasks 0
# HELP atwalk_ended_tasks Tasks that ended while they were read: their memory is in no sum.
# TYPE atwalk_ended_tasks gauge
atwalk_ended_tasks 0
END

t "processes that ended while they were read are said where PSS is summed"
{ grep -v '^E: ' m.cap; echo 'H: vanished, 3'; } >ended.cap
echo "E: $(wc -l <ended.cap), $(grep -c ^T ended.cap), $(grep -c ^V ended.cap), 0" >>ended.cap
ended='3 processes ended while they were read: their shares are in no row, so the sum of PSS is less than the memory in use'
run atwalk report use ended.cap
yes grep -qx "$ended" "$work/log/out"
run atwalk pages --totals ended.cap
yes grep -qx "$ended" "$work/log/out"
run atwalk report stacks ended.cap
yes [ "$(grep -c ended "$work/log/out")" = 0 ]
err_is "atwalk: report stacks: $ended"
run atwalk report metrics ended.cap
yes grep -qx 'atwalk_ended_tasks 3' "$work/log/out"
run atwalk report use m.cap
yes [ "$(grep -c ended "$work/log/out")" = 0 ]
sed -i 's/^H: vanished, 3/H: vanished, 1/' ended.cap
run atwalk report use ended.cap
yes grep -q '^1 process ended while it was read: its shares are' "$work/log/out"

t "tasks that could not be read are counted once each, or are no metric"
lost() {                          # NUMBER LINE...
	local want=$1

	shift
	{
		grep -v '^E:' m.cap
		printf '%s\n' "$@"
	} >lost.cap
	echo "E: $(wc -l <lost.cap), $(grep -c ^T lost.cap), $(grep -c ^V lost.cap), $#" >>lost.cap
	run atwalk report metrics lost.cap
	said_err=1 said_status=1
	yes [ "$(grep '^atwalk_lost_tasks' "$work/log/out")" = "$want" ]
}
lost 'atwalk_lost_tasks 1' 'L: 14, areas, not to be had' 'L: 14, pages, not to be had'
lost 'atwalk_lost_tasks 8' 'L: 13, areas, not to be had' 'L: 14, areas, not to be had' \
	'L: 0, 6 of 11 processes, this process may not read them, denied=6'
lost 'atwalk_lost_tasks 0' 'L: 0, frames, not to be had'
lost '' 'L: 0, tasks, one is not to be had'
grep -v '^E:' m.cap >short.cap
run atwalk report metrics short.cap
status 4
said_err=1
yes grep -q '^atwalk_processes' "$work/log/out"
yes [ "$(grep -c '^atwalk_lost_tasks' "$work/log/out")" = 0 ]

t "the same as rows"
run atwalk report metrics m.cap --format csv --filter 'unit=nginx.service and class=heap'
said_err=1 said_status=1
out <<'END'
metric,unit,class,use,value
atwalk_memory_pss_bytes,nginx.service,heap,,16384
END

t "sums are those of report use, of a dump"
atwalk report metrics tasks.kdump >dump.prom 2>/dev/null
yes [ "$(sum_of atwalk_memory_uss_bytes dump.prom)" = "$(column use uss tasks.kdump)" ]
yes [ "$(sum_of atwalk_memory_swap_bytes dump.prom)" = "$(column use swap tasks.kdump)" ]
yes [ "$(sum_of atwalk_memory_huge_bytes dump.prom)" = "$(column use huge tasks.kdump)" ]
yes [ "$(sum_of atwalk_memory_hugetlb_bytes dump.prom)" = "$(column use hugetlb tasks.kdump)" ]
# Each sum is rounded to a byte.
less=$(($(sum_of atwalk_memory_pss_bytes dump.prom) - $(column use pss tasks.kdump)))
yes [ "${less#-}" -le 40 ]

t "more than 200 units: those with the least memory are together"
head -n 4 m.cap | sed 's/000FFFFF/0FFFFFFF/' >many.cap
for i in $(seq 250); do
	printf 'T: a, %d, %08X, 0, 0, 0, 0, 0, 0, 0, tgid=%d, start=1, cgroup=/s/u%d.service\n' "$i" $((i * 16)) "$i" "$i"
	printf 'V: 01000000, 01003FFF, 00004000, %08X, -, 00100073, [heap]\n' 4096
	printf 'M: 01000000*%d=%08X, 1, 00005868, refs=1 |\n' $((i % 4 + 1)) $((i * 0x4000 + 0x452))
done >>many.cap
echo "E: $(wc -l <many.cap), 250, 250, 0" >>many.cap
run atwalk report metrics many.cap -o many.prom
said_err=1 said_status=1
yes [ "$(grep -c '^atwalk_memory_uss_bytes' many.prom)" = 200 ]
yes [ "$(sum_of atwalk_memory_uss_bytes many.prom)" = "$(column use uss many.cap)" ]
yes [ "$(sum_of atwalk_memory_pss_bytes many.prom)" = "$(column use pss many.cap)" ]
yes [ "$(sum_of atwalk_processes many.prom)" = 250 ]
yes [ "$(grep -c 'unit="other"' many.prom)" -ge 5 ]

t "promtool accepts it"
promtool=$(command -v promtool || debian_have prometheus 'bin/promtool')
if [ -z "$promtool" ]; then skip "there is no promtool here (Debian: prometheus)"; else
	for file in many.prom dump.prom; do
		"$promtool" check metrics <"$file" >said 2>&1
		yes [ $? = 0 ]
		yes [ ! -s said ]
	done
fi

t "plain text has no columns, and stands alone"
run atwalk report metrics m.cap --filter class=heap
status 2
err_has 'atwalk: --filter: metrics has rows with --format csv, json or parquet only'
run atwalk report metrics m.cap --limit 4
status 2
err_has 'atwalk: --limit: metrics has rows with --format csv, json or parquet only'
run atwalk report metrics,use m.cap
status 2
err_has 'atwalk: metrics must be the only report in plain output'

t "without privileges: what is left out is counted, and the text has nothing else"
if ! command -v setpriv >/dev/null || [ "$(id -u)" -ne 0 ]; then skip "needs root and setpriv"; else
	cp "$O/atwalk" copy
	chmod 755 copy . "$work"
	setpriv --reuid 65534 --regid 65534 --clear-groups ./copy report metrics live:pagemap \
		--allow-unreadable >user.prom 2>/dev/null
	yes grep -qE '^atwalk_lost_tasks [1-9]' user.prom
	yes [ "$(grep -cvE '^(# (HELP|TYPE) )?atwalk_' user.prom)" = 0 ]
fi

t "the running machine: every frame is in one use"
if ! atwalk info -q live:bpf >/dev/null 2>why; then skip "$(head -n 1 why)"; else
	run atwalk report metrics live
	said_err=1 said_status=1
	cp "$work/log/out" live.prom
	ram=$(atwalk report machine live --format csv --columns use,size 2>/dev/null | sed -n 's/^RAM,//p')
	yes [ "$(sum_of atwalk_machine_memory_bytes live.prom)" = "$ram" ]
	yes grep -q '^atwalk_processes{unit=".*"} [1-9]' live.prom
fi

finish
