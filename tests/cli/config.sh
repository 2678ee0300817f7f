#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Defaults come from the user's file, the one of $ATWALK_CONFIG, the command line, in this
# order; what is wrong in a file is one sentence with its place.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if ! grep -q '^  found:.* inih' "$built/found.txt"; then
	t "all of it"
	skip "this build has no libinih"
	finish
fi

mkdir -p "$XDG_CONFIG_HOME/atwalk"
user=$XDG_CONFIG_HOME/atwalk/config.ini
config() { cat >"$user"; }
wrong() {                # ERROR CONTENT: of a file
	printf '%b' "$2" >wrong.ini
	run atwalk --config wrong.ini x86.elf ffffffff91400000
	status 2
	no_out
	err_has "$1"
}

t "the documented example as it stands"
config <<'EOF'
[output]
format=plain
columns=address,physical,flags
filter=present

[logging]
level=info
EOF
run atwalk x86.elf ffffffff91400000
out <<'EOF'
ADDRESS             PHYSICAL            FLAGS
0xffffffff91400000  0x0000000008000000  accessed,dirty,large,global,wb
EOF

t "options win over the file, and so does --no-config"
run atwalk --columns address x86.elf ffffffff91400000
out <<'EOF'
ADDRESS
0xffffffff91400000
EOF
run atwalk --no-config --columns address,size --format csv x86.elf ffffffff91400000
out <<'EOF'
address,size
0xffffffff91400000,2097152
EOF

t "columns of addresses are for rows that have them"
run atwalk info --format csv --filter fact=machine x86.elf
out <<'EOF'
fact,value
machine,x86_64
EOF

t "ATWALK_CONFIG wins over the user's file, key by key"
printf '[output]\nformat=csv\n' >env.ini
ATWALK_CONFIG=env.ini run atwalk x86.elf ffffffff91400000
out <<'EOF'
address,physical,flags
0xffffffff91400000,0x0000000008000000,"accessed,dirty,large,global,wb"
EOF

t "--config FILE is read instead of both"
printf '[walk]\ncolumns=address\n' >own.ini
ATWALK_CONFIG=env.ini run atwalk --config own.ini x86.elf ffffffff91400000
out <<'EOF'
ADDRESS
0xffffffff91400000
EOF
run atwalk --config=own.ini x86.elf ffffffff91400000
out <<'EOF'
ADDRESS
0xffffffff91400000
EOF

t "a section of a command has its options; other commands do not see it"
printf '[map]\nall=true\ncolumns=address\nfilter=size<4K\n' >map.ini
run atwalk --config map.ini --format csv --columns size x86.elf ffffffff91400000
out <<'EOF'
size
2097152
EOF
run atwalk map --config map.ini --format csv x86.elf
out <<'EOF'
address
EOF

t "an empty option cancels that of a file"
printf '[map]\ncolumns=address\nfilter=size<4K\nsort=size\n' >cancel.ini
run atwalk map --config cancel.ini --format csv --filter '' --columns '' --sort '' x86.elf
cp "$work/log/out" got
run atwalk map --no-config --format csv x86.elf
same "$work/log/out" got

t "levels: error is -q, debug is -v"
printf '[logging]\nlevel=debug\n' >debug.ini
run atwalk --config debug.ini --columns address --format csv x86.elf ffffffff91400000
said_err=1
yes test -s "$work/log/err"

t "info --config: each key with its value and origin"
ATWALK_CONFIG=map.ini run atwalk info --config --format csv
sed "s|$XDG_CONFIG_HOME|HOME|" "$work/log/out" >shown
cp shown "$work/log/out"
out <<'EOF'
section,key,value,origin
output,format,plain,HOME/atwalk/config.ini:2
output,columns,"address,physical,flags",HOME/atwalk/config.ini:3
output,filter,present,HOME/atwalk/config.ini:4
output,sort,,built-in
output,group,,built-in
output,color,,built-in
output,units,,built-in
output,progress,,built-in
output,plugin,,built-in
source,rate,,built-in
source,kernel,,built-in
source,paging,,built-in
source,pte-ext,,built-in
logging,level,info,HOME/atwalk/config.ini:7
plugins,folder,,built-in
map,all,true,map.ini:2
map,columns,address,map.ini:3
map,filter,size<4K,map.ini:4
EOF

t "what is wrong in a file: its name, the line and the reason"
wrong "wrong.ini:2: unknown section" '[outptu]\nformat=csv\n'
wrong "wrong.ini:2: unknown key 'formt' in section [output]" '[output]\nformt=csv\n'
wrong "wrong.ini:2: --format: 'xml' is not one of" '[output]\nformat=xml\n'
wrong "wrong.ini:3: neither [section] nor key=value" '[output]\n\nno value here\n'
wrong "wrong.ini:1: the key is in no section" 'format=csv\n'
wrong "wrong.ini:2: unknown key 'pid' in section [walk]" '[walk]\npid=1\n'
wrong "wrong.ini:2: unknown key 'output' in section [walk]" '[walk]\noutput=x\n'
wrong "wrong.ini:2: expected true or false" '[walk]\npath=maybe\n'
wrong "wrong.ini:2: unknown level" '[logging]\nlevel=loud\n'
wrong "wrong.ini:2: [output] columns: " '[output]\ncolumns=adress\n'
wrong "wrong.ini:2: [output] filter: " '[output]\nfilter=size>\n'
wrong "wrong.ini:2: the line is too long" "[output]\nfilter=$(printf %0400d 0)\n"

t "a file that was named and cannot be read"
run atwalk --config absent.ini x86.elf 0
status 2
err <<'EOF'
atwalk: cannot read absent.ini: No such file or directory
EOF
run atwalk --config . x86.elf 0
status 2
err <<'EOF'
atwalk: cannot read .: Is a directory
EOF
ATWALK_CONFIG=absent.ini run atwalk x86.elf 0
status 2
err_has "cannot read absent.ini"
run atwalk x86.elf --config
status 2
err_has "--config needs FILE"

t "kmap reads the same files"
printf '[kmap show]\nlimit=nothing\n' >kmap.ini
run atwalk kmap show --config kmap.ini x
status 2
err_has "kmap.ini:2: --limit: 'nothing' is not a decimal number"

finish
