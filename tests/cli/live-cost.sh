#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# -v prints the exact cost of reading the running system, and --rate limits it. Only the
# process that this test starts is read.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

t "--rate requires a number of bytes and a live source"
for rate in 0 fast 4X; do
	run atwalk live:pagemap --rate "$rate" --pid $$ 1000
	status 2
	no_out
	err <<END
atwalk: --rate: '$rate' is not a number of bytes (65536, 64K, 1M)
END
done
run atwalk --rate 1M x86.elf 0
status 2
err <<'END'
atwalk: --rate: x86.elf is a dump, not a live source
END

few=200000000000 much=210000000000
start_child
tell take $few 65536
tell take $much $((64 << 20))

t "-v prints the cost in one line"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk map live:pagemap --pid "$child" -v $few+64K
	err_is 'atwalk: live:pagemap: cost: *.??? s, *.??? s of CPU; 0 bytes of memory read in 0 calls, * bytes of /proc; page faults: * minor, * major'
	run atwalk map live:pagemap --pid "$child" $few+64K
	run atwalk map live:pagemap --pid "$child" -v -q $few+64K
fi

t "bytes of /proc: the VMAs, and one pagemap entry per page"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk map live:pagemap --pid "$child" -v $few+64K
	maps=$(wc -c <"/proc/$child/maps")
	err_has " $((maps + 16 * 8)) bytes of /proc;"
fi

t "bytes of memory are those that were read"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then skip "$(head -n 1 "$work/log/bpf")"; else
	run atwalk map live:bpf --pid "$child" -vv $few+64K
	sum=$(awk '/^atwalk: read 0x/ && $NF > 0 { n += $NF } END { printf "%d", n }' "$work/log/err")
	yes [ "$sum" -gt 100000 ]
	err_has " $sum bytes of memory read in "
	err_has ' calls, 0 bytes of /proc;'
fi

# The kernel's BTF is a file, which can be mapped since 6.16.
t "types are not copied from memory"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then skip "$(head -n 1 "$work/log/bpf")"; else
	yes [ "$sum" -lt "$(stat -c %s /sys/kernel/btf/vmlinux)" ]
	yes grep -q "from the running kernel's BTF" "$work/log/bpf"
fi

# calls of the last run
calls() { sed -n 's/.* bytes of memory read in \([0-9]*\) calls.*/\1/p' "$work/log/err"; }

t "totals of all processes are the same without listing areas and pages"
# Without shared memory, because other processes start and end.
columns=pid,size,mapped,rss,hugetlb
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then skip "$(head -n 1 "$work/log/bpf")"; else
	run atwalk pages live:bpf --totals --columns "$columns" --filter "pid=$child" --format csv
	cp "$work/log/out" sums
	run atwalk pages live:bpf --pid "$child" --totals --columns "$columns" --format csv
	same sums "$work/log/out"
	# The result is partial if other processes end meanwhile.
	run atwalk pages live:bpf --totals -v --columns "$columns"
	said_status=1
	err_has " bytes of memory read in "
	sums=$(calls)
	run atwalk pages live:bpf --totals -v --columns "$columns" 0-7fffffffffff
	said_status=1
	err_has " bytes of memory read in "
	listed=$(calls)
	yes [ "$sums" -lt "$listed" ]
fi

# Each lives for two seconds at most, and another one is there for it then.
t "among a thousand processes that end, totals take few reads"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then skip "$(head -n 1 "$work/log/bpf")"; else
	python3 -c '
import os, random, time

def start():
    if not os.fork():
        time.sleep(random.random() * 2)
        os._exit(0)

for _ in range(1000):
    start()
print("ready", flush=True)
while True:
    os.wait()
    start()' >crowd 2>"$work/log/crowd" &
	parent=$!
	await grep -q ready crowd
	run atwalk pages live:bpf --totals -v --columns pid
	said_status=1
	err_has " bytes of memory read in "
	kill -KILL "$parent"
	wait "$parent" 2>"$work/log/wait"
	tasks=$(wc -l <"$work/log/out")
	yes [ "$(calls)" -lt $((20000 + 20 * tasks)) ]
fi

# 4096 entries take half a second at this rate; load only makes it longer.
t "--rate slows reading down accordingly"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk map live:pagemap --pid "$child" $much+16M
	cp "$work/log/out" want
	# In hundredths of a second, of a monotonic clock.
	read -r from _ </proc/uptime
	run atwalk map live:pagemap --pid "$child" --rate 64K $much+16M
	read -r to _ </proc/uptime
	yes [ $((10#${to/./} - 10#${from/./})) -ge 40 ]
	same "$work/log/out" want
fi

finish
