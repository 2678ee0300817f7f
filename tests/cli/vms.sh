#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk vms, on processes of QEMU's name that have a guest's RAM (tests/tools/vmram.c).
# tests/vm/checks/outside is about real guests.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

columns='name,vmm,arch,ram,swapped,tasks,release,hostname'

t "a guest: what runs in it is that of its dump"
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -name guest=web,debug-threads=on
tasks=$(atwalk ps tasks.kdump --columns pid --format csv | tail -n +2 | wc -l)
release=$(atwalk info tasks.kdump --format csv | sed -n 's/^release,//p')
yes test "$tasks" -gt 60
run atwalk vms "$guest" --format csv --columns "$columns"
status 4
err_has "atwalk: process $guest (qemu-system-x86_64): hostname: the source does not have it"
out <<END
name,vmm,arch,ram,swapped,tasks,release,hostname
web,qemu,x86_64,268435456,0,$tasks,$release,
END

t "what is known of all is a complete answer"
run atwalk vms "$guest" --format csv --columns pid,tasks,release
status 0
out <<END
pid,tasks,release
$guest,$tasks,$release
END

t "resident and large pages are those of smaps_rollup"
sum() { awk -v keys="$1" 'index(keys, $1 " ") { n += $2 * 1024 } END { print n }' "/proc/$guest/smaps_rollup"; }
run atwalk vms "$guest" --format csv --columns resident,swapped,large
status 0
out <<END
resident,swapped,large
$(sum 'Rss: Shared_Hugetlb: Private_Hugetlb: '),$(sum 'Swap: '),$(sum 'AnonHugePages: ShmemPmdMapped: FilePmdMapped: Shared_Hugetlb: Private_Hugetlb: ')
END

t "all of the host: that one is among them, and this process is not"
run atwalk vms --format csv --columns pid,name --filter name=web
status 0
yes grep -qx "$guest,web" "$work/log/out"
run atwalk vms --format csv --columns pid
said_status=1 said_err=1
yes test -z "$(grep -x "$$" "$work/log/out")"

t "a guest of which nothing is found: its cost, and a reason"
first=$guest
guest qemu-system-aarch64 -m 384 -M virt -x anon 40000000 arm64.elf -id 104
run atwalk vms "$guest" "$first" --format csv --columns name,arch,ram,tasks
status 4
err_has "atwalk: qemu:$guest: no kernel was found in the guest: it has not booted so far, or it does not run Linux"
err_has '        start it, if it is paused, and try again when it has booted'
yes test -z "$(grep -e --root "$work/log/err")"
out <<END
name,arch,ram,tasks
104,arm64,402653184,
web,x86_64,268435456,$tasks
END

two_guests() {
	out <<'END'
NAME                RAM
104                384M
web                256M
(sum)              640M

2 virtual machines
END
}

t "sorted, filtered and summed up as any listing"
run atwalk vms "$guest" "$first" --columns name,ram --sort ram:desc
status 0
two_guests
run atwalk vms "$guest" "$first" --columns name --filter 'ram<300M' --format csv
status 0
out <<'END'
name
web
END

t "the number is that of the rows"
run atwalk vms "$guest" "$first" --columns name --filter 'ram<300M'
status 0
out <<'END'
NAME
web

1 virtual machine
END
run atwalk vms "$guest" "$first" --columns name --filter 'ram>1G'
status 0
out <<'END'
NAME

0 virtual machines
END

t "one row for a guest, however often its process is given"
run atwalk vms "$guest" "$first" "0$guest" "$first" --columns name,ram
status 0
two_guests

t "a guest that has not started: no kernel, and no option of other commands"
run atwalk report backing "qemu:$guest"
status 3
no_out
err_has "atwalk: qemu:$guest: no kernel was found in the guest: it has not booted so far, or it does not run Linux"
err_has '        start it, if it is paused, and try again when it has booted'
yes test -z "$(grep -e --root "$work/log/err")"

t "a size that is not one"
guest qemu-system-x86_64 -m 256 -M q35 -x anon 0 x86.elf -m nonsense
run atwalk vms "$guest" --format csv --columns name,ram
status 4
err_has "atwalk: process $guest (qemu-system-x86_64): RAM: 'nonsense' in its command line is not a size of memory"
out <<'END'
name,ram
,
END

t "programs of other kinds"
for program in firecracker cloud-hypervisor crosvm; do
	guest $program -m 256 -M q35 -x anon 0 x86.elf --id fc1 --name fc1
	run atwalk vms "$guest" --format csv --columns name,vmm,ram,tasks
	status 4
	err_has "atwalk: kvm:$guest: "
	err_has "atwalk: process $guest ($program): RAM: the size of its RAM is not on the command line of $program"
	out <<END
name,vmm,ram,tasks
fc1,$program,,
END
done

t "another program that uses KVM"
rm -f ready
python3 -c '
import fcntl, os, time
machine = fcntl.ioctl(os.open("/dev/kvm", os.O_RDWR), 0xae01, 0)
print("ready", flush=True)
time.sleep(1000)' >ready 2>"$work/log/kvm" &
guest=$!
others+=("$guest")
# shellcheck disable=SC2317 # by await
said() { [ -s ready ] || [ -s "$work/log/kvm" ]; }
await said
if [ ! -s ready ]; then
	skip "KVM cannot be used"
else
	run atwalk vms "$guest" --format csv --columns pid,vmm
	status 0
	out <<END
pid,vmm
$guest,kvm
END
fi

t "not a virtual machine"
run atwalk vms $$
status 1
no_out
err_is "atwalk: process $$ does not run a virtual machine"

t "no process"
run atwalk vms 4194305
status 1
no_out
err_is 'atwalk: there is no process 4194305'

for word in 0 99999999999; do
	t "not a process number: $word"
	run atwalk vms $word
	status 2
	no_out
	err_has "'$word' is not a process number"
done

t "a SOURCE that is none, and one that lacks the files of processes"
run atwalk vms web
status 3
no_out
err_is 'atwalk: web: No such file or directory'
run atwalk vms tasks.kdump --format csv --columns pid
status 4
out <<'END'
pid
END
err_is 'atwalk: tasks.kdump: whether 22 processes run virtual machines cannot be read: the source lacks the files of the process'
truncate -s 1M empty.raw
run atwalk vms raw:empty.raw
status 3
no_out
err_is "atwalk: raw:empty.raw: no page-table root was found: no VMCOREINFO note, no VMCOREINFO in memory that leads to a kernel, and no CPU's CR3"
run atwalk ps raw:empty.raw
status 3
err_has '        specify it with --root PHYS --paging MODE'
run atwalk vms tasks.kdump 1
status 3
no_out
err_is 'atwalk: process 1: the source lacks the files of the process'
run atwalk vms tasks.kdump 70000
status 1
no_out
err_is 'atwalk: there is no process 70000'
run atwalk vms tasks.kdump x
status 2
no_out
err_has "'x' is not a process number"
run atwalk ps kvm:1@tasks.kdump
status 3
no_out
err_is 'atwalk: kvm:1@tasks.kdump: the source lacks the files of the process'
run atwalk ps kvm:70000@tasks.kdump
status 3
no_out
err_is 'atwalk: kvm:70000@tasks.kdump: there is no process 70000'
run atwalk ps kvm:1@
status 2
no_out
err_is 'atwalk: kvm:1@: the SOURCE of the host is missing'
run atwalk ps kvm:0@tasks.kdump
status 2
no_out
err_is "atwalk: kvm:0@tasks.kdump: '0' is not a PID"
run atwalk map kvm:1@tasks.kdump --pid 1 --freeze
status 3
no_out
err_is 'atwalk: kvm:1@tasks.kdump: the source lacks the files of the process'
run atwalk ps kvm:1@none.elf
status 3
no_out
err_is 'atwalk: kvm:1@none.elf: none.elf: No such file or directory'

t "without privilege: command line and resident memory, and why not more"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
else
	guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -name web
	chmod 755 "$work" "$work/cwd"
	cp "$built/atwalk" copy && chmod 755 copy
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./copy vms "$guest" \
		--format csv --columns name,arch,ram,swapped,large,tasks
	status 4
	err_has "atwalk: process $guest (qemu-system-x86_64): memory on swap and in large pages: /proc/$guest/smaps_rollup: Permission denied"
	err_has "atwalk: qemu:$guest: process $guest cannot be examined: Permission denied"
	out <<'END'
name,arch,ram,swapped,large,tasks
web,x86_64,268435456,,,
END
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./copy vms "$guest" \
		--format csv --columns name,swapped,tasks --allow-unreadable
	status 0
	err_has "/proc/$guest/smaps_rollup: Permission denied"
	out <<'END'
name,swapped,tasks
web,,
END
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./copy vms "$guest" \
		--format csv --columns name,resident --filter 'resident>10M'
	status 0
	yes grep -q '^web,[0-9]*$' "$work/log/out"
fi
finish
