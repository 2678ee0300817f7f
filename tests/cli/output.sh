#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The options that every command has work exactly: formats, columns, filters, order,
# groups, units, files.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# A list short enough to read: the kernel's image.
image=ffffffff91400000-ffffffff94a00000

for format in plain csv json jsonl; do
	t "--format $format"
	run atwalk map --format $format x86.elf $image
	golden format-$format
done

t "json is what a parser takes, and equal to jsonl"
if command -v python3 >/dev/null; then
	run atwalk map --format json x86.elf $image
	cp "$work/log/out" list.json
	run atwalk map --format jsonl x86.elf $image
	cp "$work/log/out" list.jsonl
	run python3 - <<'E'
import json
rows = json.load(open("list.json"))
assert rows == [json.loads(line) for line in open("list.jsonl")]
assert all(isinstance(r["size"], int) and r["address"].startswith("0x") for r in rows)
print(len(rows), sum(r["size"] for r in rows))
E
	out <<'E'
13 56623104
E
else
	skip "there is no python3"
fi

t "what does not apply is null in json, empty in csv, n/a in a table"
run atwalk --format jsonl x86.elf ffffa00000000000
status 1
out <<'E'
{"address":"0xffffa00000000000","size":549755813888,"physical":null,"level":"PGD","rights":null,"state":"absent","flags":null}
E
run atwalk --format csv x86.elf ffffa00000000000
status 1
out <<'E'
address,size,physical,level,rights,state,flags
0xffffa00000000000,549755813888,,PGD,,absent,
E
run atwalk x86.elf ffffa00000000000
status 1
out <<'E'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffa00000000000   512G  n/a                 PGD    n/a     absent    n/a
E

t "--columns: those, in that order"
run atwalk --columns physical,address x86.elf swapper_pg_dir
out <<'E'
PHYSICAL            ADDRESS
0x0000000009a10000  0xffffffff92e10000
E

t "--columns +: the usual ones and these"
run atwalk --format csv --columns +entry,end x86.elf swapper_pg_dir
out <<'E'
address,end,size,physical,level,entry,rights,state,flags
0xffffffff92e10000,0xffffffff93000000,2097152,0x0000000009a10000,PMD,0x8000000009a001e3,rw--,present,"rw,accessed,dirty,large,global,wb,nx"
E

t "--filter: words, comparisons, and or not ( )"
run atwalk map --format csv --columns address,size,rights --filter 'executable and page>=2M' x86.elf
out <<'E'
address,size,rights
0xffffffff91400000,14680064,r-x-
E
run atwalk map --format csv --columns address,size,rights --filter 'not (writable or executable) and size>=4M and present' x86.elf
out <<'E'
address,size,rights
0xffff8b3ac8000000,14680064,r---
0xffff8b3ac9000000,8388608,r---
0xffffffff92400000,8388608,r---
E
run atwalk map --format csv --columns address,physical --filter 'physical=0xfec00000' x86.elf
out <<'E'
address,physical
0xffffffffff5fc000,0x00000000fec00000
E

t "--filter may name a column that is not shown"
run atwalk map --format csv --columns address --filter 'level=PMD and executable' x86.elf
out <<'E'
address
0xffffffff91400000
E

t "no kernel memory is writable and executable, in a list that is empty"
for arch in x86 arm64 riscv; do
	run atwalk map --format csv --columns address --filter 'writable and executable' $arch.elf
	status 0
	out <<'E'
address
E
done

t "--sort: largest first, then by address"
run atwalk map --format csv --columns address,size --filter 'page=2M and size>=14M' --sort size:desc,address x86.elf
out <<'E'
address,size
0xffffcf33d0000000,268435456
0xffff8b3aca400000,94371840
0xffff8b3ac3e00000,69206016
0xffff8b3ac1a00000,31457280
0xffff8b3ac0200000,14680064
0xffff8b3ac8000000,14680064
0xffffffff91400000,14680064
0xffffffff93800000,14680064
E
run atwalk map --format csv --columns address,size --filter 'page=2M and size>=60M' --sort address:desc x86.elf
out <<'E'
address,size
0xffffcf33d0000000,268435456
0xffff8b3aca400000,94371840
0xffff8b3ac3e00000,69206016
E

t "--group: a row for each value, with how many and how much"
run atwalk map --format csv --group page arm64.elf
out <<'E'
page,count,size
4096,185,396795904
65536,4,6356992
2097152,6,331350016
E
run atwalk map --group rights x86.elf
golden group-rights

t "--units: of the table only, never of what programs read"
for units in human bytes pages; do
	run atwalk map --units $units --columns address,size,page x86.elf ffffffff91400000+16M
	golden units-$units
	run atwalk map --units $units --format csv --columns address,size,page x86.elf ffffffff91400000+16M
	golden units-csv
done

t "--color always: the heading; never and a file: nothing"
run atwalk --color always x86.elf swapper_pg_dir
yes grep -q $'^\e\\[1mADDRESS .*\e\\[0m$' "$work/log/out"
run atwalk --color never x86.elf swapper_pg_dir
cp "$work/log/out" plain
run atwalk x86.elf swapper_pg_dir
same "$work/log/out" plain

t "-o: the file has what standard output would have had, and it has nothing"
run atwalk map x86.elf
cp "$work/log/out" wanted
run atwalk map -o list.txt x86.elf
no_out
same list.txt wanted
run atwalk map --output=list2.txt x86.elf
same list2.txt wanted

t "-o replaces a file at once, and keeps it when there is no answer"
echo before >kept.txt
run atwalk map -o kept.txt gone.elf
status 3
err_is 'atwalk: gone.elf: *'
yes [ "$(cat kept.txt)" = before ]
run atwalk -o kept.txt x86.elf ffffffff91400000 nowhere
status 2
err_is "atwalk: 'nowhere' is neither a hexadecimal address nor a symbol of x86.elf"
yes [ "$(cat kept.txt)" = before ]
run atwalk -o kept.txt x86.elf --filter nowhere swapper_pg_dir
status 2
err_has "unknown name 'nowhere'"
yes [ "$(cat kept.txt)" = before ]

t "-o: a failure leaves nothing beside the file either"
mkdir fresh
run atwalk map -o fresh/list.txt --columns nowhere x86.elf
status 2
err_has "unknown column 'nowhere'; known: address, end, size,"
run atwalk -o fresh/list.txt x86.elf nowhere
status 2
err_has nowhere
yes [ -z "$(ls -A fresh)" ]
run atwalk map -o fresh/list.txt x86.elf
yes [ "$(ls -A fresh)" = list.txt ]

t "-o into a folder that is not there"
run atwalk -o nowhere/list.txt x86.elf swapper_pg_dir
status 3
err_is 'atwalk: nowhere/list.txt: *No such file or directory'

t "a full disk is an error, not a short answer"
run bash -c "'$O/atwalk' map x86.elf >/dev/full"
status 3
err <<'E'
atwalk: standard output: cannot write: No space left on device
E
run atwalk map -o /dev/full x86.elf
status 3
err <<'E'
atwalk: /dev/full: cannot write: No space left on device
E
for help in --help --version 'map --help' 'help map'; do
	run bash -c "'$O/atwalk' $help >/dev/full"
	status 3
	err <<'E'
atwalk: standard output: cannot write: No space left on device
E
done

t "standard output that is closed is an error"
# The real one: valgrind's log would take the number that is closed.
run bash -c "'$built/atwalk' map x86.elf >&-"
status 3
err_is 'atwalk: standard output: *'

t "a reader that leaves ends it, and has what it read"
run bash -c "set -o pipefail; '$O/atwalk' map --all --cpu 0 x86.elf | head -n 2"
out <<'E'
ADDRESS             END                   SIZE  PHYSICAL            PAGE  RIGHTS  STATE     AREA            FLAGS
0x0000000000400000  0x0000000000401000      4K  0x000000000f9d8000    4K  r--u    present   n/a             us,accessed,wb,nx
E
yes [ $rc -ne 0 ]
said_status=1 said_err=1

t "-o onto the source, however it is named: refused, and the source is whole"
cp x86.elf mine.elf
ln -sf mine.elf link.elf
for source in mine.elf elf:mine.elf raw:mine.elf@0 ./mine.elf; do
	run atwalk -o link.elf "$source" swapper_pg_dir
	status 2
	no_out
	err <<'E'
atwalk: --output: this is the source itself
E
done
yes cmp -s x86.elf mine.elf

t "-o onto a file that an option reads: refused, and that file is whole"
echo 'ffffffff81000000 T _stext' >System.map
cp System.map map.same
ln -sf System.map map.link
cp "$data/kmap/own.kmap" own.kmap
while read -r option args; do
	# shellcheck disable=SC2086 # words
	run atwalk $args --$option System.map -o map.link
	status 2
	no_out
	said_err=1
	yes [ "$(head -n 1 "$work/log/err")" = "atwalk: --output: this is the input file of --$option" ]
	yes cmp System.map map.same
done <<'E'
kernel x86.elf swapper_pg_dir
kernel ps tasks.kdump
kernel collect tasks.kdump
kernel extract tasks.kdump
kernel report basic tasks.kdump
symbols kmap show own.kmap
symbols kmap report caches own.kmap
kernel kmap report caches own.kmap
symbols kmap diff own.kmap own.kmap
kernel kmap diff own.kmap own.kmap
plugin kmap record --bare
E

t "closed standard error: nothing of it lands in the output file"
run redump x86.elf kdump-zlib broken.kd --corrupt-page 46083
run bash -c "'$built/atwalk' map --format csv -o list.csv broken.kd 2>&-"  # as above
status 4
yes [ "$(head -n 1 list.csv | cut -d , -f 1,2)" = address,end ]

t "standard input may be a file"
run bash -c "'$O/atwalk' --format csv --columns physical - swapper_pg_dir <x86.elf"
out <<'E'
physical
0x0000000009a10000
E

t "a mode that was given is not called proved"
run atwalk info --paging x86_64-5 --filter fact=root --format csv --columns value x86.elf
yes grep -q 'the mode as given' "$work/log/out"

t "-o: a limit on the size of files is an error text"
run bash -c "ulimit -f 8; '$O/atwalk' map --all --cpu 0 -o big.txt x86.elf"
status 3
err_is 'atwalk: big.txt: *File too large'
yes [ ! -e big.txt ]

t "a pipe that never ends and is no dump is not read to its end"
run bash -c "'$O/atwalk' info - < <(cat /dev/zero)"
status 3
err_has 'not a known dump format'

finish
