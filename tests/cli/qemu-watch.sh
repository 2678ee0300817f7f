#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A running guest is a live source: --watch, diff --interval and reports of several looks show
# what this test changes in the RAM of a stand-in for QEMU (tests/tools/vmram.c), and nothing
# else; and they end with the process in the guest, or with the guest.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"
need_tasks
case ${WRAP:-} in *valgrind*) t "all tests"; skip "valgrind does not know pidfd_open(2)"; finish ;; esac

atwalk extract -q --pages -o whole.elf tasks.kdump >"$work/log/extract" || exit 1
start() { guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump; }

# write PHYSICAL VALUE: eight bytes of the guest's RAM.
write() {
	local place

	place=$(atwalk walk "qemu:$guest" init_task --nested --format csv --columns physical,hva | sed -n 2p)
	# shellcheck disable=SC2059 # escapes
	printf "$(printf '\\x%02x' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16 & 255)) $(($2 >> 24 & 255)) \
		$(($2 >> 32 & 255)) $(($2 >> 40 & 255)) $(($2 >> 48 & 255)) $(($2 >> 56 & 255)))" |
		dd of="/proc/$guest/mem" bs=8 seek=$(($1 + ${place#*,} - ${place%,*})) oflag=seek_bytes \
			conv=notrunc 2>"$work/log/dd"
}
# The page-table entry of an address of process 86: where it lies, and what it is.
entry() {
	atwalk walk tasks.kdump --pid 86 "$1" -p --format csv --columns "$2" | tail -n 1
}
unmap() { write "$(entry 0x401000 entry_at)" 0; }
# A task that ended has no mm.
end_process() {
	write "$(atwalk walk tasks.kdump "$(poke whole.elf task:86.task_struct.mm)" --format csv \
		--columns physical | tail -n 1)" 0
}

# begin ARGUMENTS...: starts it, with its rows on file descriptor 7.
begin() {
	rm -f rows
	mkfifo rows
	"$O/atwalk" "$@" >rows 2>"$work/log/watcher" &
	watcher=$!
	exec 7<rows
}
over() {
	[ -z "$wrong" ] || kill "$watcher"
	cat <&7 >"$work/log/rest"
	exec 7<&-
	wait "$watcher" 2>"$work/log/kill"
	rc=$?
}

start
why=''
write 0 0 || why="cannot write to the memory of another process"
[ -z "$why" ] || { t "all tests"; skip "$why"; finish; }

t "map --watch: a page that the guest unmaps, and no change without one"
run atwalk map "qemu:$guest" --pid 86 --watch 0.05,3 --format csv --columns mapped,d_mapped,d_4k
size=$(sed -n 2p "$work/log/out")
out <<END
mapped,d_mapped,d_4k
${size%%,*},,
${size%%,*},0,0
${size%%,*},0,0
END
begin map "qemu:$guest" --pid 86 --watch 0.05 --format csv --columns d_mapped,d_4k
until_row '0,0'
unmap
until_row '-4096,-4096'
until_row '0,0'

t "it ends with the process"
end_process
over
yes [ "$rc" -eq 0 ]
same "$work/log/watcher" <(echo "atwalk: qemu:$guest: process 86 (file-writer) has ended")
run atwalk map "qemu:$guest" --pid 86
status 1
no_out
err_is "atwalk: qemu:$guest: process 86 has ended: its address space is gone"

t "pages --watch: the process that changed, that ended, and all others in one row"
start
run atwalk pages "qemu:$guest" --totals --watch 0.05,2 --format csv --columns what,processes,pid,d_rss
same <(tail -n 1 "$work/log/out") <(echo same,22,,0)
begin pages "qemu:$guest" --totals --watch 0.05 --format csv --columns what,processes,pid,d_rss
until_row 'same,22,,0'
unmap
until_row 'changed,1,86,-4096'
until_row 'same,21,,0'
end_process
until_row 'ended,1,86,*'

t "it ends with the guest"
{ kill -KILL "$guest" && wait "$guest"; } 2>>"$work/log/end"
over
yes grep -qx "atwalk: qemu:$guest: the guest has ended" "$work/log/watcher"

t "--freeze stops the guest for each look"
start
begin map "qemu:$guest" --pid 86 --freeze --watch 0.05 -v --format csv --columns d_mapped
if ! read -r -t "$limit" -u 7 row; then
	over
	skip "$(head -n 1 "$work/log/watcher")"
else
	until_row 0
	unmap
	until_row -4096
	end_process
	over
	yes [ "$rc" -eq 0 ]
	yes [ "$(grep -c "process $guest was stopped for" "$work/log/watcher")" -ge 3 ]
	yes grep -q 'process 86 (file-writer) has ended' "$work/log/watcher"
fi

t "diff --interval"
start
run atwalk diff "qemu:$guest" --interval 0.05
status 0
yes grep -qx 'no difference' "$work/log/out"

t "reports of several looks, and of each look"
run atwalk report growth "qemu:$guest" --watch 0.05,3 --format csv --columns pid,looks
status 0
run atwalk report growth "qemu:$guest" --watch 0.05,3
yes grep -qx 'no leak is suspected' "$work/log/out"
run atwalk report thrash "qemu:$guest"
said_status=1
err_has '--watch SECONDS,TIMES looks at a live SOURCE several times'
begin report use "qemu:$guest" --pid 86 --watch 0.05 --format csv --columns look,rss
until_row '1,446464'
unmap
until_row '*,442368'
end_process
over
yes [ "$rc" -eq 0 ]

t "a capture of it has the times of a running machine, and none of this machine's numbers"
start
run atwalk collect "qemu:$guest" -o guest.cap
yes [ "$(grep -cE '^H: (begun|ended), ' guest.cap)" -eq 2 ]
yes [ "$(grep -cE '^H: (collector|hostname), ' guest.cap)" -eq 0 ]

t "a dump is none"
run atwalk pages tasks.kdump --watch 1,1
status 2
err_is 'atwalk: --watch: tasks.kdump is a dump, not a live source'
run atwalk report use tasks.kdump --watch 1,1
status 2
err_has 'atwalk: --watch requires one live SOURCE'
run atwalk report use "kvm:1@tasks.kdump" --watch 1,1
status 2
err_has 'atwalk: --watch requires one live SOURCE'

finish
