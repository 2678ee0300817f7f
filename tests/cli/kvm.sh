#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kvm:PID on virtual machines of KVM without a CPU: the memory slots that a process
# (tests/tools/vmram.c) has given to KVM are read from this kernel, and what is in them is
# what was copied there.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

t "not the number of a process"
for word in 0 99999999999; do
	run atwalk ps "kvm:$word"
	status 2
	no_out
	err_is "atwalk: kvm:$word: '$word' is not a PID"
done
run atwalk ps kvm:
status 2
no_out
err_is "atwalk: kvm:: the PID, the name or a monitor socket of a guest is missing"
run atwalk ps kvm:nobody
status 3
no_out
err_is "atwalk: kvm:nobody: there is no process with a guest named 'nobody'"
run atwalk ps kvm:1 -S part
status 2
no_out
err_is "atwalk: kvm:1: a process has no further parts"

if [ ! -w /dev/kvm ]; then
	t "guests"
	skip "/dev/kvm cannot be opened"
	finish
	exit
fi
if ! atwalk info -q live:bpf >"$work/log/live" 2>&1; then
	t "guests"
	skip "this kernel cannot be read: $(head -n 1 "$work/log/live")"
	finish
	exit
fi

t "the guest of another program is that of its dump"
guest firecracker -m 256 -M q35 -x found 0 tasks.kdump --id web -accel kvm:0
atwalk ps tasks.kdump --format csv >wanted
yes test "$(wc -l <wanted)" -gt 60
for word in "$guest" web; do
	run atwalk ps "kvm:$word" --format csv
	out <wanted
done
atwalk pages --totals tasks.kdump --format csv >wanted
run atwalk pages --totals "kvm:$guest" --format csv
out <wanted
run "$built/tests/tools/samemem" tasks.kdump "kvm:$guest"
said_status=1
yes grep -q ' same, 0 differ, 0 unreadable, 0 only in A ' "$work/log/out"

t "what it is"
run atwalk info "kvm:$guest" --format csv
yes grep -qx "format,\"running guest of process $guest, 256M of RAM by KVM's memory slots\"" "$work/log/out"

t "vms reads it, and has its RAM from there"
tasks=$(atwalk ps tasks.kdump --columns pid --format csv | tail -n +2 | wc -l)
run atwalk vms "$guest" --format csv --columns name,vmm,ram,tasks,release
out <<END
name,vmm,ram,tasks,release
web,firecracker,268435456,$tasks,$(atwalk info tasks.kdump --format csv | sed -n 's/^release,//p')
END

t "RAM that begins elsewhere, of a program that nothing is known of"
guest sandbox -m 384 -M virt -x memfd 40000000 arm64.elf -accel kvm:40000000
run "$built/tests/tools/samemem" arm64.elf "kvm:$guest"
said_status=1
yes grep -q ' same, 0 differ, 0 unreadable, 0 only in A ' "$work/log/out"

t "no virtual machine, none with memory, two"
guest qemu-system-x86_64 -m 16 -M q35 -x anon 0 x86.elf
run atwalk ps "kvm:$guest"
status 3
no_out
err_is "atwalk: kvm:$guest: the process has no virtual machine of KVM"
guest firecracker -m 16 -M q35 -x anon 0 x86.elf -accel kvm
run atwalk ps "kvm:$guest"
status 3
no_out
err_is "atwalk: kvm:$guest: its virtual machine has no memory yet"
guest firecracker -m 16 -M q35 -x anon 0 x86.elf -accel kvm2
run atwalk ps "kvm:$guest"
status 3
no_out
err_is "atwalk: kvm:$guest: the process has more than one virtual machine"

t "no process"
run atwalk ps kvm:4194305
status 3
no_out
err_is "atwalk: kvm:4194305: there is no process 4194305"

finish
