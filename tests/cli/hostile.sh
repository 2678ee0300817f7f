#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Corrupt kernel memory: lists and trees with cycles, invalid pointers, huge lengths. Valid
# parts are listed with exit status 4 and the reason; without any the status is 3; and no
# command hangs.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
need_tasks
atwalk extract -q --pages -o whole.elf tasks.kdump >/dev/null || exit 1

# at PLACE: its address in the complete dump; fresh: makes d.elf an undamaged copy.
at() { poke whole.elf "$1"; }
fresh() { cp whole.elf d.elf; }
hit() {
	local to=$2

	[[ $to != =* ]] || to="=$(at "${to#=}")"
	yes poke d.elf "$(at "$1")" "$to"
}

ask() {
	local wanted=$1 sentence=$2

	shift 2
	run timeout "$limit" "$O/atwalk" "$@" d.elf
	status "$wanted"
	[ -z "$sentence" ] || err_has "$sentence"
}

# The same for commands with words after SOURCE.
ask_of() {
	local wanted=$1 sentence=$2 command=$3

	shift 3
	run timeout "$limit" "$O/atwalk" "$command" d.elf "$@"
	status "$wanted"
	[ -z "$sentence" ] || err_has "$sentence"
}

rows() {
	[ -z "$wrong$skipping" ] || return 0
	[ "$(sed 1d "$work/log/out" | wc -l)" = "$1" ] ||
		bad "$last_run: $(sed 1d "$work/log/out" | wc -l) rows, not $1"
}

# Every command ends with status 0 to 4, and with a message from status 3 on. With ATWALK_FEW
# each damage is seen by a few of them, in turn.
turn=0
everything() {
	local words

	[ -z "${WRAP:-}" ] || return 0
	for words in 'ps -q' 'ps -T' pages 'pages -q --areas-only' 'pages --totals' 'map --pid 99' map 'walk 401000' 'find 9220000' \
		info 'info -v' collect 'extract -o x.elf' 'extract --pages -o x.elf'; do
		turn=$((turn + 1))
		[ -z "${ATWALK_FEW:-}" ] || [ $((turn % 5)) -eq 0 ] || continue
		case $words in
		walk* | find*) set -- "${words% *}" d.elf "${words#* }" ;;
		*) read -ra words <<<"$words"; set -- "${words[@]}" d.elf ;;
		esac
		run timeout "$limit" "$O/atwalk" "$@"
		said_status=1 said_err=1
		yes [ "$rc" -le 4 ]
		[ "$rc" -lt 3 ] || yes [ -s "$work/log/err" ]
	done
}

# ---- tasks ----

list=task_struct.tasks
thp=$(at task:99)
link=$(at task:99.$list)

t "tasks: a link to itself; the rest of the list is reached backwards"
fresh
hit task:99.$list =task:99.$list
ask 4 "d.elf: the list of tasks is broken at the task at 0x$thp: the link at 0x$link leads to 0x$link, and that one's back to" \
	ps --format csv
rows 75
ask 4 "not every task could be read" pages -q --areas-only --group pid --format csv
rows 22
ask_of 4 "not every process could be read" walk 7ff0f34ee000
ask 4 "not every process could be read; process 103 (swap) may not be the only match" \
	map --task swap
ask 3 "there is no process named 'absent' of those that could be read: the list of tasks is broken" \
	map --task absent
ask 0 "" map --pid 103
ask_of 4 "cannot read 1 task and 0 address spaces" find 9220000
ask 4 "cannot read 1 task and 0 address spaces" extract -o x.elf
everything

t "tasks: a link to an earlier one, past init_task"
fresh
hit task:99.$list =task:90.$list
ask 4 "the list of tasks is broken at the task at 0x$thp" ps --format csv
rows 75

t "tasks: a cycle without init_task, with both ends broken"
fresh
hit task:99.$list =task:90.$list
hit task:90.$list+8 =task:99.$list
ask 4 "2 read errors" ps --format csv
everything

t "tasks: a link to an unmapped address"
fresh
hit task:99.$list 0000000000abffff
ask 4 "at the task at 0x$thp: kernel address 0xffffab0000000008 is not mapped" ps --format csv
rows 75

t "tasks: links that are invalid or misaligned"
fresh
hit task:99.$list dec0adde55aa55aa
ask 4 "0xaa55aa55deadc0e6 is not an address that x86_64-4 can translate" ps --format csv
rows 75
hit task:99.$list =task:100.$list+3
ask 4 "the list of tasks is broken at the task at 0x$thp" ps --format csv
rows 75

t "tasks: both links of init_task are broken: no tasks"
fresh
hit init_task.$list =task:99.$list+1
hit init_task.$list+8 =task:99.$list+1
ask 4 "0 tasks are listed" ps --format csv
rows 0
ask 3 "d.elf: no process with an address space was found" pages -q --areas-only
everything

t "threads: a link to itself"
fresh
hit task:93.task_struct.thread_node =task:93.task_struct.thread_node
ask 4 "the threads of process 92: the link at 0x$(at task:93.task_struct.thread_node) leads to" \
	ps -T --format csv
rows 76
everything

t "an impossible PID"
fresh
hit task:99.task_struct.pid ffffffff
ask 4 "task at 0x$thp: has number 4294967295 of process 99, which cannot be" ps --format csv
rows 74
everything

# ---- address spaces ----

mm=$(at 'task:99.task_struct.mm*')

t "mm is invalid; mm of another kind of object"
fresh
hit task:99.task_struct.mm dec0adde55aa55aa
ask 4 "process 99: mm at 0xaa55aa55deadc0de: kernel address: 0xaa55aa55deadc126 is not an address" ps
ask 3 "mm at 0xaa55aa55deadc0de" map --pid 99
ask 4 "thp: mm at 0xaa55aa55deadc0de" pages -q --areas-only
ask_of 4 "cannot read 0 tasks and 1 address space; mappings may be missing: process 99" find 9220000
ask 4 "cannot read 0 tasks and 1 address space: process 99" extract -o x.elf
everything
hit task:99.task_struct.mm =task:103
ask 3 "mm at 0x$(at task:103)" map --pid 99
everything

t "pgd is invalid; points to zeroes; to the tables of another process"
fresh
hit "$mm.mm_struct.pgd" dec0adde55aa55aa
ask 3 "mm at 0x$mm: kernel address: 0xaa55aa55deadc0de is not an address" map --pid 99
ask 4 "process 99: mm at 0x$mm" ps
everything
hit "$(at "$mm.mm_struct.pgd*")" 8192x00
hit "$mm.mm_struct.pgd" "=$mm.mm_struct.pgd*"
ask 1 "" map --pid 99
everything
hit "$mm.mm_struct.pgd" '=task:103.task_struct.mm*.mm_struct.pgd*'
ask 0 "" map --pid 99
everything

t "the same large pages, mapped by every entry of every table"
pud=$(at "$mm.mm_struct.pgd*")
map=$(at 'page_offset_base*')
leaf='' other='' top=''
for ((i = 0; i < 512; i++)); do            # frame i GiB; the same frames, and more
	leaf+=e70000$(printf '%02x' $((i % 4 << 6)))00000000
	other+=$(printf 'e70000%02x%02x%02x0000' $((i % 4 << 6)) $((i / 4)) $((i / 64)))
done
read -r one two < <(atwalk walk -p --pid 99 whole.elf 401000 --format csv --columns physical |
	sed -n '2,3s/^0x0*//p' | paste -sd ' ')
for ((i = 0; i < 256; i++)); do
	[ $((i % 2)) = 0 ] && to=$one || to=$two
	to=$(printf '%016x' $((16#$to | 0x67)))
	top+=${to:14:2}${to:12:2}${to:10:2}${to:8:2}${to:6:2}${to:4:2}${to:2:2}${to:0:2}
done
fresh
hit "$map+$one" "$leaf"
hit "$map+$two" "$other"
hit "$pud" "$top"
hit "$pud+1000" "$top"
ask 0 "" ps
ask 0 "" extract --pages -o x.elf
ask 0 "" pages --pid 99 --group state
ask_of 0 "" find -q 9220000 --group task

# Entries of half a TiB each, present and without permissions: not walked page by page.
t "leaf entries in the top-level table: sums and listings end"
none='' some=''
for ((i = 0; i < 255; i++)); do
	none+=0001000000000000
	some+=$(printf '00018000%02x000000' $((i & 127)))
done
for claims in "$none" "$some"; do
	fresh
	hit "$pud+8" "$claims"
	hit "$pud+1008" "$claims"
	ask 0 "" pages --totals --pid 99 --format csv --columns mapped,task
	out <<-'END'
		mapped,task
		140187733196800,thp
	END
	ask 0 "" ps --format csv --columns pid,resident
	run timeout "$limit" "$O/atwalk" pages --all --pid 99 d.elf
	status 0
	yes grep -q '^257 large pages are each one row' "$work/log/out"
done

# ---- areas ----

root=$(at "$mm.mm_struct.mm_mt.ma_root")
node=$(at "$root@")
leaf=$(at "$node.maple_arange_64.slot@")
slot=$leaf.maple_range_64.slot
area=$(at "$slot+8*")

t "areas: a node with slots that point to itself"
fresh
for i in 0 8 10; do
	hit "$node.maple_arange_64.slot+$i" "=$root*-2"
done
ask 4 "thp: mm at 0x$mm: node at 0x$node of its tree: its parent is 0x" pages -q --areas-only
ask_of 4 "2 areas or area names could not be read; names may be missing: thp: mm at" find 9220000
ask 4 "cannot read every area and name of 1 address space: process 99: mm at" extract -o x.elf
ask 0 "" map --pid 99
everything

t "areas: a node of unknown type; an invalid root; no root"
fresh
hit "$root" "=$root*+60"
ask 4 "node at 0x$node of its tree is of no known type" pages -q --areas-only --pid 99
hit "$root" dec0adde55aa55aa
ask 4 "of its tree is of no known type" pages -q --areas-only --pid 99
hit "$root" 00e0ffff00f0ffff
ask 4 "0xfffff000ffffe000 is not the root of a tree" pages -q --areas-only --pid 99
hit "$root" 1ef0ffff00f0ffff
ask 4 "a node of its tree: kernel address 0xfffff000fffff000 is not mapped" pages -q --areas-only --pid 99
everything

t "areas: an area that ends before it starts"
fresh
hit "$area.vm_area_struct.vm_end" 0010000000000000
ask 4 "area at 0x$area: goes from 0x400000 to 0x1000" pages -q --areas-only --pid 99
everything

t "areas: an area across all others, which are still listed"
fresh
hit "$area.vm_area_struct.vm_end" 00f0ffffff7f0000
ask 4 "area at 0x$area: its tree has it from 0x400000 to 0x400fff" pages -q --areas-only --pid 99 --format csv
yes grep -q ',\[stack\]$' "$work/log/out"
yes [ "$(wc -l <"$work/log/err")" = 1 ]
everything

t "areas: an area that overlaps the one before"
fresh
second=$(at "$slot+18*")
hit "$second.vm_area_struct.vm_start" 0000400000000000
ask 4 "area at 0x$second: begins at 0x400000, where the one before it has not ended" pages -q --areas-only --pid 99
everything

t "areas: zero pivots, and equal slots"
fresh
hit "$leaf.maple_range_64.pivot" 120x00
ask 4 "its tree has it from 0x1 to" pages -q --areas-only --pid 99
for i in 0 8 10 18 20 28; do
	hit "$slot+$i" "=$area"
done
ask 4 "area at 0x$area: its tree has it from" pages -q --areas-only --pid 99
everything

# ---- names of files ----

file=$(at "$area.vm_area_struct.vm_file*")
dentry=$(at "$file.file.f_path.dentry*")

t "files: an invalid pointer"
fresh
hit "$area.vm_area_struct.vm_file" dec0adde55aa55aa
ask 4 "thp: kernel address: 0xaa55aa55deadc" pages -q --areas-only --pid 99
everything

t "files: a dentry that is its own parent"
fresh
hit "$dentry.dentry.d_parent" "=$dentry"
ask 0 "" pages -q --areas-only --pid 99 --format csv --group area
everything

t "files: two dentries that are each other's parent"
slots='task:86.task_struct.mm*.mm_struct.mm_mt.ma_root@.maple_arange_64.slot@.maple_range_64.slot'
for ((i = 8; i < 128; i += 8)); do         # another file of the same folder
	shared=$(at "$slots+$(printf %x $i)*.vm_area_struct.vm_file*.file.f_path.dentry*" 2>/dev/null)
	[ "$shared" != "$dentry" ] && [ -n "$shared" ] &&
		[ "$(at "$shared.dentry.d_parent*")" = "$(at "$dentry.dentry.d_parent*")" ] && break
done
fresh
hit "$dentry.dentry.d_parent" "=$shared"
hit "$shared.dentry.d_parent" "=$dentry"
ask 4 "thp: a path without an end" pages -q --areas-only --pid 99
ask 4 "process 1: a path without an end" extract -o x.elf
everything

t "files: an overlong name"
fresh
hit "$dentry.dentry.d_name.len" ffffffff
ask 4 "thp: dentry at 0x$dentry: its name has 4294967295 bytes" pages -q --areas-only --pid 99
everything

t "files: mounts in a cycle"
vfsmount=$(at "$file.file.f_path.mnt*")
mount=$(printf %x $((16#$vfsmount - (16#$(at 1000.mount.mnt) - 4096))))
fresh
for m in "$mount" "$mount+40"; do
	hit "$m.mount.mnt+0.vfsmount.mnt_root" "=$dentry"
	hit "$m.mount.mnt_mountpoint" "=$dentry"
done
hit "$mount.mount.mnt_parent" "=$mount+40"
hit "$mount+40.mount.mnt_parent" "=$mount"
ask 4 "thp: mounts without an end" pages -q --areas-only --pid 99
yes [ "$(wc -l <"$work/log/err")" -le 8 ]
everything

# ---- struct page, swap ----

t "struct page: a folio with a distant head, or with the page as its own head"
for to in 0101ffffffffffff 0100000000000000 =page:9220+1 =page:9221+1 =page:9221+9; do
	fresh
	hit page:9220.page.compound_head "$to"
	ask 4 "struct pages: page frame 0x9220 belongs to a folio without a head: compound_head is 0x" \
		pages --pid 99
done
everything

t "struct page: all bits set"
fresh
hit page:9220 64xff
ask 4 "struct pages: page frame 0x9220 belongs to a folio without a head" pages --pid 99
everything

t "struct page: a slab of a cache with an invalid name"
fresh
hit page:9220.page.flags 0002000000000000
hit page:9220.slab.slab_cache =page:9220
ask 0 "" pages --pid 99 --address 41e000
everything

t "swap: an invalid device; another number; an invalid file"
fresh
hit swap_info dec0adde55aa55aa
ask 4 "swapped pages: swap device 0: kernel address: 0xaa55aa55deadc" pages --pid 103
hit swap_info =task:1
ask 4 "swapped pages: swap device 0: " pages --pid 103
fresh
hit 'swap_info*.swap_info_struct.swap_file' dec0adde55aa55aa
ask 4 "swapped pages: swap device 0: kernel address: 0xaa55aa55deadc" pages --pid 103
everything

# ---- symbols ----

no_symbol="cannot look up 'init_task': cannot read the kernel's symbols: "

t "symbols: far too many, and none"
fresh
hit kallsyms_num_syms ffffffff
ask_of 3 "d.elf: ${no_symbol}kallsyms_num_syms is 4294967295" walk init_task
ask 0 "" ps
ask 0 "" info --filter 'fact=symbols' --format csv
yes grep -q '^symbols,none: kallsyms_num_syms is 4294967295$' "$work/log/out"
everything
hit kallsyms_num_syms 00000000
ask_of 3 "${no_symbol}kallsyms_num_syms: 0 symbols do not lie in" walk init_task
everything

t "symbols: names beyond the end"
for what in 700000xff 700000x00 700000x80; do
	fresh
	hit kallsyms_names $what
	ask_of 3 "${no_symbol}kallsyms_names: name " walk init_task
	ask 0 "" ps
	everything
done

t "symbols: tokens outside of their table, or without an end"
fresh
hit kallsyms_token_index 512xff
ask_of 3 "${no_symbol}kallsyms_token_index: token 0 at 0xffff does not end in the" walk init_task
everything
fresh
hit kallsyms_token_table 900xff
ask_of 3 "${no_symbol}kallsyms_token_index: token 0 at 0x0 does not end in the" walk init_task
everything

t "symbols: impossible addresses"
fresh
hit kallsyms_relative_base 8xff
ask_of 3 "${no_symbol}kallsyms_offsets: _stext, symbol " walk init_task
everything
fresh
hit kallsyms_offsets 300000xff
everything

# ---- types ----

btf=$(at __start_BTF)
no_tasks="d.elf: the list of tasks cannot be found: the kernel's types at 0x$btf (__start_BTF): "

t "types: implausible lengths and offsets in the header"
for field in 4 8 c 10 14; do
	fresh
	hit "$btf+$field" ffffffff
	ask 3 "${no_tasks}BTF header: " ps
	ask 3 "${no_tasks}BTF header: " pages
done
everything

t "types: unknown kinds; types without contents"
fresh
hit "$btf+18" 4096xff
ask 3 "$no_tasks" ps
everything
fresh
hit "$btf+18" 4096x00
ask 3 "$no_tasks" ps
everything

t "types: no BTF at its symbol"
fresh
hit "$btf" 64x00
ask 3 "${no_tasks}is not BTF" ps
everything

# ---- CPUs, modules ----

t "CPUs: implausibly many; invalid offsets"
fresh
hit nr_cpu_ids ffffffff
ask 0 "" info --filter 'fact=per-cpu' --format csv
yes grep -q '^per-cpu,not known: nr_cpu_ids is 4294967295$' "$work/log/out"
everything
hit nr_cpu_ids 00000100
hit __per_cpu_offset 16xff
everything

t "modules: a cyclic list"
first=$(at 'btf_modules*')
fresh
hit "$first" "=$first"
ask 0 "" info --filter 'fact="module types"' --format csv
yes grep -q "not known: their list is broken: 0x$first leads to 0x$first, and" "$work/log/out"
everything

finish
