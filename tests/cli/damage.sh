#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Incomplete dumps: missing data is reported as lost with exit status 4, and all other rows
# are those of the complete dump.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# The table at 0x9a16000 maps kernel text, but not the direct map.
walk_of_both() {
	run atwalk -p "$1" ffffffff91400000 ffff8b3ac0099000
	status 4
}

# Every present row of a listing is a row of the complete dump.
nothing_made_up() {
	atwalk map --all --format csv x86.elf | sort >whole
	run atwalk map --all --format csv "$1"
	said_status=1 said_err=1
	grep ,present, "$work/log/out" | sort >part
	comm -23 part whole >made-up
	same made-up /dev/null
}

t "a missing table: its range is lost, others are translated"
run shrink x86.elf lost.elf --without 9a16000
walk_of_both lost.elf
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  INDEX  ENTRY_AT            ENTRY               RIGHTS  STATE     FLAGS
0xffffffff91400000   512G  0x0000000009a15000  PGD      511  0x0000000009a10ff8  0x0000000009a15067  rwxu    table     rw,us,accessed
0xffffffff91400000     1G  0x0000000009a16000  PUD      510  0x0000000009a15ff0  0x0000000009a16063  rwx-    table     rw,accessed
0xffffffff91400000     2M  0x0000000009a16000  PMD      138  0x0000000009a16450  n/a                 n/a     lost      n/a
0xffff8b3ac0099000   512G  0x000000000b401000  PGD      278  0x0000000009a108b0  0x000000000b401067  rwxu    table     rw,us,accessed
0xffff8b3ac0099000     1G  0x000000000b402000  PUD      235  0x000000000b401758  0x000000000b402067  rwxu    table     rw,us,accessed
0xffff8b3ac0099000     2M  0x000000000b403000  PMD        0  0x000000000b402000  0x000000000b403067  rwxu    table     rw,us,accessed
0xffff8b3ac0099000     4K  0x0000000000099000  PTE      153  0x000000000b4034c8  0x0000000000099161  r-x-    present   accessed,dirty,global,wb
E
err <<'E'
atwalk: lost.elf: 1 table on the way cannot be read from it
E

t "lost and absent: the exit status is 4"
run atwalk --format csv --columns address,state lost.elf ffffa00000000000 ffffffff91400000 ffff8b3ac0099000
status 4
out <<'E'
address,state
0xffffa00000000000,absent
0xffffffff91400000,lost
0xffff8b3ac0099000,present
E
err_is 'atwalk: lost.elf: 1 table *'

t "a complete result: exit status 0"
run atwalk --format csv --columns address,state lost.elf ffff8b3ac0099000
out <<'E'
address,state
0xffff8b3ac0099000,present
E

t "-q changes neither the status nor the reason"
run atwalk -q --format csv --columns address,state lost.elf ffffffff91400000
status 4
out <<'E'
address,state
0xffffffff91400000,lost
E
err <<'E'
atwalk: lost.elf: 1 table on the way cannot be read from it
E

t "map has a row for it, and their number below"
run atwalk map --filter lost --columns address,end,size,state lost.elf
status 4
err_is 'atwalk: lost.elf: cannot read 1 range'
yes grep -q '^0xffffffff80000000  0xffffffffc0000000      1G  lost' "$work/log/out"
run atwalk map lost.elf
status 4
err_is 'atwalk: lost.elf: cannot read 1 range'
yes grep -q '^1 range is lost: page tables are missing from the source$' "$work/log/out"
nothing_made_up lost.elf

t "info reports that the root is not proved"
run atwalk info --filter fact=root lost.elf
yes grep -q '^root  *0x9a10000 (VMCOREINFO note; not proved: ' "$work/log/out"

t "the root table is missing"
run shrink x86.elf rootless.elf --without 9a10000
run atwalk map --format csv rootless.elf
status 4
err_is 'atwalk: rootless.elf: cannot read 2 ranges'
out <<'E'
address,end,size,physical,page,rights,state,area,flags
0x0000000000000000,0x0000800000000000,140737488355328,0x0000000009a10000,,,lost,,
0xffff800000000000,0x0000000000000000,140737488355328,0x0000000009a10000,,,lost,,
E
run atwalk --format csv --columns physical,state --cpu 0 rootless.elf ffffffff91400000
out <<'E'
physical,state
0x0000000008000000,present
E

t "a table that makedumpfile excluded is not reported as lost"
run redump x86.elf kdump-zlib excluded.kd --exclude-range 9a16000-9a17000
run atwalk --format csv --columns address,physical,state excluded.kd ffffffff91400000 ffff8b3ac0099000
status 4
out <<'E'
address,physical,state
0xffffffff91400000,0x0000000009a16000,excluded
0xffff8b3ac0099000,0x0000000000099000,present
E
err_is 'atwalk: excluded.kd: 1 table *'
run atwalk map excluded.kd
status 4
err_is 'atwalk: excluded.kd: cannot read 1 range'
yes grep -q '^1 range is unknown: page tables were excluded from the dump$' "$work/log/out"
nothing_made_up excluded.kd

for codec in zlib lzo snappy zstd none; do
	t "a page that cannot be decompressed, $codec: one error, and its range is lost"
	run redump x86.elf kdump-$codec broken.kd --corrupt-page 0x9a16
	run atwalk --format csv --columns address,physical,state broken.kd ffffffff91400000 ffff8b3ac0099000
	status 4
	out <<'E'
address,physical,state
0xffffffff91400000,0x0000000009a16000,lost
0xffff8b3ac0099000,0x0000000000099000,present
E
	err_has 'atwalk: broken.kd: page at 0x9a16000 (frame 39446): '
	err_has 'atwalk: broken.kd: 1 table on the way cannot be read from it'
	yes [ "$(wc -l <"$work/log/err")" = 2 ]
	nothing_made_up broken.kd
done

t "a truncated dump: the missing size, and rows of the remaining tables"
# Ends after the first pages, which belong to the direct map; the root is lost.
head -c 300000 x86.elf >cut.elf
run atwalk --format csv --columns address,state cut.elf ffffffff91400000
status 4
out <<'E'
address,state
0xffffffff91400000,lost
E
err_has 'atwalk: cut.elf: ends 226984 bytes short'
run atwalk --root 1104000 --format csv --columns address,state cut.elf ffffffff91400000
status 4
err_has 'atwalk: cut.elf: ends 226984 bytes short'
# Cut inside the last page: everything else is complete.
size=$(stat -L -c %s riscv.elf)
head -c $((size - 8)) riscv.elf >cut2.elf
run atwalk -p --format csv --columns physical,level,state cut2.elf ff20000000003fff
out <<'E'
physical,level,state
0x0000000082419000,PGD,table
0x0000000082635000,P4D,table
0x0000000082636000,PUD,table
0x0000000082637000,PMD,table
0x0000000082634fff,PTE,present
E
err_has 'atwalk: cut2.elf: ends 8 bytes short'
nothing_made_up cut.elf

t "truncated before the symbols: a possible symbol is not wrong usage"
head -c 200000 tasks.kdump >cut.kdump
for text in init_task init_task+0x40 init_task-ffffffffab000000 ffffffffab000000-init_task no_such_symbol; do
	run atwalk cut.kdump "$text"
	status 3
	no_out
	word=init_task
	[ "$text" != no_such_symbol ] || word=$text
	err <<E
atwalk: cut.kdump: ends 2624784 bytes short; is it still being written?
atwalk: cut.kdump: cannot look up '$word': cannot read the kernel's symbols: kernel address 0xffffffffaa974d10: its page table cannot be had
E
done
for text in 12xyz 0x 'a b' +8; do
	run atwalk -q cut.kdump "$text"
	status 2
	no_out
	err_has "'${text%8}"
done
# With a file of symbols, unknown names are wrong usage again.
printf '%s\n' 'ffffffff81000000 T _stext' 'ffffffff82a1aa40 D init_task' >cut.map
run atwalk -q --kernel cut.map cut.kdump no_such_symbol
status 2
err_has "'no_such_symbol' is neither a hexadecimal address nor a symbol of cut.kdump"

t "truncated inside the headers: name and offset"
head -c 1500 x86.elf >cut.elf
run atwalk cut.elf ffffffff91400000
status 3
no_out
err <<'E'
atwalk: cut.elf: program headers at 0x40 (32 of 56 bytes) run past the end of the file (0x5dc bytes)
E
head -c 63 x86.elf >cut.elf
run atwalk cut.elf ffffffff91400000
status 3
no_out
err <<'E'
atwalk: cut.elf: ELF header: needs 64 bytes, and the file has 63
E
head -c 5000 x86.elf >cut.elf
run atwalk map cut.elf
status 3
no_out
err_is 'atwalk: cut.elf: *past the end of the file (0x1388 bytes)'

t "a truncated kdump file"
run redump x86.elf kdump-zlib whole.kd
size=$(stat -c %s whole.kd)
head -c $((size - 12000)) whole.kd >cut.kd
run atwalk map --cpu 1 cut.kd 0-7fffffffffff
status 4
err_has 'atwalk: cut.kd: ends 12000 bytes short'
yes grep -q '[1-9][0-9]* ranges* \(is\|are\) unknown: page tables are damaged' "$work/log/out"
nothing_made_up cut.kd
for size in 100 4096 20000; do
	head -c $size whole.kd >cut.kd
	run atwalk map cut.kd
	status 3
	no_out
	err_has 'bytes short, inside its '
	err_has 'is it still being written, or was the copy cut off?'
done

t "a missing part of a split dump is lost"
run redump x86.elf kdump-zlib part --split 3
run atwalk map -S part.3 part.1
status 4
yes grep -q ' ranges* \(is\|are\) lost: page tables are missing from the source$' "$work/log/out"
said_err=1
run atwalk info -S part.3 part.1
said_status=1 said_err=1
yes grep -q '^format  *kdump-compressed v6, zlib, split, 2 parts given, others missing$' "$work/log/out"

t "a dump that grows while it is read"
cp -L x86.elf grows.elf
atwalk map --format csv x86.elf >whole
touch growing
while [ -e growing ]; do
	head -c 65536 /dev/zero >>grows.elf
	[ "$(stat -c %s grows.elf)" -lt 100000000 ] || sleep 0.1
done &
for _ in 1 2 3; do
	run atwalk map --format csv grows.elf
	same "$work/log/out" whole
	run atwalk info -q --filter fact=root grows.elf
done
rm growing
wait $!

t "damage at any byte of the headers: rows or an error, never a crash"
size=$(od -A n -t u8 -j 72 -N 8 x86.elf)
# Valgrind takes most of a second to start; the inputs of the fuzz targets exercise
# these parsers in one process.
step=13
[ -z "${ATWALK_FEW:-}" ] || step=37
[ -z "${WRAP:-}" ] || step=91
for ((at = 0; at < size + 64; at += step)); do
	cp -L x86.elf flipped.elf
	printf '\377' | dd of=flipped.elf bs=1 seek=$at conv=notrunc 2>/dev/null
	run timeout $limit "$O/atwalk" map --format csv flipped.elf
	said_status=1 said_err=1
	yes [ $rc -le 4 ]
	[ $rc -ne 3 ] || yes [ -s "$work/log/err" ]
done

finish
