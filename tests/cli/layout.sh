#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --layout GPA:HVA:LEN,...: where the process of a guest has its RAM, as the user says. The
# processes are those of tests/tools/vmram.c.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# The address of the mapping of that size in hexadecimal.
mapped() {
	awk -v size="$1" --non-decimal-data '{
		split($1, a, "-")
		if (("0x" a[2]) - ("0x" a[1]) == size) print a[1]
	}' "/proc/$guest/maps" | tail -n 1
}
# What the process has in memory.
cost() { grep -E '^(VmRSS|Rss|VmPTE|VmSwap)' "/proc/$guest/status"; }

root=$(atwalk info tasks.kdump | awk '$1 == "root" { print $2 }')
same_as_dump() {
	run atwalk map --all --format csv --columns address,physical,page,rights tasks.kdump
	status 0
	mv "$work/log/out" want
	cost >before
	run atwalk map --all --format csv --columns address,physical,page,rights "$@" \
		--root "$root" --paging x86_64-4
	status 0
	same "$work/log/out" want
	cost >after
	same after before
}

t "a machine of which no rule is known: guesses, and the option"
guest qemu-system-x86_64 -m 256 -M xenfv -x memfd 0 tasks.kdump
at=$(mapped $((256 << 20)))
run atwalk ps "qemu:$guest"
status 3
no_out
err_has "atwalk: qemu:$guest: where the machine 'xenfv' of QEMU has its RAM is not known; perhaps "
err_has "0:$at:0x10000000"
err_has "        specify it with --layout GPA:HVA:LEN,..."

t "that guess as the layout: memory is that of the dump, and nothing is allocated"
same_as_dump --layout "0:$at:0x10000000" "qemu:$guest"
run atwalk info --layout "0:$at:256M" "qemu:$guest"
said_status=1 said_err=1
yes grep -q "running guest of process $guest, 256M of RAM by the layout that was given" "$work/log/out"

t "in pieces, in any order"
half=$(printf %x $((0x$at + (128 << 20))))
same_as_dump --layout "8000000:0x$half:128M,0:$at:128M" "qemu:$guest"

t "what no piece has is no memory"
run atwalk rd --physical --layout "0:$at:4K,2000:$at:4K" "qemu:$guest" 0x1000
status 4
yes grep -q '^0x0*1000 .* lost$' "$work/log/out"
said_err=1

t "no mapping of the size on the command line: guesses"
guest qemu-system-x86_64 -m 250 -M q35 -x less 0 x86.elf
run atwalk ps "qemu:$guest"
status 3
no_out
err_has "process $guest has no mapping of 250M"
err_has "0:$(mapped $((125 << 20))):0x7d00000"
err_has "        specify it with --layout GPA:HVA:LEN,..."

t "any program: nothing is read of this machine's kernel"
guest firecracker -m 256 -M q35 -x anon 0 tasks.kdump
at=$(mapped $((256 << 20)))
same_as_dump --layout "0:$at:256M" "kvm:$guest"

t "outside of what the process has"
end=$(printf %x $((0x$at + (256 << 20))))
for layout in "0:$at:0x10001000" "0:$end:4K" "0:1000:4K" "0:$at:256M,10000000:1000:4K" \
	"0:ffffffffff600000:4K"; do
	run atwalk ps --layout "$layout" "kvm:$guest"
	status 3
	no_out
	err_is "atwalk: kvm:$guest: the process has no readable memory at 0x[0-9a-f]*, which is in the piece 0x[0-9a-f]*:0x[0-9a-f]*:0x[0-9a-f]*"
done

t "by the library and its Python module"
python=/usr/bin/python3          # the module was built for its headers
if ! [ -e "$built/python/atwalk/_atwalk.abi3.so" ]; then
	skip "it was built without python3-dev"
elif grep -qE -- '-fsanitize|--coverage' "$built/flags" || [ -n "${WRAP:-}" ]; then
	skip "the module is instrumented, and python3 is not"
else
	cat >open.py <<'END'
import sys

import atwalk

root = int(sys.argv[3], 16)
with atwalk.open(sys.argv[1], layout=sys.argv[2], paging='x86_64-4', root=root) as guest:
    print(guest.read(root, 4096).hex())
END
	PYTHONPATH=$built/python "$python" -c 'import atwalk, sys
print(atwalk.open("tasks.kdump").read(int(sys.argv[1], 16), 4096).hex())' "$root" >want
	PYTHONPATH=$built/python run "$python" open.py "kvm:$guest" "0:$at:256M" "$root"
	status 0
	same "$work/log/out" want
	PYTHONPATH=$built/python run "$python" open.py "kvm:$guest" "0:1000:4K" "$root"
	said_status=1
	no_out
	yes grep -q 'atwalk.*Error: ' "$work/log/err"
	said_err=1
fi

t "no layout"
# shellcheck disable=SC2043 # others are in tests/unit/format_vmm.c
for layout in '' x 0:1000 "0:$at:1" "0:$at:256M,0:$at:4K" "0:$at:256M,"; do
	run atwalk ps --layout "$layout" "kvm:$guest"
	status 2
	no_out
	err_has 'atwalk: --layout: '
done
run atwalk ps --layout "0:$at:256M,0:$at:4K" "kvm:$guest"
status 2
err_is "atwalk: --layout: two pieces have the address 0x0 of the guest"

t "not a guest"
for source in tasks.kdump live live:pagemap; do
	run atwalk ps --layout "0:$at:256M" "$source"
	status 2
	no_out
	err_is "atwalk: --layout: '$source' is not a running guest \(qemu:PID, kvm:PID\)"
done
run atwalk diff --layout "0:$at:256M" "kvm:$guest" tasks.kdump
status 2
no_out
err_has "--layout: it is not known which of the sources it belongs to"
run atwalk vms --layout "0:$at:256M"
status 2
no_out
err_has "--layout cannot be used with 'vms'"

finish
