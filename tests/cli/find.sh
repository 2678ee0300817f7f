#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# find lists all mappings of a page. Processes are checked on real kernels in tests/vm; the
# small dumps have no tasks.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

no_tasks='cannot search the page tables of processes: the list of tasks cannot be found'

t "a page: all addresses of the kernel and of the tables of a CPU without a task"
run atwalk find x86.elf f9d9000
status 4
err_has "$no_tasks"
golden find-x86-page

t "the address of a byte, which walk translates back"
run atwalk find -q x86.elf 8000123 --format csv --columns address,physical
status 4
err_has "$no_tasks"
out <<'E'
address,physical
0xffff8b3ac8000123,0x0000000008000123
0xffffffff91400123,0x0000000008000123
E
run atwalk walk x86.elf ffff8b3ac8000123 ffffffff91400123 --format csv --columns address,physical
out <<'E'
address,physical
0xffff8b3ac8000123,0x0000000008000123
0xffffffff91400123,0x0000000008000123
E

t "a range is clipped, and adjacent pages are one row"
run atwalk find -q x86.elf 8dff800-8e01800 --format csv --columns address,end,size,physical,page,pages
status 4
err_has "$no_tasks"
out <<'E'
address,end,size,physical,page,pages
0xffff8b3ac8dff800,0xffff8b3ac8e00000,2048,0x0000000008dff800,2097152,1
0xffff8b3ac8e00000,0xffff8b3ac8e01800,6144,0x0000000008e00000,4096,2
0xffffffff921ff800,0xffffffff92200000,2048,0x0000000008dff800,2097152,1
0xffffffff92200000,0xffffffff92201800,6144,0x0000000008e00000,4096,2
E

t "A+LENGTH is the same range"
cp "$work/log/out" range
run atwalk find -q x86.elf 8dff800+8K --format csv --columns address,end,size,physical,page,pages
status 4
err_has "$no_tasks"
same "$work/log/out" range

t "--cpu: only these tables, and the result is complete"
run atwalk find -q x86.elf --cpu 1 f9d9000+28K --format csv --columns task,address,end,state --filter user
out <<'E'
task,address,end,state
[given],0x0000000000401000,0x0000000000408000,present
E

t "a table: the entries on the path of walk -p"
run atwalk walk -p x86.elf _stext --format csv --columns physical,level,index,entry_at --filter table
tail -n +2 "$work/log/out" >path
while IFS=, read -r physical level index entry_at; do
	run atwalk find -q x86.elf "$physical" --format csv --columns task,level,index,entry_at --filter table
	status 4
	err_has "$no_tasks"
	yes grep -qxF "[kernel],$level,$index,$entry_at" "$work/log/out"
done <path
yes [ "$(wc -l <path)" = 2 ]

t "the kernel's entry in the root of a process is another one"
run atwalk find -q x86.elf "$(head -n 1 path | cut -d , -f 1)" --format csv --columns task,level,index --filter table
status 4
err_has "$no_tasks"
out <<'E'
task,level,index
[cpu 0],PGD,511
[cpu 1],PGD,511
[kernel],PGD,511
E

t "a root table has no entry"
run atwalk find -q x86.elf 3ea6000 --format csv --columns task,state,entry_at --filter table
status 4
err_has "$no_tasks"
out <<'E'
task,state,entry_at
[cpu 1],table,
E

t "a frame that was excluded from the dump: reported as such, and its mappings are found"
run redump x86.elf kdump-zlib excluded.kd --exclude-range 1055000-1056000
for frame in 1055008 1054000+8K; do
	run atwalk find --cpu 1 excluded.kd $frame --format csv --columns address,physical,state
	status 4
	yes grep -qx '0xffff8b3ac105[45].*,0x000000000105[45].*,present' "$work/log/out"
	err_has "excluded.kd: $frame was excluded when the dump was made; only its mappings are known"
	err_has '(0 not in the source, 1 excluded, 0 damaged)'
done
run atwalk find --cpu 1 excluded.kd 1054000 --format csv --columns address
status 4
err_is 'atwalk: excluded.kd: cannot read 1 page table (*'

t "repeated mappings are one row with their number"
run atwalk map x86.elf --filter repeat --format csv --columns address,repeat
first=$(sed -n 2p "$work/log/out" | cut -d , -f 1)
at=$(printf '%x' $((first - 0x200000)))
run atwalk map --all x86.elf "$at+2M" --format csv --columns physical --filter present
physical=$(sed -n 2p "$work/log/out")
run atwalk find -q x86.elf "$physical" --format csv --columns address,times,stride --filter 'times>1'
status 4
err_has "$no_tasks"
yes [ "$(wc -l <"$work/log/out")" -gt 1 ]
run atwalk find -q x86.elf "$physical" --format jsonl --columns times
status 4
err_has "$no_tasks"
rows=$(sed 's/.*"times":\([0-9]*\).*/\1/' "$work/log/out" | paste -sd +)
run atwalk find -q x86.elf "$physical" --all --format csv --columns address
status 4
err_has "$no_tasks"
yes [ "$(sed 1d "$work/log/out" | wc -l)" = $((rows)) ]
yes [ "$(sed 1d "$work/log/out" | sort -u | wc -l)" = $((rows)) ]

for arch in arm64 riscv x86; do
	t "$arch: find has every mapping that map lists"
	run atwalk map --all $arch.elf --format csv --columns address,physical --filter present
	sed 1d "$work/log/out" | awk 'NR % 997 == 1' >some
	yes [ -s some ]
	mapfile -t pages < <(cut -d , -f 2 some)
	run atwalk find -q --all $arch.elf "${pages[@]}" --format csv --columns task,address,physical
	status 4
	err_has "$no_tasks"
	sed -n 's/^\[kernel\],//p' "$work/log/out" | sort >found
	sort some | comm -23 - found >missed
	yes [ ! -s missed ]
done

t "an unmapped page: exit status 1 if all tables were searched"
run atwalk find --cpu 1 x86.elf fffffffff000 --format csv --columns address
status 1
out <<'E'
address
E
err <<'E'
atwalk: x86.elf: fffffffff000 is not part of its memory
E

t "a kernel address or a symbol: the mappings of its frame"
run atwalk find -q x86.elf 8000123 --format csv --columns task,address,physical
status 4
err_has "$no_tasks"
cp "$work/log/out" by-frame
for word in ffffffff91400123 ffff8b3ac8000123 _stext+123; do
	run atwalk find x86.elf $word --format csv --columns task,address,physical
	status 4
	err_has "atwalk: x86.elf: $word is at physical 0x8000123"
	same "$work/log/out" by-frame
	run atwalk find -q x86.elf $word --columns address
	status 4
	err_has "$no_tasks"
	yes grep -qx "$word is at physical 0x8000123" "$work/log/out"
done

t "a range of kernel addresses: contiguous frames are one range"
run atwalk find -q x86.elf 8dff800-8e01800 --format csv --columns task,address,end,physical
status 4
err_has "$no_tasks"
cp "$work/log/out" by-frame
run atwalk find -q x86.elf ffffffff921ff800-ffffffff92201800 --format csv --columns task,address,end,physical
status 4
err_has "$no_tasks"
same "$work/log/out" by-frame
run atwalk find -q x86.elf ffffffff921ff800+8K --columns address
status 4
err_has "$no_tasks"
yes grep -qx 'ffffffff921ff800+8K is at physical 0x8dff800-0x8e01800' "$work/log/out"

t "--cpu: the address and the search are limited to these tables"
run atwalk find x86.elf --cpu 1 --virtual 401000 --format csv --columns task,address
status 0
out <<'E'
task,address
[given],0x0000000000401000
[given],0xffff8b3acf9d9000
E
err <<'E'
atwalk: x86.elf: 401000 is at physical 0xf9d9000
E
run atwalk find x86.elf --cpu 1 --virtual 1000 --format csv --columns task
status 1
err <<'E'
atwalk: x86.elf: 1000 is not mapped by these page tables
E

t "an unmapped and an invalid kernel address"
run atwalk find x86.elf ffffffff00000000 --format csv --columns address
status 1
out <<'E'
address
E
err <<'E'
atwalk: x86.elf: ffffffff00000000 is not mapped by the kernel
E
run atwalk find x86.elf fff0000000000000
status 2
no_out
err <<'E'
atwalk: fff0000000000000: not an address of x86_64-4, which translates 48 bits
E
run atwalk find x86.elf no_such_symbol
status 2
no_out
err <<'E'
atwalk: 'no_such_symbol' is neither a hexadecimal address nor a symbol of x86.elf
E

t "invalid addresses are reported before the source is read"
for word in 1zz 1000-zzz 1000- 1000+ 2000-1000 1000-1000 1000+0 ffffffffffffffff+2 ''; do
	run atwalk find no-such-file "$word"
	status 2
	err_has "'$word'"
done
run atwalk find x86.elf
status 2
err_has "PHYS or ADDRESS is missing"
run atwalk find
status 2
err_has "SOURCE is missing"

t "--columns pageflags: flags of the frame, of tables too"
if grep -q '^  found:.* zstd' "$built/found.txt"; then
	run atwalk find -q --pid 99 tasks.kdump 902b000 --format csv --columns address,state,pageflags
	out <<-'E'
		address,state,pageflags
		0x0000000021e77000,present,"UPTODATE,LRU,MMAP,ANON,SWAPBACKED,OWNER_2"
	E
	run atwalk find -q --pid 99 tasks.kdump 902b000 --format csv --columns address --filter 'ANON and not PGTABLE'
	out <<-'E'
		address
		0x0000000021e77000
	E
	run atwalk find --pid 99 tasks.kdump 3f1d000 --format csv --columns level,state,pageflags
	out <<-'E'
		level,state,pageflags
		PMD,table,
	E
else
	skip "this build has no zstd"
fi

t "missing tables are counted"
run shrink x86.elf less.elf --without "$(sed -n 2p path | cut -d , -f 1)"
run atwalk find less.elf 8000000
status 4
err_has "cannot read 1 page table (1 not in the source, 0 excluded, 0 damaged)"

finish
