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
run atwalk ps kvm:none
status 3
no_out
err_is "atwalk: kvm:none: there is no process with a guest named 'none'"
run atwalk ps kvm:1 -S part
status 2
no_out
err_is "atwalk: kvm:1: a process has no further parts"

if [ ! -w /dev/kvm ]; then
	t "guests"
	skip "/dev/kvm cannot be opened"
	finish
fi
if ! atwalk info -q live:bpf >"$work/log/live" 2>&1; then
	t "guests"
	skip "this kernel cannot be read: $(head -n 1 "$work/log/live")"
	finish
fi

t "the guest of another program is that of its dump"
guest firecracker -m 256 -M q35 -x found 0 tasks.kdump --id web -accel kvm:0
atwalk ps tasks.kdump --format csv >wanted
yes test "$(wc -l <wanted)" -gt 60
first=$guest
for word in "$guest" web; do
	run atwalk ps "kvm:$word" --format csv
	out <wanted
done
atwalk pages --totals tasks.kdump --format csv >wanted
run atwalk pages --totals "kvm:$guest" --format csv
out <wanted
found=$guest
guest firecracker -m 256 -M q35 -x anon 0 tasks.kdump -accel kvm:0
plain=$guest guest=$found
run "$built/tests/tools/samemem" tasks.kdump "kvm:$plain"
said_status=1
yes grep -q ' same, 0 differ, 0 unreadable, 0 only in A ' "$work/log/out"

t "the same guest by the page tables of its process: kvm:PID@SOURCE"
atwalk ps tasks.kdump --format csv >wanted
run atwalk ps "kvm:$guest@live" --format csv
out <wanted
atwalk pages --totals tasks.kdump --format csv >wanted
run atwalk pages --totals "kvm:$guest@live" --format csv
out <wanted
run "$built/tests/tools/samemem" tasks.kdump "kvm:$plain@live"
said_status=1
yes grep -q ' same, 0 differ, 0 unreadable, 0 only in A ' "$work/log/out"
run atwalk map "kvm:$guest@live" --pid 1 --freeze
status 2
no_out
err_is "atwalk: --freeze: kvm:$guest@live runs in no process of this machine"

t "a layout of the guest's RAM is not one of its host"
hva=$(atwalk walk "kvm:$guest" init_task --nested --format csv --columns physical,hva | sed -n 2p)
layout=0:$(printf %x $((${hva#*,} - ${hva%,*}))):256M
atwalk walk "kvm:$guest" init_task -p --nested --format csv >wanted
run atwalk walk "kvm:$guest" init_task -p --nested --layout "$layout" --format csv
out <wanted
run atwalk ps "kvm:$guest@live" --layout "$layout"
status 2
no_out
err_is "atwalk: --layout: it is read from the kernel of the host"

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

t "--nested: where the host has it is what its pagemap has"
run atwalk walk "kvm:$first" init_task -p --nested --format csv --columns physical,hva,hpa,host_page,host_state
cp "$work/log/out" path
yes test "$(wc -l <path)" = 4
run atwalk walk "kvm:$first" --pid 1 0-7fffffffefff -p --nested --format csv --columns physical,hva,hpa,host_page,host_state
said_status=1
cat path "$work/log/out" >rows
run python3 - "$first" rows <<'E'
import csv, sys
seen = {'present': 0, 'absent': 0}
with open(f'/proc/{sys.argv[1]}/pagemap', 'rb') as f:
    for row in csv.DictReader(open(sys.argv[2])):
        if row['hva'] in ('hva', ''):
            continue
        hva = int(row['hva'], 16)
        f.seek(hva >> 12 << 3)
        word = int.from_bytes(f.read(8), 'little')
        seen[row['host_state']] += 1
        want = ('', '')
        if word >> 63:
            want = (str((word & (1 << 55) - 1) << 12 | hva & 4095), '4096')
        have = str(int(row['hpa'], 16)) if row['hpa'] else ''
        if (have, row['host_page']) != want:
            print(row, want)
print(seen['present'] > 4, seen['absent'] > 0)
E
out <<'E'
True True
E

t "find live --guests: from a frame of this host to the processes of the guest"
columns=pid,task,address,end,physical,level,entry_at,area,flags
python3 - rows >frames <<'E'
import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1])) if row['hpa'] not in ('', 'hpa')]
for row in rows[::len(rows) // 5 or 1]:
    print(row['physical'], row['hpa'], row['hva'])
E
yes test "$(wc -l <frames)" -ge 5
while read -r physical frame address; do
	atwalk find tasks.kdump "$physical" --columns "$columns" --format csv |
		sed -n '2,$s/^/web,/p' | sort >wanted
	run atwalk find live "$frame" --guests --columns "guest,$columns" --format csv
	said_status=1 said_err=1
	yes test -s wanted
	same <(grep '^web,' "$work/log/out" | sort) wanted
	# The process that runs it has the frame as well.
	yes grep -q "^,$first,firecracker,$address," "$work/log/out"
done <frames

t "--guests: a frame that no guest has, and sources without guests"
run atwalk find live 0 --guests
said_status=1 said_err=1
yes grep -q '^0 virtual machines have that as their RAM, and were searched$' "$work/log/out"
run atwalk find x86.elf 0 --guests
status 2
no_out
err_has 'atwalk: --guests: only the running kernel has them, by its page tables: live'

t "--nested: of a running guest alone, and without cache lines"
run atwalk walk x86.elf 0 --nested
status 2
no_out
err_has "atwalk: --nested: 'x86.elf' is not a guest (qemu:PID, kvm:PID, kvm:PID@SOURCE)"
run atwalk walk "kvm:$first" 0 --nested -c 64
status 2
no_out
err_has "--nested and --cache-line cannot be combined"

t "stage 2 of a machine without a CPU: none, so each page that the host has is not mapped there"
run atwalk vms "$first" --format csv --columns pid,stage2,s2_root
out <<END
pid,stage2,s2_root
$first,none,
END
run atwalk walk "kvm:$first" init_task -p --nested --format csv --columns host_state,s2_hpa,s2_page,s2_rights,s2_state,s2_differs
out <<'END'
host_state,s2_hpa,s2_page,s2_rights,s2_state,s2_differs
present,,,,absent,unmapped
present,,,,absent,unmapped
absent,,,,absent,
END
run atwalk walk "kvm:$first" init_task --nested
said_status=1
yes grep -qx 'no CPU of the guest has tables of stage 2: it has not run' "$work/log/out"
yes test "$(head -n 1 "$work/log/out" | tr -s ' ')" = \
	'ADDRESS PHYSICAL LEVEL HPA HOST_PAGE S2_PAGE S2_DIFFERS'
yes test "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' "$work/log/out")" -le 100

t "stage 2 of a machine that has run: of the page that its CPU wrote"
guest firecracker -m 256 -M q35 -x found 0 tasks.kdump -accel kvm-run:0
if grep -q 'cannot run' ready; then
	skip "a virtual machine does not run here: $(cat ready)"
else
	atwalk vms "$guest" --format csv --columns stage2 >mode
	mode=$(sed -n 2p mode)
	at=$(atwalk find "kvm:$guest" 5000 --format csv --columns address | sed -n 2p)
	run atwalk walk "kvm:$guest" "$at" --nested --format csv --columns physical,hpa,s2_hpa,s2_page,s2_state,s2_differs
	said_status=1 said_err=1
	IFS=, read -r physical hpa s2_hpa s2_page s2_state differs < <(tail -n 1 "$work/log/out")
	case $mode in
	shadow)
		yes test "$physical,$s2_hpa,$s2_page,$s2_state,$differs" = 0x0000000000005000,,,,
		run atwalk walk "kvm:$guest" "$at" --nested
		said_status=1 said_err=1
		yes grep -qx "KVM shadows the guest's page tables, so there are none of stage 2" "$work/log/out" ;;
	npt-4 | npt-5 | ept-4 | ept-5)
		yes test "$physical,$s2_hpa,$s2_page,$s2_state,$differs" = \
			"0x0000000000005000,$hpa,4096,present," ;;
	*)
		yes test "$mode" = "a mode" ;;
	esac
fi

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
