#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# map --large of a process in a guest: its pages, and those of the host below them, on
# processes that have a guest's RAM (tests/tools/vmram.c).
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"
need_tasks

columns=address,mapped,large,host_large,both,misaligned
# KiB of large pages that the kernel gave the process.
large() { awk '$1 == "AnonHugePages:" { n += $2 } END { print n + 0 }' "/proc/$guest/smaps"; }
# The lines about both translations, and their amounts in bytes.
both_translations() {
	run atwalk map "qemu:$guest" --task thp --large --units bytes
	sed -n '/^of the guest/,$p' "$work/log/out"
}
bytes() { awk -v text="$1" 'substr($0, 12) ~ "^" text { print $1 }' below; }

atwalk map tasks.kdump --task thp --large --format csv --columns address,mapped,large >want

t "a dump has no host"
run atwalk map tasks.kdump --task thp --large --format csv --columns host_large,both,misaligned
yes test "$(sort -u "$work/log/out")" = "$(printf ',,\nhost_large,both,misaligned')"
run atwalk map tasks.kdump --task thp --large
yes test -z "$(grep 'of the host' "$work/log/out")"

for kind in found found,memfd; do
	t "$kind: at addresses that differ modulo 2M, as QEMU maps files"
	guest qemu-system-x86_64 -m 256 -M q35 -x $kind 0 tasks.kdump
	run atwalk map "qemu:$guest" --task thp --large --format csv --columns $columns
	status 0
	cut -d, -f1-3 "$work/log/out" >got
	same got want
	yes test -z "$(awk -F, 'NR > 1 && ($4 || $5 || $6 != $2)' "$work/log/out")"
	mapped=$(awk -F, 'NR > 1 { n += $2 } END { print n }' "$work/log/out")
	both_translations >below
	yes test "$(bytes 'in large pages of the guest, at other')" = 2097152
	yes test "$(awk '$1 ~ /^[0-9]+$/ && !/modulo/ { n += $1 } END { print n }' below)" = "$mapped"
	yes grep -qx "$mapped lies at addresses of the guest and of its process that differ modulo 2M, so stage 2 cannot have large pages there: align the guest's memory (align=2M of QEMU's memory backend), or use hugetlb pages" below
done

t "in large pages of both"
guest qemu-system-x86_64 -m 256 -M q35 -x found,large 0 tasks.kdump
if [ "$(large)" -lt 4096 ]; then skip "the kernel gave no large pages"; else
	run atwalk map "qemu:$guest" --task thp --large --format csv --columns $columns
	status 0
	cut -d, -f1-3 "$work/log/out" >got
	same got want
	# One large page of the dump has data; the other two are not in it.
	yes grep -qx '0x00007ff0f2f01000,5226496,2097152,2097152,2097152,0' "$work/log/out"
	yes grep -qx '0x00007ff0f2c00000,2097152,2097152,0,0,0' "$work/log/out"
	yes test -z "$(awk -F, 'NR > 1 && ($6 || $4 > $2 || $5 > $4)' "$work/log/out")"
	host=$(awk -F, 'NR > 1 { n += $4 } END { print n }' "$work/log/out")
	mapped=$(awk -F, 'NR > 1 { n += $2 } END { print n }' "$work/log/out")
	both_translations >below
	yes test "$(bytes 'in large pages of both')" = 2097152
	yes test "$(bytes 'in small pages of the guest, on large')" = $((host - 2097152))
	yes test "$(awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n }' below)" = "$mapped"
	yes test -z "$(grep modulo below)"
	# The same lines below the ranges of a process.
	run atwalk map "qemu:$guest" --task thp --units bytes
	sed -n '/^of the guest/,$p' "$work/log/out" >got
	same got below
fi

finish
