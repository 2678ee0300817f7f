#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sources that shared objects have: SOURCE is NAME:TEXT, or a file that the note recognizes.
# What one returns is checked, and each thing that it can do wrong is one sentence.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

cc=$(cut -d' ' -f1 "$built/flags")
umask 022
mkdir so
if grep -q STATIC=1 "$built/flags"; then
	t "sources of plugins"
	skip "a static program loads none"
	finish
fi

# Builds source.c as so/NAME.so with -D for each further word.
build() {                        # NAME [DEFINE...]
	local name=$1
	shift
	"$cc" -std=gnu17 -Wall -Wno-unused -Werror -I"$top/include" -fvisibility=hidden -fPIC \
		-shared -o "so/$name.so" "${@/#/-D}" "$data/plugins/source.c" || bad "$name.so was not built"
}
build tables
tables() { run atwalk "$1" tables:x --plugin ./so/tables.so"${mistake:+:$mistake}" "${@:2}"; }
mistake=

t "extents, reads and facts lead to the same answers as a dump"
cat >wanted <<'END'
address,end,size,physical,state
0x0000000000000000,0x0000000000200000,2097152,0x0000000000200000,present
0x0000000000200000,0x0000000000201000,4096,0x0000000000005000,present
0x0000000000201000,0x0000000000202000,4096,0x0000000000007000,present
0x0000000000600000,0x0000000000800000,2097152,0x0000000000005000,excluded
0x0000000000800000,0x0000000000a00000,2097152,0x0000000000009000,lost
END
tables map -q --format csv --columns address,end,size,physical,state
status 4
said_err=1
out <wanted
run atwalk walk -q tables:x 201008 --root 0x1000 --paging x86_64-4 --plugin ./so/tables.so --format csv --columns address,physical,state
out <<<$'address,physical,state\n0x0000000000201008,0x0000000000007008,present'
tables info --format csv
said_err=1
grep -E '^(format|machine|release|paging|root|cpus|cpu0|way),' "$work/log/out" >got
cat >wanted <<'END'
format,four tables (plugin tables)
machine,x86_64
release,9.9
paging,"x86_64-4 (x86 4-level paging, 256 TiB)"
root,0x1000 (CR3 of CPU 0)
cpus,1
cpu0,CR3 0x1000 CR4 0x20
END
same got wanted
tables rd -q 0x4008+8 --physical
said_err=1
yes grep -q '03 70 00 00 00 00 00 00\|0000000000007003' "$work/log/out"
mistake=closed
tables map -q
status 4
err_has "closed 1"

t "short reads are read on"
mistake=short
tables map -q --format csv --columns address,end,size,physical,state
status 4
said_err=1
yes [ "$(wc -l <"$work/log/out")" = 6 ]

# Nothing is printed, and no file is left.
opens() {                        # MISTAKE TEXT
	mistake=$1
	tables map -o none
	status 3
	err_is "atwalk: tables:x: plugin tables: $2"
	yes [ ! -e none ]
}

t "extents are checked before anything is read"
opens overlap "extent 1 at 0x4fff begins before the end of the one before it, 0x5000"
opens descending "extent 1 at 0x0 begins before the end of the one before it, 0x5000"
opens nothing "extent 1 at 0x5000 has no bytes"
opens top "extent 1 at 0x5000: 0xffffffffffffbfff bytes reach past the last 64-bit address"
opens kind "extent 1 is of no known kind (4): it needs a newer atwalk"
opens endless "it has more than 1048576 extents"
opens empty "it has no memory"
opens fails "it has lost extent 1"

t "one that cannot be opened"
opens open "'x' is not to its liking"
opens silent "it failed with status -77 and gave no reason"
opens cpus "it states 18446744073709551615 CPUs"
opens number "its fact 'cpus' is not a number of 8 bytes"
run atwalk map tables:x --plugin ./so/tables.so -S more
status 2
err_has "is not one part of a split set"

# A table cannot be read: the rest is an answer in part.
reads() {                        # MISTAKE TEXT
	mistake=$1
	tables map -q --format csv --columns address,end,physical,state
	status 4
	err_has "atwalk: plugin tables: $2"
	out <<<$'address,end,physical,state\n0x0000000000000000,0x0000000040000000,0x0000000000003000,lost'
}

t "reads that fail, and those that lie about their length"
reads reads "the cable is off at 0x3000"
reads long "it read 4097 bytes at 0x3000, where 4096 were asked for"
reads huge "it read 9223372036854775807 bytes at 0x3000, where 4096 were asked for"
reads negative "it failed with status -2147483648 and gave no reason"
reads none "it has no bytes at 0x3000, where one of its extents has data"

t "facts without bytes or with too many are none; sentences are escaped"
for mistake in null length; do
	tables map -q --format csv
	status 4
	said_err=1
	yes [ "$(wc -l <"$work/log/out")" = 6 ]
done
mistake=truncated
tables map
status 4
err_has 'tables:x: the cable was \x1b[1mtoo short'
mistake=

# Refused when it is loaded.
fails() {                        # NAME TEXT
	run atwalk map x86.elf --plugin ./so/"$1".so -o none
	status 3
	err_is "atwalk: ./so/$1.so: $2"
	yes [ ! -e none ]
}

t "what is refused"
for own in elf live raw kvm capture; do
	build own "NAME=\"$own\""
	fails own "it has the source '$own', which atwalk has itself"
done
build name 'NAME="With Blank"' 'NOTED="tables"'
fails name "'With Blank' is not a name of a source"
build noted 'NOTED="other"'
fails noted "its note does not have the source 'tables'"
build list 'NOTED=",tables"'
fails list "its note has no valid list of sources"
build lacks LACKS_READ
fails lacks "its struct atw_plugin_source has no \`read\`"
build flags FLAGS=2
fails flags "source 'tables' has an unknown flag (0x2): it needs a newer atwalk"
for magic in tables other@0=3a tables@0= tables@0=3 tables@0=?? tables@x=3a tables@65536=3a \
	tables@0=3A 'tables@0=3a  tables@0=3b' "tables@0=$(printf '00%.0s' {1..33})"; do
	build magic "MAGIC=\"$magic\""
	fails magic "its note does not say in a valid way how files are recognized"
done
build again
run atwalk map x86.elf --plugin ./so/tables.so --plugin ./so/again.so
status 3
err_is "atwalk: ./so/again.so: it has the source 'tables', which plugin tables has"

t "files of the program's formats are never those of a plugin"
build elf 'MAGIC="tables@0=7f454c46"' FLAGS=1
atwalk info x86.elf --filter fact=format >wanted
run atwalk info x86.elf --filter fact=format --plugin ./so/elf.so
out <wanted
printf '\x7fELG' >elg
run atwalk info elg --plugin ./so/elf.so
status 3
err_has "not a known dump format"

t "without the plugin, a hint names it; none is loaded for that"
run atwalk map tables:x
status 3
err_has "tables:x: No such file or directory"
printf ':10000000' >short.hex
run atwalk map short.hex
status 3
err_has "not a known dump format"
if [ -e "$built/plugins/ihex.so" ]; then
	err_has "the plugin that reads such sources: --plugin ihex"
	run atwalk map ihex:short.hex
	status 3
	err_has "the plugin that reads such sources: --plugin ihex"
fi
run atwalk plugins --plugin ./so/tables.so --format csv --columns kind,sources,state --filter 'path~so/tables'
out <<<$'kind,sources,state\nsource,tables,used'

t "commands that use only sources and formats of plugins"
run atwalk collect tables:x --plugin example -o none
status 2
err_is "atwalk: */example.so: it has nothing that 'collect' uses*"
run atwalk collect tables:x --plugin markdown -o none
status 2
err_is "atwalk: */markdown.so: it has nothing that 'collect' uses*"
run atwalk check memory x86.elf --plugin markdown --format markdown
said_status=1 said_err=1
yes grep -q '^| policy | verdict' "$work/log/out"
if grep -q '^  found:.* inih' "$built/found.txt"; then
	printf '[output]\nplugin=example\nplugin=%s\n' "$PWD/so/tables.so" >defaults.ini
	run atwalk check memory tables:x --config defaults.ini --help
	yes grep -q -- '--plugin PLUGIN' "$work/log/out"
	run atwalk map tables:x --config defaults.ini -q --format csv --columns size
	status 4
	said_err=1
fi

# ---- Intel HEX ----

t "a dump as Intel HEX: each command answers as from the dump"
command -v python3 >/dev/null || skip "there is no python3"
python3 "$cli/ihex.py" x86.elf x86.hex x86.note
for command in "map" "map --all" "walk ffff8b3ac0098010" "find 0x1000" "pages" "search --physical ELF"; do
	# shellcheck disable=SC2086 # words
	set -- $command
	atwalk "$1" x86.elf "${@:2}" >wanted 2>wanted.err
	wanted_rc=$?
	run atwalk "$1" ihex:x86.hex "${@:2}" --plugin ihex:vmcoreinfo=x86.note
	status $wanted_rc
	said_err=1
	out <wanted
	yes cmp <(sed 's/x86\.elf/ihex:x86.hex/' wanted.err) "$work/log/err"
done
run atwalk map x86.hex --plugin ihex:vmcoreinfo=x86.note --format csv --filter state=present
out < <(atwalk map x86.elf --format csv --filter state=present)

t "tasks, areas, reports, checks, queries and captures of it"
need_zstd() { grep -q '^  found:.* zstd' "$built/found.txt" || skip "this build has no zstd"; }
need_zstd
command -v python3 >/dev/null || skip "there is no python3"
atwalk extract tasks.kdump -o tasks.elf >/dev/null
python3 "$cli/ihex.py" tasks.elf tasks.hex tasks.note
hex() { run atwalk "$1" "${@:2}" --plugin ihex:vmcoreinfo=tasks.note; }
for command in ps pages "report basic"; do
	# shellcheck disable=SC2086 # words
	set -- $command
	atwalk "$@" tasks.elf --format csv >wanted 2>/dev/null
	hex "$@" ihex:tasks.hex --format csv
	said_err=1 said_status=1
	out <wanted
done
hex collect tasks.hex -o tasks.atw
said_err=1 said_status=1
run atwalk ps tasks.atw --format csv --columns pid,task
said_err=1 said_status=1
out < <(atwalk ps tasks.elf --format csv --columns pid,task)
if grep -q '^  found:.* sqlite' "$built/found.txt"; then
	hex sql tasks.hex 'select count(*) as n from tasks' --format csv
	out <<<$'n\n'"$(atwalk ps tasks.elf --format csv | sed 1d | wc -l)"
fi
hex check memory tasks.hex --format csv
said_err=1 said_status=1
cp "$work/log/out" got
atwalk check memory tasks.elf --format csv >wanted 2>/dev/null
same got wanted

t "packed, and from a pipe"
command -v python3 >/dev/null || skip "there is no python3"
atwalk map x86.elf >wanted
run bash -c "'$O/atwalk' map - --plugin ihex:vmcoreinfo=x86.note <x86.hex"
out <wanted
run bash -c "cat x86.hex | '$O/atwalk' map ihex:- --plugin ihex:vmcoreinfo=x86.note"
out <wanted
if grep -q '^  found:.* zlib' "$built/found.txt"; then
	gzip -k x86.hex
	run atwalk map x86.hex.gz --plugin ihex:vmcoreinfo=x86.note
	out <wanted
fi

# A file that is damaged, with the place.
damaged() {                      # TEXT LINES...
	printf '%s\n' "${@:2}" >bad.hex
	run atwalk info ihex:bad.hex --plugin ihex
	status 3
	err_is "atwalk: bad.hex: plugin ihex: $1"
}

t "damaged files"
first=:020000040000FA data=:0400000001020304F2 end=:00000001FF
damaged "line 2: it does not begin with a colon" $first x$data $end
damaged "line 2: its sum is wrong" $first :0400000001020304F3 $end
damaged "line 2: its length is not the one that it states" $first :05000000010203 $end
damaged "line 3: it has something else than hexadecimal digits" $first $data :04000010010203G4E2 $end
damaged "line 4: it is behind the end record" $first $data $end $data
damaged "line 2: its type is unknown" $first :0400000601020304EC $end
damaged "line 1: an address has two bytes" :0100000400FB $end
damaged "the file has no record with memory" $first $end
damaged "the file has the byte at 0x2 twice" $data :04000200AABBCCDDEC $end
printf '%s\n%s\n' $first $data >cut.hex
run atwalk rd ihex:cut.hex 0+4 --physical --plugin ihex
err_has "the file is cut off: it has no end record"
yes grep -q '04030201\|01 02 03 04\|0x04030201' "$work/log/out"
run atwalk info x86.elf --plugin ihex:other=1
status 2
err_is "atwalk: plugin ihex: option 'other=1': expected vmcoreinfo=FILE*"
run atwalk info x86.elf --plugin ihex:vmcoreinfo=none
status 2
err_is "atwalk: plugin ihex: vmcoreinfo=none: No such file or directory*"

finish
