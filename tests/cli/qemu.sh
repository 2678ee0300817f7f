#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# qemu:PID, without QEMU: processes of its name have the memory of small dumps, as QEMU
# would (tests/tools/vmram.c). tests/vm/checks/outside is about real guests.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# What the process has in memory, and the size of its memfd there.
cost() {
	grep -E '^(VmRSS|Rss|VmPTE|VmSwap|HugetlbPages)' "/proc/$guest/status"
	for fd in "/proc/$guest/fd/"*; do
		case $(readlink "$fd") in
		*memfd*) stat -L -c 'blocks %b' "$fd" ;;
		esac
	done
}

# equals DUMP: all memory that it has is the guest's; the guest has zeroes elsewhere.
equals() {
	run "$built/tests/tools/samemem" "$1" "qemu:$guest"
	said_status=1
	yes grep -q ' same, 0 differ, 0 unreadable, 0 only in A ' "$work/log/out"
}

t "not the PID of QEMU"
sleep 1000 &
others+=($!)
await grep -q sleep "/proc/$!/comm"
run atwalk ps "qemu:$!"
status 3
no_out
err_is "atwalk: qemu:$!: process $! is '[a-z]*', not QEMU \(qemu-system-ARCH, qemu-kvm, kvm\)"

t "no process"
run atwalk ps qemu:4194305
status 3
no_out
err_is 'atwalk: qemu:4194305: there is no process 4194305'

t "nothing behind the colon"
run atwalk ps qemu:
status 2
no_out
err_has 'atwalk: qemu:: the PID, the name or a monitor socket of a guest is missing'

for word in 0 99999999999; do
	t "not a PID: '$word'"
	run atwalk ps "qemu:$word"
	status 2
	no_out
	err_is "atwalk: qemu:$word: '$word' is not a PID"
done

t "a name that no guest has"
run atwalk ps qemu:0x10
status 3
no_out
err_is "atwalk: qemu:0x10: there is no process of QEMU with a guest named '0x10'"

t "by name"
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -name "guest=w$$,debug-threads=on"
run atwalk ps "qemu:$guest" --format csv
status 0
mv "$work/log/out" want
run atwalk ps "qemu:w$$" --format csv
status 0
same "$work/log/out" want

t "two of that name"
guest qemu-system-x86_64 -m 256 -M q35 -x anon 0 x86.elf -name "w$$"
run atwalk ps "qemu:w$$"
status 2
no_out
err_is "atwalk: qemu:w$$: 2 guests are named 'w$$': processes [0-9]*, [0-9]*"

t "by a socket that is not that of a monitor, which is not connected to"
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -qmp "unix:$PWD/qmp,server"
run atwalk ps "qemu:$PWD/qmp" --format csv
status 0
same "$work/log/out" want
# A connection that nothing accepts waits there.
yes test "$(ss -xlH src "$PWD/qmp" | awk '{ print $3 }')" = 0

t "a socket of another process, or none"
run atwalk ps "qemu:$PWD/other"
status 3
no_out
err_is "atwalk: qemu:$PWD/other: no process listens at a socket of that path"

t "a guest in a dump of its host"
run atwalk ps "qemu:5@$PWD/tasks.kdump"
status 3
no_out
err_has "atwalk: qemu:5@$PWD/tasks.kdump: no process listens at a socket of that path"
err_has '        a guest in the memory of another host is kvm:PID@SOURCE'
run atwalk ps qemu:5@tasks.kdump
status 3
no_out
err_has '        a guest in the memory of another host is kvm:PID@SOURCE'

# A mapping may have 128 huge pages that are not in the pool; they are freed with it.
more=/proc/sys/vm/nr_overcommit_hugepages
allow_huge() { had=$(cat $more) && echo $((had + 128)) >$more; } 2>"$work/log/huge"

for kind in anon memfd hugetlb; do
	t "$kind: tasks and pages are those of the dump, and nothing is allocated"
	had=
	if [ $kind = hugetlb ] && ! allow_huge; then
		skip "cannot write to $more"
		continue
	fi
	guest qemu-system-x86_64 -m 256 -M q35 -x $kind 0 tasks.kdump
	[ -z "$had" ] || echo "$had" >$more
	cost >before
	yes test -s before
	[ $kind != hugetlb ] || yes grep -q '^HugetlbPages:.*[1-9]' before
	equals tasks.kdump
	# The dump has VMCOREINFO in a note only.
	root=$(atwalk info tasks.kdump | awk '$1 == "root" { print $2 }')
	for listing in 'ps --columns pid,task,mm,root' \
		'map --all --columns address,physical,page,rights'; do
		# shellcheck disable=SC2086 # several words
		run atwalk $listing --format csv tasks.kdump
		status 0
		mv "$work/log/out" want
		# shellcheck disable=SC2086 # several words
		run atwalk $listing --format csv "qemu:$guest" --root "$root" --paging x86_64-4
		status 0
		same "$work/log/out" want
	done
	cost >after
	same after before

	t "$kind: info names the process and the machine"
	run atwalk info "qemu:$guest"
	said_status=1 said_err=1
	yes grep -q "running guest of QEMU process $guest, machine q35, 256M of RAM" "$work/log/out"
done

t "arm64: RAM begins at 1 GiB"
guest qemu-system-aarch64 -m 384 -M virt -x anon 40000000 arm64.elf
equals arm64.elf

t "riscv64: RAM begins at 2 GiB"
guest qemu-system-riscv64 -m 320 -M virt -x anon 80000000 riscv.elf
equals riscv.elf

t "two mappings of that size: RAM is the one that forks do not get"
guest qemu-system-x86_64 -m 256 -M q35 -x two 0 x86.elf
equals x86.elf

t "no mapping of that size"
guest qemu-system-x86_64 -m 250 -M q35 -x less 0 x86.elf
run atwalk ps "qemu:$guest"
status 3
no_out
err_has "atwalk: qemu:$guest: the RAM of the guest was not found: process $guest has no mapping of 250M, the largest has "
# Not a power of two: sanitizers map such sizes themselves, and larger ones.
grep -q -- '-fsanitize' "$built/flags" || err_has "the largest has 125M; perhaps 0:"

t "a machine of which the layout is not known"
guest qemu-system-x86_64 -m 256 -M xenfv -x anon 0 x86.elf
run atwalk ps "qemu:$guest"
status 3
no_out
err_has "atwalk: qemu:$guest: where the machine 'xenfv' of QEMU has its RAM is not known"

t "encrypted guests: a sentence each"
for pair in "sev-guest,id=s=encrypted (SEV): only the guest can read it" \
	"sev-snp-guest,id=s=encrypted (SEV-SNP): only pages that it shares are read" \
	"tdx-guest,id=t=encrypted (TDX): only pages that it shares are read"; do
	guest qemu-system-x86_64 -m 256 -M q35 -x anon 0 x86.elf -object "${pair%=*}"
	run atwalk info "qemu:$guest" --format csv
	said_status=1 said_err=1
	yes grep -qF "the guest's memory is ${pair##*=}" "$work/log/out"
done

t "an architecture that is not supported"
guest qemu-system-s390x -m 256 -M virt -x anon 0 x86.elf
run atwalk ps "qemu:$guest"
status 3
no_out
err_is "atwalk: qemu:$guest: guests of 'qemu-system-s390x' are not supported: only those of x86_64, aarch64 and riscv64"

t "a process of another user"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
else
	guest qemu-system-x86_64 -m 256 -M q35 -x anon 0 x86.elf
	chmod 755 "$work" "$work/cwd"
	cp "$built/atwalk" copy && chmod 755 copy
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./copy ps "qemu:$guest"
	status 3
	no_out
	err_has "atwalk: qemu:$guest: process $guest cannot be examined: Permission denied"
fi
finish
