#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report machine accounts for all memory: of the running system with both backends, compared
# with /proc/meminfo; of captures written by hand; of a dump. No process is read.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/ram-cap.sh
. "$cli/ram-cap.sh"

# The sums of a CSV file, in pages of 4096 bytes: nothing may be lost or counted twice.
# shellcheck disable=SC2317 # by yes
sums() {
	awk -F , -v total="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ pages[$at["use"]] = $at["pages"]; if (NR <= 15) all += $at["pages"] }
		END {
			inside = all - pages["reserved"] - pages["offline"] - pages["unknown"]
			if (NR < 20 || all != pages["RAM"]) exit 1
			if (pages["outside"] != pages["reserved"] + pages["offline"]) exit 1
			if (pages["accounted"] != inside || pages["MemTotal"] != total) exit 1
			exit inside + pages["unaccounted"] - pages["beyond"] != total
		}' "$1"
}

# Succeeds if a use differs from the kernel's counter by at most $3 MiB less or $4 more. Frames
# without an initialized struct page are free in the counter, and unaccounted for.
# shellcheck disable=SC2317 # by yes
within() {
	awk -F , -v use="$2" -v less="$3" -v more="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["use"] == use { d = $at["difference"] / 1048576; found = 1 }
		$at["use"] == "unaccounted" { late = $at["size"] / 1048576 }
		END {
			d += use == "free" ? late : 0
			if (found && d >= -less && d <= more)
				exit 0
			print use ": a difference of " d " MiB, from -" less " to " more " is expected"
			exit 1
		}' "$1"
}

# Counters and frames are read at different times while the machine runs, so this is repeated
# until they agree. Exact values are checked in stopped guests (tests/vm/checks/census).
agrees() {
	local i

	for ((i = 0; i < 200; i++)); do
		run atwalk report machine "$1" --format csv
		said_status=1 said_err=1
		# Slab includes large kmalloc() allocations, which have no page type.
		slab=$((32 + $(awk '/^Slab:/ { print $2 }' /proc/meminfo) / 5120))
		{
			within "$work/log/out" free "$much" "$much" && within "$work/log/out" anon "$much" "$much" &&
				within "$work/log/out" file "$much" "$much" && within "$work/log/out" shmem 32 32 &&
				within "$work/log/out" pgtable 32 32 && within "$work/log/out" slab "$slab" 32
		} >disagreement && return
		sleep 0.5
	done
	return 1
}

why=''
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
[ "$(id -u)" -eq 0 ] || why="needs root"
head -c 8 /proc/kpageflags >"$work/log/kpf" 2>&1 || why="$(head -n 1 "$work/log/kpf")"
total=$(($(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) / 4))
# In MiB: one percent of MemTotal.
much=$((32 + total / 25600))

for way in live live:pagemap; do
	t "$way: all frames sum up to MemTotal"
	if [ -n "$why" ]; then skip "$why"; else
		before=$(late_frames)
		run atwalk report machine $way --format csv
		rest=$(sed -n 's/^unaccounted,,\([0-9]*\),.*/\1/p' "$work/log/out")
		# Only boot-time reservations are outside of MemTotal here.
		yes sums "$work/log/out" "$total"
		yes [ "$(grep -c '^beyond' "$work/log/out")" -eq 0 ]
		# Of frames without a struct page nothing is known.
		if [ "$before" -eq 0 ]; then
			yes [ "$rest" -eq 0 ]
			yes grep -q '^unknown,,0,0,' "$work/log/out"
		else
			status 4
			# Frames of the kernel at the border may be among them.
			yes [ "$rest" -le $((before + much * 256)) ]
			yes [ "$rest" -ge "$(late_frames)" ]
			err_is "atwalk: $way: 1 read error: -v lists them"
			run atwalk collect -v --frames --pid $$ -o late.cap $way
			yes grep -qE '^L: 0, frames, the kernel has made no struct page so far for [0-9]+ frames that are free or reserved$' late.cap
			said_status=1 said_err=1
		fi
	fi

	t "$way: free, anon, file, shmem, page tables and slab agree with the kernel's counters"
	if [ -n "$why" ]; then skip "$why"; else
		agrees $way || bad "$(cat disagreement)"
	fi
done

t "swap and commitments, from counters and devices"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk report machine live:pagemap --format csv --columns use,counter,kernel,difference
	said_status=1 said_err=1
	# Other tests may add swap meanwhile, which changes the limit.
	yes grep -qE '^commit limit,CommitLimit,[0-9]+,$' "$work/log/out"
	yes grep -qE '^committed,Committed_AS,[0-9]+,$' "$work/log/out"
	yes grep -qE '^swap,SwapTotal,[0-9]+,' "$work/log/out"
fi

t "a capture of it gives the same report"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk collect -q --frames --pid $$ -o machine.cap live:pagemap
	said_status=1 said_err=1
	run atwalk report machine -q --format csv machine.cap
	said_status=1 said_err=1
	yes sums "$work/log/out" "$total"
	yes grep -q '^free,.*,MemFree,' "$work/log/out"
fi

ram_cap >hand.cap

t "slab: what the kernel counts and does not mark"
sed 's/^H: way.*/&\nH: release, 6.12.9-amd64/' hand.cap >old.cap
sed 's/^H: way.*/&\nH: release, 6.14.0/' hand.cap >new.cap
sed 's/^H: way.*/H: way, pagemap/' hand.cap >proc.cap
for f in old new proc; do
	sed -i "s/^E: .*/E: $(grep -vc '^E' $f.cap), 1, 0, 0/" $f.cap
	run atwalk report machine $f.cap
	grep '^Slab' "$work/log/out" >$f.out
	said_status=1 said_err=1
done
yes grep -qx 'Slab has 4K more than slab: before Linux 6.14 large blocks of kmalloc() are not marked, and count as kernel' old.out
yes grep -qx 'Slab has 4K more than slab: /proc/kpageflags does not mark large blocks of kmalloc(), which count as kernel' proc.out
yes [ ! -s new.out ]

t "anon: what only the swap cache keeps"
sed 's/^H: AnonPages.*/H: AnonPages, 12\nH: SwapCached, 8/' hand.cap >cached.cap
sed -i "s/^E: .*/E: $(grep -vc '^E' cached.cap), 1, 0, 0/" cached.cap
run atwalk report machine cached.cap
status 0
yes grep -qx 'anon has 4K more than AnonPages, which counts mapped pages alone: the swap cache has 8K, mapped or not' \
	"$work/log/out"
run atwalk report machine hand.cap
yes [ "$(grep -c 'swap cache' "$work/log/out")" = 0 ]

t "a capture written by hand"
run atwalk report machine hand.cap
golden report-machine
run atwalk report machine --format json hand.cap
golden report-machine-json
run atwalk report machine --filter 'difference!=0' --columns use,size,counter,kernel,difference --units bytes hand.cap
out <<'END'
USE                     SIZE  COUNTER                        KERNEL       DIFFERENCE
slab                   32768  Slab                            36864            -4096

of 1 page of RAM nothing is known; what MemTotal has of that is unaccounted
END

t "the huge zero page: only /proc marks it; n/a elsewhere, not 0"
run atwalk report machine --filter 'use=zero' --columns use,pages,size,share hand.cap
out <<'END'
USE               PAGES        SIZE   SHARE
zero                n/a         n/a     n/a

of 1 page of RAM nothing is known; what MemTotal has of that is unaccounted
END
sed 's/^H: way, bpf/H: way, pagemap/' hand.cap >proc.cap
run atwalk report machine --filter 'use=zero' --columns use,pages,size,share --format csv proc.cap
out <<'END'
use,pages,size,share
zero,0,0,0.000
END

t "backing: what the host of a guest has of each use"
sed -e 's/^F: 1000\*2=reserved.*/F: 1000*2=reserved, host=backed | 3000*5=free, host=absent | 8000=free, host=swapped |/' \
	-e 's/^F: 10000.*/F: 10000*2=free, host=backed | 12000*3=anon, host=backed | 15000=anon | 1F000*5=kernel, host=absent |/' \
	-e '/^F: 24000/d' -e 's/^E: .*/E: 13, 1, 0, 0/' hand.cap >guest.cap
run atwalk report backing guest.cap --format csv
out <<'END'
use,node,host_node,size,backed,large,ksm,swapped,zero,absent,clean,unused
free,,,32768,8192,,,4096,,20480,0,12288
anon,,,16384,,,,,,,,0
kernel,,,20480,0,0,0,0,0,20480,0,0
reserved,,,8192,8192,,,0,,0,0,0
all,,,77824,,,,,,,,12288
all,0,,32768,8192,,,4096,,20480,0,4096
all,1,,45056,,,,,,,,8192
END
run atwalk report backing guest.cap --columns use,unused
out <<'END'
USE       UNUSED
free         12K
anon          0B
kernel        0B
reserved      0B
all          12K
all           4K
all           8K

the guest would give back at most 12K: free in it and in the host's memory 8K, on the host's swap 4K
END
run atwalk collect guest.cap
yes grep -qx 'F: 00001000\*2=reserved, host=backed | 00003000\*5=free, host=absent | 00008000=free, host=swapped | .*' "$work/log/out"
run atwalk report backing hand.cap
status 4
out <<'END'
USE       NODE  HOST_NODE    SIZE  BACKED   LARGE     KSM  SWAPPED    ZERO  ABSENT   CLEAN  UNUSED

what the host has of this machine's memory is not recorded: it is known of running guests (qemu:PID, kvm:PID)
END
err_is "atwalk: report backing: what the host has of this machine's memory is not recorded: it is known of running guests \(qemu:PID, kvm:PID\)"
sed 's/host=absent/host=gone/' guest.cap >bad.cap
run atwalk report backing bad.cap
status 4
err_has 'bad.cap: line '

t "backing: pages of all kinds, nodes of the guest and of the host, two swaps"
cat >kinds.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
H: way, qemu
R: 00000000, 0000FFFF, System RAM, node=0
R: 00010000, 0001FFFF, System RAM, node=1
S: 0, 100, 7, /dev/sda
T: swapper, 0, 0, 0, 0, 0, 0, 0, 0, 0
F: 0*4=free, host=large, node=0 | 4000=free, host=unmerged, node=1 | 5000=free, host=ksm, node=0 |
F: 6000*2=free, host=swapped | 8000=free, host=zero | 9000*2=free, host=absent | B000=offline, host=unmerged, node=1 |
F: C000*2=file, host=unmerged, node=0, clean=1 | E000=file, host=unmerged, node=0, clean=0 | F000=file, host=swapped, clean=1 |
F: 10000*8=anon, host=large, node=1 | 18000*4=anon, host=small | 1C000*4=file, host=small |
E: 11, 1, 0, 0
END
run atwalk report backing kinds.cap --format csv
out <<'END'
use,node,host_node,size,backed,large,ksm,swapped,zero,absent,clean,unused
free,,,45056,24576,16384,4096,8192,4096,8192,0,28672
anon,,,49152,49152,32768,,0,0,0,0,0
file,,,32768,28672,0,,4096,0,0,,0
offline,,,4096,4096,0,0,0,0,0,0,4096
all,,,131072,106496,49152,,12288,4096,8192,,32768
all,0,,24576,0,0,0,12288,4096,8192,0,8192
all,0,0,32768,32768,16384,4096,0,0,0,8192,16384
all,0,1,8192,8192,0,0,0,0,0,0,8192
all,1,,32768,32768,0,,0,0,0,,0
all,1,1,32768,32768,32768,0,0,0,0,0,0
END
run atwalk report backing kinds.cap --columns use --filter 'use=offline'
out <<'END'
USE
offline

the guest would give back 32K: free in it and in the host's memory 24K, on the host's swap 8K
double paging: the guest has 28K on its swap, and the host 12K of the guest on its own
END
run atwalk report backing kinds.cap
fits
run atwalk collect kinds.cap -o again.cap
yes test "$(grep '^F:' again.cap | tr -d '\n' | sed 's/F://g')" = "$(grep '^F:' kinds.cap | tr -d '\n' |
	sed -E 's/F://g; s/\b(0|[1-9A-F][0-9A-F]*000)(\*|=)/0000000\1\2/g; s/0*([0-9A-F]{8})(\*|=)/\1\2/g')"

t "a capture without frames, and an LPMA capture: partial in every format"
grep -v '^[FE]:' hand.cap >none.cap
echo 'E: 11, 1, 0, 0' >>none.cap
run atwalk report machine none.cap
status 4
golden report-machine-none
err <<'END'
atwalk: report machine: the use of frames is not recorded: there are no F: lines (frames were not collected)
END
run atwalk report machine none.cap --format csv --filter 'use=MemTotal'
status 4
out <<'END'
use,node,pages,size,share,counter,kernel,difference
MemTotal,,31,126976,0.969,,,
END
err <<'END'
atwalk: report machine: the use of frames is not recorded: there are no F: lines (frames were not collected)
END
run atwalk report machine "$data/paper-figure1.txt" --filter 'use=RAM or use=MemTotal'
status 4
out <<'END'
USE          NODE       PAGES        SIZE   SHARE  COUNTER                   KERNEL  DIFFERENCE
RAM           n/a         n/a         n/a     n/a  n/a                          n/a         n/a
MemTotal      n/a         n/a         n/a     n/a  n/a                          n/a         n/a

the use of frames is not recorded: there are no F: lines (frames were not collected)
END
err <<END
atwalk: $data/paper-figure1.txt: 1 read error: -v lists them
atwalk: report machine: the use of frames is not recorded: there are no F: lines (frames were not collected)
END

t "a dump without a list of RAM"
if ! grep -q '^  found:.* zstd' "$built/found.txt"; then skip "this build has no zstd"; else
	run atwalk report machine tasks.kdump
	status 4
	golden report-machine-dump
	err <<'END'
atwalk: tasks.kdump: 1 read error: -v lists them
atwalk: report machine: the use of frames is not recorded: which addresses are RAM is not known
END
	run atwalk report machine tasks.kdump --format csv --filter 'use=RAM'
	status 4
	err <<'END'
atwalk: tasks.kdump: 1 read error: -v lists them
atwalk: report machine: the use of frames is not recorded: which addresses are RAM is not known
END
fi

t "report nodes: memory of each process by node"
cat >two.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
R: 00010000, 0001FFFF, System RAM, node=0
R: 00020000, 0002FFFF, System RAM, node=1
T: a, 7, FFFF888100000000, 0, 0, 0, 0, 0, 0, 0
V: 7F0000000000, 7F000000FFFF, 00010000, 00005000, -, -, NULL
M: 7F0000000000*4=0001E012, 1, 1000, refs=1 | 7F0000004000=00020012, 1, 1000, refs=1 |
T: b, 8, FFFF888100001000, 0, 0, 0, 0, 0, 0, 0
V: 7F0000000000, 7F000000FFFF, 00010000, 00001000, -, -, NULL
M: 7F0000000000=00024012, 1, 1000, refs=1 |
E: 10, 2, 2, 0
END
run atwalk report nodes two.cap --columns pid,task,node,rss,share --units pages
out <<'END'
    PID  TASK              NODE         RSS   SHARE
      7  a                    0           2   0.400
      7  a                    1           3   0.600
      8  b                    1           1   1.000
    n/a  (all)                0           2   0.333
    n/a  (all)                1           4   0.667
END
run atwalk report nodes two.cap --format csv --filter 'node=1 and task=a' --columns pid,rss
out <<'END'
pid,rss
7,12288
END

t "report nodes: whether a process last ran on the node, if the nodes of CPUs are recorded"
sed -e '2a H: nodecpus.0, 0-1\nH: nodecpus.1, 2\nH: nodecpus.1, 4-7 9\nH: nodecpus.2, 3-1\nH: nodecpus., 3\nH: nodecpus.9999, 3' \
	-e 's/^\(T: a, 7, FFFF888100000000\), 0/\1, 9/' -e 's/^\(T: b, .*\)000, 0, 0/\1000, 3, 0/' \
	-e 's/^E: 10/E: 16/' two.cap >places.cap
run atwalk report nodes places.cap --format csv --columns task,node,place
out <<'END'
task,node,place
a,0,remote
a,1,local
b,1,
(all),0,
(all),1,
END

t "one SOURCE"
run atwalk report machine hand.cap hand.cap
status 2
no_out
err <<'END'
atwalk: machine takes only one SOURCE
        see: atwalk report --help
END

finish
