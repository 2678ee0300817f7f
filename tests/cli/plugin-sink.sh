#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Formats that shared objects have: --format NAME, with each thing that one can do wrong.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

cc=$(cut -d' ' -f1 "$built/flags")
umask 022
mkdir so
if grep -q STATIC=1 "$built/flags"; then
	t "formats of plugins"
	skip "a static program loads none"
	finish
fi

# Builds sink.c as so/NAME.so with -D for each further word.
build() {                        # NAME [DEFINE...]
	local name=$1
	shift
	"$cc" -std=gnu17 -Wall -Wno-unused -Werror -I"$top/include" -fvisibility=hidden -fPIC \
		-shared -o "so/$name.so" "${@/#/-D}" "$data/plugins/sink.c" || bad "$name.so was not built"
}
build lines

t "a format gets the columns once, then rows in batches"
run atwalk map x86.elf --plugin ./so/lines.so --format lines --columns size,physical,rights,state,area
atwalk map x86.elf --format csv --columns size | awk '
	NR > 1 { n++; sum += $1 }
	END { print "size 3 bytes -\nphysical 1 - -\nrights 7 - rwxu\nstate 6 - -\narea 8 - -"
	      print n " rows, sum " sum "\n" n " rows in 1 batches" }' >wanted
out <wanted
run atwalk map x86.elf --plugin ./so/lines.so --format=lines --all --columns size
atwalk map x86.elf --all --format csv --columns size | awk '
	NR == 1 { print "size 3 bytes -"; next }
	{ n++; sum += $1; if (++rows == 1024) { print rows " rows, sum " sum; rows = sum = 0; batches++ } }
	END { if (rows) print rows " rows, sum " sum; print n " rows in " batches + (rows > 0) " batches" }' >wanted
out <wanted
yes grep -q '^1024 rows' wanted

t "sorting, filters, limits and files are as for every format"
run atwalk map x86.elf --plugin ./so/lines.so --format lines --columns size --sort size:desc --filter 'size=4k' -o file
[ "$(tail -n 1 file)" = "$(atwalk map x86.elf --format csv --filter size=4k | sed 1d | wc -l) rows in 1 batches" ] ||
	bad "file ends with $(tail -n 1 file)"
run atwalk map x86.elf --plugin ./so/lines.so --format lines --columns size --filter 'size=1'
out <<<$'size 3 bytes -\n0 rows in 0 batches'

t "a default of a file, and options that come later"
if grep -q '^  found:.* inih' "$built/found.txt"; then
	printf '[output]\nplugin=%s\nformat=lines\n' "$PWD/so/lines.so" >both.ini
	run atwalk map x86.elf --config both.ini --columns size --filter size=1
	out <<<$'size 3 bytes -\n0 rows in 0 batches'
	run atwalk map x86.elf --config both.ini --columns size --filter size=1 --format csv
	out <<<size
	printf '[output]\nformat=lines\n' >format.ini
	run atwalk map x86.elf --config format.ini
	status 2
	err_is "atwalk: format.ini:2: --format: 'lines' is not one of plain|csv|json|jsonl|html|parquet"
fi

t "where no plugin has it"
run atwalk map x86.elf --format lines
status 2
err_has "--format: 'lines' is not one of plain|csv|json|jsonl|html|parquet"
run atwalk map x86.elf --format other --plugin ./so/lines.so
status 2
err_has "--format: 'other' is not one of plain|csv|json|jsonl|html|parquet|lines"
run atwalk report basic x86.elf --format other
status 2
err_has "is not one of plain|csv|json|jsonl|html|parquet|svg|ps|pdf|png|pprof"
run atwalk map x86.elf --format markdown
status 2
err_has "parquet; did you mean --plugin markdown --format markdown?"
run atwalk probe --format lines
status 2
err_has "--format: 'lines' is not one of plain|csv|json|jsonl|html|parquet"

t "it is listed"
run atwalk map --help --plugin ./so/lines.so
yes grep -qx '  lines  *lines for tests' "$work/log/out"
run atwalk map --help --plugin nowhere
status 3
err_has "there is no plugin 'nowhere'"
yes grep -q -- '--format FORMAT' "$work/log/out"
run atwalk plugins --plugin ./so/lines.so --format csv --columns kind,formats,state --filter 'path~so/lines'
out <<<$'kind,formats,state\nsink,lines,used'
[ "$(atwalk __complete map --plugin ./so/lines.so --format l 2>/dev/null | cut -f1)" = lines ] ||
	bad "shells are not offered the format"

# Refused when it is loaded: one sentence, and no file.
fails() {                        # NAME TEXT [STATUS]
	run atwalk map x86.elf --plugin ./so/"$1".so --format lines -o none
	status "${3:-3}"
	err_is "atwalk: $2"
	yes [ ! -e none ]
}

t "what is refused"
build own 'FORMAT="csv"'
fails own "./so/own.so: it has the format 'csv', which atwalk has itself"
build picture 'FORMAT="svg"'
fails picture "./so/picture.so: it has the format 'svg', which atwalk has itself"
build name 'FORMAT="With Blank"' 'NOTED="lines"'
fails name "./so/name.so: 'With Blank' is not a name of a format"
build noted 'NOTED="other,more"'
fails noted "./so/noted.so: its note does not have the format 'lines'"
build list 'NOTED="lines,"'
fails list "./so/list.so: its note has no valid list of formats"
build rows LACKS_ROWS
fails rows "./so/rows.so: its struct atw_plugin_sink has no \`rows\`"
build flags FLAGS=2
fails flags "./so/flags.so: format 'lines' has an unknown flag (0x2): it needs a newer atwalk"
build twice TWICE
fails twice "./so/twice.so: it has the format 'lines', which plugin lines has"
build again
run atwalk map x86.elf --plugin ./so/lines.so --plugin ./so/again.so --format lines
status 3
err_is "atwalk: ./so/again.so: it has the format 'lines', which plugin lines has"

t "one that fails leaves no file"
build first FAILS_AT_ONCE
fails first "plugin lines: map is not to its liking"
build middle FAILS_LATER=2
run atwalk map x86.elf --all --plugin ./so/middle.so --format lines -o none
status 3
err_is "atwalk: plugin lines: batch 2 is not to its liking"
yes [ ! -e none ]
build last FAILS_AT_THE_END
fails last "plugin lines: * rows are not to its liking"
build silent FAILS_SILENTLY
fails silent "plugin lines: it failed with status -1000 and gave no reason"
yes [ -z "$(find . -name '*none*')" ]

t "a full disk and a closed pipe are as with every format, whatever the plugin does"
for one in lines large ignores; do
	[ $one = lines ] || build $one ${one^^}
	run atwalk map x86.elf --all --plugin ./so/$one.so --format lines -o /dev/full
	status 3
	err_is "atwalk: /dev/full: cannot write: No space left on device"
done
atwalk map x86.elf --all --plugin ./so/ignores.so --format lines 2>log | head -n 1 >/dev/null
yes [ ! -s log ]

t "binary ones are not for terminals, and a file has one table"
build binary FLAGS=1
need_zstd() { grep -q '^  found:.* zstd' "$built/found.txt" || skip "this build has no zstd"; }
need_zstd
run atwalk report basic,areas tasks.kdump --plugin ./so/binary.so --format lines
status 2
err_has "a lines file has one table"
run atwalk report basic,areas tasks.kdump --plugin ./so/binary.so --format lines -o folder
yes test -s folder/basic.lines -a -s folder/areas.lines
if command -v script >/dev/null && [ -z "${WRAP:-}" ]; then
	script -qec "$O/atwalk map x86.elf --plugin ./so/binary.so --format lines" /dev/null </dev/null >log 2>&1
	yes grep -q 'refusing to write lines to a terminal' log
	script -qec "$O/atwalk map x86.elf --plugin ./so/lines.so --format lines --columns size" /dev/null </dev/null >log 2>&1
	yes grep -q '^1 rows, sum' log
fi

t "rows of annotators and of reports, and those of queries"
need_zstd
run atwalk ps tasks.kdump --plugin example --plugin ./so/lines.so --format lines --columns pid,mm
status 2
err_has "it needs the column 'address'"
run atwalk map x86.elf --plugin example --plugin ./so/lines.so --format lines --columns offset --filter offset=0
yes grep -q '^offset 3 bytes -$' "$work/log/out"
if grep -q '^  found:.* sqlite' "$built/found.txt"; then
	run atwalk sql tasks.kdump 'select pid from tasks where pid < 4' --plugin ./so/lines.so --format lines
	out <<<$'pid 4 - -\n3 rows, sum 6\n3 rows in 1 batches'
fi

t "Markdown: texts cannot leave their cell, n/a is an empty one"
run atwalk map x86.elf --plugin markdown --format markdown --columns address,size,rights,state --filter 'size=4k' --units human
awk -F, 'NR == 1 { print "| address | size | rights | state |\n|---:|---:|----|----|"; next }
	{ print "| " $1 " | " $2 " | " $3 " | " $4 " |" }' \
	< <(atwalk map x86.elf --format csv --columns address,size,rights,state --filter 'size=4k') >wanted
out <wanted
need_zstd
run atwalk ps tasks.kdump --plugin markdown --format markdown --columns pid,task,mm --filter 'pid=2 or pid=96'
sed 's/0x[0-9a-f]*/MM/' "$work/log/out" >got
cat >wanted <<'END'
| pid | task | mm |
|---:|----|---:|
| 2 | kthreadd |  |
| 96 | odd\) \(name | MM |
END
same got wanted
run atwalk ps tasks.kdump --plugin markdown:x --format markdown
status 2
err_is "atwalk: plugin markdown: it has no option 'x'*"

finish
