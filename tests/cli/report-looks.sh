#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report thrash and growth name processes that leak or thrash: in successive captures of
# processes that this test starts, and in captures written by hand with known results.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

grinder='' group=''
# shellcheck disable=SC2317 # by the trap
end_all() {
	[ -z "$grinder" ] || { kill -KILL "$grinder"; wait "$grinder"; } 2>"$work/log/kill"
	for _ in {1..600}; do
		[ -z "$group" ] || rmdir "$group" 2>"$work/log/rmdir" || { sleep 0.1; continue; }
		break
	done
	end
}
trap end_all EXIT

live=''
[ "$(id -u)" -eq 0 ] || live="needs root"

# shellcheck disable=SC2317 # by run
look() {
	atwalk collect --pid "$1" -o "$2" live:pagemap
}

# ---- a process that leaks ----

t "a process that leaks is named"
[ -n "$why" ] || start_child
if [ -n "$why$live" ]; then skip "$why$live"; else
	tell take 100000000000 $((4 << 20))
	run look "$child" g1.cap
	tell take 100010000000 $((8 << 20))
	run look "$child" g2.cap
	tell take 100020000000 $((8 << 20))
	run look "$child" g3.cap
	run atwalk report growth g1.cap g2.cap g3.cap
	yes grep -q "^suspected leak: process $child (python3.*): anon grew from each of 3 looks to the next, by 1[5-7]\(\.[0-9]\)\?M, [1-9][0-9.]*[BKM] a second$" "$work/log/out"
	run atwalk report growth --format csv --filter leak g1.cap g2.cap g3.cap
	yes [ "$(sed -n '2s/,.*//p' "$work/log/out")" = "$child" ]
	yes [ "$(sed -n '2p' "$work/log/out" | cut -d , -f 3,4,9)" = anon,3,leak ]
	# 16 MiB and the growth of Python meanwhile.
	change=$(sed -n '2p' "$work/log/out" | cut -d , -f 7)
	yes [ "$change" -ge $((16 << 20)) ]
	yes [ "$change" -lt $((17 << 20)) ]

	t "a process that frees memory is not suspected"
	tell drop 100020000000 $((8 << 20))
	run look "$child" g4.cap
	run atwalk report growth g1.cap g2.cap g3.cap g4.cap
	yes grep -qx 'no leak is suspected' "$work/log/out"
	run atwalk report growth --format csv --filter leak g1.cap g2.cap g3.cap g4.cap
	yes [ "$(wc -l <"$work/log/out")" -eq 1 ]
fi

t "--watch: a process that leaks meanwhile"
if [ -n "$why$live" ]; then skip "$why$live"; else
	tell keep-taking 200000000000
	run atwalk report growth --watch 0.3,4 --pid "$child" --format csv --filter 'leak and looks=4' live:pagemap
	yes [ "$(sed -n '2p' "$work/log/out" | cut -d , -f 1,3,9)" = "$child,anon,leak" ]
	# A page every 20 ms, or less often under load.
	rate=$(sed -n '2p' "$work/log/out" | cut -d , -f 8)
	yes [ "$rate" -ge 4096 ]
	yes [ "$rate" -le 1048576 ]
fi

# The heap of atwalk grows, because it keeps the snapshots.
t "--watch: atwalk itself is left out"
if [ -n "$live" ]; then skip "$live"; else
	# shellcheck disable=SC2016 # expanded by the inner shell
	run bash -c 'echo $$ >self; exec "$0" report growth --watch 0.2,4 --pid $$ live:pagemap' "$O/atwalk"
	self=$(cat self)
	yes [ "$(grep -c "^ *$self  " "$work/log/out")" = 0 ]
	yes grep -q "^process $self (.*) is left out: it is the collector$" "$work/log/out"
	yes [ "$(grep -c "^suspected leak: " "$work/log/out")" = 0 ]
	yes grep -qx 'no leak is suspected' "$work/log/out"
fi

t "--watch: rows are printed with each snapshot, the verdict at the end"
if [ -n "$why$live" ]; then skip "$why$live"; else
	mkfifo rows
	"$O/atwalk" report thrash --watch 1 --pid "$child" live:pagemap >rows 2>"$work/log/watch" &
	watcher=$!
	exec 7<rows
	read -r -t "$limit" -u 7 head && read -r -t "$limit" -u 7 look seconds pid task _
	# It is still running, so there is no verdict yet.
	yes kill -0 $watcher
	yes [ "${head%% *} $look $pid $task" = 'LOOK 2 n/a (all)' ]
	# Snapshots are a second apart; the first may be late, and so closer to the second.
	yes [ "$seconds" != 0.000 ]
	kill -TERM $watcher
	cat <&7 >rest
	wait $watcher
	yes grep -q '^not thrashing: \|^thrashing: ' rest
	exec 7<&-
fi

t "--watch: until SIGTERM"
if [ -n "$why$live" ]; then skip "$why$live"; else
	"$O/atwalk" report thrash --watch 0.2 --pid "$child" live:pagemap >rows 2>"$work/log/watch" &
	watcher=$!
	exec 7<rows
	for ((n = 0; n < 3;)); do
		read -r -t "$limit" -u 7 row || { bad "no row: $(cat "$work/log/watch")"; break; }
		[[ $row != *'(all)'* ]] || n=$((n + 1))
	done
	kill -TERM $watcher
	cat <&7 >rest
	wait $watcher
	yes grep -q '^not thrashing: \|^thrashing: ' rest
	exec 7<&-
fi

t "--watch: wrong usage"
run atwalk report growth --watch often live
status 2
no_out
err <<'END'
atwalk: --watch: 'often' is not SECONDS[,TIMES] (2, 0.5, 1,60)
        see: atwalk report --help
END
for wrong_use in "growth live live" "growth x86.elf" "growth -" "growth livelock"; do
	# shellcheck disable=SC2086 # a report and its sources
	run atwalk report --watch 1,2 $wrong_use
	status 2
	no_out
	err <<'END'
atwalk: --watch requires one live SOURCE
        see: atwalk report --help
END
done
run atwalk report machine --watch 1,2 live
status 2
no_out
err <<'END'
atwalk: machine takes only one snapshot
        see: atwalk report --help
END

# ---- a process that thrashes ----

# In a cgroup with half of the memory it needs: a file that it reads repeatedly.
begin_grinding() {
	local most=memory.limit_in_bytes

	group=/sys/fs/cgroup/memory
	if [ ! -d $group ]; then
		group=/sys/fs/cgroup most=memory.max
		grep -qs memory $group/cgroup.subtree_control || { group=''; return 1; }
	fi
	group=$group/atwalk-test.$$
	mkdir "$group" 2>"$work/log/group" || { group=''; return 1; }
	echo 16M >"$group/$most" || return 1
	head -c 33554432 /dev/zero >big || return 1
	sync big
	python3 - "$group" "$work/cwd/big" <<'END' &
import mmap, os, sys
with open(sys.argv[1] + '/cgroup.procs', 'w') as procs:
    procs.write(str(os.getpid()))
with open(sys.argv[2], 'rb') as file:
    # Pages that are already cached are charged to another cgroup.
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
memory.madvise(mmap.MADV_RANDOM)
while True:
    for at in range(0, len(memory), 4096):
        memory[at]
END
	grinder=$!
	until [ "$(majors)" -ge 100 ]; do
		kill -0 $grinder || return
		sleep 0.05
	done
}
majors() { sed 's/.*) //' "/proc/$grinder/stat" | cut -d ' ' -f 10; }
refaults() { awk '/^workingset_refault(_file)? / { n += $2 } END { print n + 0 }' /proc/vmstat; }
# shellcheck disable=SC2317 # by await
ground() { [ "$(majors)" -ge "$1" ] && [ "$(refaults)" -ge "$2" ]; }

t "a process that thrashes is named"
case $(stat -f -c %T .) in
tmpfs|ramfs) why="what is read here needs no reading" ;;
esac
if [ -n "$why$live" ]; then skip "$why$live"
elif ! begin_grinding 2>"$work/log/grind"; then skip "no memory cgroup of its own"; else
	run look $grinder t1.cap
	run look $grinder t2.cap
	await ground $(($(majors) + 100)) $(($(refaults) + 100))
	run look $grinder t3.cap
	run atwalk report thrash t1.cap t2.cap t3.cap
	yes grep -Eq '^(not )?thrashing: from look [12] to look [23] ' "$work/log/out"
	yes grep -q "^most major faults: process $grinder (python3.*), [1-9][0-9]* of " "$work/log/out"
	run atwalk report thrash --format csv --filter "look=3 and pid=$grinder" t1.cap t2.cap t3.cap
	yes [ "$(sed -n '2p' "$work/log/out" | cut -d , -f 6)" -ge 100 ]
	run atwalk report thrash --format csv --filter 'look=3 and refaults>=100' t1.cap t2.cap t3.cap
	yes grep -q '^3,[0-9.]*,,(all),' "$work/log/out"
fi

# ---- captures written by hand ----

# LOOK SECONDS MAJORS MILL'S-MAJORS REFAULTS SOME FULL HEAP-PAGES: a capture.
by_hand() {
	cat <<END
H: atwalk-capture, 1
H: page, 4096
H: begun, $1
H: vmstat.pgfault, 100000
H: vmstat.pgmajfault, $2
H: vmstat.pswpin, 7
H: vmstat.pswpout, 8
H: vmstat.workingset_refault_anon, 0
H: vmstat.workingset_refault_file, $4
H: pressure.some.total, $5
H: pressure.full.total, $6
T: calm, 10, 1000, 0, 5, 1, 0, 0, 0, 0, tgid=10, start=7, brk=1000:100000
V: 00001000, 00020FFF, 00020000, 00000000, -, -, [heap]
M: 00001000*$7=10000052, 1, - |
T: mill, 11, 2000, 0, 50, $3, 0, 0, 0, 0, tgid=11, start=8
E: 15, 2, 1, 0
END
}
by_hand 1000.25 500 10 1000 1000000 500000 4 >h1.cap
by_hand 1004.25 4500 3990 9000 3000000 1500000 6 >h2.cap
by_hand 1008.25 4504 3991 9000 3000400 1500000 8 >h3.cap

t "thrash: captures written by hand"
run atwalk report thrash h1.cap h2.cap h3.cap
out <<'END'
LOOK    SECONDS      PID  TASK                  MINOR     MAJOR  MAJOR_RATE/s  REFAULTS  REFAULT_RATE/s   SWAPIN  SWAPOUT    SOME    FULL
   2      4.000      n/a  (all)                   n/a      4000      1000.000      8000        2000.000        0        0   0.500   0.250
   2      4.000       11  mill                      0      3980       995.000       n/a             n/a      n/a      n/a     n/a     n/a
   3      4.000      n/a  (all)                   n/a         4         1.000         0           0.000        0        0   0.000   0.000
   3      4.000       11  mill                      0         1         0.250       n/a             n/a      n/a      n/a     n/a     n/a

thrashing: from look 1 to look 2 for 25.0% of the time all tasks waited for memory (10% is thrashing), which is the worst
most major faults: process 11 (mill), 3980 of 3980 of the processes that are there at the end; the kernel counted 20 more, such as those of processes that ended
END
run atwalk report thrash h1.cap h2.cap h3.cap --format html
yes grep -q '>refault_rate/s</th>' "$work/log/out"
run atwalk report thrash h2.cap h3.cap
yes grep -qx 'not thrashing: from look 1 to look 2 for 0.0% of the time all tasks waited for memory (10% is thrashing)' "$work/log/out"

t "snapshots in another order or of another kernel are refused"
printf 'H: atwalk-capture, 1\nH: begun, %s\nH: release, %s\nT: a, 1, 0, -, -, -, -, -, -, -\nE: 4, 1, 0, 0\n' 20 6.1 >second.cap
printf 'H: atwalk-capture, 1\nH: begun, %s\nH: release, %s\nT: a, 1, 0, -, -, -, -, -, -, -\nE: 4, 1, 0, 0\n' 10 6.1 >first.cap
printf 'H: atwalk-capture, 1\nH: begun, %s\nH: release, %s\nT: a, 1, 0, -, -, -, -, -, -, -\nE: 4, 1, 0, 0\n' 30 6.2 >other.cap
for report in growth thrash; do
	run atwalk report "$report" second.cap first.cap -q
	status 2
	no_out
	err <<'END'
atwalk: first.cap: was taken before the one in front of it: looks are given in their order
END
	run atwalk report "$report" first.cap second.cap other.cap -q
	status 2
	no_out
	err <<'END'
atwalk: other.cap: is of Linux 6.2, and those before it are of 6.1: looks are at one machine
END
done

t "growth: captures written by hand"
run atwalk report growth h1.cap h2.cap h3.cap
out <<'END'
    PID  TASK              CLASS     LOOKS       FIRST        LAST      CHANGE      RATE/s  SUSPECT
     10  calm              heap          3         16K         32K        +16K         +2K  -

no leak is suspected
END
run atwalk report growth,thrash --format csv h1.cap h2.cap
out <<'END'
pid,task,class,looks,first,last,change,rate,suspect
10,calm,heap,2,16384,24576,8192,2048,

look,seconds,pid,task,minor,major,major_rate,refaults,refault_rate,swapin,swapout,some,full
2,4.000,,(all),,4000,1000.000,8000,2000.000,0,0,0.500,0.250
2,4.000,11,mill,0,3980,995.000,,,,,,
END

t "growth: unchanged classes have no row, even if no time passed"
run atwalk report growth --format csv h1.cap h1.cap
out <<'END'
pid,task,class,looks,first,last,change,rate,suspect
END

t "one snapshot without faults of processes: one message"
sed -n '1,3p' h1.cap >nofaults.cap
printf 'T: calm, 10, 1000, -, -, -, -, -, -, -\nE: 4, 1, 0, 0\n' >>nofaults.cap
run atwalk report thrash nofaults.cap
status 4
out <<'END'
LOOK    SECONDS      PID  TASK                  MINOR     MAJOR  MAJOR_RATE/s  REFAULTS  REFAULT_RATE/s   SWAPIN  SWAPOUT    SOME    FULL

cannot report faults: this look has none of any process, and rates need two looks
END
err <<'END'
atwalk: report thrash: cannot report faults: this look has none of any process, and rates need two looks
END

t "one snapshot, and files that are not captures"
run atwalk report growth h1.cap
status 4
yes grep -qx 'growth needs two looks: give two or more captures, in order' "$work/log/out"
err <<<"atwalk: report growth: growth needs two looks: give two or more captures, in order"
run atwalk report thrash "$data/paper-figure1.txt"
status 4
said_err=1
yes grep -q '^   1        n/a        1  init                 392597       160 ' "$work/log/out"
yes grep -qx 'rates need two looks: these are all faults since each process began' "$work/log/out"
run atwalk report growth h1.cap missing.cap
status 3
no_out
err_has 'missing.cap'

t "a truncated capture is reported up to its end"
head -n 14 h2.cap >cut.cap
run atwalk report growth h1.cap cut.cap
status 4
yes grep -q '^     10  calm ' "$work/log/out"
err_has 'cut.cap'

t "growth: missing data in a snapshot does not count as shrinking"
sed '/^M:/d' h2.cap | sed 's/^E: .*/E: 14, 2, 1, 0/' >blind.cap
sed '/^[VM]:/d' h2.cap | sed 's/^E: .*/L: 10, areas, Permission denied\nE: 14, 2, 0, 1/' >barred.cap
for look in blind barred; do
	run atwalk report growth --format csv h1.cap $look.cap h3.cap
	status 4
	out <<'END'
pid,task,class,looks,first,last,change,rate,suspect
10,calm,heap,2,16384,32768,16384,2048,
END
	err <<END
atwalk: $look.cap: 1 read error: -v lists them
END
done

t "reports of one SOURCE"
run atwalk report thrash,basic h1.cap h2.cap
status 2
no_out
err <<'END'
atwalk: basic takes only one SOURCE
        see: atwalk report --help
END

finish
