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

t "a limit with a unit is bytes where a column counts pages, as in expressions"
run atwalk report basic --format csv --columns total tasks.kdump
status 0
pages=$(awk 'NR > 1 { n += $1 } END { print n }' "$work/log/out")
yes test "$pages" -gt 1000
while read -r name rule; do
	printf '[%s]\nover = report basic\n%s\n' "$name" "$rule"
done >pages.ini <<E
pages at most = $pages total
fewer at most = $((pages - 1)) total
bytes at most = $((pages * 4))K total
less at most = $((pages * 4 - 1))K total
more at least = $((pages * 4 + 1))K total
E
check pages.ini tasks.kdump
status 1
cut -d, -f1-4 "$work/log/out" >got
cat >want <<E
policy,verdict,count,limit
pages,ok,$pages,$pages
fewer,violated,$pages,$((pages - 1))
bytes,ok,$((pages * 4096)),$((pages * 4096))
less,violated,$((pages * 4096)),$((pages * 4096 - 1024))
more,violated,$((pages * 4096)),$((pages * 4096 + 1024))
E
same got want

t "what is tolerated, too"
printf '[grown]\nover = report basic\ntrack = total\ntolerance = 8K\n' >grown.ini
printf 'version = 1\n[grown]\ncount = %s\n' $((pages * 4096 - 8192)) >grown.base
check grown.ini tasks.kdump --baseline grown.base
status 0
yes grep -q "^grown,ok,$((pages * 4096)),$((pages * 4096))," "$work/log/out"
printf 'version = 1\n[grown]\ncount = %s\n' $((pages * 4096 - 8193)) >grown.base
check grown.ini tasks.kdump --baseline grown.base
status 1
yes grep -q "^grown,violated,$((pages * 4096)),$((pages * 4096 - 1))," "$work/log/out"

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

t "what is wrong with a source is said once, however many listings find it"
head -c 263492 x86.elf >cut.elf
run atwalk check security memory cut.elf
status 4
yes grep -q 'cut.elf: ends [0-9]* bytes short' "$work/log/err"
yes grep -q 'cut.elf: cannot read 4 page tables' "$work/log/err"
yes [ -z "$(sort "$work/log/err" | uniq -d)" ]
said_err=1
# Each policy has its reason all the same.
yes [ "$(grep -c 'cut.elf: the list of tasks cannot be found' "$work/log/out")" -ge 2 ]

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

# Then the table says which policies are warnings.
run atwalk check --format csv w.ini a.ini tasks.kdump
yes [ "$(sed -n '1p; 2p' "$work/log/out")" = 'policy,verdict,severity,count,limit,where,what
w,violated,warning,1,0,w.ini:3,pid=1 task=init' ]

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
	cat "$work/log/err" >>mistakes
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
wrong 3 "expected a value at character 5, not the end" <<'E'
[x]
over = ps
forbid = pid=
E
wrong 3 "'(' at character 1 is not closed" <<'E'
[x]
over = ps
forbid = (pid=1
E
wrong 4 "expected a number, a percentage up to 1000%, or both" <<'E'
[x]
over = ps
at most = 3 rows
tolerance = 5% some
E
wrong 4 "unknown process" <<'E'
[x]
over = map
forbid = writable
process = none
E
wrong 2 "policy [x] has a tolerance, but no rule 'track', 'at most' or 'at least'" <<'E'
[x]
over = ps
forbid = pid=1
tolerance = 1
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

t "each mistake is one clear sentence"
cp mistakes "$work/log/out"
golden check-mistakes

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

t "files that cannot be read: policies, the baseline, the configuration"
mkdir -p folder
run atwalk check -o result folder tasks.kdump
status 2
no_out
err_is 'atwalk: cannot read folder: Is a directory'
run atwalk check -o result --baseline folder a.ini tasks.kdump
status 2
no_out
err_is 'atwalk: cannot read folder: Is a directory'
run atwalk check -o result --config folder a.ini tasks.kdump
status 2
no_out
err_is 'atwalk: cannot read folder: Is a directory'
printf '[output]\nfromat = csv\n' >typo.ini
run atwalk check -o result --config typo.ini a.ini tasks.kdump
status 2
no_out
err_has "atwalk: typo.ini:2: "
yes [ ! -e result ]

t "process = any: a listing that is not of the process of --pid"
printf '[all]\nover = map\nforbid = area=modules\nprocess = any\n[one]\nover = map\nforbid = area=modules\n' >any.ini
check --pid 101 --columns policy,verdict,count any.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count
all,violated,32
one,ok,0
E

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

t "tolerance: absolute, relative, or the greater of both; of limits, too"
sed 's/^tolerance = 5%/tolerance = 20 5%/; s/4K/4K 1%/' track.ini >both.ini
check --baseline base both.ini tasks.kdump
out <<'E'
policy,verdict,count,limit,where,what
areas,ok,304,324,both.ini:3,""
heap,ok,397312,401408,both.ini:7,""
E
cat >about.ini <<'E'
[most]
over = ps
at most = 70 rows
tolerance = 7%
[not so many]
over = ps
tolerance = 4
at most = 70 rows
[least]
over = ps
at least = 80 rows
tolerance = 1 6%
[more]
over = ps
at least = 80 rows
tolerance = 5
[none]
over = ps
at least = 3 rows
tolerance = 4
E
check about.ini tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
most,violated,75,74,about.ini:3,pid=1 task=init; pid=2 task=kthreadd; pid=3 task=rcu_gp; and 72 more
not so many,violated,75,74,about.ini:8,pid=1 task=init; pid=2 task=kthreadd; pid=3 task=rcu_gp; and 72 more
least,violated,75,76,about.ini:11,""
more,ok,75,75,about.ini:15,""
none,ok,75,0,about.ini:19,""
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

t "a damaged baseline is refused, and --update leaves it as it is"
# refused LINE REASON: the file `damaged` is, whether it is to be updated or not
refused() {
	local update

	cp damaged damaged.was
	for update in '' --update; do
		# shellcheck disable=SC2086 # none, or one word
		run atwalk check --baseline damaged $update track.ini tasks.kdump
		status 2
		no_out
		err <<<"atwalk: damaged:$1: $2"
		same damaged damaged.was
	done
}
: >damaged
refused 1 'that is no baseline: it has no version'
head -c 72 base >damaged
refused 4 'neither [section] nor key=value'
head -c 85 base >damaged
refused 5 'expected a number'
sed 's/304/30\x004/' base >damaged
refused 5 'there is a zero byte in the line'
head -c 1000000 /dev/zero >damaged
refused 1 'there is a zero byte in the line'
{ cat base; head -c 300000 /dev/zero | tr '\0' x; } >damaged
refused 9 'the line is too long'
sed 's/304/18446744073709551616/' base >damaged
refused 5 'expected a number'
sed 's/304/-1/' base >damaged
refused 5 'expected a number'
{ cat base; printf '[areas]\ncount = 1\n'; } >damaged
refused 10 'the baseline has that twice'
sed 's/^count = 304/&\ncount = 305/' base >damaged
refused 6 'the baseline has that twice'
sed 's/^version = 1/&\n&/' base >damaged
refused 3 'the baseline has that twice'
run atwalk check --baseline /dev/zero track.ini tasks.kdump
status 2
no_out
err_is 'atwalk: /dev/zero:1: there is a zero byte in the line'

t "a baseline of 100,000 policies that are not known here"
{ echo 'version = 1'; seq -f '[policy %.0f]' 100000 | sed 's/$/\ncount = 1/'; } >large
check --baseline large --update track.ini tasks.kdump
yes [ "$(grep -c '^count = 1$' large)" -eq 100000 ]
yes [ "$(grep -c '^count = ' large)" -eq 100002 ]

t "a baseline that cannot be read or written: one sentence, and nothing is left of it"
# refused_file FILE STATUS SENTENCE
refused_file() {
	run atwalk check --baseline "$1" --update track.ini tasks.kdump
	status "$2"
	no_out
	err_is "$3"
}
cp base base.was
mkdir holder
ln -s around around
refused_file holder 2 'atwalk: cannot read holder: Is a directory'
refused_file around 2 'atwalk: cannot read around: Too many levels of symbolic links'
refused_file base/below 2 'atwalk: cannot read base/below: Not a directory'
refused_file /dev/null 2 'atwalk: /dev/null:1: that is no baseline: it has no version'
refused_file /dev/full 2 'atwalk: /dev/full:1: there is a zero byte in the line'
run atwalk check --baseline nowhere/base --update track.ini tasks.kdump
status 3
err_has 'nowhere/base: cannot create a file beside it: No such file or directory'
same base base.was

t "a folder that is full or read only: the baseline of before stays"
cat >inside.in <<EOF
mount -t tmpfs -o size=16k,nr_inodes=8 none holder || exit 9
cp base holder/base || exit 9
@MAKE@
"$built/atwalk" check --baseline holder/base --update track.ini tasks.kdump
echo "status \$?"
cmp base holder/base && ls -A holder
EOF
if ! unshare --mount true 2>"$work/log/unshare"; then
	skip "no mount namespace: $(head -n 1 "$work/log/unshare")"
else
	for how in 'cat /dev/zero >holder/zero 2>errors' 'mount -o remount,ro holder'; do
		sed "s|^@MAKE@|$how|" inside.in >inside
		run unshare --mount bash inside
		yes grep -qx 'status 3' "$work/log/out"
		yes [ -z "$(grep -F .base "$work/log/out")" ]
		yes [ "$(grep -cx base "$work/log/out")" -eq 1 ]
		err_has 'holder/base: cannot'
	done
fi

t "several --update at once: the baseline is whole, that of one of them"
for i in 1 2 3 4 5 6; do
	atwalk check -q --baseline base --update track.ini tasks.kdump >"$work/log/at.$i" 2>&1 &
done
wait
same base base.was
yes [ -z "$(find . -maxdepth 1 -name '.base*')" ]

# ---- the policies that come with it ----

t "audit: the security policies"
# shellcheck disable=SC2086
run atwalk audit $columns tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
kernel W+X,ok,0,0,security:6,""
kernel text writable,ok,0,0,security:13,""
kernel memory for user mode,ok,0,0,security:20,""
process W+X,violated,1,0,security:27,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu pid=101 task=rights
page-table isolation,ok,0,0,security:32,""
no-execute,unknown,0,0,security:40,fact=protection value='NX: not known: there is neither EFER nor __supported_pte_mask'
write protection in the kernel,ok,0,0,security:47,""
supervisor execution prevention,ok,0,0,security:55,""
supervisor access prevention,ok,0,0,security:62,""
process W+X pages,violated,1,0,security:69,pid=101 task=rights address=0x7ff0f35de000 rights=rwxu state=present
writable here and executable there,ok,0,0,security:75,""
page tables for user mode,ok,0,0,security:81,""
page tables in memory of another use,unknown,0,0,security:87,values are not known in 2103 rows
page tables that are none to the kernel,unknown,0,0,security:93,values are not known in 369 rows
E
err_is 'atwalk: tasks.kdump: 3 of 14 policies cannot be decided'

t "audit is not changed by files in the current folder, and is check security"
cp a.ini security.ini
# shellcheck disable=SC2086
run atwalk audit $columns --filter violated tasks.kdump
status 1
out <<'E'
policy,verdict,count,limit,where,what
process W+X,violated,1,0,security:27,address=0x7ff0f35de000 end=0x7ff0f35e6000 rights=rwxu pid=101 task=rights
process W+X pages,violated,1,0,security:69,pid=101 task=rights address=0x7ff0f35de000 rights=rwxu state=present
E
err_is 'atwalk: tasks.kdump: 3 of 14 policies cannot be decided'
check --filter violated security tasks.kdump
status 1
err_is 'atwalk: tasks.kdump: 3 of 14 policies cannot be decided'
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
	program 0 sh -c 'echo $#: "$*"' sh "an argument"
	out <<-'E'
		1: an argument
	E
fi

t "options of atwalk are no arguments of the program"
if with_program; then
	run atwalk check program.ini -o rows --format csv -- sh -c 'echo $# "$@"' sh one two
	out <<<'2 one two'
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
	err_is 'atwalk: sh ended without the signal of --at usr2'
fi
run atwalk check --at usr2 marks.ini tasks.kdump
status 2
err_has '--at needs COMMAND'

# ---- several looks ----

cat >grow.ini <<'E'
[taken]
over = pages --areas-only --filter address=100000000000
at most = 1 rows
[size]
over = pages --areas-only
at most = 600K rss where address>=100000000000 and address<110000000000
[W+X]
over = pages --areas-only
forbid = writable and executable
E
violate() {
	run atwalk check --format csv --columns policy,verdict,count,at,task,looks "${options[@]}" grow.ini -- "$@"
}
options=()
v=$O/tests/tools/violate

t "every mark is a look, of any thread; the worst one of each policy is kept"
if with_program; then
	options=(--at "usr1,usr2")
	violate "$v" mark=10 take=40 mark=12 take=60 thread=12 drop wx mark=10 take=10 mark=12
	status 1
	out <<-'E'
		policy,verdict,count,at,task,looks
		taken,ok,1,usr2,violate,5
		size,ok,409600,usr2,violate,5
		W+X,violated,1,usr1,violate,5
	E
	options=(--at "usr1,exit")
	violate "$v" take=10
	status 4
	err_is "atwalk: $v ended without the signal of --at usr1"
	yes grep -qx 'size,ok,40960,exit,violate,1' "$work/log/out"
fi

t "peaks: what it had at most, although it is gone at the end"
if with_program; then
	options=()
	violate "$v" take=200 drop take=20
	yes grep -qx 'size,ok,81920,exit,violate,1' "$work/log/out"
	options=(--at peak)
	violate "$v" take=200 drop take=20
	status 1
	yes grep -q '^size,violated,819200,peak,violate,' "$work/log/out"
	violate "$v" take=50 take=60 drop take=130 drop take=90 drop
	yes grep -q '^size,ok,532480,peak,violate,' "$work/log/out"
fi

t "a peak is looked at before a program becomes another, and at the end"
if with_program; then
	options=(--at peak)
	violate "$v" take=200 exec take=20
	status 1
	yes grep -q '^size,violated,819200,peak,violate,' "$work/log/out"
	violate "$v" take=200
	status 1
	yes grep -q '^size,violated,819200,peak,violate,' "$work/log/out"
fi

t "--children: processes that it starts, each by itself, and those that outlive it"
if with_program; then
	options=()
	violate "$v" take=10 fork take=20 wx end
	yes grep -qx 'size,ok,40960,exit,violate,1' "$work/log/out"
	yes grep -q '^W+X,ok,0,' "$work/log/out"
	options=(--children)
	violate "$v" take=10 fork take=20 wx end
	status 1
	out <<-'E'
		policy,verdict,count,at,task,looks
		taken,ok,1,exit,violate,2
		size,ok,122880,exit,violate,2
		W+X,violated,1,exit,violate,2
	E
	violate sh -c "(sleep 0.2; exec $v wx) & exit 0"
	status 1
	yes grep -qx 'W+X,violated,1,exit,violate,3' "$work/log/out"
	options=(--children --at "usr1,peak")
	violate "$v" take=10 fork take=160 mark=10 drop end
	status 1
	yes grep -q '^size,violated,696320,' "$work/log/out"
fi

t "a child that shares the memory of its parent until it executes another program"
if with_program; then
	options=(--children)
	violate "$v" take=10 spawn spawn
	yes grep -qx 'taken,ok,1,exit,violate,3' "$work/log/out"
fi

t "a program with threads that begin and end all the time"
if with_program; then
	options=(--at "usr1,exit")
	violate "$v" take=10 churn=10
	yes grep -qx 'size,ok,40960,usr1,violate,11' "$work/log/out"
fi

t "columns and reports say at which look it was"
if with_program; then
	run atwalk check --at usr1 grow.ini -- "$v" wx mark=10
	status 1
	yes grep -Eq '^W\+X +violated +1 +0 +usr1 +violate +grow.ini:9 +address=0x110000000000 ' "$work/log/out"
	run atwalk check --at usr1 --report github grow.ini -- "$v" wx mark=10
	status 1
	yes grep -q ': 1 row at usr1 of violate: address=0x110000000000 ' "$work/log/out"
fi

t "a baseline of a program is what it had at most"
if with_program; then
	printf '[size]\nover = pages --areas-only\ntrack = rss where address=100000000000\n' >most.ini
	run atwalk check --at usr1,exit --baseline most --update most.ini -- "$v" take=30 mark=10 drop take=10
	yes grep -qx 'count = 122880' most
	run atwalk check --at usr1,exit --baseline most most.ini -- "$v" take=10 mark=10 drop take=30
	run atwalk check --at usr1,exit --baseline most most.ini -- "$v" take=10 mark=10 drop take=31
	status 1
fi

t "a program that grows by a page each run, beside load: 50 times the same verdict"
if with_program; then
	(while :; do :; done) &
	burns=$!
	for i in $(seq 50); do
		atwalk check --at peak,exit --format csv --columns verdict,count --filter policy=size \
			grow.ini -- "$v" take=$((100 + i)) drop take=3
		echo "status $?"
	done >"$work/log/out" 2>"$work/log/err"
	kill "$burns"
	wait "$burns" 2>"$work/log/kill"
	for i in $(seq 50); do
		printf 'verdict,count\nok,%d\nstatus 0\n' $(((100 + i) * 4096))
	done >expected
	yes cmp expected "$work/log/out"
	options=(--at "peak,exit")
	violate "$v" take=151 drop take=3
	status 1
	yes grep -q '^size,violated,618496,peak,' "$work/log/out"
fi

t "--at and --children: wrong usage"
run atwalk check --at exit,now grow.ini -- true
status 2
err_has "--at: 'now' is not one of exit|usr1|usr2|peak"
run atwalk check --children grow.ini tasks.kdump
status 2
err_has '--children needs COMMAND'

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
