#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Wrong usage and unusable sources print one error, a hint where possible, and set the right
# exit status.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# ---- status 2: wrong usage ----

t "no arguments: the usage"
run atwalk
status 2
no_out
err_has 'usage: atwalk [options] SOURCE ADDRESS...'

t "missing arguments"
run atwalk x86.elf
status 2
no_out
err <<'E'
atwalk: an ADDRESS is missing
        atwalk info SOURCE shows what it is, atwalk map SOURCE what it maps; see: atwalk --help
E
for command in walk map info; do
	run atwalk $command
	status 2
	no_out
	err <<E
atwalk: SOURCE is missing
        see: atwalk $command --help
E
done

t "too many arguments"
run atwalk info x86.elf arm64.elf
status 2
no_out
err <<'E'
atwalk: too many arguments; expected one SOURCE
        see: atwalk info --help
E

t "unknown options, with suggestions"
run atwalk map --spilt rights x86.elf
status 2
no_out
err <<'E'
atwalk: unknown option --spilt; did you mean --split?
        see: atwalk map --help
E
run atwalk --form=csv x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: unknown option --form; did you mean --format?
        see: atwalk walk --help
E
run atwalk -paging x86_64-4 x86.elf swapper_pg_dir
status 2
no_out
err <<'E'
atwalk: unknown option -a; did you mean --paging?
        see: atwalk walk --help
E
run atwalk map -large=1 x86.elf
status 2
err <<'E'
atwalk: unknown option -l; did you mean --large?
        see: atwalk map --help
E
run atwalk map -xyz x86.elf
status 2
err <<'E'
atwalk: unknown option -x
        see: atwalk map --help
E
run atwalk --wat x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: unknown option --wat
        see: atwalk walk --help
E
run atwalk -px x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: unknown option -x
        see: atwalk walk --help
E

t "options of other programs: their names here"
while read -r command option meant; do
	run atwalk "$command" "$option" x86.elf
	status 2
	no_out
	err <<E
atwalk: unknown option $option$meant
        see: atwalk $command --help
E
done <<'E'
map --json ; did you mean --format json?
map --human ; did you mean --units human?
map --never ; did you mean --color never?
map --where ; did you mean --filter?
map --order-by ; did you mean --sort?
map --vmlinux ; did you mean --kernel?
report --top ; did you mean --limit?
map --top
map --verb ; did you mean --verbose?
map --co
map -a ; did you mean --all, --allow-unreadable?
map -p ; did you mean --pid, --pti, --paging, --pte-ext, --plugin, --part, --progress?
map -x
E
run atwalk map --pid init x86.elf
status 2
no_out
err <<'E'
atwalk: --pid: 'init' is not a decimal number; --task takes a name
        see: atwalk map --help
E
run atwalk probe --pid init
status 2
no_out
err <<'E'
atwalk: --pid: 'init' is not a decimal number
        see: atwalk probe --help
E

t "missing, superfluous and invalid values of options"
run atwalk x86.elf swapper_pg_dir -o
status 2
err <<'E'
atwalk: -o needs FILE
        see: atwalk walk --help
E
run atwalk --quiet=1 x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: --quiet takes no value
        see: atwalk walk --help
E
run atwalk --cpu x x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: --cpu: 'x' is not a decimal number
        see: atwalk walk --help
E
run atwalk --root 12z x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: --root: '12z' is not a hexadecimal number
        see: atwalk walk --help
E
run atwalk --format xml x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: --format: 'xml' is not one of plain|csv|json|jsonl|html|parquet
        see: atwalk walk --help
E
run atwalk --format 'plain|csv' x86.elf swapper_pg_dir
status 2
err <<'E'
atwalk: --format: 'plain|csv' is not one of plain|csv|json|jsonl|html|parquet
        see: atwalk walk --help
E
for n in 0 7 99; do
	run atwalk -s $n x86.elf swapper_pg_dir
	status 2
	err <<'E'
atwalk: --depth must be 1 to 6
        see: atwalk walk --help
E
done
run atwalk map --split rights,wat x86.elf
status 2
err <<'E'
atwalk: --split: 'wat' is not one of rights, page, physical, flags
        see: atwalk map --help
E

t "unknown columns and filters: the known ones are listed"
run atwalk --columns wat x86.elf swapper_pg_dir
status 2
no_out
err <<'E'
atwalk: --columns: unknown column 'wat'; known: address, end, size, physical, pfn, page, pages, step, level, index, entry_at, entry, repeat, rights, state, area, flags, properties, node, pid, task
E
run atwalk map --sort wat x86.elf
status 2
no_out
err_is "atwalk: --sort: unknown column 'wat'; known: address, end, size, *"
run atwalk map --group wat x86.elf
status 2
no_out
err_is "atwalk: --group: unknown column 'wat'; known: address, end, size, *"
run atwalk map --filter 'present and wat' x86.elf
status 2
no_out
err_has "atwalk: --filter: unknown name 'wat' at character 13; known: columns address, end, "
err_has "did you mean 'pat'?"
run atwalk map --filter 'size>' x86.elf
status 2
no_out
err_is "atwalk: --filter: *"
run atwalk map --filter '(present' x86.elf
status 2
no_out
err_is "atwalk: --filter: *"
run atwalk map --sort size:down x86.elf
status 2
no_out
err <<'E'
atwalk: --sort: 'size:down': expected size, size:asc or size:desc
E

long=$(printf '%0100000d' 0 | tr 0 x)
cut=${long:0:64}
t "very long values do not hide the error"
while read -r option why; do
	run atwalk map x86.elf "--$option" "$long"
	status 2
	no_out
	err_has "atwalk: --$option: '$cut' $why"
done <<'E'
units is not one of human|bytes|pages
color is not one of auto|always|never
format is not one of plain|csv|json|jsonl|html|parquet
split is not one of rights, page, physical, flags
pid is not a decimal number
root is not a hexadecimal number
E
for option in columns sort group; do
	run atwalk map x86.elf "--$option" "$long"
	status 2
	no_out
	err_is "atwalk: --$option: unknown column '$cut'; known: address, *, task"
done
run atwalk map x86.elf --filter "$long"
status 2
no_out
err_is "atwalk: --filter: unknown name '$cut' at character 1; known: columns address, *"
run atwalk map x86.elf --filter "task~$long" --format csv --columns address
status 0
out <<'E'
address
E
run atwalk map x86.elf "--$long"
status 2
no_out
err <<E
atwalk: unknown option --$cut
        see: atwalk map --help
E
run atwalk map x86.elf --paging "$long"
status 2
err_has "atwalk: --paging: unknown mode '$cut'"
run atwalk map x86.elf --pte-ext "$long"
status 2
err_has "x86_64-4 has no extension \"$cut\""
run atwalk "$long" x86.elf
status 2
no_out
err <<E
atwalk: '$cut' is neither a command nor a file
        commands: walk, map, info, ps, find, lines, rd, search, extract, pages, annotate, collect, export, diff, report, check, audit, sql, kmap, vms, probe, plugins
E

t "expressions in the syntax of other languages"
while IFS='#' read -r filter hint; do
	run atwalk map x86.elf --filter "$filter"
	status 2
	no_out
	err_has "        $hint"
done <<'E'
wx#did you mean rights=wx?
present && user#write 'and', 'or'
present AND user#write 'and', 'or'
present|user#write 'and', 'or'
!present#write 'not' in front
level=pmd#did you mean 'PMD'?
state=Present#did you mean 'present'?
direct#texts match as in area~direct, task~direct
E
run atwalk map x86.elf --sort 'size desc,address' --format csv
cp "$work/log/out" in-order
run atwalk map x86.elf --sort -size,address --format csv
same "$work/log/out" in-order

t "deep, unfinished and repeated expressions"
run atwalk map x86.elf --filter "$(printf '%020000d' 0 | tr 0 '(')present"
status 2
no_out
err_is 'atwalk: --filter: more than 64 parentheses inside each other at character 65'
run atwalk map x86.elf --filter "$(printf 'not %.0s' {1..20001})present" --format csv --columns state --group state
yes [ "$(grep -c '^present' "$work/log/out")" = 0 ]
run atwalk map x86.elf --filter "task='$long"
status 2
no_out
err_is 'atwalk: --filter: the quote at character 6 is not closed'
run atwalk map x86.elf --sort "$(printf 'size,%.0s' {1..5000})size"
status 2
no_out
err_is "atwalk: --sort: column 'size' is named twice"

t "values that are not text"
for option in columns sort group filter; do
	for bad in $'\xff\xfe' $'\xc3' $'a\e[31mb' $'\x01'; do
		run atwalk map x86.elf "--$option" "$bad"
		status 2
		no_out
		yes [ "$(LC_ALL=C tr -d '\n -~' <"$work/log/err" | wc -c)" = 0 ]
		err_has "atwalk: --$option: unknown "
	done
done

t "addresses in the syntax of other programs"
while IFS='#' read -r text hint; do
	run atwalk x86.elf "$text"
	status 2
	no_out
	err <<E
atwalk: '$text' is neither a hexadecimal address nor a symbol of x86.elf
        $hint
E
done <<'E'
ffffffff91400000,1000#type a range as A-B or A+LENGTH, and several addresses as separate words
ffffffff91400000..ffffffff91401000#type a range as A-B or A+LENGTH, and several addresses as separate words
&_stext#type only the name of the symbol: _stext
/tmp/out#use -o FILE to write to a file
E

t "invalid addresses"
run atwalk x86.elf init_foo
status 2
no_out
err <<'E'
atwalk: 'init_foo' is neither a hexadecimal address nor a symbol of x86.elf
E
for text in 12xyz 0x init_foo-ffffffff91400000 ffffffff91400000-zz; do
	bad=${text%-ffffffff91400000} bad=${bad#ffffffff91400000-}
	run atwalk x86.elf "$text"
	status 2
	no_out
	err <<E
atwalk: '$bad' is neither a hexadecimal address nor a symbol of x86.elf
E
done
for text in '' ffffffff91400000- -- -ffffffff91400000; do
	[ "$text" = -- ] && continue
	run atwalk x86.elf -- "$text"
	status 2
	no_out
	err <<E
atwalk: '$text' lacks an address
E
done
run atwalk x86.elf ffffffff91400000+zz
status 2
no_out
err <<'E'
atwalk: 'ffffffff91400000+zz': 'zz' is neither a length (4096, 0x1000, 4K, 2M, 1G) nor an offset
E
run atwalk x86.elf swapper_pg_dir+zz
status 2
no_out
err <<'E'
atwalk: 'swapper_pg_dir+zz': 'zz' is neither a length (4096, 0x1000, 4K, 2M, 1G) nor an offset
E
run atwalk x86.elf 1ffffffff91400000
status 2
no_out
err_is "atwalk: '1ffffffff91400000' is neither a hexadecimal address *"

t "an address after -- is not an option"
run atwalk x86.elf -- -5
status 2
no_out
err_is "atwalk: '-5' lacks an address"

t "non-canonical addresses"
run atwalk x86.elf 800000000000
status 2
no_out
err <<'E'
atwalk: 800000000000: not an address of x86_64-4, which translates 48 bits
E
run atwalk arm64.elf 10000000000000
status 2
no_out
err_is 'atwalk: 10000000000000: not an address of arm64-4k-52, *'

t "reversed, empty and overlong ranges"
run atwalk x86.elf ffffffff91400000-ffffffff91300000
status 2
no_out
err <<'E'
atwalk: range 'ffffffff91400000-ffffffff91300000' ends before it starts
E
run atwalk map x86.elf ffffffff91400000-ffffffff91400000
status 2
no_out
err_is "atwalk: range 'ffffffff91400000-ffffffff91400000' is empty"
run atwalk map x86.elf ffffffff91400000+0
status 2
no_out
err <<'E'
atwalk: range 'ffffffff91400000+0' is empty
E
run atwalk map x86.elf ffffffff91400000+4G
status 2
no_out
err <<'E'
atwalk: range 'ffffffff91400000+4G' runs past the end of the address space
E

t "one invalid address prevents all output"
run atwalk x86.elf swapper_pg_dir nowhere
status 2
no_out
err_is "atwalk: 'nowhere' is neither *"

t "a user address without a process"
run atwalk x86.elf 401000
status 2
no_out
err_has "atwalk: '401000' is a user-space address, and its process is not known"
err_has 'specify --pid N (a process), --cpu N (the tables a CPU was using) or --root PHYS'

t "a missing CPU, an unknown paging mode and extension"
run atwalk --cpu 7 x86.elf swapper_pg_dir
status 2
no_out
err_is 'atwalk: --cpu: there is no CPU 7: the source has 2'
run atwalk --paging x86_64-6 x86.elf swapper_pg_dir
status 2
no_out
err_has "atwalk: --paging: unknown mode 'x86_64-6'"
err_has 'known: x86_64-4 x86_64-5 arm64-4k-39'
run atwalk --pte-ext wat riscv.elf _stext
status 2
no_out
err_has 'riscv64-sv57 has no extension "wat"'
run atwalk --cbit 99 x86.elf swapper_pg_dir
status 2
no_out
err_is 'atwalk: --pte-ext: cbit=99: *'

t "--root and --paging, one without the other where none can be found"
run redump x86.elf lime dump.lime
run atwalk --root 9a10000 dump.lime ffffffff91400000
status 2
no_out
err <<'E'
atwalk: --root: its paging mode could not be found, and is not given
        specify it with --root PHYS --paging MODE
E
run atwalk --paging x86_64-4 dump.lime ffffffff91400000
status 2
no_out
err <<'E'
atwalk: --paging: no page-table root could be found, and none is given
        specify it with --root PHYS --paging MODE
E
run atwalk --root 9a10001 --paging x86_64-4 x86.elf ffffffff91400000
status 2
no_out
err_is 'atwalk: --root: 0x9a10001 is no multiple of 4096, the size of a root table of x86_64-4'

t "--cpu and a dump without registers"
run atwalk --cpu 1 riscv.elf 10000
status 3
no_out
err <<'E'
atwalk: riscv.elf: it does not have the page-table root of CPU 1, nor does its kernel: page tables of a CPU cannot be found without the kernel's types (BTF)
        specify it with --root PHYS --paging MODE
E

# ---- status 2: a first word that is neither a command nor a SOURCE ----

list='walk, map, info, ps, find, lines, rd, search, extract, pages, annotate, collect, export, diff, report, check, audit, sql, kmap, vms, probe, plugins'
t "an unknown command: the nearest name and the list"
run atwalk mpa x86.elf
status 2
no_out
err <<E
atwalk: 'mpa' is neither a command nor a file
        did you mean 'map'? commands: $list
E
for word in vmcore fool add $'a\e[31mb'; do
	run atwalk "$word" x86.elf
	status 2
	no_out
	err_has "        commands: $list"
done
run atwalk -q --format csv mpa x86.elf
status 2
no_out
err_has "did you mean 'map'?"
run atwalk help mpa
status 2
no_out
err_has "did you mean 'map'?"

t "several names at the same distance, or with the word as prefix"
run atwalk p x86.elf
status 2
no_out
err <<E
atwalk: 'p' is neither a command nor a file
        did you mean 'ps', 'pages', 'probe', 'plugins'? commands: $list
E
run atwalk ext x86.elf
status 2
err <<E
atwalk: 'ext' is neither a command nor a file
        did you mean 'extract'? commands: $list
E
run atwalk liev 1000
status 2
err <<E
atwalk: 'liev' is neither a command nor a file
        did you mean 'live'? commands: $list
E

t "a directory is not a SOURCE, but a path to a file is"
mkdir compare prboe
run atwalk compare a b
status 2
no_out
err <<'E'
atwalk: 'compare' is a directory, and not a command
        atwalk diff A B compares two sources; atwalk report growth captures of a machine; atwalk kmap diff two KMAPs
E
run atwalk -q prboe
status 2
no_out
err <<E
atwalk: 'prboe' is a directory, and not a command
        did you mean 'probe'? commands: $list
E
for path in ./compare compare/ "$PWD/compare"; do
	run atwalk "$path" 1000
	status 3
	no_out
	err <<E
atwalk: $path: is a directory
E
done
rmdir compare prboe

t "a missing path is reported as a path"
for path in ./compare compare/a /none/mpa mpa.elf; do
	run atwalk "$path" 1000
	status 3
	no_out
	err <<E
atwalk: $path: No such file or directory
E
done

t "a file with the name of a command, or of a command of other programs"
ln -s x86.elf map
ln -s x86.elf compare
run atwalk walk x86.elf swapper_pg_dir
cp "$work/log/out" want
for word in ./map ./compare compare; do
	run atwalk $word swapper_pg_dir
	same "$work/log/out" want
done
run atwalk map swapper_pg_dir
status 3
no_out
err <<'E'
atwalk: swapper_pg_dir: No such file or directory
E
rm map compare

t "help for an unknown command"
run atwalk help x86.elf
status 2
no_out
err <<E
atwalk: 'x86.elf' is not a command
        commands: $list
E

t "a word of another program in place of SOURCE"
run atwalk walk compare a b
status 3
no_out
err <<'E'
atwalk: compare: No such file or directory
        atwalk diff A B compares two sources; atwalk report growth captures of a machine; atwalk kmap diff two KMAPs
E

t "its options are not parsed as those of walk"
run atwalk compare --brief a b
status 2
no_out
err <<'E'
atwalk: 'compare' is neither a command nor a file
        atwalk diff A B compares two sources; atwalk report growth captures of a machine; atwalk kmap diff two KMAPs
E

t "commands of other programs: their names here"
while IFS=: read -r words use; do
	for word in $words; do
		run atwalk "$word" -x x86.elf 1000
		status 2
		no_out
		err <<E
atwalk: '$word' is neither a command nor a file
        $use
E
	done
done <<'E'
vtop v2p pte:atwalk SOURCE ADDRESS translates an address; with -p through which page tables
ptov rmap:atwalk find SOURCE PHYS lists the virtual addresses that map a physical one
vm pmap maps smaps:atwalk pages SOURCE --pid N lists the memory areas of a process with their pages; --areas-only without
page-types:atwalk pages SOURCE --pid N lists the pages of a process with their flags; atwalk report machine SOURCE what all RAM is used for
kmem free slabtop:atwalk report machine SOURCE shows what RAM is used for; atwalk find SOURCE PHYS what maps a page
smem swap:atwalk report use SOURCE shows RSS, PSS, USS and swap of each process
hexdump xxd:atwalk rd SOURCE ADDRESS shows memory; with --as words or --as string in other forms
strings:atwalk search SOURCE --text TEXT finds a text in memory, --bytes, --word and --pointers-to others
cmp delta:atwalk diff A B compares two sources; atwalk report growth captures of a machine; atwalk kmap diff two KMAPs
bt:atwalk ps SOURCE lists tasks and their state; stacks are read by crash and drgn
dmesg log:atwalk info SOURCE shows the crash and the last lines of the kernel's log
sys:atwalk info SOURCE shows the kernel, its CPUs, KASLR and memory
sym:atwalk SOURCE SYMBOL translates the address of a symbol, and SYMBOL+OFFSET that behind it
top:atwalk pages live --watch 2 shows every 2 seconds what processes have, and what changed
numastat:atwalk map SOURCE --pid N --columns +node shows the NUMA node of each range
machine:atwalk report machine SOURCE shows the report of that name
record:atwalk kmap record is the command of that name
1234:SOURCE goes in front of an address: atwalk live 1234
E

t "every command in these hints exists"
sed -n 's/^	  N_("\(atwalk .*\)") },$/\1/p' "$top/cli/unknown.c" | tr ';' '\n' |
	grep -o 'atwalk [a-z][a-z]*' | sort -u >named
yes [ "$(wc -l <named)" -gt 7 ]
while read -r _ word; do
	run atwalk help "$word"
	yes grep -q "^usage: atwalk $word" "$work/log/out"
done <named

t "a command after an option, and after SOURCE"
run atwalk -q map x86.elf
status 2
no_out
err <<'E'
atwalk: the command 'map' must be the first word
        type atwalk map [options] SOURCE
E
while IFS=: read -r option why; do
	run atwalk "$option" map x86.elf
	status 2
	no_out
	err <<E
atwalk: $why
        the command goes first: atwalk map [options] SOURCE
E
done <<'E'
--all:unknown option --all; did you mean --allow-unreadable?
E
run atwalk x86.elf info
status 2
no_out
err <<'E'
atwalk: 'info' is neither a hexadecimal address nor a symbol of x86.elf
        the command goes first: atwalk info x86.elf
E

t "a command in place of SOURCE"
run atwalk info map
status 3
no_out
err <<'E'
atwalk: map: No such file or directory
        the command goes first: atwalk map [options] SOURCE
E
run atwalk map inof
status 3
no_out
err <<'E'
atwalk: inof: No such file or directory
        did you mean the command 'info'?
E

# ---- status 3: the source cannot be used ----

t "a missing file"
for name in gone.elf ./gone gone/x; do
	run atwalk $name ffffffff91400000
	status 3
	no_out
	err_is "atwalk: $name: No such file or directory"
done
run atwalk map gone.elf
status 3
no_out
err_is 'atwalk: gone.elf: No such file or directory'

t "a PID is not a source"
for name in 4194305 /proc/4194305 /proc/4194305/pagemap; do
	run atwalk map $name
	status 3
	no_out
	err <<E
atwalk: $name: No such file or directory
        for process 4194305, type: live --pid 4194305
E
done

t "a file with a command's name is reached by its path"
ln -s x86.elf info
run atwalk ./info swapper_pg_dir
yes [ "$(wc -l <"$work/log/out")" = 2 ]

t "a folder, a device, an empty file"
run atwalk . ffffffff91400000
status 3
no_out
err <<'E'
atwalk: .: is a directory
E
run atwalk /dev/null ffffffff91400000
status 3
no_out
err_is 'atwalk: /dev/null: is *'
: >empty
run atwalk empty ffffffff91400000
status 3
no_out
err <<'E'
atwalk: empty: is empty
E

t "a file of unknown format"
run atwalk "$cli/lib.sh" ffffffff91400000
status 3
no_out
err_has "atwalk: $cli/lib.sh: not a known dump format (elf, kdump, lime, avml, "
err_has "        for a plain image of RAM say raw:$cli/lib.sh@ADDRESS"

# What follows the last @ is an address if a file is in front of it.
run atwalk ps raw:x86.elf@zz
status 2
err_has "atwalk: raw:x86.elf@zz: 'zz' is not an address"
run atwalk ps raw:none@zz
status 3
err_has "atwalk: none@zz: No such file or directory"
printf 'H: atwalk-capture, 1\nT: a, 7, 00000001, 0, 0, 0, 0, 0, 0, 0, tgid=7\nE: 2, 1, 0, 0\n' >host.cap
run atwalk ps kvm:7@host.cap
status 3
err_is "atwalk: kvm:7@host.cap: host.cap is a capture: *"

t "columns of groups"
run atwalk map x86.elf --columns address,state --group state
status 2
err_has "atwalk: --columns: unknown column 'address'; known: "
err_has "        rows are grouped by 'state': they have the columns of groups alone"

t "an ELF file that is not a core dump"
run atwalk "$built/atwalk" ffffffff91400000
status 3
no_out
err_has 'is an ELF file, but not a core dump (e_type is 3)'

t "an unknown format: treated as a path, with the list of formats"
run atwalk elff:x86.elf ffffffff91400000
status 3
no_out
err_has 'atwalk: elff:x86.elf: No such file or directory'
err_has '        formats that can stand before a colon: elf, kdump, lime, avml, raw'

t "no permission"
cp x86.elf secret.elf
chmod 000 secret.elf
if [ "$(id -u)" -ne 0 ]; then
	run atwalk secret.elf ffffffff91400000
elif ! command -v setpriv >/dev/null; then
	skip "root can read everything, and setpriv is missing"
elif cp "$built/atwalk" program && chmod 755 program && chmod 755 "$work" "$work/cwd" &&
     setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid 65534 --regid 65534 --clear-groups ${WRAP:-} ./program secret.elf ffffffff91400000
else
	skip "setpriv may not change the user"
fi
status 3
no_out
err_has 'atwalk: secret.elf: Permission denied'

t "parts of different dumps"
run redump x86.elf kdump-zlib whole.kd
run redump x86.elf kdump-zlib part --split 3
run atwalk -S gone.kd part.1 ffffffff91400000
status 3
no_out
err_is 'atwalk: part.1: gone.kd: No such file or directory'
run atwalk -S whole.kd part.1 ffffffff91400000
no_out
yes [ $rc -ne 0 ]
said_status=1
err_is 'atwalk: part.1: whole.kd: is a whole dump, not a part of a split one'
run atwalk -S x86.elf part.1 ffffffff91400000
no_out
yes [ $rc -ne 0 ]
said_status=1
err_has 'x86.elf'

# ---- help ----

t "help in every position"
run atwalk --help
cp "$work/log/out" help
yes grep -q '^usage: atwalk \[options\] SOURCE ADDRESS\.\.\.' help
run atwalk help
same "$work/log/out" help
for command in walk map info; do
	yes grep -q "^  $command " help
	run atwalk $command --help
	cp "$work/log/out" one
	yes grep -q "^usage: atwalk $command \\[options\\] SOURCE" one
	run atwalk help $command
	same "$work/log/out" one
done
for word in -h --help; do
	run atwalk $word
	same "$work/log/out" help
	run atwalk info $word
	same "$work/log/out" one
done
run atwalk probe --help
yes grep -qx 'usage: atwalk probe \[options\]' "$work/log/out"

t "every documented option is accepted"
for command in walk map info; do
	run atwalk $command --help
	mapfile -t options < <(sed -n 's/^  \(-.,\|   \) --\([a-z-]*\) .*/\2/p' "$work/log/out")
	yes [ ${#options[@]} -gt 12 ]
	for option in "${options[@]}"; do
		run atwalk $command "--$option=1"
		said_status=1 said_err=1
		[ "$option" = output ] && rm -f 1
		yes [ "$(grep -c 'unknown option' "$work/log/err")" = 0 ]
	done
done

t "version"
run atwalk --version
out <<E
atwalk $(sed -n 's/^.define ATWALK_VERSION "\(.*\)"/\1/p' "$top/lib/base/version.h")
E
cp "$work/log/out" version
run atwalk -V
same "$work/log/out" version
run atwalk map --version
yes grep -q '^atwalk [0-9]' "$work/log/out"

t "file names cannot send control characters to a terminal"
run atwalk $'gone\e[31m.elf' ffffffff91400000
status 3
err <<'E'
atwalk: gone\x1b[31m.elf: No such file or directory
E

finish
