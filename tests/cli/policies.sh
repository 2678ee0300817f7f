#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each policy that comes with atwalk is violated by a dump, a capture or a program that does
# just that, is reported with its place, and no other one is.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if ! grep -q 'found:.* inih' "$built/found.txt"; then
	t "policies need libinih"
	skip "this build has no libinih"
	finish
fi
need_tasks
v=$O/tests/tools/violate

# ---- a dump of a guest that keeps the policies, and what damages it ----

atwalk extract -q --pages -o clean.elf tasks.kdump >"$work/log/extract"
root=$(atwalk ps --format csv --columns root --filter pid=99 clean.elf | sed -n 's/^0x//p')
# The direct map is as far from physical addresses as the kernel's pointer to the root.
offset=$((16#$(poke clean.elf 'task:99.task_struct.mm*.mm_struct.pgd*') - 16#$root))

# at_physical DUMP HEX BYTES: writes there.
at_physical() { yes poke "$1" "$(printf %x $((16#$2 + offset)))" "$3"; }
# entry DUMP LEVEL ADDRESS [OPTION...]: the physical address of a page-table entry.
entry() {
	atwalk walk "${@:4}" -p --format csv --columns level,entry_at "$1" "$3" | sed -n "s/^$2,0x//p"
}
# vma DUMP PID START: the place of its vm_area_struct, in a leaf of the tree.
vma() {
	local child slot place tree="task:$2.task_struct.mm*.mm_struct.mm_mt.ma_root@.maple_arange_64.slot"

	for child in 0 8 10 18; do
		for slot in 0 8 10 18 20 28 30 38 40 48 50 58 60 68 70; do
			place="$tree+$child@.maple_range_64.slot+$slot*"
			[ "$(poke "$1" "$place.vm_area_struct.vm_start*" 2>"$work/log/poke")" = "$3" ] || continue
			echo "$place"
			return
		done
	done
}

# Process 101 was made to have pages that are writable and executable.
for page in 7ff0f35{de,df,e0,e1,e2,e3,e4,e5}000; do
	at_physical clean.elf "$(entry clean.elf PTE "$page" --pid 101)" 65
done
yes poke clean.elf "$(vma clean.elf 101 7ff0f35de000).vm_area_struct.vm_flags" 75
# The extract has zeroes there.
yes poke clean.elf __supported_pte_mask ffffffffffffffff

# Struct pages of page tables are not in the dump.
unknown='page tables in memory of another use
page tables that are none to the kernel'

t "a guest that keeps them"
run atwalk audit --format csv --columns policy --filter violated clean.elf
status 4
out <<<policy
err_is 'atwalk: clean.elf: 2 of 14 policies cannot be decided'
run atwalk audit --format csv --columns policy --filter unknown clean.elf
status 4
out <<<"policy
$unknown"
err_is 'atwalk: clean.elf: 2 of 14 policies cannot be decided'

# violates POLICY WHAT: bad.elf does, because of this row, and no other policy is violated.
violates() {
	run atwalk audit --format csv --columns policy,what --filter violated bad.elf
	[ "$1" = 'page-table isolation' ] || [ "$1" = 'write protection in the kernel' ] || status 1
	out <<<"policy,what
$1,$2"
	said_status=1 said_err=1
}
# The bits of an entry are in its bytes 0 and 7.
damage() {
	local at

	at=$(entry bad.elf "${@:3}")
	[ -z "$1" ] || at_physical bad.elf "$at" "$1"
	[ -z "$2" ] || at_physical bad.elf "$(printf %x $((16#$at + 7)))" "$2"
}

t "kernel W+X"
cp clean.elf bad.elf
damage '' 00 PTE ffffffffc0393000
violates 'kernel W+X' 'address=0xffffffffc0393000 end=0xffffffffc0394000 rights=rwx- state=present area=modules'

t "kernel text writable"
cp clean.elf bad.elf
damage 63 80 PTE ffffffffaa600000
violates "kernel text writable" "address=0xffffffffaa600000 end=0xffffffffaa601000 rights=rw-- state=present area='kernel text'"

t "kernel memory for user mode"
cp clean.elf bad.elf
damage 67 '' PTE ffffffffc0393000
violates "kernel memory for user mode" "address=0xffffffffc0393000 end=0xffffffffc0394000 rights=rw-u state=present area=modules"

t "process W+X: an area"
cp clean.elf bad.elf
yes poke bad.elf "$(vma bad.elf 99 401000).vm_area_struct.vm_flags" 77
violates "process W+X" "address=0x401000 end=0x4a9000 rights=rwxu pid=99 task=thp area=/init"

t "process W+X: a page that is mapped against its area"
cp clean.elf bad.elf
damage 27 '' PTE 404000 --pid 99
violates "process W+X pages" "pid=99 task=thp address=0x404000 rights=rwxu state=present area=/init"

t "writable here and executable there: a frame of two addresses"
cp clean.elf bad.elf
at_physical bad.elf "$(entry bad.elf PTE 400000 --pid 99)" 67d0830f00000080
violates "writable here and executable there" "physical=0xf83d000 size=4096 address=0x400000 pid=99 and address=0x401000 pid=1"

t "page tables for user mode: a page table mapped as memory"
cp clean.elf bad.elf
at_physical bad.elf "$(entry bad.elf PTE 400000 --pid 99)" 25d0f10300000080
violates "page tables for user mode" "physical=0x3f1d000 size=1 address=0x400000 pid=99 and address=0x400000 pid=99"

t "page tables in memory of another use: in a page of a heap"
cp clean.elf bad.elf
frame=$(atwalk walk --pid 99 --format csv --columns physical bad.elf 21e77000 | sed -n 's/^0x0*\(.*\)000$/\1/p')
at_physical bad.elf "$(entry bad.elf PTE 21e77000 --pid 99)" 0000000000000000
at_physical bad.elf "$(entry bad.elf PMD 600000 --pid 99)" "67$(printf %016x $((16#$frame << 12)) | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\7\6\5\4\3\2\1/')"
violates 'page tables in memory of another use' \
	"\"pid=99 task=thp address=0x600000 state=table pageflags=UPTODATE,LRU,MMAP,ANON,SWAPBACKED,OWNER_2\""

t "page tables that are none to the kernel: the struct page is of no kind"
yes poke bad.elf "page:$frame.page.flags" 0000000000000000
yes poke bad.elf "page:$frame.page.mapping" 0000000000000000
violates 'page tables that are none to the kernel' "pid=99 task=thp address=0x600000 pageflags=MMAP"

t "page-table isolation: no tables for user mode beside those of the kernel"
cp clean.elf bad.elf
at_physical bad.elf 8411000 4096x00
violates "page-table isolation" "fact=protection value='page-table isolation: off'"

t "no-execute"
cp clean.elf bad.elf
yes poke bad.elf __supported_pte_mask ffffffffffffff7f
violates no-execute "fact=protection value='NX: off (__supported_pte_mask)'"

# register FROM TO: in the notes of both CPUs.
register() {
	cp clean.elf bad.elf
	python3 -c '
import sys
old, new = (bytes.fromhex(x) for x in sys.argv[1:])
with open("bad.elf", "r+b") as file:
    core = file.read(1 << 16)
    assert core.count(old) == 2
    file.seek(0)
    file.write(core.replace(old, new))' "$@"
}

t "write protection in the kernel, SMEP, SMAP: bits of CR0 and CR4"
register 3300058000000000 3300048000000000
violates "write protection in the kernel" "fact=protection value='WP: off (CR0.WP)'"
register 0e75000000000000 0e65000000000000
violates 'supervisor execution prevention' "fact=protection value='SMEP: off (CR4.SMEP)'"
register 0e75000000000000 0e55000000000000
violates 'supervisor access prevention' "fact=protection value='SMAP: off (CR4.SMAP)'"

# ---- captures ----

# two NODE CPU MIB MORE: a process that last ran on a CPU has memory on two nodes.
two() {
	cat <<-END
		H: atwalk-capture, 1
		H: page, 4096
		H: nodecpus.0, 0-1
		H: nodecpus.1, 2-3
		R: 00000000, 0FFFFFFF, System RAM, node=0
		R: 10000000, 1FFFFFFF, System RAM, node=1
		T: a, 7, FFFF888100000000, $1, 0, 0, 0, 0, 0, 0
		V: 7F0000000000, 7F001FFFFFFF, 20000000, $(printf %X $((($2 + $3) << 20))), -, 00000075, /bin/a
		M: 7F0000000000*$(($2 * 256))=00010012, 1, 1000, refs=1 | 7F0010000000*$(($3 * 256))=10001012, 1, 1000, refs=1 |
		E: 9, 1, 1, 0
	END
}
memory() {
	run atwalk check --format csv --columns policy,verdict,what memory two.cap
	said_status=1 said_err=1
}

t "remote memory: 100 MiB on the node that the process did not run on"
two 0 5 100 >two.cap
memory
out <<'END'
policy,verdict,what
heap in large pages,ok,""
memory on one node,ok,""
memory of a remote node,violated,pid=7 task=a node=1 rss=104857600 share=0.952 place=remote
END
two 3 5 100 >two.cap
memory
yes grep -qx 'memory of a remote node,ok,""' "$work/log/out"

t "memory on two nodes, where the process ran is not known"
two 9 100 100 >two.cap
memory
out <<'END'
policy,verdict,what
heap in large pages,ok,""
memory on one node,violated,pid=7 task=a node=0 rss=104857600 share=0.500; pid=7 task=a node=1 rss=104857600 share=0.500
memory of a remote node,unknown,values are not known in 2 rows
END

# ---- programs ----

# looked OPTION... -- COMMAND...: the policies that it violates at its mark.
looked() {
	atwalk check -q --at usr1 --format csv --columns policy --filter violated security "$@" |
		sed 1d
}
undecided=$(atwalk check -q --at usr1 --format csv --columns policy --filter unknown security -- \
	"$v" mark=10 2>"$work/log/err")
plain=$(looked -- "$v" mark=10 2>"$work/log/err")

t "a program with a page that is writable and executable"
if [[ $undecided == *"process W+X"* ]] || ! atwalk probe >"$work/log/probe" 2>&1; then
	skip "page tables of this machine cannot be read"
else
	looked -- "$v" wx mark=10 >got
	yes cmp <(printf '%s\n' ${plain:+"$plain"} 'process W+X' 'process W+X pages' | sort) <(sort got)
fi

t "one page that a process writes and another one executes"
if [[ $undecided == *"process W+X pages"* ]]; then
	skip "page tables of this machine cannot be read"
else
	mkfifo in
	"$v" file stay alias=x end alias=w say=ready hold <in >said &
	parent=$!
	exec 8>in
	await grep -q ready said
	child=$(cat "/proc/$parent/task/$parent/children")
	child=${child% }
	sed -n '/^\[writable here/,/^because/p' "$top/policies/security.ini" |
		sed "s/^over = .*/& --filter 'pid=$parent or pid=$child'/" >alias.ini
	run atwalk check --format csv --columns policy,verdict,count,what alias.ini live
	status 1
	said_err=1               # other processes change while they are listed
	yes grep -Eqx "writable here and executable there,violated,4096,physical=0x[0-9a-f]* size=4096 address=0x120000000000 pid=$parent and address=0x130000000000 pid=$child" "$work/log/out"
	exec 8>&-
	wait "$parent"
fi

t "a heap of small pages"
if ! atwalk check -q -o null memory -- true >"$work/log/out" 2>&1; then
	skip "processes of this machine cannot be read"
else
	for size in 4063232 4259840; do
		atwalk check -q --format csv --columns policy --filter violated memory -- "$v" "heap=$size"
	done >got
	yes cmp got - <<<"policy
policy
heap in large pages"
fi

finish
