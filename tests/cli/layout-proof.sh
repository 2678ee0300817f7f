#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A layout by the rule of a machine that is not the guest's: its kernel disproves it. The
# processes are those of tests/tools/vmram.c: their command line has less memory below 4 GiB
# than their guest.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# The address of the guest's memory in hexadecimal.
mapped() {
	awk --non-decimal-data '{
		split($1, a, "-")
		if (("0x" a[2]) - ("0x" a[1]) == 268435456) print a[1]
	}' "/proc/$guest/maps" | tail -n 1
}
below=(-m 256 -M 'q35,max-ram-below-4g=192M' -x)
# Its list of sections lies in the last page of the guest but some.
why='kernel address 0xffff89578ffd9000: its page at 0xffd9000 is not in the source'
atwalk ps tasks.kdump --format csv >want
yes test "$(wc -l <want)" -gt 60

t "no other way: an error with the layout that it was"
guest qemu-system-x86_64 "${below[@]}" found 0 tasks.kdump
at=$(mapped)
upper=$(printf %x $((0x$at + 0xc000000)))
run atwalk ps "qemu:$guest"
status 3
no_out
err_has "atwalk: qemu:$guest: its RAM is not where machine 'q35' has it: $why; it was 0:$at:0xc000000,100000000:$upper:0x4000000"
err_has "        specify it with --layout GPA:HVA:LEN,..."
run atwalk ps --layout "0:$at:256M" "qemu:$guest" --format csv
status 0
same "$work/log/out" want

t "by its monitor"
says() { printf '%s\n' '{"QMP": {}}' '{"return": {}}' '{"return": [{"id": "a"}]}' "$@" >says; }
tree() {
	printf '{"return": "FlatView #0\\r\\n AS \\"memory\\", root: x\\r\\n Root memory region: x\\r\\n'
	printf '  %s (prio 0, ram): a\\r\\n' "$@"
	printf '"}\n'
}
hva() { printf '{"return": "Host virtual address for 0x%s (a) is 0x%s\\r\\n"}\n' "$1" "$2"; }
says ''
guest qemu-system-x86_64 "${below[@]}" found,memfd 0 tasks.kdump -qmp "unix:$PWD/qmp,server,nowait" -says "$PWD/says"
at=$(mapped)
says "$(tree 0000000000000000-000000000fffffff)" "$(hva 0 "$at")"
run atwalk ps "qemu:$guest" --format csv
status 0
same "$work/log/out" want
err_is "atwalk: qemu:$guest: its RAM is not where machine 'q35' has it \($why\): the answer of its monitor is used"

t "a monitor that has the same layout: it is right, whatever the kernel has"
upper=$(printf %x $((0x$at + 0xc000000)))
says "$(tree 0000000000000000-000000000bffffff 0000000100000000-0000000103ffffff)" "$(hva 0 "$at")" \
	"$(hva 100000000 "$upper")"
run atwalk ps "qemu:$guest" --columns pid,task --format csv
said_status=1
yes test -z "$(grep 'not where machine' "$work/log/err")"

t "a monitor that is of no use"
says '{"error": {"class": "X", "desc": "no"}}'
run atwalk ps "qemu:$guest" --format csv
status 3
no_out
err_has "atwalk: qemu:$guest: its RAM is not where machine 'q35' has it: $why"

t "by KVM's memory slots"
if [ ! -w /dev/kvm ]; then
	skip "/dev/kvm cannot be opened"
elif ! atwalk info -q live:bpf >"$work/log/live" 2>&1; then
	skip "this kernel cannot be read: $(head -n 1 "$work/log/live")"
else
	guest qemu-system-x86_64 "${below[@]}" found 0 tasks.kdump -accel kvm:0
	run atwalk ps "qemu:$guest" --format csv
	status 0
	same "$work/log/out" want
	err_is "atwalk: qemu:$guest: its RAM is not where machine 'q35' has it \($why\): the memory slots of KVM are used"
fi

finish
