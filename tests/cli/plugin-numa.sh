#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The plugin numa: tasks on three nodes, one of them without CPUs, from a tree of /proc and
# /sys beside a capture; and the running kernel.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if [ ! -e "$built/plugins/numa.so" ]; then
	t "all tests"
	skip "this build has no plugin numa"
	finish
fi

put() {                          # PATH TEXT: a file of the tree
	mkdir -p "tree/$(dirname "$1")"
	printf '%s\n' "$2" >"tree/$1"
}
ran() {                          # PID/task/TID CPU
	local fields
	printf -v fields ' %d' $(seq 5 38)
	put "proc/$1/stat" "${1##*/} (a) b (c) S 1$fields $2 0 0"
}
node=sys/devices/system/node
put $node/online 0-1,3
put $node/node0/cpulist 0-3
put $node/node1/cpulist 4-5,7
put $node/node3/cpulist ''
put $node/node0/distance '10 21 31'
put $node/node1/distance '20 10 41'
put $node/node3/distance '31 41 10'
put sys/devices/virtual/memory_tiering/memory_tier4/nodelist 0-1
put sys/devices/virtual/memory_tiering/memory_tier22/nodelist 3
ran 10/task/10 2
ran 20/task/20 5
ran 20/task/21 0
ran 20/task/22 9                 # a CPU of no node
put proc/10/numa_maps '00010000 bind=static:0-1 heap anon=3 dirty=3 N0=1 N1=1 N3=1 kernelpagesize_kB=4
00020000 local anon=2 N0=1 N1=1 kernelpagesize_kB=4'
put proc/20/numa_maps '00010000 weighted interleave:1,3 anon=2 N1=1 N3=1 kernelpagesize_kB=4
00020000 prefer (many):3 file=/a\040b N0=1
00030000 default N0=1'

# Frames below 100 are on node 0, below 200 on node 1, then on node 3.
cat >three.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
R: 00000000, 000FFFFF, System RAM, node=0
R: 00100000, 001FFFFF, System RAM, node=1
R: 00300000, 003FFFFF, System RAM, node=3
T: one, 10, 10, 0, 0, 0, 0, 0, 0, 0, tgid=10, ppid=1
V: 00010000, 00012FFF, 00003000, 00003000, -, 00100073, [heap]
M: 00010000=00001212, 1, 00005868, refs=1 | 00011000=00101212, 1, 00005868, refs=1 | 00012000=00301212, 1, 00005868, refs=1 |
V: 00020000, 00021FFF, 00002000, 00002000, -, 00100073, NULL
M: 00020000=00002212, 1, 00005868, refs=1 | 00021000=00102212, 1, 00005868, refs=1 |
T: two, 20, 20, 0, 0, 0, 0, 0, 0, 0, tgid=20, ppid=1
V: 00010000, 00011FFF, 00002000, 00002000, -, 00100073, [heap]
M: 00010000=00103212, 1, 00005868, refs=1 | 00011000=00303212, 1, 00005868, refs=1 |
V: 00020000, 00020FFF, 00001000, 00001000, -, 00100073, NULL
M: 00020000=00003212, 1, 00005868, refs=1 |
T: three, 30, 30, 0, 0, 0, 0, 0, 0, 0, tgid=30, ppid=1
V: 00010000, 00010FFF, 00001000, 00001000, -, 00100073, [heap]
M: 00010000=00304212, 1, 00005868, refs=1 |
E: 18, 3, 5, 0
END

t "each page: tier, distance and access, policy and whether it is kept"
run atwalk pages three.cap --plugin numa:policies,root=tree --format csv \
	--columns pid,address,node,tier,runs_on,distance,access,policy,placement
out <<'END'
pid,address,node,tier,runs_on,distance,access,policy,placement
10,0x0000000000010000,0,4,0,10,local,bind=static:0-1,kept
10,0x0000000000011000,1,4,0,21,remote,bind=static:0-1,kept
10,0x0000000000012000,3,22,0,31,far,bind=static:0-1,mismatch
10,0x0000000000020000,0,4,0,10,local,local,kept
10,0x0000000000021000,1,4,0,21,remote,local,mismatch
20,0x0000000000010000,1,4,0-1,10,local,"weighted interleave:1,3",kept
20,0x0000000000011000,3,22,0-1,31,far,"weighted interleave:1,3",kept
20,0x0000000000020000,0,4,0-1,10,local,prefer (many):3,mismatch
30,0x0000000000010000,3,22,,,,,
END
run atwalk pages three.cap --plugin numa:policies,root=tree --format csv --columns pid,address \
	--filter 'mismatch and far'
out <<<$'pid,address\n10,0x0000000000012000'
run atwalk pages three.cap --plugin numa:root=tree --format csv --group access
out <<'END'
access,count,size
local,4,16384
remote,2,8192
far,2,8192
,1,4096
END

t "of a capture alone, only what it has"
run atwalk pages three.cap --plugin numa --format csv --columns pid,node,tier,runs_on --filter pid=30
out <<<$'pid,node,tier,runs_on\n30,3,,'
run atwalk pages three.cap --plugin numa --columns policy
status 2
err_has "unknown column 'policy'"

t "reports: by node, and by policy"
run atwalk report numa three.cap --plugin numa:root=tree --format csv --sort pid,node
out <<'END'
pid,task,runs_on,node,tier,distance,access,rss
10,one,0,0,4,10,local,8192
10,one,0,1,4,21,remote,8192
10,one,0,3,22,31,far,4096
20,two,0-1,0,4,10,local,4096
20,two,0-1,1,4,10,local,4096
20,two,0-1,3,22,31,far,4096
30,three,,3,22,,,4096
END
run atwalk report numa three.cap --plugin numa:root=tree
yes grep -q '^mapped memory: 16 KiB local, 8 KiB remote, 8 KiB on nodes without CPUs$' "$work/log/out"
run atwalk report numa-policies three.cap --plugin numa:policies,root=tree --format csv
out <<'END'
pid,task,policy,rss,misplaced
10,one,bind=static:0-1,12288,4096
10,one,local,8192,4096
20,two,"weighted interleave:1,3",8192,0
20,two,prefer (many):3,4096,4096
END
cp "$work/log/out" policies
# The report needs them, whether or not columns of pages are asked for.
run atwalk report numa-policies three.cap --plugin numa:root=tree --format csv
out <policies
# Reports of plugins are among those that are known.
run atwalk report numa-polices three.cap --plugin numa:root=tree
status 2
err_has "there is no report 'numa-polices', perhaps 'numa-policies'; known: basic, areas"
err_has ", numa, numa-policies"
run atwalk report numa,use three.cap --plugin numa:root=tree
status 2
err_has "report numa of plugin numa cannot be combined with others"
grep -q '^  found:.* sqlite3' "$built/found.txt" && {
	run atwalk report numa three.cap --plugin numa:root=tree --format csv --columns pid,node,rss
	sed 1d "$work/log/out" | sort >wanted
	yes [ "$(wc -l <wanted)" -gt 3 ]
	said_err=1
	sql three.cap --plugin numa:root=tree 'SELECT pid, node, rss FROM report_numa'
	sed 1d "$work/log/out" | sort >got
	yes cmp got wanted
	sql three.cap --plugin numa:root=tree 'SELECT pid, node, rss FROM report_numa WHERE pid = 20'
	sed 1d "$work/log/out" | sort >got
	grep '^20,' wanted >wanted.20
	yes cmp got wanted.20
	sql three.cap --attach x=three.cap --plugin numa:policies,root=tree 'SELECT (SELECT count(*) FROM report_numa) = (SELECT count(*) FROM x_report_numa) AS same,
		(SELECT count(*) FROM "report_numa-policies") n'
	out <<<"same,n
1,$(atwalk report numa-policies three.cap --plugin numa:policies,root=tree --format csv | sed 1d | wc -l)"
	sql three.cap 'SELECT * FROM report_numa'
	status 2
	err_is 'atwalk: sql: no such table: report_numa'
	sql three.cap --plugin numa:root=tree 'SELECT * FROM report_numa'
	out <<<"$(atwalk report numa three.cap -q --plugin numa:root=tree --format csv --columns "$(sed 1q "$work/log/out")")"
	sql three.cap --plugin numa:root=tree 'SELECT t.pid, r.node FROM tasks t CROSS JOIN report_numa r WHERE t.pid < 0'
	out <<<pid,node
	# Rows of statements may have the plugin's columns, and need not.
	sql three.cap --plugin numa:root=tree 'SELECT 1 AS a'
	out <<<$'a\n1'
}
run atwalk report numa three.cap --plugin numa -o file
status 3
err_is "atwalk: plugin numa: it needs the running system, or its /proc and /sys by the option root=FOLDER"
yes [ ! -e file ]

t "wrong options, and files that are not as they should be"
run atwalk report numa three.cap --plugin numa:root=tree --limit 0
status 2
no_out
err_has "--limit must be at least 1"
run atwalk pages three.cap --plugin numa:polices
status 2
err_is "atwalk: plugin numa: unknown option 'polices'; known: policies, root=FOLDER*"
run atwalk pages three.cap --plugin numa:root=nowhere
status 3
err_is "atwalk: plugin numa: nowhere/sys/devices/system/node/online: cannot be read"
put $node/node0/distance '10 x'
put proc/10/task/10/stat 'no brackets'
put proc/20/numa_maps $'zzz bind:0\n00010000 bind:0-9999999999999\n00010000 bind\n\n00020000'
run atwalk pages three.cap --plugin numa:policies,root=tree --format csv --filter 'pid<30' \
	--columns pid,address,runs_on,distance,policy,placement
out <<'END'
pid,address,runs_on,distance,policy,placement
10,0x0000000000010000,,,bind=static:0-1,kept
10,0x0000000000011000,,,bind=static:0-1,kept
10,0x0000000000012000,,,bind=static:0-1,mismatch
10,0x0000000000020000,,,local,
10,0x0000000000021000,,,local,
20,0x0000000000010000,0-1,10,bind:0-9999999999999,kept
20,0x0000000000011000,0-1,41,bind:0-9999999999999,kept
20,0x0000000000020000,0-1,10,bind:0-9999999999999,kept
END

t "the running kernel: where this shell runs, and its policy"
[ -r /sys/devices/system/node/online ] || skip "the kernel has no NUMA"
[ -r /proc/self/numa_maps ] || skip "there are no policies"
run atwalk pages live:pagemap --pid $$ --areas heap --plugin numa:policies --format csv --group policy
said_status=1 said_err=1
yes grep -q '^default,' "$work/log/out"
online=$(cat /sys/devices/system/node/online)
[ "$online" = 0 ] || skip "there are several nodes: which one it runs on changes"
run atwalk report numa live:pagemap --pid $$ --plugin numa --format csv --columns runs_on,distance,access
said_status=1 said_err=1
yes grep -q '^0,10,local$' "$work/log/out"

finish
