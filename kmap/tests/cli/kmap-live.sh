#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap record --live records the allocations of the running kernel for a program that this
# test starts, in agreement with the kernel's own tracing, and the code that accesses them.
# Only allocations of children of this test are recorded.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"

why=''
atwalk info -q live:bpf >/dev/null 2>"$work/log/why" || why=$(head -n 1 "$work/log/why")
[ -n "$why" ] || [ "$(printf '%s\n' 6.1 "$(uname -r)" | sort -V | head -n 1)" = 6.1 ] ||
	why="this kernel's tracepoints are older than 6.1"
kmemwork=$built/kmap/tests/tools/kmemwork

# begin FILE COMMAND...: records COMMAND without accesses, as process $child, and waits for rows.
begin() {
	local file=$1

	shift
	"$O/atwalk" kmap record --live --watch 0 --no-symbols -o "$file" -- "$@" 2>rec.err &
	child=$!
	await grep -qs ',seeker,\|,kmemwork,' "$file"
}

# "KMEM_CACHE filp 184 500": the number of each kind in the kernel's trace. Interrupts
# belong to no process.
# shellcheck disable=SC2317 # by yes
traced() {
	grep -v '^#' "$1" | grep -vE '\] ..[hHsZ]' | sed -nE '
		s/.* kmalloc: .* bytes_alloc=([0-9]+) .*/KMALLOC - \1/p
		s/.* kmem_cache_alloc: .* name=([^ ]+) bytes_req=([0-9]+) .*/KMEM_CACHE \1 \2/p
		s/.* mm_page_alloc: .* order=([0-9]+) .*/ALLOC_PAGES - \1/p' |
		awk '$1 == "ALLOC_PAGES" { $3 = 4096 * 2 ^ $3 } { n[$0]++ }
		     END { for (k in n) print k, n[k] }' | sort
}

# shellcheck disable=SC2317
recorded() {
	atwalk kmap show --filter "task == worker" --format csv --columns type,cache,size "$1" |
		awk -F, 'NR > 1 { n[$1 " " ($2 == "NULL" ? "-" : $2) " " $3]++ }
			 END { for (k in n) print k, n[k] }' | sort
}

# shellcheck disable=SC2317
same_objects() {
	traced worked.trace >want.txt
	recorded worked.kmap >got.txt
	diff want.txt got.txt && [ "$(wc -l <want.txt)" -gt 5 ]
}

t "every object in the kernel's own trace, with its size and cache"
if [ -z "$why" ] && ! timeout "$limit" "$kmemwork" trace worked.trace; then
	skip "there is no tracing here"
elif [ -n "$why" ]; then skip "$why"; elif ! grep -q ' name=' worked.trace; then
	skip "this kernel's tracing names no caches"
else
	run timeout "$limit" "$O/atwalk" kmap record --live --watch 0 -o worked.kmap -- \
		"$kmemwork" trace worked.trace
	err_has " objects, "
	yes same_objects
fi

t "500 files and 40 pipes are 580 structs of files, and all of them are freed"
if [ -n "$why" ]; then skip "$why"; elif [ ! -e worked.kmap ]; then
	skip "there is no tracing here"
else
	run atwalk kmap report caches --filter "cache == filp" --format csv \
		--columns type worked.kmap
	out <<'END'
type
KMEM_CACHE
END
	run atwalk kmap show --filter "task == worker and cache == filp and free_time > 0" \
		--format csv --columns size worked.kmap
	yes test "$(wc -l <"$work/log/out")" -eq 581
fi

t "an allocation larger than any cache is one object, with the site of the caller"
if [ -n "$why" ]; then skip "$why"; elif ! "$kmemwork" large 1; then
	skip "this kernel has no such pipes here"
else
	run timeout "$limit" "$O/atwalk" kmap record --live --watch 0 -o large.kmap -- "$kmemwork" large 20
	said_err=1
	run atwalk kmap show -q --filter 'task=worker and type=KMALLOC and size>8192' --format csv \
		--columns size,fate,cache,alloc_function large.kmap
	# An instrumented program may have one more, with another site.
	yes [ "$(tail -n +2 "$work/log/out" | sort | uniq -c | sort -rn | head -n 1 |
		sed 's/^ *//' | cut -d, -f 1-3)" = "20 16384,freed,NULL" ]
	yes [ "$(tail -n +2 "$work/log/out" | cut -d, -f 4 | grep -c kmalloc)" = 0 ]
fi

# The function with the most writes is the one that sets the file's position.
# shellcheck disable=SC2317
seeks() {
	tail -n +2 "$1" | sort -t, -k3,3nr | head -n 1 |
		grep -qE '^[a-z0-9_]*(seek|setpos)[a-z0-9_]*,[0-9]+,[1-9]'
}

# shellcheck disable=SC2317
lines_are_accesses() {
	[ "$(awk -F, '/^ / { w += $2; r += $3 } END { print w, r }' "$1")" = \
		"$(awk -F, '/^# line / { w += $2; r += $3 } END { print w, r }' "$1")" ]
}

# shellcheck disable=SC2317
symbol_is_right() {
	local site line base

	# "call_site=alloc_empty_file+0x3c/0x110", and an address of the same
	site=$(sed -nE 's/.*call_site=([a-z_]+)\+(0x[0-9a-f]+)\/.* name=filp .*/\1 \2/p' worked.trace | head -n 1)
	line=$(grep -m 1 ',worker,filp,' worked.kmap)
	base=$(sed -nE "s/^# atwalk-kmap symbol ([0-9a-f]+) ${site% *}$/\1/p" worked.kmap)
	[ "$(printf '%x' $((0x$base + ${site#* })))" = "${line%%,*}" ]
}

t "the allocation site is the instruction in the trace"
if [ -n "$why" ]; then skip "$why"; elif [ ! -e worked.kmap ]; then
	skip "there is no tracing here"
else
	yes symbol_is_right
fi

t "accesses to the struct of an open file are found, and marked as a sample"
if [ -n "$why" ]; then skip "$why"; else
	# A sample does not have all accesses: four of some 30 words are checked.
	for _ in {1..40}; do
		run timeout "$limit" "$O/atwalk" kmap record --live --lines --cache filp -o seek.kmap -- \
			"$kmemwork" seek 3
		said_err=1
		cp "$work/log/err" seek.err
		run atwalk kmap report code --format csv --columns code,reads,writes seek.kmap
		said_err=1
		cp "$work/log/out" seek.csv
		# Another test may be using the few hardware breakpoints.
		if grep -q "no accesses: .*in use" seek.err; then sleep 1; continue; fi
		if grep -q "no accesses: " seek.err || seeks seek.csv; then break; fi
	done
	if grep -q 'no accesses: ' seek.err; then
		skip "$(sed -n 's/.*no accesses: //p' seek.err)"
	else
		yes grep -q "accesses are a sample: " seek.err
		yes grep -q '^# atwalk-kmap mode sample$' seek.kmap
		yes grep -qE '^# atwalk-kmap scale [0-9]+$' seek.kmap
		yes seeks seek.csv
		run atwalk kmap show --rows accesses --format csv --columns cache seek.kmap
		yes test "$(tail -n +2 "$work/log/out" | sort -u)" = filp
		yes lines_are_accesses seek.kmap
	fi
fi

t "a recording that was killed can be read up to its last line"
if [ -n "$why" ]; then skip "$why"; else
	begin cut.kmap "$kmemwork" seek "$limit"
	kill -KILL "$child"
	wait "$child" 2>"$work/log/killed"
	run atwalk kmap show --format csv --columns type cut.kmap
	status 4
	err_has "cut"
fi

t "SIGINT ends the recording and its command, and the file is complete"
if [ -n "$why" ]; then skip "$why"; else
	begin whole.kmap "$kmemwork" seek "$limit"
	kill -TERM "$child"
	wait "$child"
	yes test $? -eq 0
	yes test -z "$(pgrep -P "$child")"
	run atwalk kmap show --format csv --columns type whole.kmap
fi

# "lost L" of a file's last line.
# shellcheck disable=SC2317
lost() { tail -n 1 "$1" | sed -n 's/.* lost \([0-9]*\)$/\1/p'; }

t "lost events are counted in the file"
if [ -n "$why" ]; then skip "$why"; else
	begin fast.kmap "$kmemwork" storm 300
	storm=$(pgrep -P "$child" -f kmemwork)
	# A stopped recorder reads nothing, and 300000 pipes exceed its buffers.
	kill -STOP "$child"
	await waits_in "$child" T
	kill -USR1 "$storm"
	await waits_in "$storm" Z
	kill -CONT "$child"
	wait "$child"
	yes test $? -eq 4
	yes grep -q 'lost: [1-9][0-9]* allocations and frees that came too fast' rec.err
	yes test "$(lost fast.kmap)" -gt 0
	run atwalk kmap report -q caches fast.kmap
	status 4
	said_err=1
fi

t "--seconds: exactly as long as specified, also for huge values"
if [ -n "$why" ]; then skip "$why"; else
	# In hundredths of a second, of a monotonic clock. Never early: load only makes it
	# later.
	read -r begun _ </proc/uptime
	run timeout "$limit" "$O/atwalk" kmap record --live -q --watch 0 --no-symbols \
		--seconds 1 -o brief.kmap
	said_status=1 said_err=1
	read -r ended _ </proc/uptime
	yes test $((10#${ended/./} - 10#${begun/./})) -ge 99
	for i in 9223372036854775807 18446744073709551615; do
		run timeout "$limit" "$O/atwalk" kmap record --live -q --watch 0 --no-symbols \
			--seconds $i -o brief.kmap -- sh -c "sleep 0.2; : >ended.$i"
		status 0
		said_err=1
		# Not before the command has ended by itself and created its file.
		yes test -e ended.$i
		yes test "$(tail -n 1 brief.kmap | cut -c -17)" = '# atwalk-kmap end'
	done
fi

t "RLIMIT_FSIZE: reported on standard error and in the file, without a wait"
if [ -n "$why" ]; then skip "$why"; else
	# The shared memory of the recorder is a file as well.
	"$kmemwork" storm 0 &
	storm=$!
	run bash -c 'trap "" XFSZ; ulimit -f 17000
		timeout "$1" "$2" kmap record --live --mem 16M --seconds 100 -o small.kmap' \
		- "$limit" "$O/atwalk"
	kill $storm
	wait $storm 2>"$work/log/killed"
	status 3
	err_has 'small.kmap: writing: File too large; the file ends there and is marked as cut off'
	yes test "$(tail -n 1 small.kmap)" = '# atwalk-kmap cut writing: File too large'
	run atwalk kmap show -q small.kmap
	status 4
	said_err=1
	run timeout "$limit" "$O/atwalk" kmap record --live --seconds 100 -o /dev/full
	status 3
	err_has '/dev/full: writing: No space left on device'
fi

t "RLIMIT_NOFILE is reported as such, not as a missing feature of the kernel"
if [ -n "$why" ]; then skip "$why"; else
	for ((i = 5; i < 25; i++)); do
		run bash -c 'ulimit -n $1; timeout "$2" "$3" kmap record --live -q -o few.kmap -- true' \
			- $i "$limit" "$O/atwalk"
		[ "$rc" -eq 0 ] && break
		status 3
		err_has 'Too many open files'
	done
fi

t "without hardware breakpoints, objects are not marked as a sample"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --live --watch 0 -o exact.kmap -- true
	said_err=1
	yes grep -q '^# atwalk-kmap mode instance$' exact.kmap
	run atwalk kmap record --live -o maybe.kmap -- true
	if grep -q 'no accesses: ' "$work/log/err"; then mode=instance; else mode=sample; fi
	said_err=1
	yes grep -q "^# atwalk-kmap mode $mode\$" maybe.kmap
	run atwalk kmap record --live --watch 0 --sample 2 -o maybe.kmap -- true
	err_has "objects are a sample: one of 2"
	said_err=1
	yes test "$(grep -cE '^# atwalk-kmap (mode sample|scale 2)$' maybe.kmap)" -eq 2
fi

t "events without room are counted, and the hint names --mem"
# 131072 pages do not fit into 16M.
cat >many.py <<'END'
import contextlib, mmap
m = mmap.mmap(-1, 512 << 20)
with contextlib.suppress(OSError):
    m.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(m), 4096):
    m[at] = 1
END
if [ -n "$why" ]; then skip "$why"; else
	run timeout "$limit" "$O/atwalk" kmap record --live --watch 0 --no-symbols --mem 16M -o small.kmap -- \
		python3 many.py
	status 4
	err_has " accesses for want of room; use a larger --mem"
	yes grep -qE '^# atwalk-kmap end objects [0-9]+ accesses 0 lost [1-9]' small.kmap
fi

t "options that exclude each other"
run atwalk kmap record --live --bare -o x.kmap -- true
status 2
err <<'END'
atwalk: --bare cannot be used with --live
        see: atwalk kmap record --help
END
run atwalk kmap record --live -- true
status 2
err <<'END'
atwalk: -o FILE is required: the command uses standard output
        see: atwalk kmap record --help
END
run atwalk kmap record --seconds 1 -o x.kmap -- qemu-system-x86_64
status 2
err <<'END'
atwalk: --pid, --seconds and --watch require --live
        see: atwalk kmap record --help
END
run atwalk kmap record --live --times -o x.kmap -- true
status 2
err <<'END'
atwalk: --times cannot be used with --live
        see: atwalk kmap record --help
END
run atwalk kmap record --mode sample --to v3 -o x.kmap -- qemu-system-x86_64
status 2
err <<'END'
atwalk: --sample requires --to v4
        see: atwalk kmap record --help
END
run atwalk kmap record --lines --mode site -o x.kmap -- qemu-system-x86_64
status 2
err <<'END'
atwalk: --times and --lines cannot be used with --mode site
        see: atwalk kmap record --help
END
run atwalk kmap record --live --to v3 -o x.kmap -- true
status 2
err <<'END'
atwalk: --to v3: sampled accesses require v4; use --watch 0 to record none
        see: atwalk kmap record --help
END
yes test ! -e x.kmap

t "numbers out of range"
run atwalk kmap record --live --sample 4294967296 -o x.kmap -- true
status 2
err_has '--sample 4294967296: expected at most 4294967295'
run atwalk kmap record --live --task-pid 4294967296 -o x.kmap -- true
status 2
err_has '--task-pid 4294967296: not a valid thread number'
yes test ! -e x.kmap

t "--mode sample records one of 64 objects, and the file is marked so"
if [ -n "$why" ]; then skip "$why"; else
	run timeout "$limit" "$O/atwalk" kmap record --live --watch 0 --mode sample --no-symbols \
		-o few.kmap -- "$kmemwork" work 2
	said_err=1
	yes [ "$(sed -n 's/^# atwalk-kmap \(mode\|scale\) //p' few.kmap)" = "sample
64" ]
	# 500 files and 40 pipes, three times or so, and whatever else.
	yes [ "$(grep -c '^[0-9a-f]' few.kmap)" -ge $((2 * 580 / 64)) ]
	yes [ "$(grep -c '^[0-9a-f]' few.kmap)" -le 2000 ]
fi

t "the recorded command does not inherit the recorder's memory"
if [ -n "$why" ]; then skip "$why"; else
	# shellcheck disable=SC2016 # the command's own number
	run timeout "$limit" "$O/atwalk" kmap record -q --live --watch 0 --no-symbols -o fds.kmap -- \
		sh -c 'ls -l /proc/$$/fd >fds'
	yes [ "$(grep -c '^l' fds)" -ge 3 ]
	yes [ "$(grep -c memfd fds)" -eq 0 ]
fi

t "a zombie counts as ended"
if [ -n "$why" ]; then skip "$why"; else
	# shellcheck disable=SC2016
	sh -c '"$0" storm 0 & echo $! >zombie; exec sleep 10000' "$kmemwork" &
	parent=$!
	await [ -s zombie ]
	timeout -k 2 "$limit" "$O/atwalk" kmap record -q --live --watch 0 --no-symbols \
		--pid "$(cat zombie)" -o zombie.kmap 2>rec.err &
	child=$!
	await grep -qs ',kmemwork,' zombie.kmap
	kill -KILL "$(cat zombie)"
	rc=0; wait "$child" || rc=$?
	yes [ $rc -eq 0 ]
	yes waits_in "$(cat zombie)" Z
	kill "$parent"
	wait "$parent" 2>/dev/null
fi

t "a missing command, a missing process"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --live -o x.kmap -- ./there-is-none
	status 2
	err_has "./there-is-none: No such file or directory"
	run atwalk kmap record --live --pid 4194303 -o x.kmap
	status 1
	err_has "there is no process 4194303"
	mkdir kept && echo old >kept/old
	run atwalk kmap record --live --pid 4194303 -o kept/old
	status 1
	err_has "there is no process 4194303"
	run atwalk kmap record --live -o kept/new -- ./there-is-none
	status 2
	err_has "./there-is-none: No such file or directory"
	run ls -A kept
	out <<<old
	yes [ "$(cat kept/old)" = old ]
fi

t "an unknown kernel function"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --live --site there_is_none -o x.kmap -- true
	status 2
	err_has "atwalk: --site there_is_none: none of the kernel's "
	err_has " symbols is called there_is_none"
fi

t "status of the command, and a cache without objects"
if [ -n "$why" ]; then skip "$why"; else
	run timeout "$limit" "$O/atwalk" kmap record --live --watch 0 --cache there-is-none -o x.kmap -- \
		sh -c 'exit 7'
	err_has "sh ended with status 7"
	err_has "no object matches --cache and --site"
	run timeout "$limit" "$O/atwalk" kmap record --live --watch 0 -o x.kmap -- sh -c 'kill -9 $$'
	err_has "sh was killed by signal 9"
	yes test "$(grep -c -- --cache "$work/log/err")" -eq 0
fi

finish
