#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs atwalk-NAME in PATH are commands; shared objects add columns and reports. atwalk
# plugins lists both, and why one is refused.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

mkdir first second "with blank"
# shellcheck disable=SC2016 # for the program
cat >first/atwalk-say <<'END'
#!/bin/sh
printf '<%s>' "$0" "$@"
echo
exit 7
END
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec "$ATWALK" --version\n' >second/atwalk-again
cp first/atwalk-say second/atwalk-say
cp first/atwalk-say second/atwalk-ps
cp first/atwalk-say 'with blank/atwalk-x_1'
chmod +x first/* second/* 'with blank'/*
cp first/atwalk-say first/atwalk-locked
chmod 644 first/atwalk-locked
mkdir first/atwalk-folder
ln -s nowhere first/atwalk-gone
touch first/atwalk-Upper first/atwalk- 'first/atwalk-two words'
chmod +x first/atwalk-Upper first/atwalk- 'first/atwalk-two words'
here=$PWD
PATH=relative:$here/first:$here/second:$here/none:$here/with\ blank:$PATH

t "a program is a command, with its words and its exit status"
run atwalk say 'a b' --format x
status 7
out <<<"<$here/first/atwalk-say><a b><--format><x>"
run atwalk x_1
status 7
out <<<"<$here/with blank/atwalk-x_1>"

t "it can run atwalk"
run atwalk again
out < <("$O/atwalk" --version)

t "commands of atwalk come first, and so do files"
run atwalk ps
status 2
err_has "SOURCE is missing"
touch say
run atwalk say
said_status=1 said_err=1
yes [ "$rc" != 7 ]
rm say

t "what is listed, and why one is not used"
run atwalk plugins --format csv --filter 'path~cwd'
sed "s|$here/||" "$work/log/out" >got
cat >wanted <<'END'
name,kind,state,path,why
folder,command,unused,first/atwalk-folder,it is no file
gone,command,unused,first/atwalk-gone,No such file or directory
locked,command,unused,first/atwalk-locked,it may not be executed
say,command,used,first/atwalk-say,
again,command,used,second/atwalk-again,
ps,command,unused,second/atwalk-ps,atwalk has a command of this name
say,command,unused,second/atwalk-say,another one is in front of it in PATH
x_1,command,used,with blank/atwalk-x_1,
END
yes cmp got wanted
run atwalk plugins more
status 2
err_has "'more': there is nothing to choose"

t "an unknown word is none, and PATH may be empty"
run atwalk locked
status 2
err_has "locked"
run env PATH= "$O/atwalk" say
status 2
said_err=1
run env PATH= "$O/atwalk" plugins --format csv --filter kind=command
out <<<"name,kind,state,path,why"

# ---- shared objects ----

cc=$(cut -d' ' -f1 "$built/flags")
mkdir -m 755 so headers
umask 022

# Builds plugin.c as so/NAME.so with -D for each further word, against headers/.
build() {                        # NAME [DEFINE...]
	local name=$1
	shift
	"$cc" -std=gnu17 -Wall -Wno-unused -Werror -Iheaders -fvisibility=hidden -fPIC -shared \
		-o "so/$name.so" "${@/#/-D}" "$data/plugins/plugin.c" || bad "$name.so was not built"
}

# The public header, edited by sed(1).
header() {
	rm -rf headers
	mkdir headers
	cp -r "$top/include/atwalk" headers
	sed -i "$1" headers/atwalk/plugin.h
}

why=
grep -q STATIC=1 "$built/flags" && why="a static program loads none"

header ''
t "an annotator adds its columns to rows, which are like all others"
[ -z "$why" ] || skip "$why"
need_zstd() { grep -q '^  found:.* zstd' "$built/found.txt" || skip "this build has no zstd"; }
need_zstd
build test
ps() { run atwalk ps tasks.kdump --plugin ./so/"$1".so --format csv "${@:2}"; }
ps test --columns pid,twice,parity,named --filter 'pid>0 and pid<4'
out <<'END'
pid,twice,parity,named
1,2,,<init>
2,4,even,<kthreadd>
3,6,,<rcu_gp>
END
ps test --columns pid,named --filter 'twice<=4 and pid>0' --sort twice:desc
out <<'END'
pid,named
2,<kthreadd>
1,<init>
END
ps test --filter 'pid<5' --group parity
cp "$work/log/out" got
yes grep -q '^even,2' got

t "text between rows stays where it is"
[ -z "$why" ] || skip "$why"
need_zstd
atwalk pages tasks.kdump --areas heap --columns pid,address >plain
run atwalk pages tasks.kdump --areas heap --columns pid,address --plugin ./so/test.so
out <plain

t "a file of defaults, and rows without what it reads"
[ -z "$why" ] || skip "$why"
need_zstd
cat >defaults.ini <<END
[output]
plugin=$PWD/so/test.so
END
grep -q '^  found:.* inih' "$built/found.txt" || skip "this build has no libinih"
run atwalk ps tasks.kdump --config defaults.ini --format csv --columns pid,twice --filter pid=2
out <<<$'pid,twice\n2,4'
run atwalk info x86.elf --config defaults.ini
run atwalk info x86.elf --plugin ./so/test.so
status 2
err_is "atwalk: plugin test: it needs the column 'pid', and rows of 'info' have none*"
printf '[plugins]\nfolder=%s\n' "$PWD/so" >folder.ini
run atwalk ps tasks.kdump --config folder.ini --plugin test --format csv --columns twice --filter pid=2
out <<<$'twice\n4'
run atwalk plugins --config folder.ini --plugin test --format csv --columns name,kind,state,version,help --filter name=test
out <<<$'name,kind,state,version,help\ntest,"annotator,report",used,1.5,for tests'

t "a report of a plugin"
[ -z "$why" ] || skip "$why"
need_zstd
atwalk ps tasks.kdump --format csv --columns pid | awk 'NR > 1 { n++; sum += $1 } END { print "rows,sum"; print n "," sum }' >wanted
run atwalk report pids tasks.kdump --plugin ./so/test.so --format csv
out <wanted
run atwalk report pids tasks.kdump --plugin ./so/test.so
yes grep -q '^a note about 42$' "$work/log/out"
run atwalk report pids tasks.kdump
status 2
err_has "pids"
run atwalk report pids --plugin ./so/test.so
status 2
err_has "SOURCE is missing"
run atwalk report pids tasks.kdump --plugin ./so/test.so --format svg
status 2
err_has "report pids has no picture"
run atwalk report pids tasks.kdump --plugin ./so/test.so --watch 1
status 2
err_has "--watch cannot be used with report pids"
build partial LACKS_ROWS_OF_SOME
run atwalk report pids tasks.kdump --plugin ./so/partial.so --format csv
status 4
out <wanted
err <<<"atwalk: report pids: some are missing"
build nothing FROM_NOTHING
run atwalk report pids tasks.kdump --plugin ./so/nothing.so
status 3
err_has "report 'pids' reads from 'kmap', which is not one of"
run atwalk report pids none.kdump --plugin ./so/test.so -o file
status 3
said_err=1
yes [ ! -e file ]

# Of each: the reason in the list, where nothing is loaded, and as an error.
refused() {                      # NAME TEXT [STATUS]
	local listed
	listed=$(atwalk plugins --plugin ./so/"$1".so --format csv --columns state,why --filter "path~so/$1.so" |
		sed 1d)
	# shellcheck disable=SC2053 # a pattern
	[[ ${listed//\"/} == unused,$2 ]] || bad "$1.so is listed as $listed"
	run atwalk ps tasks.kdump --plugin ./so/"$1".so -o file
	status "${3:-3}"
	err_is "atwalk: ./so/$1.so: $2"
	yes [ ! -e file ]
}

# Only by an error: the file is as it should be.
fails() {                        # NAME TEXT [STATUS]
	run atwalk plugins --plugin ./so/"$1".so --format csv --columns state --filter "path~so/$1.so"
	out <<<$'state\nused'
	run atwalk ps tasks.kdump --plugin ./so/"$1".so -o file
	status "${3:-3}"
	err_is "atwalk: $2*"
	yes [ ! -e file ]
}

t "what is refused before it is loaded"
[ -z "$why" ] || skip "$why"
need_zstd
build early RUNS_EARLY
run atwalk plugins --plugin ./so/early.so --format csv --columns state --filter 'path~so/early'
out <<<$'state\nused'
build none NO_NOTE
refused none "it is not a plugin: it has no ELF note of atwalk"
echo text >so/text.so
refused text "not an ELF file"
: >so/empty.so
refused empty "the file is empty"
mkfifo so/pipe.so
refused pipe "it is no file"
cp "$(type -P true)" so/program.so
refused program "it is not a plugin: it has no ELF note of atwalk"
ln -s test.so so/link.so
refused link "it is a symbolic link"
refused gone "No such file or directory"
for mode in 775:'its group' 777:everyone; do
	mkdir -m "${mode%%:*}" "so/open${mode%%:*}"
	chmod "${mode%%:*}" "so/open${mode%%:*}"
	cp so/test.so "so/open${mode%%:*}"
	refused "open${mode%%:*}/test" "its folder may be written by ${mode#*:} (mode ${mode%%:*})"
done
cp so/test.so so/mode.so
chmod 666 so/mode.so
refused mode "the file may be written by everyone (mode 666)"
cp so/test.so so/machine.so
printf '\x28\x00' | dd of=so/machine.so bs=1 seek=18 conv=notrunc status=none
refused machine "it is for another machine"
head -c 200 so/test.so >so/cut.so
refused cut "program headers at 0x40 (*"

t "one of another user"
[ -z "$why" ] || skip "$why"
[ "$(id -u)" = 0 ] || skip "not root"
cp so/test.so so/other.so
chown 12345 so/other.so
refused other "the file belongs to user 12345, not to root"

t "an old plugin, with shorter structs, and the newer program"
[ -z "$why" ] || skip "$why"
need_zstd
header '/^struct atw_plugin {/,/^}/{/report;/d;/sink;/d;/source;/d;/target;/d}; /^struct atw_plugin_note {/,/^}/{/formats/d;/sources/d;/magic/d}; s/plugin_version, plugin_help, plugin_formats, plugin_sources,/plugin_version, plugin_help }, }/; /^\t\t  plugin_magic },/d; /^\t}$/d; /^struct atw_plugin_column {/,/^}/{/unit;/d;/letters;/d}; /^struct atw_annotator {/,/^}/{/end;/d}; /^struct atw_plugin_column {/,/^}/{/hidden;/d}'
build old OLD
ps old --columns pid,twice,parity --filter 'pid>0 and pid<3'
out <<<$'pid,twice,parity\n1,2,\n2,4,even'

t "a newer plugin: refused only if it uses what this program does not know"
[ -z "$why" ] || skip "$why"
need_zstd
header 's/^\tatw_plugin_target_fn \*target;/&\n\tconst void *more;/'
build newer
ps newer --columns twice --filter pid=2
out <<<$'twice\n4'
build newest 'NEWER=rows'
fails newest "./so/newest.so: it uses byte * of struct atw_plugin: it needs a newer atwalk"
header 's/define ATW_PLUGIN_ABI 1/define ATW_PLUGIN_ABI 2/'
build abi
refused abi "it was built for version 2 of the plugin interface, and this program has version 1"
header 's/{ ATW_PLUGIN_ABI, sizeof(struct atw_plugin), plugin_kinds/{ ATW_PLUGIN_ABI, sizeof(struct atw_plugin), 32/'
build kinds
refused kinds "it is of no known kind (0x20): it needs a newer atwalk"

t "one that lies about its size"
[ -z "$why" ] || skip "$why"
need_zstd
header 's/sizeof(struct atw_plugin), plugin_kinds/sizeof(struct atw_plugin) + 64, plugin_kinds/'
build note
refused note "its note gives * bytes as the size of its atwalk_plugin, which has *"
header 's/\.size = sizeof(struct atw_plugin), /.size = sizeof(struct atw_plugin) + 8, /'
build struct
fails struct "./so/struct.so: its atwalk_plugin (version 1, * bytes) contradicts its note (version 1, * bytes)"
header 's/sizeof(struct atw_plugin), plugin_kinds/8, plugin_kinds/'
build short
refused short "its note gives 8 bytes as the size of struct atw_plugin, which has *"
header 's/plugin_kinds, 0, plugin_name/plugin_kinds, 0, "No Name"/'
build name
refused name "its note has no valid name"

t "one that lacks a member, cannot be loaded, or fails"
[ -z "$why" ] || skip "$why"
need_zstd
header ''
build start LACKS_START
fails start "./so/start.so: its struct atw_plugin has no \`start\`"
build rows LACKS_ROWS
fails rows "./so/rows.so: its struct atw_annotator has no \`rows\`"
build undefined UNDEFINED
fails undefined "./so/undefined.so: cannot load it: undefined symbol: defined_nowhere"
build same SAME_NAME
fails same "plugin test: it adds the column 'pid', which rows of 'ps' have already" 2
build fails FAILS
fails fails "plugin test: row 1 is not to its liking"
build silent FAILS_SILENTLY
fails silent "plugin test: it failed with status 5 and gave no reason"
run atwalk ps tasks.kdump --plugin ./so/test.so:x
status 2
err_is "atwalk: plugin test: it has no option 'x'*"
run atwalk ps tasks.kdump --plugin nowhere
status 3
err_has "there is no plugin 'nowhere'"
run atwalk ps tasks.kdump --plugin A:b
status 2
err_is "atwalk: 'A' is neither a name nor a file with a slash*"

t "a program with more rights than its caller uses only what root has installed"
[ -z "$why" ] || skip "$why"
[ "$(id -u)" = 0 ] || skip "not root"
command -v setpriv >/dev/null || skip "there is no setpriv"
grep -qE -- '-fsanitize|--coverage' "$built/flags" && skip "the program is instrumented"
[ -z "${WRAP:-}" ] || skip "valgrind runs no setuid programs"
folder=$(cat "$built/plugins_folder")
mkdir -p secure/bin "secure/bin/$folder"
find "$work" -type d -exec chmod a+rx {} +
find secure -type d -exec chmod 755 {} +
cp "$built/atwalk" secure/bin
chmod 4755 secure/bin/atwalk
for so in test other; do
	cp so/test.so "secure/bin/$folder/$so.so"
done
chown 12345 "secure/bin/$folder/other.so"
cp -L x86.elf tasks.kdump secure
printf '[output]\nplugin=./so/test.so\n' >secure/plugin.ini
printf '[plugins]\nfolder=%s\n' "$PWD/so" >secure/folder.ini
cp so/test.so so/user.so
caller() { run setpriv --reuid=65534 --regid=65534 --clear-groups secure/bin/atwalk "$@"; }
setpriv --reuid=65534 --regid=65534 --clear-groups secure/bin/atwalk plugins --format csv 2>&1 |
	grep -q 'more rights than its caller' || skip "setuid has no effect here"
caller ps secure/tasks.kdump --plugin test --format csv --columns twice --filter pid=1
out <<<$'twice\n2'
caller ps secure/tasks.kdump --plugin ./so/test.so
status 3
err_is "atwalk: ./so/test.so: not used: this program has more rights than its caller"
caller ps secure/tasks.kdump --plugin other
status 3
err_is "atwalk: *other.so: the file belongs to user 12345, not to root"
if grep -q '^  found:.* inih' "$built/found.txt"; then
	caller ps secure/tasks.kdump --config secure/plugin.ini
	status 3
	err_is "atwalk: ./so/test.so: not used: this program has more rights than its caller"
	caller ps secure/tasks.kdump --config secure/folder.ini --plugin user
	status 3
	err_has "there is no plugin 'user'"
fi
caller plugins --format csv --columns name,state
out <<<$'name,state\nother,unused\ntest,available'
err <<<"atwalk: programs in PATH are not used: this one has more rights than its caller"

t "those that are built with atwalk"
[ -z "$why" ] || skip "$why"
for so in "$built"/plugins/*.so; do
	name=$(basename "$so" .so)
	run atwalk plugins --format csv --columns name,state,why --filter "name=$name"
	out <<<$'name,state,why\n'"$name,available,"
done
run atwalk walk x86.elf 0xffff8b3ac0098010 --plugin example --format csv --columns offset
out <<<$'offset\n622608'

finish
