#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs atwalk-NAME in PATH are commands, and atwalk plugins lists them.
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
run env PATH= "$O/atwalk" plugins --format csv
out <<<"name,kind,state,path,why"

finish
