#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a command finds of a running kernel is kept for the next one, and is only ever a
# shorter way to the same answer.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

kept=$work/kept
export ATWALK_RUNTIME_DIR=$kept

reads() {
	atwalk "$@" -vv 2>&1 >"$work/log/traced" | grep '^atwalk: read'
}

guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump

t "a guest: a file of this user's alone"
run atwalk ps "qemu:$guest"
status 0
cp "$work/log/out" first
same <(ls "$kept") <(echo "guest-$guest-$(sed 's/.*) //' "/proc/$guest/stat" | cut -d ' ' -f 20)")
same <(stat -c %a "$kept" "$kept"/*) <(printf '700\n600\n')
file=$(echo "$kept"/*)

t "the next command has the same answer, and reads the text where it was"
run atwalk ps "qemu:$guest"
status 0
same "$work/log/out" first
reads ps "qemu:$guest" >few
ATWALK_RUNTIME_DIR='' reads ps "qemu:$guest" >all
at=$(atwalk info "qemu:$guest" | grep -o 'VMCOREINFO in memory at 0x[0-9a-f]*' | sed 's/.* //')
yes grep -q "^atwalk: read $at+" <(head -n 1 few)
yes [ "$(grep -c . few)" -lt "$(($(grep -c . all) - 2500))" ]

t "an empty name: nothing is kept, and nothing taken"
rm -r "$kept"
ATWALK_RUNTIME_DIR='' run atwalk ps "qemu:$guest"
status 0
same "$work/log/out" first
yes [ ! -e "$kept" ]

t "each byte of it damaged in turn: it is searched again, and the file replaced"
run atwalk ps "qemu:$guest"
cp "$file" whole
size=$(stat -c %s whole)
for at in 0 8 16 24 32 1000 $((size / 2)) $((size - 1)); do
	cp whole "$file"
	printf '\377' | dd of="$file" bs=1 seek="$at" conv=notrunc 2>>"$work/log/dd"
	run atwalk ps "qemu:$guest"
	status 0
	same "$work/log/out" first
	yes cmp -s whole "$file"
done

t "cut off at any length"
for bytes in 1 31 33 1000 $((size - 1)); do
	head -c "$bytes" whole >"$file"
	run atwalk ps "qemu:$guest"
	status 0
	same "$work/log/out" first
	yes cmp -s whole "$file"
done

t "a file of another guest"
{ kill -KILL "$guest" && wait "$guest"; } 2>>"$work/log/end"
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 x86.elf
# Its dump lacks the sections of memory, by which its kernel would prove the layout.
layout=$(awk --non-decimal-data '{
	split($1, a, "-")
	if (("0x" a[2]) - ("0x" a[1]) == 268435456) at = a[1]
} END { print "0:" at ":256M" }' "/proc/$guest/maps")
run atwalk info --layout "$layout" "qemu:$guest"
cp "$work/log/out" second
file=$kept/guest-$guest-$(sed 's/.*) //' "/proc/$guest/stat" | cut -d ' ' -f 20)
cp whole "$file"
run atwalk info --layout "$layout" "qemu:$guest"
same "$work/log/out" second
yes [ "$(find "$kept" -type f | wc -l)" -eq 1 ]

t "the running kernel: members and symbols are not searched again"
if [ "$(id -u)" -ne 0 ] || ! atwalk report use live --columns pid >"$work/log/live" 2>&1; then
	skip "the kernel cannot be read"
else
	run atwalk info live
	cp "$work/log/out" first
	run atwalk report use live --columns pid
	file=$kept/live-$(cat /proc/sys/kernel/random/boot_id)
	yes [ -f "$file" ]
	run atwalk info live
	# Free memory and the time differ.
	same <(grep -c . first) <(grep -c . "$work/log/out")
fi

t "the running kernel through BPF: damaged members are found again"
if [ -f "${file:-}-members" ]; then
	cp "$file-members" whole
	for at in 0 8 16 20 24 $(($(stat -c %s whole) - 1)); do
		cp whole "$file-members"
		printf '\377' | dd of="$file-members" bs=1 seek="$at" conv=notrunc 2>>"$work/log/dd"
		run atwalk info live:bpf
		status 0
		yes cmp -s whole "$file-members"
	done
else
	skip "the kernel is not read through BPF"
fi

t "what a file of the user's adds is not kept"
rm -rf "$kept"
echo 'ffffffff81000000 T _stext' >System.map
run atwalk ps "qemu:$guest" --kernel System.map
said_status=1 said_err=1
yes [ ! -e "$kept" ]

finish
