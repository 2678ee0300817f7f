#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk-collect is small and static, writes the same as `atwalk collect live:pagemap`,
# leaves nothing behind when it fails, and needs bounded memory. It reads only processes
# of this test, in a PID namespace of their own.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# Valgrind cannot intercept the functions of a static libc, so it is not used.
collect=$built/atwalk-collect
if [ ! -x "$collect" ]; then
	t "all tests"
	skip "there is no static libc here"
	finish
fi
checked=''
! grep -qE -e '-fsanitize|--coverage' "$built/flags" || checked="this build is no static one"

# Processes to kill at the end of the test.
mine=()
# shellcheck disable=SC2317 # by the trap
end() {
	for p in "${mine[@]}"; do
		{ kill -CONT "$p" && kill -KILL "$p"; wait "$p"; } 2>"$work/log/kill"
	done
	rm -rf "$work"
}
trap end EXIT

alone=''
unshare --pid --fork --mount-proc true 2>"$work/log/unshare" ||
	alone="no PID namespace: $(head -n 1 "$work/log/unshare")"

# All its memory is shared only with processes of this test. It is stopped, so that
# nothing changes. Its reading would take a year.
cp "$collect" sitter
cat >sit <<'END'
./sitter --rate 64 >/dev/null 2>&1 &
sitter=$!
trap 'kill -KILL $sitter' EXIT
until ls -l /proc/$sitter/fd 2>/dev/null | grep -q '/proc/[0-9]*/pagemap'; do sleep 0.02; done
kill -STOP $sitter
until grep -q '^State:.*T' /proc/$sitter/status; do sleep 0.02; done
END

# Without permission to read frame numbers the answer is incomplete.
normal=0
[ "$("$collect" --no-refs --pid $$ 2>&1 | grep -c '^atwalk-collect: /proc/PID/pagemap hides')" = 0 ] || normal=4

# Removes what depends on the time of writing: of H: lines only the keys are kept.
# Pages of the kernel's own and the zero page are also mapped by the reading process.
steady() {
	sed -E '/^H: (atwalk-capture|page|way|bits|[a-z]*flags|machine|release|cpus|hz), /!s/^(H: [^,]*), .*/\1/
		/^P:/ { N
			/state=zero|, 1?0*800, / s/^(P: [0-9]+, [0-9]+, [0-9]+), [0-9]+, [0-9]+/\1/
			s/, [0-9]+, ([0-9A-F]*, refs)=[0-9]+, state=zero/, \1, state=zero/g
			s/, [0-9]+, (1?0*800, refs)=[0-9]+/, \1/g
			s/, [0-9]+, (1?0*800),/, \1,/g
		}' "$1" | if command -v python3 >"$work/log/python"; then python3 pages.py; else cat; fi
}
# Page by page, because runs may end at pages that are not yet on an LRU list.
cat >pages.py <<'END'
import re
import sys
for line in sys.stdin:
    runs = re.findall(r'([0-9A-F]+)(?:\*([0-9]+))?=([^|]*) \|', line) if line[:3] == 'M: ' else []
    if not runs:
        print(line, end='')
    for va, pages, rest in runs:
        entry, *more = rest.split(', ')
        more = [re.sub('^[0-9A-F]{8,}$', lambda f: '%08X' % (int(f[0], 16) & ~0x20), m) for m in more]
        for i in range(int(pages or 1)):
            at = 0 if 'same=1' in more or not int(entry, 16) & ~0xfff else i * 4096
            print('M: %X=%X,' % (int(va, 16) + i * 4096, int(entry, 16) + at), ', '.join(more))
END

# The E: line has the number of lines before it.
whole() {
	yes [ "$(head -n 1 "$1")" = 'H: atwalk-capture, 1' ]
	yes [ "$(tail -n 1 "$1" | sed -n 's/^E: \([0-9]*\), .*/\1/p')" = $(($(wc -l <"$1") - 1)) ]
}

# ---- the program ----

# FILE NAME: bytes, dynamic linker, libraries, machine
looks() {
	local size

	size=$(stat -c %s "$1")
	[ "$size" -le "$2" ] || bad "$1 has $size bytes, which is more than $2"
	readelf -Wl "$1" >"$work/log/ph" || bad "$1: no ELF file"
	! grep -qE 'INTERP|DYNAMIC' "$work/log/ph" || bad "$1 is linked dynamically"
	readelf -h "$1" | grep -q "Machine: *$3" || bad "$1 is not of $3"
}

MIB=1048576
t "one static file, under 1 MiB"
if [ -n "$checked" ]; then skip "$checked"
elif ! command -v readelf >"$work/log/readelf"; then skip "no readelf"
else
	case $(uname -m) in
	x86_64) looks "$collect" $MIB 'Advanced Micro Devices X86-64' ;;
	aarch64) looks "$collect" $MIB AArch64 ;;
	riscv64) looks "$collect" $MIB RISC-V ;;
	*) looks "$collect" $MIB '' ;;
	esac
fi

for each in 'musl:256000:' "x86_64:$MIB:Advanced Micro Devices X86-64" "arm64:$MIB:AArch64" "riscv64:$MIB:RISC-V"; do
	IFS=: read -r arch bytes machine <<<"$each"
	[ "$(uname -m)" != "${arch/arm64/aarch64}" ] || continue
	t "$arch: one static file of up to $bytes bytes"
	if [ -n "$checked" ]; then skip "$checked"
	elif [ ! -f "$built/atwalk-collect.$arch" ]; then skip "there is no compiler for it here"
	elif ! command -v readelf >"$work/log/readelf"; then skip "no readelf"
	else looks "$built/atwalk-collect.$arch" "$bytes" "$machine"
	fi
done

t "usage"
for help in -h --help; do
	run "$collect" $help
	golden collector-help
done
for version in -V --version; do
	run "$collect" $version
	out <<END
atwalk-collect $("$O/atwalk" --version | cut -d ' ' -f 2)
END
done

t "invalid arguments are refused"
for each in '--nosuch|unknown option --nosuch' 'a b|too many arguments; expected one TO' \
	'-o a b|too many arguments; expected one TO' \
	'--mem 1M x|' '--mem x x|' '--rate 0 x|--rate: ' \
	'--pid 0 x|--pid: not a valid process number' \
	'--pid 4294967296 x|--pid: not a valid process number' \
	'tcp:localhost:80|' 'tcp:127.0.0.1|' 'tcp:127.0.0.1:0|' 'tcp:127.0.0.1:65536|' \
	'tcp:::1:80|' 'tcp:[127.0.0.1]:80|' 'tcp:[::1:80|' 'unix:|'; do
	# shellcheck disable=SC2086 # words
	run "$collect" ${each%%|*}
	status 2
	no_out
	said_err=1
	[ -z "${each#*|}" ] || err_has "atwalk-collect: ${each#*|}"
done
# Arguments are quoted: they may be empty, or end with a colon.
run "$collect" --rate 0 x
status 2
err_has "atwalk-collect: --rate: '0' is not a number of bytes (65536, 64K, 1M)"
for to in tcp: tcp:1.2.3.4:; do
	run "$collect" $to
	status 2
	err_is "atwalk-collect: '$to' is not tcp:ADDRESS:PORT with a port from 1 to 65535"
done
run "$collect" tcp::80
status 2
err_has "atwalk-collect: 'tcp::80': '' is no address in numbers"
run "$collect" unix:
status 2
err_is "atwalk-collect: 'unix:': a socket's path has 1 to 107 bytes"
run "$collect" --mem 16383K
status 2
err <<'END'
atwalk-collect: --mem: '16383K' is not a number of bytes of at least 16M
END
run "$collect" tcp:localhost:80
status 2
err <<'END'
atwalk-collect: 'tcp:localhost:80': 'localhost' is no address in numbers
                names are not looked up here: 10.0.2.2, or [fd00::1] in brackets
END
run "$collect" "unix:/$(printf 'x%.0s' {1..107})"
status 2
err_has 'a socket'\''s path has 1 to 107 bytes'
yes [ "$(ls)" = "$(ls --hide=x)" ]

# ---- contents ----

t "the same as atwalk collect live:pagemap"
if [ -n "$alone" ]; then skip "$alone"
else
	cat >both <<END
. ./sit
for how in '' --no-refs '--raw --frames'; do
	# The kernel may move pages meanwhile: what is equal before and after is compared.
	for try in 1 2 3 4 5; do
		$O/atwalk collect live:pagemap --pid \$sitter \$how >"library\$how"
		a=\$?
		"$collect" --pid \$sitter \$how >"own\$how"
		b=\$?
		$O/atwalk collect live:pagemap --pid \$sitter \$how >again
		python3 "$cli/each_page.py" "library\$how" >before
		python3 "$cli/each_page.py" again | cmp -s - before && break
	done
	echo \$a
	echo \$b
	[ ! -f "$built/atwalk-collect.musl" ] || "$built/atwalk-collect.musl" --pid \$sitter \$how >"musl\$how"
done
END
	late=$(late_frames)
	run unshare --pid --fork --mount-proc bash both
	printf '%s\n' 0 0 0 0 "$((late ? 4 : 0))" "$((late ? 4 : 0))" | out
	[ "$late" -eq 0 ] || said_status=1 said_err=1
	for how in '' --no-refs; do
		for build in own musl; do
			# A sitter that is not static shares its libraries with atwalk.
			[ -f "$build$how" ] && [ -z "$checked" ] || continue
			steady "library$how" >"$work/log/a"
			steady "$build$how" >"$work/log/b"
			same "$work/log/b" "$work/log/a"
		done
		yes grep -q '^T: sitter, ' "own$how"
		yes grep -q '^U: .* build=' "own$how"
		yes [ "$(grep -c '^[MP]: ' "own$how")" -gt 10 ]
		yes grep -q '^M: .*map=' "own$how"
		whole "own$how"
	done
	[ "$how" != --no-refs ] || yes [ "$(grep -c refs= own--no-refs)" = 0 ]
	yes grep -q ' refs=1, ' own
	# Frames of a running machine are reused, and raw flags change.
	yes grep -q '^F: ' 'own--raw --frames'
	yes grep -qE '^M: [^,]*, [0-9]+, [1-9A-F][0-9A-F]{8,15}, ' 'own--raw --frames'
	for build in library own; do
		python3 "$cli/each_page.py" "$build--raw --frames" >"$work/log/$build"
	done
	same "$work/log/own" "$work/log/library"
fi

t "atwalk reads it"
if [ -n "$alone" ]; then skip "$alone"
else
	run atwalk collect own
	cp "$work/log/out" again
	same again own
	run atwalk report count own --format csv
	yes [ "$(sed -n 's/.*,//p' "$work/log/out")" = "processes
1" ]
	run bash -c "'$O/atwalk' report units --format csv - <own"
	yes grep -q "$PWD/sitter" "$work/log/out"
fi

t "every process there is"
if [ -n "$alone" ]; then skip "$alone"
else
	run unshare --pid --fork --mount-proc bash -c ". ./sit; '$collect' every"
	yes [ "$(sed -n 's/^T: \([^,]*\), .*/\1/p' every)" = "bash
sitter
atwalk-collect" ]
	yes grep -qx 'E: [0-9]*, 3, [0-9]*, 0' every
	yes [ "$(sed -n 's/^E: \([0-9]*\), .*/\1/p' every)" = $(($(wc -l <every) - 1)) ]
fi

t "with only /proc"
if [ -n "$alone" ]; then skip "$alone"
elif [ -n "$checked" ]; then skip "$checked"
else
	mkdir -p root/proc
	cp "$collect" root/
	# shellcheck disable=SC2016
	run unshare --pid --fork --mount-proc bash -c '. ./sit; cp sitter root/; mount --rbind /proc root/proc &&
		chroot root /atwalk-collect -v --pid $sitter && chroot root /atwalk-collect --pid $sitter /it'
	err_has 'bytes of /proc'
	yes grep -q '^T: sitter, ' "$work/log/out"
	yes grep -q '^R: .*, System RAM$\|^R: .*, System RAM, ' "$work/log/out"
	yes grep -q '^E: [0-9]*, 1, [0-9]*, 0$' "$work/log/out"
	steady "$work/log/out" | grep '^[TVPM]' >"$work/log/a"
	steady root/it | grep '^[TVPM]' >"$work/log/b"
	same "$work/log/a" "$work/log/b"
	yes [ "$(echo root/*)" = 'root/atwalk-collect root/it root/proc root/sitter' ]
fi

t "without even /proc"
if [ -n "$checked" ]; then skip "$checked"
elif [ "$(id -u)" -ne 0 ]; then skip "needs root, for chroot(8)"
else
	mkdir nothing
	cp "$collect" nothing/atwalk-collect
	run chroot nothing /atwalk-collect /file
	status 3
	no_out
	err <<'END'
atwalk-collect: /proc: No such file or directory
END
	yes [ "$(ls -A nothing)" = atwalk-collect ]
fi

t "without privileges: hidden data is n/a, and reported"
if [ -n "$alone" ]; then skip "$alone"
elif [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
elif [ -n "$checked" ]; then skip "$checked"
else
	cp "$collect" everybodys
	chmod 755 . "$work" everybodys
	run unshare --pid --fork --mount-proc bash -c '. ./sit
		setpriv --reuid=65534 --regid=65534 --clear-groups ./everybodys'
	status 4
	err <<END
atwalk-collect: /proc/PID/pagemap hides frame numbers from this process: physical addresses and all that is known of frames are n/a
                run it as root, or allow it once: sudo setcap cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $PWD/everybodys
atwalk-collect: 1 read error: see the L: lines
END
	yes grep -q '^L: 0, 2 of 3 processes, ' "$work/log/out"
	yes [ "$(grep -c '^T:' "$work/log/out")" = 1 ]
	yes grep -q '^M: .*=00000[02]12, -, -, map=[^|]*noframe=1' "$work/log/out"
	yes [ "$(grep -cE '^M: .*(refs|[^p]=[0-9A-F]*[1-9A-F][0-9A-F]{3},)' "$work/log/out")" = 0 ]
fi

for each in arm64:qemu-aarch64 riscv64:qemu-riscv64; do
	IFS=: read -r arch qemu <<<"$each"
	t "$arch: the build for it runs, and writes the same"
	qemu=$(command -v "$qemu" "$qemu-static" | head -n 1)
	if [ -n "$alone" ]; then skip "$alone"
	elif [ -n "$checked" ]; then skip "$checked"
	elif [ ! -f "$built/atwalk-collect.$arch" ]; then skip "there is no compiler for it here"
	elif [ -z "$qemu" ]; then skip "no qemu-user"
	elif [ "$(uname -m)" != x86_64 ]; then skip "pages are said to be of 4096 bytes here"
	else
		run unshare --pid --fork --mount-proc bash -c ". ./sit
			'$collect' --pid \$sitter | grep -v '^H' >a
			$qemu '$built/atwalk-collect.$arch' --pid \$sitter | tee whole | grep -v '^H' >b"
		steady a >"$work/log/a"
		steady b >"$work/log/b"
		same "$work/log/b" "$work/log/a"
		yes grep -qx "H: machine, ${arch/arm64/aarch64}" whole
		yes grep -q '^M: .*refs=1' b
	fi
done

# ---- destinations ----

python='' six=''
command -v python3 >"$work/log/python" || python="no python3, to listen"
[ -z "$python" ] && python3 -c 'import socket; socket.create_server(("::1", 0), family=socket.AF_INET6)' \
	2>"$work/log/six" || six="no IPv6 here"

t "to a file, which is complete or absent"
echo old >file
chmod 640 file
for to in file '-o file' --output=file; do
	# shellcheck disable=SC2086 # words
	run "$collect" -q --no-refs --pid $$ $to
	status $normal
	no_out
	whole file
	yes [ "$(stat -c %a file)" = 640 ]
	echo old >file
done

t "a new file is readable by its owner only"
rm file
(umask 022 && exec "$collect" -q --no-refs --pid $$ file)
yes [ "$(stat -c %a file)" = 600 ]
echo old >file

t "a folder, or where nothing can be written"
mkdir folder
run "$collect" -q --no-refs --pid $$ folder
status 3
err <<'END'
atwalk-collect: folder: cannot write: Is a directory
END
run "$collect" -q --no-refs --pid $$ nowhere/file
status 3
err_is 'atwalk-collect: nowhere/file: *'

t "to standard output, and to a pipe"
run "$collect" -q --no-refs --pid $$ -
status $normal
whole "$work/log/out"
run bash -c '"$0" -q --no-refs --pid $$ | cat; exit "${PIPESTATUS[0]}"' "$collect"
status $normal
whole "$work/log/out"
run bash -c '"$0" -q --no-refs --pid $$ >&-' "$collect"
status 3
err_is 'atwalk-collect: standard output: cannot write: Bad file descriptor'

for each in unix tcp tcp6; do
	t "to $each"
	if [ -n "$python" ]; then skip "$python"
	elif [ $each = tcp6 ] && [ -n "$six" ]; then skip "$six"
	else
		case $each in
		unix) listen ./socket got 0; to=unix:./socket ;;
		tcp) listen tcp got 0; to=tcp:127.0.0.1:$port ;;
		tcp6) listen tcp6 got 0; to="tcp:[::1]:$port" ;;
		esac
		mine+=("$listener")
		run "$collect" -q --no-refs --pid $$ "$to"
		status $normal
		no_out
		wait "$listener" 2>"$work/log/wait"
		yes whole got
		rm -f socket got
	fi
done

t "no listener"
run "$collect" unix:./absent
status 3
err <<'END'
atwalk-collect: unix:./absent: cannot connect: No such file or directory
                start the program that listens there first
END
run "$collect" tcp:127.0.0.1:1
status 3
err <<'END'
atwalk-collect: tcp:127.0.0.1:1: cannot connect: Connection refused
                start the program that listens there first
END

for each in unix tcp; do
	t "$each: the listener closes the connection"
	if [ -n "$python" ]; then skip "$python"
	else
		# At the first byte, after the first writes, and in the middle.
		for bytes in 1 4096 -1; do
			[ $bytes != -1 ] || bytes=$(($(stat -c %s file) / 2))
			if [ $each = unix ]; then
				listen ./socket got $bytes
				to=unix:./socket
			else
				listen tcp got $bytes
				to=tcp:127.0.0.1:$port
			fi
			mine+=("$listener")
			run "$collect" -q --no-refs --pid $$ "$to"
			status 3
			no_out
			err_is "atwalk-collect: $to: *"
			wait "$listener" 2>"$work/log/wait"
			rm -f socket got
		done
	fi
done
t "the reader of a pipe closes it"
mkfifo ready
# shellcheck disable=SC2016
run bash -c '{ cat ready; exec "$0" -q --no-refs --pid $$; } | { exec <&-; echo >ready; }
	exit ${PIPESTATUS[0]}' "$collect"
status 3
no_out
err <<'END'
atwalk-collect: standard output: cannot write: Broken pipe
END

t "no room on the disk"
if [ ! -c /dev/full ]; then skip "no /dev/full"
else
	run "$collect" -q --no-refs --pid $$ /dev/full
	status 3
	err <<'END'
atwalk-collect: /dev/full: cannot write: No space left on device
END
	run bash -c '"$0" --help >/dev/full' "$collect"
	status 3
	err <<'END'
atwalk-collect: standard output: cannot write: No space left on device
END
	run bash -c '"$0" -q --no-refs --pid $$ >/dev/full' "$collect"
	status 3
	err <<'END'
atwalk-collect: standard output: cannot write: No space left on device
END
fi
mkdir small
run bash -c 'ulimit -f 1; cd small; "$0" -q --no-refs --pid $$ file' "$collect"
status 3
err <<'END'
atwalk-collect: file: cannot write: File too large
END
yes [ -z "$(ls -A small)" ]

# shellcheck disable=SC2010,SC2317 # where links lead; by await
has_open() { ls -l "/proc/$1/fd" 2>"$work/log/ls" | grep -q "$2"; }
# It is $in.
# shellcheck disable=SC2317 # by await
has_child_that_waits() {
	local caught

	in=$(pgrep -P "$1") || return
	caught=$(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$in/status" 2>"$work/log/ls")
	((${caught:-0} & 0x4000)) && waits_in "$in" S
}

for sig in INT TERM HUP; do
	t "SIG$sig leaves nothing behind"
	mkdir slow.$sig
	env --default-signal=$sig "$collect" -q --no-refs --rate 64 --pid $$ slow.$sig/file 2>"$work/log/err" &
	slow=$!
	mine+=("$slow")
	# It is reading, so it has already opened its destination.
	await has_open $slow "slow.$sig/"
	kill -$sig $slow
	wait $slow 2>"$work/log/wait"
	yes [ $? -eq $((128 + $(kill -l $sig))) ]
	yes [ -z "$(ls -A slow.$sig)" ]
	yes [ ! -s "$work/log/err" ]
done

# The pipe has no reader, and the listener does not accept, with one connection pending.
mkfifo unread
cat >full.py <<'END'
import signal, socket
s = socket.socket(socket.AF_UNIX)
s.bind('full')
s.listen(0)
c = socket.socket(socket.AF_UNIX)
c.connect('full')
print(flush=True)
signal.pause()
END
for each in unread unix:full; do
	for sig in INT TERM HUP; do
		t "SIG$sig ends it while its reader blocks: $each"
		if [ $each != unread ] && [ -n "$python" ]; then skip "$python"; continue; fi
		if [ $each != unread ] && [ ! -S full ]; then
			exec 6< <(exec python3 full.py 2>"$work/log/full")
			mine+=("$!")
			read -r -t "$limit" -u 6 || bad "full.py did not start: $(cat "$work/log/full")"
		fi
		env --default-signal=$sig timeout -s KILL $limit "$collect" -q --no-refs --pid $$ $each 2>"$work/log/err" &
		slow=$!
		mine+=("$slow")
		# It catches the signal, and is blocked in a system call.
		await has_child_that_waits $slow
		kill -$sig "$in"
		wait $slow 2>"$work/log/wait"
		yes [ $? -eq $((128 + $(kill -l $sig))) ]
		yes [ ! -s "$work/log/err" ]
	done
done

# ---- cost ----

t "progress"
if [ -n "$alone" ]; then skip "$alone"
else
	run unshare --pid --fork --mount-proc bash -c ". ./sit; '$collect' --progress --pid \$sitter how-far"
	err_is 'atwalk-collect: 0 %'
	run unshare --pid --fork --mount-proc bash -c ". ./sit; '$collect' -q --progress --pid \$sitter how-far"
fi

t "a missing process"
run "$collect" --pid 4194305 -
status 1
no_out
err <<'END'
atwalk-collect: there is no process 4194305
END
run "$collect" --pid 4194305 absent
status 1
said_err=1
yes [ ! -e absent ]

t "-v prints the cost"
run "$collect" -q --no-refs -v --pid $$
status $normal
said_err=1
yes grep -qE '^atwalk-collect: 1 tasks, [0-9]+ areas, 0 not read$' "$work/log/err"
yes grep -qE '^atwalk-collect: cost: [0-9]+\.[0-9]{3} s, [0-9]+\.[0-9]{3} s of CPU; [1-9][0-9]* bytes of /proc in [1-9][0-9]* calls; at most [1-9][0-9]* KiB of memory$' "$work/log/err"

t "the cost is known in any supplementary group"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	skip "needs root and setpriv, to set groups"
elif [ -n "$checked" ]; then skip "$checked"
else
	run setpriv --groups "$(seq -s , 100001 101000)" "$collect" -q --no-refs -v --pid $$
	status $normal
	said_err=1
	yes grep -qE ' at most [1-9][0-9]* KiB of memory$' "$work/log/err"
fi

# Peak memory in KiB for a process of 1 GiB in small pages:
#
#	 4096	windows of words, and what is known of their frames
#	 9216	65536 runs, above which an area is written in parts
#	 2048	numbers of times that frames are mapped: 64 of them in 272 bytes,
#		and twice as many places as that
#	  640	the text to be written, and a piece that is read
#	 1024	the program
#	 2048	areas, names, libc
#
# and the limit by --mem.
bound=19072
t "a process of 1 GiB: memory is bounded"
free=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
if [ -n "$alone" ]; then skip "$alone"
elif [ -n "$checked" ]; then skip "$checked"
elif [ -n "$python" ]; then skip "$python"
elif [ "${free:-0}" -lt 2500000 ]; then skip "there are no 2.5 GB of memory to spare"
else
	cat >large.py <<'END'
import mmap, os, signal
m = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m.madvise(15)
for i in range(0, 1 << 30, 4096):
    m[i] = 1
os.kill(os.getpid(), signal.SIGSTOP)
END
	cat >looks <<END
python3 large.py &
trap 'kill -KILL \$!' EXIT
until grep -q '^State:.*T' /proc/\$!/status; do sleep 0.05; done
for mem in '' 64M 16M; do
	"$collect" -v \${mem:+--mem \$mem} --pid \$! >"large\$mem" 2>"said\$mem"
	echo \$?
done
END
	run unshare --pid --fork --mount-proc bash looks
	out <<'END'
0
0
4
END
	for each in :$bound 64M:65536 16M:16384; do
		mem=${each%:*}
		took=$(sed -n 's/.* at most \([0-9]*\) KiB of memory$/\1/p' "said$mem")
		yes [ "${took:-99999999}" -le "${each#*:}" ]
		yes whole "large$mem"
		yes [ "$(grep -o 'size=.*\|^M:.*' "large$mem" | wc -l)" -gt 0 ]
	done
	# All pages are recorded, whatever the limit.
	for mem in '' 64M 16M; do
		yes [ "$(awk -F', *' '/^V:/ { v = $3 } /^P:/ { n += $1 + substr($1, 4) }
			END { print (n >= 262144) }' "large$mem")" = 1 ]
	done
	yes grep -q ' refs=1' large64M
	yes [ "$(grep -c refs= large16M)" = 0 ]
	yes grep -qE '^L: 0, refs, to count how often each frame is mapped takes more than the [0-9]+ bytes of memory that it may take$' large16M
	yes [ "$(grep -c '^L:' large)$(grep -c '^L:' large64M)" = 00 ]
fi

finish
