#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recorders of memory references count a program with a known number of references to each
# word exactly. The tool `references` runs them without the program atwalk.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

tool=$built/tests/tools/references
major=$(qemu-"$(uname -m)" --version 2>/dev/null | sed -nE '1s/.* version ([0-9]+)\..*/\1/p')
plugin=$built/atwalk-references-$([ "${major:-0}" -ge 9 ] && echo 2 || echo 1).so

nothing=''
${CC:-cc} -O2 -g -pthread -o lines "$data/references/lines.c" 2>"$work/log/cc" ||
	nothing="there is no compiler"

# The words of `lines` as addresses in the file of a program: WORD -> START-END.
words() {                # PROGRAM FIRST LAST
	local at
	at=$("${4:-nm}" "$1" | sed -n 's/ . lines$//p')
	printf '%x-%x' $((0x$at + 8 * $2)) $((0x$at + 8 * $3 + 8))
}

# may RECORDER COMMAND: sets `why` when it cannot run here.
may() {
	why=$nothing
	[ -z "$why" ] || return 0
	"$tool" -P "$plugin" -q -f "$(words lines 9 9)" "$1" ./lines >"$work/log/may" 2>&1
	[ $? != 77 ] || why="$1: $(sed 's/^references: //' "$work/log/may" | head -n 1)"
}

# Sums of a recording: WORD READS WRITES THREADS; words are those of `lines`.
sums() {                 # FILE PROGRAM [NM]
	local load at
	load=$(sed -n 's/^# load //p' "$1")
	at=$("${3:-nm}" "$2" | sed -n 's/ . lines$//p')
	python3 - "$1" $((load + 0x$at)) <<'END'
import collections
import sys
first = int(sys.argv[2])
reads, writes, threads = collections.Counter(), collections.Counter(), collections.defaultdict(set)
for row in open(sys.argv[1], encoding='utf-8'):
    if row.startswith('#'):
        continue
    address, size, kind, tid, ip, count = row.split()
    word, at = divmod(int(address, 16) - first, 8)
    assert at == 0 and size == '8' and 0 <= word < 32 and ip != '-', row
    reads[word] += int(count) * (kind in 'rb')
    writes[word] += int(count) * (kind in 'wb')
    threads[word].add(tid)
for word in sorted(threads):
    print(word, reads[word], writes[word], len(threads[word]))
END
}

# What tests/data/references/lines.c does; main() reads two of the words at the end.
cat >once <<'END'
3 1000 500 1
8 301 300 2
9 0 200 1
23 0 1 1
24 81 80 3
END
sed 's/^3 .*/3 700000 350000 1/' once >often

# ---- qemu ----

may qemu
t "qemu: every reference of every thread, exactly"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -P "$plugin" -f "$(words lines 0 31)" -o rec qemu ./lines
	err <<'END'
2383 references
END
	sums rec lines >got
	yes cmp got once
	yes grep -qx '# counts exact' rec
	yes grep -qx '# lost 0' rec
	yes [ "$(tail -n 1 rec)" = "# end $(grep -vc '^#' rec)" ]
fi

t "qemu: more than a narrow count can hold"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -P "$plugin" -f "$(words lines 0 31)" -o rec qemu ./lines 700
	err_has ' references'
	sums rec lines >got
	yes cmp got often
fi

t "qemu: all of memory, and ranges in it"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -P "$plugin" -o all qemu ./lines
	err_has ' references'
	load=$(sed -n 's/^# load //p' all) at=$(nm lines | sed -n 's/ . lines$//p')
	at=$((load + 0x$at))
	# The counts of a range are those of its words among all.
	{
		grep '^#' all
		python3 -c 'import sys
at = int(sys.argv[1])
for row in open("all"):
    if row[0] != "#" and at <= int(row.split()[0], 16) < at + 256:
        print(row, end="")' $at
	} >part
	sums part lines >got
	yes cmp got once
	run "$tool" -P "$plugin" -o rec -r "$(printf '%x-%x' $((at + 24)) $((at + 32)))" \
		-f "$(words lines 8 9)" qemu ./lines
	err_has ' references'
	sums rec lines >got
	grep -E '^[389] ' once >some
	yes cmp got some
fi

t "qemu: children and programs executed are not recorded, and reported"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -P "$plugin" -q qemu /bin/sh -c '(:); exit 3'
	status 3
	yes grep -qx '# children 1' "$work/log/out"
	err_has ' references'
	run "$tool" -P "$plugin" -q qemu /bin/sh -c 'exec /bin/true'
	yes grep -qx '# cut the program executed another one, which was not recorded' "$work/log/out"
	err_has ' references'
	run "$tool" -P "$plugin" -q qemu /bin/sh -c 'kill -9 $$'
	status 137
	err_has ' references'
	yes [ "$(grep -c '^# cut' "$work/log/out")" = 0 ]
fi

t "qemu: no more memory for counts is lost references, not missing ones"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -P "$plugin" -m 8192 -o rec qemu ./lines
	err_has ' references'
	yes grep -qx '# lost [1-9][0-9]*' rec
fi

t "qemu: a program for another machine"
arm=$why
[ -n "$arm" ] || command -v qemu-aarch64 >"$work/log/which" || arm="there is no qemu-aarch64"
[ -n "$arm" ] || aarch64-linux-gnu-gcc -static -O2 -pthread -o lines.arm "$data/references/lines.c" \
	2>"$work/log/cc" || arm="there is no compiler for aarch64"
[ "$(uname -m)" = x86_64 ] || arm="is for x86_64"
if [ -n "$arm" ]; then skip "$arm"; else
	run "$tool" -P "$plugin" -f "$(words lines.arm 0 31)" -o rec qemu ./lines.arm
	err <<'END'
2383 references
END
	sums rec lines.arm >got
	yes cmp got once
fi

t "qemu: the program ends with its recorder"
if [ -n "$why" ]; then skip "$why"; else
	mkfifo fifo
	"$tool" -P "$plugin" -q qemu /bin/sh -c 'echo $$ >pid; exec 3<>fifo; read -r x <&3' &
	recorder=$!
	for _ in {1..600}; do [ -s pid ] && break; sleep 0.1; done
	kill -TERM "$recorder"
	wait "$recorder"
	for _ in {1..600}; do kill -0 "$(<pid)" 2>/dev/null || break; sleep 0.1; done
	kill -0 "$(<pid)" 2>/dev/null && bad "the program runs on" && kill -KILL "$(<pid)"
fi

t "qemu: what cannot be recorded"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -P "$plugin" qemu ./not-there
	status 100
	no_out
	err_is 'references: cannot run ./not-there: it is not an executable file'
	printf '#!/bin/sh\n' >script && chmod 755 script
	run "$tool" -P "$plugin" qemu ./script
	status 100
	no_out
	err_is 'references: cannot record ./script: it is not an ELF program'
	: >empty.so
	run "$tool" -P "$PWD/empty.so" qemu ./lines
	status 100
	no_out
	err_has 'did not load'
fi

# ---- step ----

may step
t "step: every reference of every thread, exactly"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -f "$(words lines 0 31)" -o rec step ./lines
	err <<'END'
2383 references
END
	sums rec lines >got
	yes cmp got once
	yes grep -qx '# counts exact' rec
fi

t "step: the limit ends the recording, and not the program"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -q -l 1000 step /bin/sh -c 'echo all; exit 3'
	status 3
	yes grep -qx all "$work/log/out"
	yes grep -qx '# cut the limit of instructions was reached' "$work/log/out"
	err_has ' references'
fi

# ---- watch ----

# Other tests use breakpoints, too: wait until they are free.
# shellcheck disable=SC2317 # by await
finds_breakpoints() {
	"$tool" "$@" >"$work/log/watched" 2>&1
	! grep -q 'breakpoints of each CPU are free' "$work/log/watched"
}

watch() { await finds_breakpoints "$@"; }

may watch
t "watch: every reference to two words, exactly"
if [ -n "$why" ]; then skip "$why"; else
	watch -f "$(words lines 3 3)" -f "$(words lines 8 8)" -o rec watch ./lines
	yes [ "$(cat "$work/log/watched")" = "2101 references" ]
	sums rec lines >got
	grep -E '^[38] ' once >want
	yes cmp got want
	# An instruction that reads and writes is a write; one thread only reads.
	watch -f "$(words lines 24 24)" -o rec watch ./lines
	yes [ "$(cat "$work/log/watched")" = "81 references" ]
	sums rec lines >got
	echo '24 1 80 3' >want
	yes cmp got want
fi

t "watch: a bounded number of words"
if [ -n "$why" ]; then skip "$why"; else
	watch -f "$(words lines 0 31)" watch ./lines
	yes grep -qx 'references: cannot watch more than [0-9]* words of 8 bytes at once' \
		"$work/log/watched"
	run "$tool" watch ./lines
	status 100
	no_out
	err_is 'references: cannot watch all of memory: a range is missing'
fi

# ---- pmu ----

may pmu
t "pmu: samples, and never said to be exact"
if [ -n "$why" ]; then skip "$why"; else
	run "$tool" -p 1000 -o rec -f "$(words lines 0 31)" pmu ./lines 1000
	err_has ' references'
	yes grep -qx '# counts sampled' rec
	yes grep -q '^[0-9a-f]' rec
fi

# Around signals: by both, with the same result.
for recorder in qemu step; do
	may $recorder
	[ -n "$why" ] || ${CC:-cc} -O2 -o signals "$data/references/signals.c" 2>"$work/log/cc" ||
		why="signals.c cannot be compiled"
	t "$recorder: handlers, an instruction that faults first, and a child"
	if [ -n "$why" ]; then skip "$why"; else
		run "$tool" -P "$plugin" -f "$(words signals 0 31)" -o rec $recorder ./signals
		err <<'END'
12 references
END
		sums rec signals >got
		printf '%s\n' '0 1 0 1' '8 0 10 1' '16 0 1 1' >want
		yes cmp got want
		yes grep -qx '# children 1' rec
	fi
done

finish
