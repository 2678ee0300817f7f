#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap record counts the memory accesses of a few instructions in place of a BIOS exactly;
# and the file is complete, or marked as cut off, when something ends early. Kernels are
# recorded by tests/vm.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"

why=''
command -v qemu-system-x86_64 >/dev/null || why="no qemu-system-x86_64 here"
[ "$(uname -m)" = x86_64 ] || why="is assembled for x86 only"
[ -e "$built/atwalk-kmap-1.so" ] || why="the recorder was not built"

if [ -z "$why" ]; then
	${CC:-cc} -c -m32 -o bare.o "$data/kmap/bare.S" && objcopy -O binary -j .text bare.o bare.bin ||
		why="cannot be assembled"
fi
machine=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
	-nic none -M pc -m 16M -bios bare.bin)
off=(-device 'isa-debug-exit,iobase=0xf4')
zstd=$(grep '^  found:.* zstd' "$built/found.txt")

# The complete recording: 1096 reads and 599 writes.
# shellcheck disable=SC2317 # by await
stands_still() {
	[ "$("$built/atwalk" kmap ctl sock stats 2>"$work/log/ctl" | sed -n 's/^ *Total Obs: *//p')" = 1695 ]
}

# begin OPTION...: starts a recording as process $pid, with QEMU as $qemu, and waits until the
# machine halts.
begin() {
	"$built/atwalk" kmap record --bare --control-socket sock "$@" -- "${machine[@]}" 2>rec.err &
	pid=$!
	await stands_still
	qemu=$(pgrep -P "$pid" -f qemu-system)
}

# shellcheck disable=SC2317 # by await
is_gone() { [ ! -d "/proc/$1" ]; }

# shellcheck disable=SC2317 # by yes
counts() {
	cat >expected <<'END'
ip,writes,reads
0x00000000000f0010,0,1000
0x00000000000f0018,500,0
0x00000000000f0020,77,77
0x00000000000f002f,3,0
0x00000000000f0040,10,10
0x00000000000f0048,9,0
0x00000000000f0049,0,9
END
	{ head -n 1 "$1"; tail -n +2 "$1" | sort; } >sorted
	cmp expected sorted
}

t "every access of every instruction is counted exactly once"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --bare -o bare.kmap -- "${machine[@]}" "${off[@]}"
	status 0
	err <<'END'
atwalk: 0 objects, 0 freed; 1096 reads and 599 writes; 8 lines of 349 bytes
END
	run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads bare.kmap
	yes counts "$work/log/out"
	yes [ "$(tail -n 1 bare.kmap)" = '# atwalk-kmap end objects 1 accesses 7 lost 0' ]
fi

for v in v1 v2 v3; do
	t "in the form $v"
	if [ -n "$why" ]; then skip "$why"; else
		run atwalk kmap record -q --bare --to $v -o bare.$v -- "${machine[@]}" "${off[@]}"
		status 0
		run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads bare.$v
		yes counts "$work/log/out"
	fi
done

t "every call of every function is counted"
if [ -n "$why" ] || ! ${CC:-cc} -c -m32 -o calls.o "$data/kmap/calls.S" ||
	! objcopy -O binary -j .text calls.o calls.bin; then skip "${why:-cannot be assembled}"
else
	run atwalk kmap record -q --bare --calls -o calls.kmap -- "${machine[@]/bare.bin/calls.bin}" "${off[@]}"
	status 0
	run eval "grep '^# call ' calls.kmap | sort"
	out <<'END'
# call 00000000000f0010 00000000000f0040 10
# call 00000000000f0020 00000000000f0050 7
# call 00000000000f0030 00000000000f0060 3
# call 00000000000f0060 00000000000f0040 3
END
	run atwalk kmap record -q --bare --calls --to v3 -o calls.v3 -- "${machine[@]/bare.bin/calls.bin}" "${off[@]}"
	status 0
	run eval "grep -v '[#,]' calls.v3 | sort"
	out <<'END'
f0010 f0040 10
f0020 f0050 7
f0030 f0060 3
f0060 f0040 3
END
	run atwalk kmap record -q --bare --off --calls -o calls.kmap -- "${machine[@]/bare.bin/calls.bin}" "${off[@]}"
	yes [ "$(grep -c '^# call ' calls.kmap)" = 0 ]
fi

# QEMU 9.2 and later then runs a thread per CPU, and the threads share the counters.
qemu10=${ATWALK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/atwalk}/qemu-10-x86/usr
for each in qemu-system-x86_64 "$qemu10/bin/qemu-system-x86_64"; do
	t "calls of a machine with two CPUs, by a QEMU of $([ "$each" = "${each#/}" ] && echo "this machine" || echo "the cache")"
	if [ -n "$why" ] || [ ! -e calls.bin ]; then skip "${why:-cannot be assembled}"
	elif ! "$each" --version >/dev/null 2>&1; then skip "there is none in the cache"
	else
		run timeout -k 2 "$limit" "$O/atwalk" kmap record -q --bare --calls -o two.kmap -- "$each" \
			"${machine[@]:1:${#machine[@]}-2}" calls.bin -smp 2 -L "$qemu10/share/qemu" "${off[@]}"
		status 0
		run eval "grep '^# call ' two.kmap | sort"
		out <<'END'
# call 00000000000f0010 00000000000f0040 10
# call 00000000000f0020 00000000000f0050 7
# call 00000000000f0030 00000000000f0060 3
# call 00000000000f0060 00000000000f0040 3
END
	fi
done

t "the path of the recorder contains a comma"
if [ -n "$why" ]; then skip "$why"; else
	mkdir 'a,b=c' && cp "$built"/atwalk-kmap-1.so "$built"/atwalk-kmap-2.so 'a,b=c'
	case $(qemu-system-x86_64 --version) in *"version 7."* | *"version 8."*) v=1 ;; *) v=2 ;; esac
	run atwalk kmap record -q --bare --plugin "a,b=c/atwalk-kmap-$v.so" -o comma.kmap -- "${machine[@]}" "${off[@]}"
	status 0
	yes [ "$(tail -n 1 comma.kmap)" = '# atwalk-kmap end objects 1 accesses 7 lost 0' ]
fi

t "a range of addresses"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record -q --bare --range 500-51f -o range.kmap -- "${machine[@]}" "${off[@]}"
	status 0
	run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads range.kmap
	out <<'END'
ip,writes,reads
0x00000000000f0018,500,0
0x00000000000f0010,0,1000
END
	yes [ "$(grep -c '^# atwalk-kmap only-range 500-51f$' range.kmap)" = 1 ]
	run atwalk kmap record --bare --range 51f-500 -o x -- "${machine[@]}"
	status 2
	err_has '--range 51f-500: expected two addresses, A-B'
fi

t "the file describes the recording"
if [ -n "$why" ]; then skip "$why"; else
	for each in "|instance" "--mode instance|instance" "--mode site|site" "--sample 4|sample scale 4" \
		"--sample 4 --mode site|site sample scale 4"; do
		# shellcheck disable=SC2086 # options
		run atwalk kmap record -q --bare ${each%|*} -o said.kmap -- "${machine[@]}" "${off[@]}"
		status 0
		yes [ "$(sed -n 's/^# atwalk-kmap \(mode \)*\(.*[a-z].*\)/\2/p' said.kmap | grep -v '^end' | tr '\n' ' ')" = "${each#*|} " ]
	done
fi

t "compressed"
if [ -n "$why" ] || [ -z "$zstd" ]; then skip "${why:-no zstd}"; else
	run atwalk kmap record -q --bare -o bare.kmap.zst -- "${machine[@]}" "${off[@]}"
	status 0
	yes [ "$(od -An -tx1 -N4 bare.kmap.zst | tr -d ' ')" = 28b52ffd ]
	run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads bare.kmap.zst
	yes counts "$work/log/out"
fi

t "QEMU is killed: the file has everything so far, and is marked as cut off"
if [ -n "$why" ]; then skip "$why"; else
	begin -o killed.kmap
	kill -KILL "$qemu"
	rc=0; wait $pid || rc=$?
	yes [ $rc -eq 4 ]
	yes grep -q 'QEMU was killed by signal 9: the file ends there and is marked as cut off' rec.err
	yes grep -q '^# atwalk-kmap cut QEMU was killed by signal 9$' killed.kmap
	run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads killed.kmap
	status 4
	err_has 'killed.kmap: no end line: cut off'
	yes counts "$work/log/out"
fi

t "SIGTERM: QEMU ends, and the file is complete"
if [ -n "$why" ]; then skip "$why"; else
	begin -o ended.kmap
	kill -TERM $pid
	rc=0; wait $pid || rc=$?
	yes [ $rc -eq 0 ]
	run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads ended.kmap
	status 0
	yes counts "$work/log/out"
fi

t "SIGCHLD is ignored at start"
if [ -n "$why" ]; then skip "$why"; elif ! env --ignore-signal=CHLD true 2>/dev/null; then
	skip "no env that ignores signals"
else
	run env --ignore-signal=CHLD timeout -k 2 "$limit" "$O/atwalk" kmap record --bare -o bare.kmap -- "${machine[@]}" "${off[@]}"
	status 0
	err <<'END'
atwalk: 0 objects, 0 freed; 1096 reads and 599 writes; 8 lines of 349 bytes
END
fi

t "SIGKILL: QEMU ends, and the file is marked as cut off"
if [ -n "$why" ]; then skip "$why"; else
	begin -o lost.kmap
	kill -KILL $pid
	wait $pid 2>/dev/null
	rm -f sock
	await is_gone "$qemu"
	run atwalk kmap show lost.kmap
	status 4
	err_has 'lost.kmap: no end line: cut off'
fi

# Values from inside QEMU are checked before they are used.
t "invalid data from QEMU is reported, and the file is a KMAP up to there"
if [ ! -e "$built/atwalk-kmap-1.so" ] || [ -n "${WRAP:-}" ]; then
	skip "the recorder was not built, or it would take too long"
else
	ln -s "$built/kmap/tests/tools/kmapliar" qemu-system-x86_64
	for i in layout "objects "{1,2,3,4} "queue "{1,2,3,4} ones short; do
		run env LIAR="$i" timeout "$limit" "$O/atwalk" kmap record -q --bare -o lies.kmap -- \
			./qemu-system-x86_64 -M pc -m 16M
		said_err=1
		said_status=1
		case $i,$rc in
		layout,0 | ones,4 | short,3 | objects*,[03] | queue*,[03]) ;;
		*) bad "$i: status $rc: $(head -n 3 "$work/log/err")" ;;
		esac
		yes [ "$(head -c 16 lies.kmap)" = "# atwalk-kmap 1" ]
		run timeout "$limit" "$O/atwalk" kmap show -q lies.kmap
		said_status=1 said_err=1
		yes [ $((rc & ~4)) -eq 0 ]
	done
fi

t "no room on the disk is reported, and the file is valid"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --bare -o /dev/full -- "${machine[@]}" "${off[@]}"
	status 3
	err_has '/dev/full: writing: No space left on device'
fi

t "no room for calls: their number is reported on standard error and in the file"
if [ -n "$why" ] || ! ${CC:-cc} -c -m32 -o returns.o "$data/kmap/returns.S" ||
	! objcopy -O binary -j .text returns.o returns.bin; then skip "${why:-cannot be assembled}"
else
	run atwalk kmap record -q --bare --calls --mem 16M -o returns.kmap -- "${machine[@]/bare.bin/returns.bin}" "${off[@]}"
	status 4
	err <<<'atwalk: no room for 10848 calls, which are not in the file; use a larger --mem'
	yes [ "$(grep -c '^# call ' returns.kmap)" = 49152 ]
	yes [ "$(tail -n 1 returns.kmap)" = '# atwalk-kmap end objects 2 accesses 60002 lost 10848' ]
fi

t "no room for accesses: their number is reported, and again by readers of the file"
if [ -n "$why" ] || ! ${CC:-cc} -c -m32 -o full.o "$data/kmap/full.S" ||
	! objcopy -O binary -j .text full.o full.bin; then skip "${why:-cannot be assembled}"
else
	run atwalk kmap record -q --bare --mem 16M -o full.kmap -- "${machine[@]/bare.bin/full.bin}" "${off[@]}"
	status 4
	err <<<'atwalk: no room for 0 objects and 63465 accesses, which are not in the file; use a larger --mem'
	yes [ "$(tail -n 1 full.kmap)" = '# atwalk-kmap end objects 2 accesses 65535 lost 63465' ]
	run atwalk kmap show -q --rows accesses --limit 1 full.kmap
	status 4
	err <<<'atwalk: full.kmap: its recorder lost 63465 events'
	run atwalk kmap record -q --bare --mem 32M -o full.kmap -- "${machine[@]/bare.bin/full.bin}" "${off[@]}"
	status 0
	yes [ "$(tail -n 1 full.kmap | sed 's/objects [0-9]* //')" = '# atwalk-kmap end accesses 129000 lost 0' ]
fi

t "standard output without a reader"
if [ -n "$why" ]; then skip "$why"; else
	{ "$built/atwalk" kmap record --bare -o - -- "${machine[@]}" "${off[@]}" 2>pipe.err; echo $? >pipe.rc; } | true
	yes [ "$(cat pipe.rc)" -eq 3 ]
	yes grep -q 'standard output: writing: Broken pipe' pipe.err
fi

python=''
command -v python3 >/dev/null || python="no python3, to listen"
for each in unix tcp; do
	t "to a listener: $each"
	if [ -n "$why$python" ]; then skip "${why:-$python}"; else
		case $each in
		unix) listen ./listens got 0; to=unix:./listens ;;
		tcp) listen tcp got 0; to=tcp:127.0.0.1:$port ;;
		esac
		run atwalk kmap record --bare -o "$to" -- "${machine[@]}" "${off[@]}"
		status 0
		err <<'END'
atwalk: 0 objects, 0 freed; 1096 reads and 599 writes; 8 lines of 349 bytes
END
		wait "$listener"
		run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads got
		yes counts "$work/log/out"
		rm -f listens
		if [ -n "$zstd" ]; then
			listen tcp got 0
			run atwalk kmap record -q --zstd --bare -o "tcp:127.0.0.1:$port" -- "${machine[@]}" "${off[@]}"
			status 0
			wait "$listener"
			run atwalk kmap show --rows accesses --format csv --columns ip,writes,reads got
			yes counts "$work/log/out"
		fi
	fi

	t "a listener that closes the connection: $each"
	if [ -n "$why$python" ]; then skip "${why:-$python}"; else
		# At the first byte, and after the last but one line.
		for bytes in 1 320; do
			case $each in
			unix) listen ./listens got $bytes; to=unix:./listens ;;
			tcp) listen tcp got $bytes; to=tcp:127.0.0.1:$port ;;
			esac
			run atwalk kmap record -q --bare -o "$to" -- "${machine[@]}" "${off[@]}"
			status 3
			err_is "atwalk: $to: *"
			wait "$listener"
			rm -f listens
		done
		# The control files cannot be read again.
		case $each in
		unix) listen ./listens got 0; to=unix:./listens ;;
		tcp) listen tcp got 0; to=tcp:127.0.0.1:$port ;;
		esac
		begin -q -o "$to"
		run atwalk kmap ctl sock kmap
		status 3
		err <<<'atwalk: sock: kmap: cannot read back the recording: it is not written to a regular file'
		kill -TERM $pid
		rc=0; wait $pid || rc=$?
		yes [ $rc -eq 0 ]
		wait "$listener"
		yes [ "$(tail -n 1 got)" = '# atwalk-kmap end objects 1 accesses 7 lost 0' ]
		rm -f listens
	fi
done

# Records $2 to $1 in the background. When this returns, QEMU has ended or is a zombie of
# the recording process, which is blocked in a write.
# shellcheck disable=SC2317
stalls() {
	local i

	"$built/atwalk" kmap record -q --bare --control-socket ./control -o "$1" -- \
		"${machine[@]/bare.bin/$2}" "${off[@]}" 2>stalled.err &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		[ -e control ] && ps -o stat= --ppid $pid | sed -n '/^[^Z]/q1' && return 0
		sleep 0.1
	done
}

# The signal ends it with an error and without leftovers.
# shellcheck disable=SC2317 # by yes
gives_up() {
	local i ended=0

	kill -0 "$pid" && kill -INT "$pid" || return
	for ((i = 0; i < 600; i++)); do
		case $(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) in Z | '') break ;; esac
		sleep 0.1
	done
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" || ended=$?
	[ "$ended" -eq 3 ] && [ ! -e control ] || return
	echo "atwalk: $1: gave up: its reader has read nothing for 3 seconds" | diff - stalled.err
}

[ -n "$why" ] || { ${CC:-cc} -c -m32 -o many.o "$data/kmap/many.S" && objcopy -O binary -j .text many.o many.bin; } ||
	why="cannot be assembled"
for each in "unix stall many" "unix stall bare" "unix deaf many" "unix deaf bare" "tcp stall many" "tcp deaf many"; do
	t "a listener that reads nothing: a signal ends it ($each)"
	if [ -n "$why$python" ]; then skip "${why:-$python}"; else
		read -r kind how size <<<"$each"
		case $kind in
		unix) listen ./listens got "$how"; to=unix:./listens ;;
		tcp) listen tcp got "$how"; to=tcp:127.0.0.1:$port ;;
		esac
		stalls "$to" "$size.bin"
		yes gives_up "$to"
		kill "$listener"
		rm -f listens
	fi
done

t "a pipe that is not read: a signal ends it"
if [ -n "$why" ]; then skip "$why"; else
	mkfifo unread
	exec 8<>unread
	stalls - many.bin >unread
	yes gives_up 'standard output'
	exec 8>&-
fi

for each in unix tcp; do
	t "a listener that resets the connection ($each)"
	if [ -n "$why$python" ]; then skip "${why:-$python}"; else
		case $each in
		unix) listen ./listens got reset; to=unix:./listens ;;
		tcp) listen tcp got reset; to=tcp:127.0.0.1:$port ;;
		esac
		run atwalk kmap record -q --bare --control-socket ./control -o "$to" -- "${machine[@]/bare.bin/many.bin}" "${off[@]}"
		status 3
		err_is "atwalk: $to: writing: *"
		yes [ ! -e control ]
		wait "$listener"
		rm -f listens
	fi
done

t "a listener that does not accept: a signal ends the wait, and QEMU was never started"
if [ -n "$why$python" ]; then skip "${why:-$python}"; else
	exec 6< <(exec python3 -c '
import signal, socket
s = socket.socket(socket.AF_UNIX)
s.bind("./full")
s.listen(0)
c = socket.socket(socket.AF_UNIX)
c.connect("./full")
print(0, flush=True)
signal.pause()')
	full=$!
	read -r -t 20 -u 6 port
	"$built/atwalk" kmap record --bare -o unix:./full -- "${machine[@]}" "${off[@]}" 2>full.err &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		readlink "/proc/$pid/fd/"* | grep -q ^socket: && break
		sleep 0.1
	done
	yes [ -z "$(pgrep -P $pid)" ]
	kill -TERM $pid
	rc=0; wait $pid 2>/dev/null || rc=$?
	yes [ $rc -eq 143 ]
	yes [ ! -s full.err ]
	kill $full
	rm -f full
fi

t "no listener: reported before QEMU starts"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --bare -o unix:./absent -- "${machine[@]}"
	status 3
	err <<'END'
atwalk: unix:./absent: cannot connect: No such file or directory
        start the program that listens there first
END
	run atwalk kmap record --bare -o tcp:localhost:80 -- "${machine[@]}"
	status 2
	err <<'END'
atwalk: 'tcp:localhost:80': 'localhost' is no address in numbers
        names are not looked up here: 10.0.2.2, or [fd00::1] in brackets
END
	run atwalk kmap record --bare -o tcp:127.0.0.1:0 -- "${machine[@]}"
	status 2
	err_has "'tcp:127.0.0.1:0' is not tcp:ADDRESS:PORT with a port from 1 to 65535"
fi

t "machines that cannot be recorded"
run atwalk kmap record -o x
status 2
err_has 'QEMU is missing'
run atwalk kmap record -o x -- qemu-system-sparc -m 16M
status 2
err_has 'only qemu-system-x86_64, -aarch64 and -riscv64 can be recorded'
run atwalk kmap record -o x -- qemu-system-x86_64 -accel kvm
status 2
err_has 'only emulated guests (tcg) can be recorded'
for each in -daemonize --daemonize; do
	run atwalk kmap record -o x -- qemu-system-x86_64 -m 16M $each -display none
	status 2
	err_has '-daemonize is not supported: atwalk must remain the parent of QEMU'
done
run atwalk kmap record -o x -- qemu-system-x86_64 -M q35,max-ram-below-4g=1G -m 3G
status 2
err_has 'max-ram-below-4g= is not supported'
run atwalk kmap record -o x -- qemu-system-x86_64 -m 17592186044417T
status 2
err_has '-m 17592186044417T: cannot determine the memory size of the guest'
for each in "--cache filp" "--site vfs_open" "--task-pid 3"; do
	# shellcheck disable=SC2086 # an option and its value
	run atwalk kmap record -o x --bare $each -- qemu-system-x86_64 -m 16M
	status 2
	err_has "${each% *} cannot be used with --bare: without a kernel there are neither objects nor threads"
done
run atwalk kmap record -o x --sample 4 --to v1 -- qemu-system-x86_64
status 2
err_has '--sample requires --to v4'
run atwalk kmap record -o x --mem 1K -- qemu-system-x86_64
status 2
err_has 'expected 16M to 64G'
yes [ ! -e x ]

# A fake QEMU that prints its version and arguments.
t "an instruction that some versions of QEMU emulate wrongly is masked in these"
if [ ! -e "$built/atwalk-kmap-1.so" ]; then skip "the recorder was not built"; else
	mkdir -p fake && cat >fake/qemu-system-x86_64 <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo "QEMU emulator version $FAKE (Debian)"; exit 0; }
printf '%s\n' "$@" | sed -n '/^--*cpu$/{n;p;}'
exit 1
END
	chmod 755 fake/qemu-system-x86_64
	cp fake/qemu-system-x86_64 fake/qemu-system-aarch64
	while read -r version of gives args; do
		# shellcheck disable=SC2086 # arguments
		FAKE=$version run atwalk kmap record -q --bare -o fake.kmap -- "fake/qemu-system-$of" -m 16M $args
		status 3
		err_has 'ended with status 1 before anything was recorded'
		yes [ "$(cat "$work/log/out")" = "$([ "$gives" = none ] || echo "$gives" | tr '/' '\n')" ]
	done <<'END'
7.2.22 x86_64 qemu64,cx16=off
7.2.22 x86_64 max,la57=off,cx16=off -cpu max,la57=off
7.2.22 x86_64 max,cx16=off --cpu max
7.2.22 x86_64 a/b,cx16=off -cpu a -cpu b
7.2.22 x86_64 max,cx16=off -cpu max,cx16=off
7.2.22 x86_64 max,-cx16 -cpu max,-cx16
7.2.22 x86_64 max,cx16x=on,cx16=off -cpu max,cx16x=on
6.1.0 x86_64 qemu64,cx16=off
8.0.0 x86_64 none
10.0.2 x86_64 max -cpu max
7.2.22 aarch64 none -M virt
END
	for each in cx16=on +cx16 cx16; do
		FAKE=7.2.22 run atwalk kmap record --bare -o none.kmap -- fake/qemu-system-x86_64 -m 16M -cpu "max,$each"
		status 2
		err <<END
atwalk: -cpu max,$each: guests with cx16 crash in QEMU before 8.0, which corrupts the flags after CMPXCHG16B
        use cx16=off, or a newer QEMU
END
		yes [ ! -e none.kmap ]
	done
fi

t "machines that cannot be recorded with these options"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record -o x --cache a-name-that-no-slab-cache-of-linux-has -- qemu-system-x86_64
	status 2
	err_has 'the name is too long for a slab cache'
	echo old >y
	run atwalk kmap record -q -o y -- "${machine[@]}" -kernel /nonexistent -append quiet
	status 3
	err_has 'ended with status 1 before anything was recorded'
	yes [ "$(cat y)" = old ]
	mkdir -p dies && cat >dies/qemu-system-x86_64 <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo "QEMU emulator version 8.0.0"; exit 0; }
kill -SEGV $$
END
	chmod 755 dies/qemu-system-x86_64
	run atwalk kmap record -q --bare -o y -- dies/qemu-system-x86_64 -m 16M
	status 3
	err_has 'was ended by signal 11 before anything was recorded'
	yes [ "$(cat y)" = old ]
	run atwalk kmap record -o y -- none/qemu-system-x86_64
	status 3
	err_has 'cannot run none/qemu-system-x86_64: it is not an executable file'
	yes [ "$(cat y)" = old ]
	yes [ -z "$(find . -name '.y.*')" ]
	run atwalk kmap record -o x --plugin /nonexistent.so -- qemu-system-x86_64
	status 3
	err_has '/nonexistent.so: No such file or directory'
	yes [ ! -e x ]
fi

t "a failed start keeps the old file, and leaves no part of a new one"
if [ -n "$why" ]; then skip "$why"; else
	mkdir kept && echo old >kept/old
	for each in old new; do
		run atwalk kmap record --bare --control-socket ./nowhere/sock -o kept/$each -- "${machine[@]}" "${off[@]}"
		status 3
		err_has '--control-socket ./nowhere/sock: No such file or directory'
	done
	run ls -A kept
	out <<<old
	yes [ "$(cat kept/old)" = old ]
	run atwalk kmap record -q --bare -o kept/old -- "${machine[@]}" "${off[@]}"
	status 0
	run ls -A kept
	out <<<old
	yes [ "$(tail -n 1 kept/old)" = '# atwalk-kmap end objects 1 accesses 7 lost 0' ]
fi

t "the plugin in a QEMU that atwalk did not start"
if [ -n "$why" ]; then skip "$why"; else
	plugin=$built/atwalk-kmap-1.so
	case $(qemu-system-x86_64 --version) in *"version 7."* | *"version 8."*) ;; *) plugin=$built/atwalk-kmap-2.so ;; esac
	run "${machine[@]}" "${off[@]}" -plugin "$plugin"
	status 1
	err_has 'this plugin can only be loaded by a matching'
fi

finish
