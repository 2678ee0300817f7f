#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check and audit: policies over the rows of listings. A value that is not known is no pass.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2016
. "$(dirname "$0")/lib.sh"

if ! grep -q 'found:.* inih' "$built/found.txt"; then
	t "policies need libinih"
	skip "this build has no libinih"
	finish
fi
columns="--format csv --columns policy,verdict,count,limit,where,what"
# shellcheck disable=SC2086 # options
check() { run atwalk check $columns "$@"; }

t "forbid and require: verdict, count, place of the rule, and the first rows"
cat >rules.ini <<'E'
; a comment
[no W+X in the kernel]
over = map
forbid = present and writable and executable

[no W+X in processes]
over = pages --areas-only
forbid = writable and executable

[few heaps]
over = pages --areas-only
forbid = area='[heap]'

[init]
over = ps
require = task=init

[cron]
over = ps
require = task=cron
E
check rules.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
no W+X in the kernel,ok,0,0,rules.ini:4,""
no W+X in processes,violated,1,0,rules.ini:8,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu pid=101 task=rights
few heaps,violated,22,0,rules.ini:12,address=0x21e77000 end=0x21e99000 pid=1 task=init area=[heap]; address=0x21e77000 end=0x21e99000 pid=86 task=file-writer area=[heap]; address=0x21e77000 end=0x21e99000 pid=87 task=file-reader area=[heap]; and 19 more
init,ok,1,1,rules.ini:16,""
cron,violated,0,1,rules.ini:20,no row matches
E

t "at most, at least: rows and sums, with and without an expression"
cat >limits.ini <<'E'
[heaps]
over = pages --areas-only
at most = 22 rows where area='[heap]'
[heap memory]
over = pages --areas-only
at most = 387K rss where area='[heap]'
[tasks]
over = ps
at least = 75 rows
[more tasks]
over = ps
at least = 0x4c rows
[use]
over = report use
at least = 8M huge
E
check limits.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
heaps,ok,22,22,limits.ini:3,""
heap memory,violated,397312,396288,limits.ini:6,address=0x21e77000 end=0x21e99000 pid=1 task=init area=[heap]; address=0x21e77000 end=0x21e99000 pid=86 task=file-writer area=[heap]; address=0x21e77000 end=0x21e99000 pid=87 task=file-reader area=[heap]; and 19 more
tasks,ok,75,75,limits.ini:9,""
more tasks,violated,75,76,limits.ini:12,""
use,violated,4194304,8388608,limits.ini:15,""
E

t "several files, all kept: exit status 0"
cat >a.ini <<'E'
[a]
over = ps 1
require = task=init
E
sed 's/a]/b]/' a.ini >b.ini
check a.ini b.ini tasks.kdump
out <<'E'
policy,verdict,count,limit,where,what
a,ok,1,1,a.ini:3,""
b,ok,1,1,b.ini:3,""
E

t "options and operands of a listing, with quotes"
cat >words.ini <<'E'
[process]
over = map --pid 101 --filter "size>=32K and present"
at most = 0 rows where writable and executable
[find]
over = find 8410000+4K
require = area='direct map'
[symbol]
over = walk _stext
require = executable and not writable
E
check words.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
process,violated,1,0,words.ini:3,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu
find,ok,1,1,words.ini:6,""
symbol,ok,1,1,words.ini:9,""
E

t "--pid: the process of listings that name none"
printf '[wx]\nover = map\nforbid = writable and executable\n' >wx.ini
check wx.ini --pid 101 tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
wx,violated,1,0,wx.ini:3,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu
E

t "overlap: memory that is writable here and executable there, with the first places"
cp "$data/captures/server.cap" .
cat >overlap.ini <<'E'
[user]
over = find 0-fffffffffffff
overlap = present and writable and user with present and executable
[never]
over = find 0-fffffffffffff
overlap = present and writable and not writable with present and executable
E
check overlap.ini server.cap
status 1
out <<'E'
policy,verdict,count,limit,where,what
user,violated,8192,0,overlap.ini:3,physical=0x250000 size=8192 address=0x7f0000020000 pid=100 and address=0x7f0000030000 pid=100
never,ok,0,0,overlap.ini:6,""
E
check overlap.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
user,violated,32768,0,overlap.ini:3,physical=0x92f3000 size=32768 address=0x7ff0f35de000 pid=101 and address=0x7ff0f35de000 pid=101
never,ok,0,0,overlap.ini:6,""
E

t "tables have no size: each counts once"
cat >tables.ini <<'E'
[tables]
over = find 106a000+4K
overlap = state=table with present
[elsewhere]
over = find 106a000+4K
overlap = state=table with present and user
E
check --columns policy,verdict,count tables.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count
tables,violated,4096
elsewhere,ok,0
E

t "n/a is not a pass: what would have to be known is not"
cat >na.ini <<'E'
[addresses]
over = ps
forbid = resident>=1G
[one is enough]
over = ps
forbid = resident>=1M
[with not]
over = ps
forbid = not resident<1G
[decided by the rest]
over = ps
forbid = resident>=1G and task=nothing
[sum]
over = ps
at most = 1G resident
[needs]
over = info
forbid = value~'LA57: on'
needs = fact=planet
[unknown]
over = info
forbid = value~'NX: off'
unknown = value~'NX: not known'
E
check na.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
addresses,unknown,0,0,na.ini:3,values are not known in 53 rows
one is enough,violated,2,0,na.ini:6,pid=1 task=init resident=2646016; pid=99 task=thp resident=9052160
with not,unknown,0,0,na.ini:9,values are not known in 53 rows
decided by the rest,ok,0,0,na.ini:12,""
sum,unknown,23302144,1073741824,na.ini:15,values are not known in 53 rows
needs,unknown,0,0,na.ini:18,no row matches what is needed: fact=planet
unknown,unknown,0,0,na.ini:22,fact=protection value='NX: not known: there is neither EFER nor __supported_pte_mask'
E
err_is 'atwalk: tasks.kdump: 5 of 7 policies cannot be decided'

t "a listing that this source does not have: unknown, exit status 4"
check a.ini x86.elf
status 4
out <<'E'
policy,verdict,count,limit,where,what
a,unknown,,1,a.ini:3,x86.elf: the list of tasks cannot be found without the kernel's types (BTF)
E
err_has 'x86.elf: 1 of 1 policies cannot be decided'

t "a capture, and a listing that needs a process in it"
cat >capture.ini <<'E'
[kernel]
over = map
forbid = writable and executable
[areas]
over = pages --areas-only
at most = 100 rows
E
check capture.ini server.cap
status 4
out <<'E'
policy,verdict,count,limit,where,what
kernel,unknown,,0,capture.ini:3,server.cap: specify a process: the kernel's own pages are not known
areas,ok,44,100,capture.ini:6,""
E
err <<'E'
atwalk: capture.ini:2: server.cap: specify a process: the kernel's own pages are not known
        use --pid N to select a process
atwalk: server.cap: 1 of 2 policies cannot be decided
E

t "severity=warning: no exit status"
printf '[w]\nover = ps\nforbid = task=init\nseverity = warning\nbecause = of a test\n' >w.ini
run atwalk check --format json --columns +severity,rule,over,because w.ini tasks.kdump
out <<'E'
[
{"policy":"w","verdict":"violated","severity":"warning","count":1,"limit":0,"rule":"forbid = task=init","over":"ps","because":"of a test","where":"w.ini:3","what":"pid=1 task=init"}
]
E

t "plain table"
run atwalk check a.ini tasks.kdump
out <<'E'
POLICY                VERDICT      COUNT     LIMIT  WHERE                 WHAT
a                     ok               1         1  a.ini:3               -
E

# ---- what is wrong in a file ----

# wrong LINE SENTENCE: its standard input is a file of policies.
wrong() {
	cat >bad.ini
	run atwalk check -o result a.ini bad.ini tasks.kdump
	status 2
	no_out
	err_has "atwalk: bad.ini:$1: $2"
	yes [ ! -e result ]
}

t "errors in a policy file have its name and line, and nothing is written"
wrong 3 "unknown key 'forbit'" <<'E'
[x]
over = ps
forbit = task=init
E
wrong 3 "unknown name 'tsk'" <<'E'
[x]
over = ps
forbid = tsk
E
wrong 4 "unknown column 'planet'" <<'E'
[x]
over = ps
forbid = task=init
needs = planet=1
E
wrong 3 "unknown column 'planet'" <<'E'
[x]
over = ps
at most = 3 planet
E
wrong 3 "column 'task' has no sum" <<'E'
[x]
over = ps
at most = 3 task
E
wrong 3 "expected LIMIT rows|COLUMN [where EXPR]" <<'E'
[x]
over = ps
at most = some rows
E
wrong 3 "expected 'where EXPR' behind what is counted" <<'E'
[x]
over = ps
at most = 3 rows task=init
E
wrong 3 "expected EXPR with EXPR" <<'E'
[x]
over = find 0+4K
overlap = writable
E
wrong 3 "the rows have no physical addresses or no sizes" <<'E'
[x]
over = ps
overlap = pid=1 with pid=2
E
wrong 1 "the key is in no section" <<'E'
over = ps
E
wrong 2 "policy [x] has no rule" <<'E'
[x]
over = ps
E
wrong 2 "policy [x] has no key 'over'" <<'E'
[x]
forbid = task=init
E
wrong 4 "the policy has a rule already" <<'E'
[x]
over = ps
forbid = task=init
require = task=init
E
wrong 3 "'over' is given twice" <<'E'
[x]
over = ps
over = map
E
wrong 4 "unknown severity" <<'E'
[x]
over = ps
forbid = task=init
severity = high
E
wrong 2 "'collect' is no command that lists a SOURCE" <<'E'
[x]
over = collect
forbid = task=init
E
wrong 2 "unknown option --nothing" <<'E'
[x]
over = ps --nothing
forbid = task=init
E
wrong 2 "--format cannot be used here" <<'E'
[x]
over = ps --format json
forbid = task=init
E
wrong 2 "--watch cannot be used here" <<'E'
[x]
over = pages --watch 1
forbid = task=init
E
wrong 2 "there is no report 'nothing'" <<'E'
[x]
over = report nothing
forbid = task=init
E
wrong 2 "a quote is not closed" <<'E'
[x]
over = ps 'a
forbid = task=init
E
wrong 2 "neither [section] nor key=value" <<'E'
[x]
over
E
wrong 2 "another file has a policy [a]" <<'E'
[a]
over = ps
forbid = task=init
E
wrong 1 "there is no policy in the file" <<'E'
; nothing
E

t "a file that is not there, a source that is none, and too few words"
run atwalk check nothing.ini tasks.kdump
status 2
err <<'E'
atwalk: cannot read nothing.ini: No such file or directory
E
run atwalk check a.ini nothing.elf
status 3
err_has 'nothing.elf'
run atwalk check a.ini
status 2
err <<'E'
atwalk: SOURCE is missing
        see: atwalk check --help
E
run atwalk check --columns planet a.ini tasks.kdump
status 2
err_has "--columns: unknown column 'planet'"

t "defaults of the user's configuration do not change what is checked"
mkdir -p "$XDG_CONFIG_HOME/atwalk"
printf '[output]\nfilter = absent\ncolumns = address\n' >"$XDG_CONFIG_HOME/atwalk/config.ini"
check words.ini tasks.kdump
status 1
yes grep -q '^process,violated,1,' "$work/log/out"
rm "$XDG_CONFIG_HOME/atwalk/config.ini"

# ---- reports for CI ----

t "--report junit"
run atwalk check --report junit rules.ini na.ini w.ini tasks.kdump
status 1
golden check-junit
err_has 'policies cannot be decided'

t "JUnit is XML, and has as many cases as it says"
yes python3 -c '
import sys, xml.etree.ElementTree as tree
s = tree.parse(sys.argv[1]).getroot().find("testsuite")
cases = s.findall("testcase")
assert len(cases) == int(s.get("tests")) == 13
assert len(s.findall("testcase/failure")) == int(s.get("failures")) == 4
assert len(s.findall("testcase/skipped")) == int(s.get("skipped")) == 5' "$work/log/out"

t "--report github"
run atwalk check --report github -o annotations rules.ini w.ini tasks.kdump
status 1
no_out
cp annotations "$work/log/out"
golden check-github

t "--report has no rows"
run atwalk check --report junit --format csv a.ini tasks.kdump
status 2
err_has '--report cannot be used with options about rows'

# ---- baselines ----

printf '[areas]\nover = pages --areas-only\ntrack = rows\ntolerance = 5%%\n' >track.ini
printf '[heap]\nover = pages --areas-only\ntrack = rss where area=[heap]\ntolerance = 4K\n' >>track.ini

t "track: without a baseline nothing is known"
check track.ini tasks.kdump
status 4
out <<'E'
policy,verdict,count,limit,where,what
areas,unknown,304,,track.ini:3,no baseline is given
heap,unknown,397312,,track.ini:7,no baseline is given
E
err_is 'atwalk: tasks.kdump: 2 of 2 policies cannot be decided'

t "--update writes a baseline, and later runs are compared with it"
check --baseline base --update track.ini tasks.kdump
out <<'E'
policy,verdict,count,limit,where,what
areas,ok,304,304,track.ini:3,""
heap,ok,397312,397312,track.ini:7,""
E
cp base "$work/log/out"
out <<'E'
; counts of `atwalk check`: --update rewrites this file
version = 1

[areas]
count = 304

[heap]
count = 397312
E
check --baseline base track.ini tasks.kdump
out <<'E'
policy,verdict,count,limit,where,what
areas,ok,304,319,track.ini:3,""
heap,ok,397312,401408,track.ini:7,""
E

t "more than is tolerated"
sed 's/304/289/; s/397312/393215/' base >low
check --baseline low track.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
areas,violated,304,303,track.ini:3,""
heap,violated,397312,397311,track.ini:7,""
E

t "--update keeps what this run does not know"
sed 's/areas/other/' base >kept
check --baseline kept --update track.ini x86.elf
status 4
err_has '2 of 2 policies cannot be decided'
yes cmp <(sort base) <(sed 's/other/areas/' kept | sort)
check --baseline kept track.ini tasks.kdump
status 4
err_is 'atwalk: tasks.kdump: 1 of 2 policies cannot be decided'
yes grep -qx 'areas,unknown,304,,track.ini:3,not in the baseline: --update adds it' "$work/log/out"

t "files that are no baseline, or of another version"
sed 's/version = 1/version = 2/' base >other
run atwalk check --baseline other track.ini tasks.kdump
status 2
no_out
err_is 'atwalk: other:2: the baseline is of another version: --update with a new file replaces it'
run atwalk check --baseline track.ini track.ini tasks.kdump
status 2
err_has 'atwalk: track.ini:2: unknown key'
run atwalk check --baseline missing track.ini tasks.kdump
status 2
err_is 'atwalk: cannot read missing: No such file or directory'
run atwalk check --update track.ini tasks.kdump
status 2
err_has '--update needs --baseline FILE'

# ---- the policies that come with it ----

t "audit: the security policies"
# shellcheck disable=SC2086
run atwalk audit $columns tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
kernel W+X,ok,0,0,security:6,""
kernel text writable,ok,0,0,security:12,""
kernel memory for user mode,ok,0,0,security:18,""
process W+X,violated,1,0,security:24,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu pid=101 task=rights
page-table isolation,ok,0,0,security:29,""
no-execute,unknown,0,0,security:37,fact=protection value='NX: not known: there is neither EFER nor __supported_pte_mask'
write protection in the kernel,ok,0,0,security:44,""
supervisor execution prevention,ok,0,0,security:52,""
supervisor access prevention,ok,0,0,security:59,""
process W+X pages,violated,1,0,security:66,pid=101 task=rights address=0x7ff0f35de000 rights=rwxu state=present
writable here and executable there,violated,32768,0,security:72,physical=0x92f3000 size=32768 address=0x7ff0f35de000 pid=101 and address=0x7ff0f35de000 pid=101
page tables for user mode,ok,0,0,security:78,""
E
err_is 'atwalk: tasks.kdump: 1 of 12 policies cannot be decided'

t "audit is not changed by files in the current folder, and is check security"
cp a.ini security.ini
# shellcheck disable=SC2086
run atwalk audit $columns --filter violated tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
process W+X,violated,1,0,security:24,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu pid=101 task=rights
process W+X pages,violated,1,0,security:66,pid=101 task=rights address=0x7ff0f35de000 rights=rwxu state=present
writable here and executable there,violated,32768,0,security:72,physical=0x92f3000 size=32768 address=0x7ff0f35de000 pid=101 and address=0x7ff0f35de000 pid=101
E
err_is 'atwalk: tasks.kdump: 1 of 12 policies cannot be decided'
check --filter violated security tasks.kdump
status 1
err_is 'atwalk: tasks.kdump: 1 of 12 policies cannot be decided'
yes grep -q '^process W+X,violated' "$work/log/out"

# ---- a program ----

cat >program.ini <<'E'
[stack]
over = pages --areas-only
require = area='[stack]'
[sleep]
over = pages --areas-only
forbid = task=sleep
E
# program STATUS COMMAND...: its output is kept apart from that of the check.
program() {
	run atwalk check -o rows --format csv --columns policy,verdict,count program.ini -- "${@:2}"
	status "$1"
}
with_program() {
	atwalk check -o /dev/null -q program.ini -- true >/dev/null 2>&1
	[ $? -le 1 ] && return
	skip "processes of this machine cannot be read"
	return 1
}

t "a program is checked at its end, when its memory is there, and its output is its own"
if with_program; then
	program 0 sh -c 'echo "$1"' sh "an argument"
	out <<-'E'
		an argument
	E
	cp rows "$work/log/out"
	out <<-'E'
		policy,verdict,count
		stack,ok,1
		sleep,ok,0
	E
fi

t "it is the program that was executed, not the one that began"
if with_program; then
	program 1 sh -c 'exec sleep 0'
	yes grep -q '^sleep,violated,' rows
fi

t "signals reach it, and it may be stopped for a while"
if with_program; then
	program 0 sh -c 'trap "echo trapped" USR1; kill -USR1 $$; (sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; echo end'
	out <<-'E'
		trapped
		end
	E
	yes grep -q '^stack,ok,' rows
fi

t "a program that fails is no success"
if with_program; then
	program 1 sh -c 'exit 3'
	err_is 'atwalk: sh ended with status 3'
	yes grep -q '^stack,ok,' rows
	program 1 sh -c 'kill -TERM $$'
	err_is 'atwalk: sh was killed by signal 15'
fi

t "--at: a mark that the program sets by a signal, which it does not get"
if with_program; then
	cat >marks.ini <<-'E'
		[here]
		over = pages --areas-only
		forbid = task=sleep
		because = sleep is what the program becomes after the mark
	E
	run atwalk check -o rows --at usr1 --format csv --columns policy,verdict,count marks.ini -- \
		sh -c 'kill -USR1 $$; kill -USR1 $$; echo on; exec sleep 0'
	out <<-'E'
		on
	E
	cp rows "$work/log/out"
	out <<-'E'
		policy,verdict,count
		here,ok,0
	E
	run atwalk check --at usr2 marks.ini -- sh -c 'exit 0'
	status 4
	no_out
	err_is 'atwalk: sh ended before it was sent the signal of --at'
fi
run atwalk check --at usr2 marks.ini tasks.kdump
status 2
err_has '--at needs COMMAND'

t "a program that cannot be run, and what cannot go with one"
run atwalk check -o rows2 program.ini -- ./no-such-program
status 2
no_out
err_is 'atwalk: cannot execute ./no-such-program: No such file or directory'
yes [ ! -e rows2 ]
run atwalk check program.ini --
status 2
err_has 'COMMAND is missing'
run atwalk check -- true
status 2
err_has 'POLICY is missing'
run atwalk check --pid 1 program.ini -- true
status 2
err_has '--pid and --task cannot be used with COMMAND'

t "the policies 'memory'"
check memory --pid 99 tasks.kdump
err_has 'report nodes: '
yes grep -q '^heap in large pages,ok' "$work/log/out"

finish
