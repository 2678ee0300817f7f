#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# walk translates addresses, and its output is exact. The physical addresses here are also
# those of QEMU (answers.sh).
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

t "x86_64: large pages, an offset into one, a small page, I/O memory"
run atwalk x86.elf ffffffff91400000 0xffffffff92e1aa40 ffffffffc03fd008 ffffffffff5fc000
golden walk-x86

t "the command's name may be said"
run atwalk walk x86.elf ffffffff91400000 0xffffffff92e1aa40 ffffffffc03fd008 ffffffffff5fc000
golden walk-x86

t "arm64: contiguous pages, blocks, and an address past the kernel's end"
run atwalk arm64.elf ffff932df3c10000 ffff932df5c49540 ffff932df5e00123 fff0000000200000 ffff932df60f0000
status 1
golden walk-arm64

t "riscv64: kernel text, a vmalloc page, a guard page"
run atwalk riscv.elf ffffffff80002000 ff20000000003fff ff20000000004000
status 1
golden walk-riscv

t "-p: every level, x86_64"
run atwalk -p x86.elf ffffffff91400000 ffffffffc03fd008 ffffa00000000000
status 1
golden path-x86

t "-p: every level, arm64"
run atwalk -p arm64.elf ffff932df3c10000 ffff932df60f0000
status 1
golden path-arm64

t "-p: every level, riscv64"
run atwalk --path riscv.elf ffffffff80002000 ff20000000003fff
golden path-riscv

t "-p and csv: the same numbers for programs"
run atwalk -p --format csv x86.elf ffffffffc03fd008
out <<'E'
address,size,physical,level,index,entry_at,entry,rights,state,flags
0xffffffffc03fd008,549755813888,0x0000000009a15000,PGD,511,0x0000000009a10ff8,0x0000000009a15067,rwxu,table,"rw,us,accessed"
0xffffffffc03fd008,1073741824,0x0000000009a17000,PUD,511,0x0000000009a15ff8,0x0000000009a17067,rwxu,table,"rw,us,accessed"
0xffffffffc03fd008,2097152,0x000000000197b000,PMD,1,0x0000000009a17008,0x000000000197b067,rwxu,table,"rw,us,accessed"
0xffffffffc03fd008,4096,0x00000000038cc008,PTE,509,0x000000000197bfe8,0x80000000038cc163,rw--,present,"rw,accessed,dirty,global,wb,nx"
E

t "-s: stops after N levels"
run atwalk -s 2 x86.elf ffffffffc03fd008
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffffc03fd008     1G  0x0000000009a17000  PUD    rwxu    table     rw,us,accessed
E
run atwalk -p --depth 2 riscv.elf ffffffff80002000
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  INDEX  ENTRY_AT            ENTRY               RIGHTS  STATE     FLAGS
0xffffffff80002000   256T  0x0000000093ffb000  PGD      511  0x0000000081fcaff8  0x0000000024ffec01  rwxu    table     -
0xffffffff80002000   512G  0x0000000093ffa000  P4D      511  0x0000000093ffbff8  0x0000000024ffe801  rwxu    table     -
E

t "-s: more levels than there are is all of them"
run atwalk -s 6 x86.elf ffffffffc03fd008
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffffc03fd008     4K  0x00000000038cc008  PTE    rw--    present   rw,accessed,dirty,global,wb,nx
E

t "a range: each page a row, what is not mapped in between as well"
run atwalk x86.elf ffffffffc03fd000+0x10000
status 1
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffffc03fd000     4K  0x00000000038cc000  PTE    rw--    present   rw,accessed,dirty,global,wb,nx
0xffffffffc03fe000     4K  0x00000000038cd000  PTE    rw--    present   rw,accessed,dirty,global,wb,nx
0xffffffffc03ff000     4K  n/a                 PTE    n/a     absent    n/a
0xffffffffc0400000    24K  n/a                 PTE    n/a     absent    n/a
0xffffffffc0406000     4K  0x0000000003c13000  PTE    r-x-    present   accessed,dirty,global,wb
0xffffffffc0407000     4K  0x0000000003c14000  PTE    r-x-    present   accessed,dirty,global,wb
0xffffffffc0408000     4K  0x0000000003c15000  PTE    r-x-    present   accessed,dirty,global,wb
0xffffffffc0409000     4K  0x0000000003c16000  PTE    r---    present   accessed,dirty,global,wb,nx
0xffffffffc040a000     4K  0x0000000003c17000  PTE    r---    present   accessed,dirty,global,wb,nx
0xffffffffc040b000     4K  0x0000000003c18000  PTE    rw--    present   rw,accessed,dirty,global,wb,nx
0xffffffffc040c000     4K  0x0000000003c19000  PTE    rw--    present   rw,accessed,dirty,global,wb,nx
E

t "-p of a range: a tree, each table once and equal entries together"
run atwalk -p x86.elf ffffffffc03fd000+0x10000
status 1
golden tree-x86
run atwalk -p x86.elf ffffff3a00200000+2G
status 1
golden tree-x86-repeat
run atwalk -p arm64.elf fff0000001e00000+64M
golden tree-arm64
run atwalk -p riscv.elf ff60000000000000+80M
golden tree-riscv

t "-p of terabytes: as many rows as there are differences"
run atwalk -p riscv.elf ff60000000000000+1T --filter 'level!=PTE' --columns address,size,pages,step,state
status 1
golden tree-rows

t "-p of a range for programs: csv and json"
run atwalk -p x86.elf ffffffffc03fd000+0x4000 --format csv
status 1
golden tree-csv
run atwalk -p x86.elf ffffffffc03fd000+0x4000 --format json
status 1
golden tree-json

t "-p of a range: -s ends it above, and what is missing is a row"
run atwalk -p -s 2 x86.elf ffffffffc0000000+0x40000000
golden tree-depth
head -c 480000 x86.elf >cut.elf
run atwalk -p -q cut.elf ffffff3a00200000+4M --columns address,size,pages,level,state
status 4
golden tree-lost
err_has 'cannot be read from it'

t "-p of a range and of an address: a tree, and a path"
run atwalk -p x86.elf ffffffffc0409000+0x2000 ffffffffc040b008
golden tree-and-path

# tree DUMP FIRST LENGTH: the tree maps what the list of pages has.
tree() {
	local last=$((16#$2 + $3 - 1))

	run atwalk "$1" "$2+$3" --format csv --columns address,physical,size,state
	said_status=1
	sed -n 's/,present$//p' "$work/log/out" | sed 's/0x0*//g; s/,,/,0,/; s/,/ /g' >wanted
	run atwalk -p "$1" "$2+$3" --format csv --columns address,size,physical,pages,step,level,entry_at,state
	said_status=1
	cp "$work/log/out" tree.csv
	run python3 "$cli/tree.py" "$2" "$(printf %x "$last")" <tree.csv
	cp "$work/log/out" got
	err_has "$4"
	yes [ -s got ]
	same got wanted
}

t "the tree of a range maps what its list of pages does"
if ! command -v python3 >"$work/log/python"; then skip "no python3"; else
	tree x86.elf ffff8b3ac0000000 $((1 << 30)) ' tables, 0 repeats'
	tree x86.elf ffffffff91400000 $((1 << 27)) ' tables, 0 repeats'
	tree arm64.elf fff0000000000000 $((1 << 30)) ' tables, 0 repeats'
	tree riscv.elf ff60000000000000 $((1 << 30)) ' tables, 0 repeats'
	tree riscv.elf ff20000000000000 $((1 << 22)) ' tables, 0 repeats'
fi

t "ranges A-B, A+LENGTH and A+4M, in any spelling, are the same"
run atwalk x86.elf ffffffff91400000-ffffffff91800000
golden walk-range
run atwalk x86.elf 0xffffffff91400000-0xFFFFFFFF91800000
golden walk-range
run atwalk x86.elf ffffffff91400000+4M
golden walk-range
run atwalk x86.elf 0xffffffff91400000+0x400000
golden walk-range

t "symbols and symbols with an offset"
run atwalk x86.elf swapper_pg_dir swapper_pg_dir+0x10 _stext+0x1000
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffff92e10000     2M  0x0000000009a10000  PMD    rw--    present   rw,accessed,dirty,large,global,wb,nx
0xffffffff92e10010     2M  0x0000000009a10010  PMD    rw--    present   rw,accessed,dirty,large,global,wb,nx
0xffffffff91401000     2M  0x0000000008001000  PMD    r-x-    present   accessed,dirty,large,global,wb
E

t "--cpu: a process's tables, and the kernel's below the same root"
run atwalk --cpu 1 x86.elf 401000 4d5008 ffffffff91400000
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0x0000000000401000     4K  0x000000000f9d9000  PTE    r-xu    present   us,accessed,wb
0x00000000004d5008     4K  0x0000000008e71008  PTE    rw-u    present   rw,us,accessed,dirty,wb,sw11,nx,soft-dirty
0xffffffff91400000     2M  0x0000000008000000  PMD    r-x-    present   accessed,dirty,large,global,wb
E

t "--root alone keeps the mode that was found"
run atwalk --root 3ea6000 x86.elf 401000
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0x0000000000401000     4K  0x000000000f9d9000  PTE    r-xu    present   us,accessed,wb
E

t "--root and --paging override everything"
run atwalk --root=0x3ea6000 --paging=x86_64-4 x86.elf 401000
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0x0000000000401000     4K  0x000000000f9d9000  PTE    r-xu    present   us,accessed,wb
E
run atwalk --paging x86_64-5 x86.elf ffffffff91400000
status 1
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffff91400000     1G  n/a                 PUD    n/a     absent    n/a
E

t "the number of the page frame, hidden by default: a number, also for filters"
run atwalk x86.elf ffffffff91401008 ffffffffc03ff000 --format jsonl --columns physical,pfn
status 1
out <<'E'
{"physical":"0x0000000008001008","pfn":32769}
{"physical":null,"pfn":null}
E
run atwalk -p arm64.elf fff0000001e00000 --format csv --columns level,physical,pfn --filter 'pfn>0x57000'
cp "$work/log/out" one
yes [ "$(wc -l <one)" -gt 1 ]
run atwalk -p arm64.elf fff0000001e00000 --format csv --columns level,physical,pfn --filter 'physical>=57001000'
same "$work/log/out" one
run atwalk map riscv.elf ff60000000000000+64M --format csv --columns physical,pfn --filter 'pfn>=0x82c00'
out <<'E'
physical,pfn
0x0000000082c00000,535552
0x0000000082e00000,536064
E
run atwalk find --cpu 1 x86.elf f9d9000 --format csv --columns address,physical,pfn
out <<'E'
address,physical,pfn
0x0000000000401000,0x000000000f9d9000,63961
0xffff8b3acf9d9000,0x000000000f9d9000,63961
E
err_has 'f9d9000 is not part of its memory'

t "properties: flags of common meaning, by the same names on every CPU"
# A blank line between the answers; the three dumps have different bits for all of them.
# shellcheck disable=SC2317 # by run
properties() {
	local flag

	for flag in accessed dirty global user writable executable large contiguous; do
		echo "== $flag"
		atwalk map -q "$1" "$2" --filter "$flag" --columns address,size,page,rights,properties
		echo "== not $flag"
		atwalk walk -q "$1" "${@:3}" --filter "not $flag" --columns address,rights,properties
	done
}
run properties arm64.elf fff0000000000000+64M ffff932df3c10000 ffff932df5c49540 fff0000000200000 fff0000000000000
status 0
golden properties-arm64
run properties riscv.elf ff20000000000000+1M ffffffff80002000 ff20000000003fff ff60000000000000
golden properties-riscv
run properties x86.elf ffff8b3ac0000000+32M ffffffff91400000 ffffffffc03fd008
golden properties-x86

t "properties: of a table, and in find and pages"
run atwalk -p arm64.elf fff0000000000000 --format csv --columns level,properties
golden properties-path
run atwalk find -q --cpu 1 x86.elf 8001000 --filter 'large and not contiguous and global' --format csv --columns address,properties
golden properties-find

t "-v says where the root came from, -vv every read, neither in the answer"
run atwalk -v x86.elf ffffffff91400000
err <<'E'
atwalk: x86.elf: x86_64-4, root: VMCOREINFO note, proved by a walk to _stext
E
cp "$work/log/out" one
run atwalk -vv x86.elf ffffffff91400000
same "$work/log/out" one
err_has 'atwalk: read 0x9a16000+4096: 4096'

t "symbols that the dump lacks at the address it gives are not searched for elsewhere"
run atwalk map -vv x86.elf
err_has 'atwalk: read 0x91bdab8+4: 0'
sed -n 's/^atwalk: read \(.*\): 0$/\1/p' "$work/log/err" | sort -u >missing
yes diff - missing <<'E'
0x91bdab8+4
0xffd5000+8
E

finish
