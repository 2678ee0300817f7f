#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lines lists cache lines: where they lie, and references to them with a verdict each.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/live-child.sh
. "$cli/live-child.sh"

python3 "$cli/content.py" ram.bin || exit
tables="--root 1000 --paging x86_64-4"

# One line has a hot word, one is shared falsely, one truly, and one is cold.
cat >trace <<'EOF'
# atwalk references 1
# backend qemu
# counts exact
# program /tmp/program
# columns address size kind tid ip count
10000 8 b 7 401000 1000
10008 8 r 7 401004 10
10010 8 r 7 401008 10
10018 4 w 7 40100c 10
10040 8 b 7 401010 500
10048 8 b 8 401014 500
10080 8 r 7 401018 1
100c0 4 w 7 40101c 3
100c0 4 r 8 401020 3
1013c 8 r 7 401024 2
# lost 0
# end 10
EOF

t "exact counts of a recording, and verdicts"
run atwalk lines --from trace
out <<'EOF'
ADDRESS               REFS   READS  WRITES  THREADS  TOUCHED     SHARE  VERDICT
0x0000000000010000    1030    1020    1010        1  brrw....   50.514  hot-cold
0x0000000000010040    1000    1000    1000        2  bb......   49.043  false-shared
0x0000000000010080       1       1       0        1  r.......    0.049  private
0x00000000000100c0       6       3       3        2  b.......    0.294  true-shared
0x0000000000010100       2       2       0        1  .......r    0.098  private
0x0000000000010140       2       2       0        1  r.......    0.098  private

2039 references to 6 lines of 64 bytes, from qemu, exact
2 of them cross the border of two lines, and count in both
lines: 1 hot-cold, 1 false-shared, 1 true-shared, 3 private
EOF

t "members of lines"
run atwalk lines --from trace --members --filter 'writes>0' --format csv
out <<'EOF'
address,size,offset,code,refs,reads,writes,threads,verdict
0x0000000000010000,8,0,0x0000000000401000,1000,1000,1000,1,hot-cold
0x0000000000010018,4,24,0x000000000040100c,10,0,10,1,hot-cold
0x0000000000010040,8,0,0x0000000000401010,500,500,500,1,false-shared
0x0000000000010048,8,8,0x0000000000401014,500,500,500,1,false-shared
0x00000000000100c0,4,0,0x000000000040101c,3,0,3,1,true-shared
EOF

t "members of lines as a table"
run atwalk lines --from trace --members --filter 'writes>0'
out <<'EOF'
ADDRESS              SIZE  CODE                  REFS   READS  WRITES  THREADS  VERDICT
0x0000000000010000     8B  0x0000000000401000    1000    1000    1000        1  hot-cold
0x0000000000010018     4B  0x000000000040100c      10       0      10        1  hot-cold
0x0000000000010040     8B  0x0000000000401010     500     500     500        1  false-shared
0x0000000000010048     8B  0x0000000000401014     500     500     500        1  false-shared
0x00000000000100c0     4B  0x000000000040101c       3       0       3        1  true-shared

2039 references to 6 lines of 64 bytes, from qemu, exact
2 of them cross the border of two lines, and count in both
lines: 1 hot-cold, 1 false-shared, 1 true-shared
EOF
fits

t "longer lines are shared by more"
run atwalk lines --from trace -c 128 --columns address,refs,touched,verdict --format csv
out <<'EOF'
address,refs,touched,verdict
0x0000000000010000,2030,brrw....bb......,false-shared
0x0000000000010080,7,r.......b.......,true-shared
0x0000000000010100,2,.......rr.......,private
EOF
run atwalk lines --from - --columns refs --sort refs:desc --format csv <trace
out <<'EOF'
refs
1030
1000
6
2
2
1
EOF

t "--fail-on a verdict"
run atwalk lines --from trace --fail-on false-shared --columns address --filter 'verdict=false-shared' --format csv
status 1
out <<'EOF'
address
0x0000000000010040
EOF
run atwalk lines --from trace --fail-on false-shared --filter 'refs<1000' --format csv --columns verdict
run atwalk lines --from trace --fail-on undecided --fail-on read-shared --format csv
run atwalk lines --from trace --fail-on shared
status 2
err_has "--fail-on: unknown verdict 'shared'; known: private, read-shared, true-shared"

t "references of a range of a source, with its places"
sed 's/^10/401/' trace >moved
# shellcheck disable=SC2086 # options
run atwalk lines $tables --from moved --format csv --columns address,refs,physical,state raw:ram.bin@0 401040-4010bf
out <<'EOF'
address,refs,physical,state
0x0000000000401040,1000,0x0000000000005040,present
0x0000000000401080,1,0x0000000000005080,present
EOF

t "what a recording lacks"
sed 's/^# counts exact/# counts sampled\n# scale 10007\n# line 64/; s/^# lost 0/# lost 9\n# cut the limit was reached\n# children 2/' trace >sampled
run atwalk lines --from sampled --columns address,touched,verdict
status 4
out <<'EOF'
ADDRESS             TOUCHED   VERDICT
0x0000000000010000  n/a       private
0x0000000000010040  n/a       undecided
0x0000000000010080  n/a       private
0x00000000000100c0  n/a       undecided
0x0000000000010100  n/a       private
0x0000000000010140  n/a       private

2039 references to 6 lines of 64 bytes, from qemu, sampled: each stands for 10007
2 of them cross the border of two lines, and count in both
their addresses are rounded to 64 bytes: which bytes threads share is not known
processes that the program started, not recorded: 2
lines: 4 private, 2 undecided
EOF
err <<'EOF'
atwalk: sampled: references that were lost when they were recorded: 9
atwalk: sampled: recording ended before the program did: the limit was reached
EOF
head -n 8 trace >short
run atwalk lines --from short --format csv --columns refs
status 4
out <<'EOF'
refs
1020
EOF
err <<'EOF'
atwalk: short: the recording is truncated: it ends after 3 rows, without its last line
EOF

t "a verdict that is not known has not passed"
cat >lackey <<'EOF'
==21648== Lackey, an example Valgrind tool
I  0401ab70,3
 S 1fff000708,8
 L 1fff000708,4
 M 1fff00073e,8
EOF
run atwalk lines --from lackey --columns +fetches,pid
out <<'EOF'
ADDRESS               REFS   READS  WRITES   FETCHES  THREADS  TOUCHED     SHARE  VERDICT            PID
0x000000000401ab40       1       0       0         1      n/a  ......r.   25.000  undecided        21648
0x0000001fff000700       3       2       2         0      n/a  .b.....b   75.000  undecided        21648
0x0000001fff000740       1       1       1         0      n/a  b.......   25.000  undecided        21648

4 references to 3 lines of 64 bytes, from lackey, exact
1 of them crosses the border of two lines, and counts in both
4 of them have no thread: how their lines are shared is not known
lines: 3 undecided
EOF
run atwalk lines --from lackey --fail-on false-shared --format csv --columns refs
status 4
err_has "how 3 lines are shared cannot be determined"

t "other formats, detected and named; lines that are not valid"
cat >csv <<'EOF'
pid,tid,addr,access,size
7,7,0x1000,load,8
7,8,0x1008,store,8
8,9,0x1008,store,8
x
EOF
run atwalk lines --from csv --form csv --format csv --columns pid,address,threads,verdict
status 4
out <<'EOF'
pid,address,threads,verdict
7,0x0000000000001000,2,false-shared
8,0x0000000000001000,1,private
EOF
err <<'EOF'
atwalk: csv: line 5: 'x' is not the number of a process
atwalk: csv: lines that are not valid: 1
EOF
run atwalk lines --from csv --form x
status 2
err_has "unknown format 'x'; known: references, lackey, dynamorio, csv, perf"
cat >perf <<'EOF'
 mcf 1774/1775 [002] 546.882384999: 3 cpu/mem-stores/P:     7ffdf1391b0c      10268100144 |OP STORE|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A               5     7fad7c47425d add (/usr/bin/mcf)      23456b0c 2M 4K
EOF
run atwalk lines --from perf --columns +weight
out <<'EOF'
ADDRESS               REFS   READS  WRITES    WEIGHT  THREADS  TOUCHED     SHARE  VERDICT       PHYSICAL
0x00007ffdf1391b00       3       0       3         5        1  .w......  100.000  private       0x0000000023456b00

3 references to 1 line of 64 bytes, from perf, sampled: each sample counts as its period
lines: 1 private
EOF

t "a line that is too long is one line, and no part of it is a reference"
python3 - <<'EOF'
with open('longrec', 'wb') as f:
    f.write(b'# atwalk references 1\n' + b'#' * 65536 + b'10000 8 r 1 1 5\n10040 8 r 1 1 1\nx\n# end 1\n')
with open('longcsv', 'wb') as f:
    f.write(b'addr,size\n0x1000,8\n' + b',' * 65536 + b'0x2000,8\n' + b'y' * 200000 + b'\nx\n0x3000,8\n')
    f.write(b'z' * 70000)
EOF
run atwalk lines --from longrec --format csv --columns address,refs
status 4
out <<'EOF'
address,refs
0x0000000000010040,1
EOF
err <<'EOF'
atwalk: longrec: line 2 has 65551 bytes, more than 32768
atwalk: longrec: line 4: 'x' is not a row of a recording: expected address, size, kind, thread, instruction and count
atwalk: longrec: lines that are not valid: 2
EOF
run atwalk lines --from longcsv --form csv --format csv --columns address,refs
status 4
out <<'EOF'
address,refs
0x0000000000001000,1
0x0000000000003000,1
EOF
err <<'EOF'
atwalk: longcsv: line 3 has 65544 bytes, more than 16384
atwalk: longcsv: line 4 has 200000 bytes, more than 16384
atwalk: longcsv: line 5: 'x' is not an address: decimal or with 0x
atwalk: longcsv: line 7 has 70000 bytes, more than 16384
atwalk: longcsv: lines that are not valid: 4
EOF

t "a first line that is none of a recording is reported once"
run atwalk lines --from csv --form references
status 3
err <<'EOF'
atwalk: csv: not a recording of memory references: its first line is not '# atwalk references 1'
EOF

t "sums above 2^64-1"
sed 's/ 1000$/ 18446744073709551615/' trace >huge
run atwalk lines --from huge --columns address,refs --format csv --filter 'refs>1000'
status 4
out <<'EOF'
address,refs
0x0000000000010000,18446744073709551615
EOF
err <<'EOF'
atwalk: huge: the sum of references or of their weights exceeds 2^64-1: counts may be too small
EOF
cat >weights <<'EOF'
addr,weight,count
0x1000,18446744073709551615,2
EOF
run atwalk lines --from weights --columns refs --format csv
status 4
err_has "exceeds 2^64-1"

t "lines of a range without references"
# shellcheck disable=SC2086
run atwalk lines $tables -c 2048 raw:ram.bin@0 400ff0-406fff
out <<'EOF'
ADDRESS              SIZE  PHYSICAL            STATE     AREA
0x0000000000400800     2K  0x0000000000006800  present   n/a
0x0000000000401000     2K  0x0000000000005000  present   n/a
0x0000000000401800     2K  0x0000000000005800  present   n/a
0x0000000000402000     4K  n/a                 absent    n/a
0x0000000000403000     2K  0x0000000000090000  present   n/a
0x0000000000403800     2K  0x0000000000090800  present   n/a
0x0000000000404000     4K  n/a                 absent    n/a
0x0000000000405000     2K  0x0000000000007000  protnone  n/a
0x0000000000405800     2K  0x0000000000007800  protnone  n/a
0x0000000000406000     2K  0x0000000000006000  present   n/a
0x0000000000406800     2K  0x0000000000006800  present   n/a

9 lines of 2048 bytes present, 4 not
EOF
# shellcheck disable=SC2086
run atwalk lines $tables raw:ram.bin@0 402000-402fff --format csv --columns state,size
status 1
out <<'EOF'
state,size
absent,4096
EOF

t "tables that are missing"
run atwalk lines --root 1000 --paging x86_64-4 raw:cut.bin@0 400000 --format csv --columns state,size
status 3
err_is "atwalk: cut.bin: No such file or directory"
head -c 12288 ram.bin >cut.bin
run atwalk lines --root 1000 --paging x86_64-4 raw:cut.bin@0 400000 --format csv --columns state,size
status 4
out <<'EOF'
state,size
lost,4096
EOF
err_has "cannot determine where 64 lines lie"

t "wrong usage and bad files: one sentence each"
for words in "lines:SOURCE is missing" \
	"lines live:RANGE is missing; also possible: --from FILE, or -- COMMAND" \
	"lines live 1000 --members:--members is about references: it needs --from FILE or -- COMMAND" \
	"lines live 1000 --fail-on private:--fail-on is about references: it needs --from FILE or -- COMMAND" \
	"lines live 1000 --form csv:--form is about a file: it needs --from" \
	"lines --from trace -c 48:--cache-line is a power of two from 16 to 4096" \
	"lines --from trace -c 8192:--cache-line is a power of two from 16 to 4096" \
	"lines --from sampled -c 32:sampled: the addresses in it are rounded to 64 bytes; lines cannot be shorter"; do
	# shellcheck disable=SC2086
	run atwalk ${words%%:*}
	status 2
	no_out
	err_has "atwalk: ${words#*:}"
done
run atwalk lines --from none
status 3
err_is "atwalk: none: No such file or directory"
run atwalk lines --from /dev/null
status 3
err_is "atwalk: /dev/null: there are no references: it is empty"
run atwalk lines --from ram.bin
status 3
err_has "atwalk: ram.bin: cannot detect the format of the references"
sed 's/references 1/references 2/' trace >newer
run atwalk lines --from newer
status 3
err_is "atwalk: newer: cannot read version 2 of a recording: expected 1"

t "walk --cache-line"
# shellcheck disable=SC2086
run atwalk walk $tables -p -c 2048 --from moved raw:ram.bin@0 401000 402000
status 1
out <<'EOF'
ADDRESS             SIZE  PHYSICAL            LEVEL  RIGHTS  STATE       REFS  VERDICT
0x0000000000401000  512G  0x0000000000002000  PGD    rwxu    table        n/a  n/a
0x0000000000401000    1G  0x0000000000003000  PUD    rwxu    table        n/a  n/a
0x0000000000401000    2M  0x0000000000004000  PMD    rwxu    table        n/a  n/a
0x0000000000401000    4K  0x0000000000005000  PTE    rwxu    present      n/a  n/a
0x0000000000401000    2K  0x0000000000005000  line   n/a     present     2039  false-shared
0x0000000000401800    2K  0x0000000000005800  line   n/a     present        0  n/a
0x0000000000402000  512G  0x0000000000002000  PGD    rwxu    table        n/a  n/a
0x0000000000402000    1G  0x0000000000003000  PUD    rwxu    table        n/a  n/a
0x0000000000402000    2M  0x0000000000004000  PMD    rwxu    table        n/a  n/a
0x0000000000402000    4K  n/a                 PTE    n/a     absent       n/a  n/a

2039 references to 1 line of 2048 bytes, from qemu, exact
EOF
fits
# shellcheck disable=SC2086
run atwalk walk $tables -p -c 2048 --from moved raw:ram.bin@0 401000 --format csv
yes [ "$(head -n 1 "$work/log/out")" = address,size,physical,level,index,entry_at,entry,rights,state,flags,refs,reads,writes,threads,verdict ]
# shellcheck disable=SC2086
run atwalk walk $tables -c 64 raw:ram.bin@0 40103f+2 --format csv --columns address,size,level,state
out <<'EOF'
address,size,level,state
0x000000000040103f,4096,PTE,present
0x0000000000401000,64,line,present
0x0000000000401040,64,line,present
EOF
run atwalk walk raw:ram.bin@0 1000 --from moved
status 2
err_has "--from is about cache lines: it needs --cache-line"
run atwalk walk raw:ram.bin@0 1000 -c 63
status 2
err_has "--cache-line is a power of two from 16 to 4096"

t "the command of the documents, in a PID namespace of its own"
if ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	skip "no PID namespace: $(head -n 1 "$work/log/unshare")"
elif [ -n "$why" ]; then
	skip "$why"
else
	cat >hold.py <<'EOF'
import sys
from live_memory import *
at = 0x7f9a00400000
assert libc.mmap(at, 4 * PAGE, 3, PRIVATE | ANONYMOUS | FIXED_NOREPLACE, -1, 0) == at
touch(at, 4 * PAGE)
print('ready', flush=True)
sys.stdin.read()
EOF
	cat >inside <<EOF
mkfifo to
python3 hold.py <to >ready 2>&1 &
exec 9>to
until [ -s ready ]; do [ -d /proc/\$! ] || exit 9; done
${WRAP:-} "$built/atwalk" live 0x7f9a00400000 -p -c 64
EOF
	run unshare --pid --fork --mount-proc bash inside
	err_has "0x7f9a00400000 is mapped only by process"
	fits
	yes [ "$(grep -Ec '^0x00007f9a00400[0-9a-f]{3} +64B .* line .* present ' "$work/log/out")" = 64 ]
	yes grep -Eq '^0x00007f9a00400000 +4K ' "$work/log/out"
fi

cc=${CC:-cc} nocc=''
$cc -O2 -pthread -o program "$data/references/lines.c" 2>"$work/log/cc" || nocc="there is no compiler"

# may RECORDER RANGE: sets `norun` when it cannot run here.
may() {
	norun=$nocc
	[ -n "$norun" ] || atwalk lines --by "$1" "$2" -- ./program >"$work/log/run" 2>&1 ||
		norun="$1: $(head -n 1 "$work/log/run")"
}
for by in qemu step; do
	t "a command that is recorded by $by: exact counts of known references"
	may $by lines
	if [ -n "$norun" ]; then
		skip "$norun"
		continue
	fi
	run atwalk lines --by $by lines --columns refs,reads,writes,threads,verdict,symbol -- ./program
	sed -n '/^level/!p' "$work/log/out" >counts
	cp counts "$work/log/out"
	out <<-E
		  REFS   READS  WRITES  THREADS  VERDICT       SYMBOL
		  1500    1000     500        1  private       lines
		   801     301     500        3  false-shared  lines+0x40
		     1       0       1        1  private       lines+0x80
		    81      81      80        3  true-shared   lines+0xc0

		2383 references to 4 lines of 64 bytes, from $by, exact
		lines: 1 false-shared, 1 true-shared, 2 private
	E
done

t "a word that is watched"
word=lines
[ -n "$nocc" ] || word=$(nm program | sed -n 's/ . lines$//p')
[ "$word" = lines ] || word=$(printf %x+8 $((0x$word + 0x18)))
may watch "$word"
if [ -n "$norun" ]; then skip "$norun"; else
	run atwalk lines --by watch "$word" --columns refs,threads,verdict,symbol --format csv -- ./program
	out <<-'E'
		refs,threads,verdict,symbol
		1500,1,private,lines
	E
fi

# 100 references, then what the argument names: another program, a child, or a long pause.
cat >next.c <<'EOF'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long word;
int main(int argc, char **argv)
{
	for (int i = 0; i < 50; i++)
		word++;
	if (!strcmp(argv[1], "exec"))
		execl(argv[0], argv[0], "again", (char *)NULL);
	if (!strcmp(argv[1], "fork") && !fork())
		return word--, 0;
	wait(NULL);
	if (!strcmp(argv[1], "pause")) {
		printf("%d\n", (int)getpid());
		fflush(stdout);
		pause();
	}
	return 0;
}
EOF
[ -n "$nocc" ] || $cc -O1 -o next next.c 2>"$work/log/cc" || nocc="it cannot be compiled"
# can RECORDER: sets `norun` when it cannot run here.
can() {
	norun=$nocc
	[ -n "$norun" ] || atwalk lines --by "$1" word -- ./next no >"$work/log/run" 2>&1 ||
		norun="$1: $(head -n 1 "$work/log/run")"
}
# shellcheck disable=SC2317 # by await
started() { [ -s started ]; }
# shellcheck disable=SC2317
ended() { ! kill -0 "$(cat started)" 2>"$work/log/kill" || [ "$(cut -d' ' -f3 "/proc/$(cat started)/stat")" = Z ]; }
for by in watch step qemu pmu; do
	t "$by: a program that executes another one is recorded until then, and that is reported"
	can $by
	if [ -n "$norun" ]; then
		skip "$norun"
	else
		run atwalk lines --by $by word --columns refs --format csv -- ./next exec
		status 4
		err_is "atwalk: ./next: recording ended before the program did: the program executed another one, which was not recorded"
		[ $by = pmu ] || out <<<$'refs\n100'
	fi

	t "$by: a process that it starts is not recorded, and reported"
	if [ -n "$norun" ]; then
		skip "$norun"
	else
		run atwalk lines --by $by word --columns refs -- ./next fork
		yes grep -q '^processes that the program started, not recorded: 1$' "$work/log/out"
		[ $by = pmu ] || yes grep -q '^100 references to 1 line' "$work/log/out"
	fi

	for signal in TERM INT; do
		t "$by: the program does not outlive SIG$signal to atwalk, and nothing is printed"
		if [ -n "$norun" ]; then skip "$norun"; continue; fi
		: >started
		env --default-signal=INT,TERM "$built/atwalk" lines --by $by word -o rows -- ./next pause >started 2>said &
		recorder=$!
		await started
		kill -$signal $recorder
		rc=0
		wait $recorder 2>"$work/log/kill" || rc=$?
		yes [ $rc = $((128 + $(kill -l $signal))) ]
		await ended
		yes [ ! -s said ]
		yes [ -z "$(ls -A rows .rows* 2>"$work/log/ls")" ]
	done
done

t "options with a command that is recorded"
may qemu lines
if [ -n "$norun" ]; then skip "$norun"; else
	run atwalk lines --fail-on false-shared --filter 'symbol~lines' lines+40 --format csv --columns symbol,verdict -- ./program
	out <<-'E'
		symbol,verdict
		lines,private
	E
	run atwalk lines --fail-on false-shared lines --members --filter 'verdict=false-shared' --format csv --columns offset,size,refs,function -- ./program
	status 1
	yes [ "$(sed 's/+0x.*//' "$work/log/out" | sed 1d | sort | paste -sd ' ')" = '0,8,1,main 0,8,300,first 0,8,300,first 8,8,200,second' ]
	run atwalk lines lines+40 --members -- ./program
	yes grep -qx 'ADDRESS              SIZE    REFS   READS  WRITES  VERDICT       SYMBOL            FUNCTION' "$work/log/out"
	yes grep -Eq '^0x[0-9a-f]{16}     8B .* private       lines\+0x18        [a-z]+' "$work/log/out"
	fits
	run atwalk lines nosuch -- ./program
	status 2
	err_has "'nosuch' is neither a hexadecimal address nor a symbol of"
	run atwalk lines lines+x -- ./program
	status 2
	err_has "lines+x: 'x' is no length"
fi
run atwalk lines -- ./no-such-program
status 3
err_has "./no-such-program"
run atwalk lines --by no -- true
status 2
err_has "unknown recorder 'no'"
for words in "lines --by qemu lines:COMMAND is missing: --by RECORDER -- COMMAND" \
	"lines --from trace -- true:--from cannot be used with COMMAND" \
	"lines --form csv -- true:--form is about a file: it needs --from" \
	"lines --:COMMAND is missing"; do
	# shellcheck disable=SC2086
	run atwalk ${words%%:*}
	status 2
	no_out
	err_has "atwalk: ${words#*:}"
done

# The addresses of child's memory, as the documents have them.
start_child
tell take 7f9a00400000 8192

t "a live range: places and sets of this machine"
[ -z "$why" ] || skip "$why"
run atwalk lines live --pid "${child:-1}" 7f9a00400000 --format csv --columns address,size,state,physical,l1_set,l2_set
yes [ "$(grep -c ',64,present,' "$work/log/out")" = 64 ]
cp "$work/log/out" lines.csv
run atwalk walk live --pid "${child:-1}" 7f9a00400000 --format csv --columns physical
cp "$work/log/out" page.csv
cat >sets.py <<'EOF'
import csv
import glob
import pathlib
import sys


def geometry(level):
    """Line size and sets of a cache with data; None: not known, or no power of two."""
    for folder in map(pathlib.Path, glob.glob('/sys/devices/system/cpu/cpu0/cache/index*')):
        try:
            if (int((folder / 'level').read_text()) == level and
                    (folder / 'type').read_text().strip() != 'Instruction'):
                line = int((folder / 'coherency_line_size').read_text())
                sets = int((folder / 'number_of_sets').read_text())
                return (line, sets) if not line * sets & (line * sets - 1) else None
        except (OSError, ValueError):
            pass
    return None


def want(level, line, physical):
    known = geometry(level)
    if not known or (physical is None and known[0] * known[1] > 4096):
        return ''
    return str((line if physical is None else physical) // known[0] % known[1])


base = open(sys.argv[1]).read().split()[1:]
rows = list(csv.DictReader(open(sys.argv[2])))
for i, row in enumerate(rows):
    at = 0x7f9a00400000 + 64 * i
    there = int(base[0], 16) + 64 * i if base else None
    got = [row['address'], row['physical'], row['l1_set'], row['l2_set']]
    right = [f'0x{at:016x}', '' if there is None else f'0x{there:016x}',
             want(1, at, there), want(2, at, there)]
    if got != right:
        print(f'{got}, not {right}')
EOF
run python3 sets.py page.csv lines.csv
no_out
run atwalk lines live:pagemap --pid "${child:-1}" 7f9a00400000+8K --format csv --columns address,state
yes [ "$(grep -c ',present$' "$work/log/out")" = 128 ]

finish
