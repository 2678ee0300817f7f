#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The layout of a guest's RAM by its monitor (QMP): of real QEMU, which does not run (-S), and
# of processes with monitors that lie (tests/tools/vmram.c).
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# Physical addresses and what lies there: FILE of 4 KiB each.
for file in first second third; do
	head -c 4096 /dev/urandom >"$file.ram"
done
put() { loaders+=(-device "loader,file=$PWD/$1.ram,addr=$2,force-raw=on"); }
has() {                          # SOURCE FILE ADDRESS
	run atwalk rd --physical --raw "$1" "$3+4K" -o got
	said_err=1
	yes cmp -s got "$2.ram"
}

# qemu OPTION...: its PID in $guest
qemu() {
	rm -f qmp
	"qemu-system-$arch" -S -nodefaults -display none "$@" \
		-qmp "unix:$PWD/qmp,server=on,wait=off" 2>"$work/log/qemu" &
	guest=$!
	others+=("$guest")
	# It serves clients, so it is complete, and the files are in its memory. The machines
	# before it still listen at what had that name.
	await python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.makefile().readline()' "$PWD/qmp" 2>"$work/log/connect"
}

arch=x86_64
# shellcheck disable=SC2054 # commas of QEMU
nodes=(-object memory-backend-ram,id=n0,size=128M -object memory-backend-ram,id=n1,size=128M
	-numa node,memdev=n0 -numa node,memdev=n1)
# shellcheck disable=SC2054 # likewise
dimm=(-object memory-backend-memfd,id=d0,size=64M -device pc-dimm,memdev=d0,node=1)
loaders=()
put first 0x200000
put second 0x9000000
put third 0x101000000

t "x86_64: two nodes of one size, and a DIMM"
if ! command -v qemu-system-x86_64 >"$work/log/which"; then skip "needs QEMU"; else
	qemu -M q35 -m 256M,slots=2,maxmem=2G "${nodes[@]}" "${dimm[@]}" "${loaders[@]}" -device VGA
	for source in "qemu:$guest" "qemu:$PWD/qmp"; do
		has "$source" first 0x200000
		has "$source" second 0x9000000
		has "$source" third 0x101000000
		run atwalk info "$source"
		said_status=1 said_err=1
		yes grep -q "running guest of QEMU process $guest, 319.6M of RAM by its monitor" "$work/log/out"
		yes grep -q '^memory *0x0*100000000-' "$work/log/out"
		# ROMs and the memory of the graphics adapter are no RAM.
		yes test -z "$(grep '^memory *0x0*fd000000' "$work/log/out")"
	done
fi

t "a monitor that another client uses: the rule serves, without the DIMM"
if ! command -v qemu-system-x86_64 >"$work/log/which"; then skip "needs QEMU"; else
	exec 8< <(exec python3 -uc '
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.makefile().readline(), flush=True)
time.sleep(1000)' "$PWD/qmp")
	others+=($!)
	read -r -u 8 hello
	yes test -n "$hello"
	has "qemu:$guest" second 0x9000000
	err_has "atwalk: qemu:$guest: memory of devices of the guest (pc-dimm, nvdimm, virtio-mem, virtio-pmem) is not read"
	err_has "atwalk: qemu:$guest: the monitor at '$PWD/qmp' does not answer, as if another client used it"
	run atwalk rd --physical "qemu:$guest" 0x101000000
	status 4
	said_err=1
	has "qemu:$PWD/qmp" second 0x9000000
	err_has "the monitor at '$PWD/qmp' does not answer"
fi

t "arm64: a machine of which no rule is known"
arch=aarch64 loaders=()
put first 0x80200000
if ! command -v qemu-system-aarch64 >"$work/log/which"; then skip "needs QEMU"; else
	qemu -M xlnx-versal-virt -m 256M "${loaders[@]}"
	loaders=()
	run atwalk info "qemu:$guest"
	said_status=1 said_err=1
	cp "$work/log/out" info
	yes grep -q "running guest of QEMU process $guest, 256M of RAM by its monitor" info
fi

# ---- monitors that lie ----

guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -qmp "unix:$PWD/lies,server,nowait" \
	-says "$PWD/says"
atwalk ps tasks.kdump --format csv >want
ram=$(awk --non-decimal-data '{
	split($1, a, "-")
	if (("0x" a[2]) - ("0x" a[1]) == 268435456) print a[1]
}' "/proc/$guest/maps" | tail -n 1)
hello='{"QMP": {}}' fine='{"return": {}}' backends='{"return": [{"id": "a"}]}'
mtree() {
	printf '{"return": "FlatView #0\\r\\n AS \\"memory\\", root: x\\r\\n Root memory region: x\\r\\n'
	printf '  %s (prio 0, ram): a\\r\\n' "$@"
	printf '"}\n'
}
hva() { printf '{"return": "Host virtual address for 0x%s (a) is 0x%s\\r\\n"}\n' "$1" "$2"; }
says() { printf '%s\n' "$@" >says; }
# by_rule WHY: what it says is of no use, so the rule serves.
by_rule() {
	run atwalk ps "qemu:$PWD/lies" --format csv
	status 0
	same "$work/log/out" want
	err_is "atwalk: qemu:$PWD/lies: $1"
}

t "a monitor that speaks the truth"
says "$hello" '{"event": "X"}' "$fine" "$backends" \
	"$(mtree 0000000000000000-000000000fffffff 0000000100000000-00000001000001ff)" "$(hva 0 "$ram")"
run atwalk ps "qemu:$PWD/lies" --format csv
status 0
same "$work/log/out" want
run atwalk info "qemu:$PWD/lies"
said_status=1 said_err=1
yes grep -q "256M of RAM by its monitor" "$work/log/out"

t "--freeze: the layout is known before the process is stopped, which does not answer then"
run atwalk pages "qemu:$PWD/lies" --freeze --all --format csv
if grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err"; then
	skip "$(head -n 1 "$work/log/err")"
else
	status 0
	cp "$work/log/out" one
	run atwalk pages tasks.kdump --all --format csv
	same "$work/log/out" one
fi

t "not a monitor"
for line in 'QEMU 7.2.0 monitor - type help' '' '{}' '{"return": {}}' '{"QMP": '; do
	says "$line"
	by_rule "what is at '$PWD/lies' is not a monitor of QEMU \(QMP\)"
done

t "it refuses, or is not heard any more"
says "$hello" "$fine" '{"error": {"class": "X", "desc": "no such command"}}'
by_rule "the monitor at '$PWD/lies' refuses: no such command"
says "$hello" "$fine" "$backends" '{"return": 5}'
by_rule "the monitor at '$PWD/lies' shows no memory"
says "$hello" "$fine" "$backends"
by_rule "the monitor at '$PWD/lies' does not answer, as if another client used it"

t "no RAM, or not of the guest's backends"
says "$hello" "$fine" '{"return": [{"id": "b"}]}' "$(mtree 0000000000000000-000000000fffffff)"
by_rule "the monitor at '$PWD/lies' shows no RAM, or some of it twice"

t "memory twice"
says "$hello" "$fine" "$backends" \
	"$(mtree 0000000000000000-000000000fffffff 0000000000001000-0000000000001fff)" \
	"$(hva 0 "$ram")" "$(hva 1000 "$ram")"
by_rule "the monitor at '$PWD/lies' shows no RAM, or some of it twice"

t "memory that the process does not have"
says "$hello" "$fine" "$backends" "$(mtree 0000000000000000-0000000010000fff)" "$(hva 0 "$ram")"
by_rule "the process has no readable memory at 0x[0-9a-f]*, which is in the piece 0x0:0x$ram:0x10001000"
says "$hello" "$fine" "$backends" "$(mtree 0000000000000000-000000000fffffff)" "$(hva 0 1000)"
by_rule "the process has no readable memory at 0x1000, which is in the piece 0x0:0x1000:0x10000000"

t "an address of another place, or none"
for line in "$(hva 1000 "$ram")" "$(hva 0 fffffffffffff000)" "$(hva 0 "${ram%?}1")" '{"return": ""}'; do
	says "$hello" "$fine" "$backends" "$(mtree 0000000000000000-000000000fffffff)" "$line"
	by_rule "the monitor at '$PWD/lies' does not say where the process has 0x0 of the guest"
done

t "more pieces than are accepted"
mapfile -t many < <(for ((i = 0; i < 600; i++)); do printf '%016x-%016x\n' $((i * 8192)) $((i * 8192 + 4095)); done)
mapfile -t places < <(for ((i = 0; i < 600; i++)); do hva "$(printf %x $((i * 8192)))" "$ram"; done)
says "$hello" "$fine" "$backends" "$(mtree "${many[@]}")" "${places[@]}"
by_rule "the monitor at '$PWD/lies' has more than 512 pieces of RAM"

t "a line without end"
head -c 5000000 /dev/zero | tr '\0' x >says
by_rule "the monitor at '$PWD/lies' sends a line without end"

t "a socket of another process on the command line is not written to"
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -device pc-dimm,id=d -chardev \
	"socket,id=c,path=$PWD/lies,server=on,wait=off" -mon chardev=c,mode=control
run atwalk ps "qemu:$guest" --format csv
same "$work/log/out" want
said_status=1
err_has "atwalk: qemu:$guest: another process than $guest listens at '$PWD/lies'"

finish
