#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording can be controlled while it runs: through Memorizer's files, a socket and kmap
# ctl. The machine has no kernel and runs in a loop, so every pause of recording is visible
# in its counters. Freed objects are tested in kmap/tests/unit/kmap_control.c.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"

why=''
command -v qemu-system-x86_64 >/dev/null || why="no qemu-system-x86_64 here"
[ "$(uname -m)" = x86_64 ] || why="is assembled for x86 only"
[ -e "$built/atwalk-kmap-1.so" ] || why="the recorder was not built"
[ -z "${WRAP:-}" ] || why="would take too long"

if [ -z "$why" ]; then
	for i in loop bare two; do
		${CC:-cc} -c -m32 -o $i.o "$data/kmap/$i.S" && objcopy -O binary -j .text $i.o $i.bin ||
			why="cannot be assembled"
	done
fi
machine=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
	-nic none -M pc -m 16M -bios)

# Several CPUs at once require QEMU 9.2: an installed one, or the one that tests/vm
# keeps.
two=$why
[ -n "$two" ] || mapfile -t newer < <(PYTHONPATH=$top/tests/vm python3 - 2>"$work/log/newer" <<'END'
import guests
command, version = guests.qemu_command(guests.Guest('two amd64-6.12 10 16 max -'))
print('\n'.join(command))
END
)
[ -n "$two" ] || [ -n "${newer[*]}" ] || two="no QEMU from 10.0 on"
[ -n "$two" ] || [ "$(nproc)" -gt 1 ] || two="one CPU here"
grown=(-nodefaults -no-user-config -display none -no-reboot -nic none -M pc -cpu max -smp 2
	-m 16M -bios)

fuse=$why
grep -q '^  found:.* fuse3' "$built/found.txt" || fuse="this build has no FUSE"
[ -w /dev/fuse ] || fuse="no /dev/fuse here"
[ "$(id -u)" -eq 0 ] || fuse="not root"
zstd=$(grep '^  found:.* zstd' "$built/found.txt")

# begin FILE OPTION...: starts a recording of $bios to FILE, as process $pid
bios=loop.bin
begin() {
	local file=$1

	shift
	rm -f sock
	timeout "$limit" "$built/atwalk" kmap record --bare --control-socket sock -o "$file" "$@" \
		-- "${machine[@]}" $bios >rec.out 2>rec.err &
	waiting=$!
	# Waits until the recorder inside QEMU observes instructions, counted or not.
	await passes 'Total Obs' 0 2>/dev/null
	pid=$(pgrep -P $waiting -f 'atwalk-kmap record')
}

# ends STATUS [SIGNAL]: ends the recording, which must exit with STATUS.
ends() {
	rc=0
	kill "${2:--TERM}" "$pid"
	wait $waiting 2>/dev/null || rc=$?
	yes [ $rc -eq "$1" ]
}

ctl() { "$built/atwalk" kmap ctl sock "$@"; }

# shellcheck disable=SC2317
unmounted() { ! grep -q " $PWD/debug " /proc/self/mounts; }

# All controls, through either interface.
listed='memorizer_enabled rw
memorizer_log_access rw
log_accesses_enabled rw
print_live_obj rw
log_live_enabled rw
show_stats r
stats r
clear_object_list w
clear_dead_objs w
clear_dead_objects w
clear_printed_list w
clear_printed_objects w
kmap r
kmap_stream r
global_table r
allocations r
accesses r
cfg_log_on rw
stack_trace_on rw
log_calls_enabled rw
log_frames_enabled rw
cfgmap rw
function_calls r
clear_function_calls w
mark w'

# The four accesses of the loop have equal counts, except for the current one; with another
# argument, also except for the one that was current at the start.
# shellcheck disable=SC2317
counts() {
	"$built/atwalk" kmap show --rows accesses --format csv --columns ip,writes,reads "$1" >rows || return
	awk -F, -v least="${2:+-1}" 'function near(a, b) { return a - b >= least + 0 && a - b <= 1 }
		NR > 1 { if ($1 ~ /f000a$/) { w = $2; r = $3 } if ($1 ~ /f000e$/) push = $2
			if ($1 ~ /f000f$/) pop = $3 }
		END { exit !(push > 1000 && near(w, push) && near(r, w) && near(push, pop)) }' rows
}

counted() { ctl stats | sed -n "s/^ *$1: *//p"; }
observed() { counted Missing; }
# passes NAME N: the value NAME of the stats is above N.
# shellcheck disable=SC2317
passes() { [ "$(counted "$1")" -gt "$2" ]; }
grows() { await passes Missing "$1"; }
# Waits for enough uncounted accesses that a counted one would have been noticed.
works_on() { await passes Disabled $(($(counted Disabled) + 20000)); }

t "socket: copies are consistent, and do not change while recording is off"
if [ -n "$why" ]; then skip "$why"; else
	begin a.kmap
	run ctl memorizer_log_access
	out <<<Y
	grows 20000
	run ctl kmap -o one.kmap
	yes counts one.kmap
	yes [ "$(tail -n 1 one.kmap)" = '# atwalk-kmap end objects 1 accesses 3 lost 0' ]
	grows "$(observed)"
	run ctl memorizer_log_access 0
	no_out
	first=$(observed)
	run ctl kmap -o off1.kmap
	works_on
	run ctl kmap -o off2.kmap
	same off1.kmap off2.kmap
	yes [ "$(observed)" = "$first" ]
	run ctl log_accesses_enabled
	out <<<N
	# Nothing was allocated: all accesses are to unnamed memory.
	run ctl allocations
	out <<'END'
alloc_ip,pid,ptr,size,alloc_serial,free_serial,free_ip,type,slab,new_type
0000000000000000,0,0000000000000000,0,0,0,0000000000000000,USER,NULL,NONE
END
	run ctl accesses
	yes [ "$(head -n 1 "$work/log/out")" = alloc_index,access_ip,pid,writes,reads ]
	yes [ "$(tail -n +2 "$work/log/out" | sort)" = \
		"$(sed -n 's/^  \([^,]*\),\(.*\),\([^,]*\)$/0,\1,\3,\2/p' off1.kmap | sort)" ]
	run ctl global_table
	status 3
	err <<<'atwalk: sock: global_table: no variables of a kernel are recorded'
	run ctl memorizer_log_access 1
	grows "$first"
	ends 0
	yes [ ! -e sock ]
	yes [ "$(tail -n 1 a.kmap)" = '# atwalk-kmap end objects 1 accesses 3 lost 0' ]
	run atwalk kmap ctl sock stats
	status 3
	err <<<'atwalk: sock: No such file or directory'
fi

t "a mark is in the recording, and in a copy of it"
if [ -n "$why" ]; then skip "$why"; else
	begin a.kmap
	run ctl mark load
	no_out
	run ctl mark 'two words'
	status 3
	err <<<'atwalk: sock: mark: a mark is a word'
	run ctl mark
	status 3
	err_has 'write-only'
	run ctl kmap -o marked.kmap
	yes grep -qx '# atwalk-kmap mark [0-9]* load' marked.kmap
	ends 0
	yes [ "$(grep -c '^# atwalk-kmap mark [0-9]* load$' a.kmap)" -eq 1 ]
	run atwalk kmap show -q a.kmap --columns type --format csv
	status 0
	begin v3.kmap --to v3
	run ctl mark load
	status 3
	err <<<'atwalk: sock: mark: the recording is in a form that has no marks'
	ends 0
fi

t "accesses while recording is off are counted separately"
if [ -n "$why" ]; then skip "$why"; else
	begin a.kmap --off
	yes [ "$(observed)" = 0 ]
	yes [ "$(ctl stats | awk '/Disabled:/ { print $2 }')" -gt 0 ]
	run ctl memorizer_enabled
	out <<<'0 - memorizer disabled'
	run ctl memorizer_enabled 1
	run ctl memorizer_enabled
	out <<<'1 - memorizer enabled, all processes'
	run ctl memorizer_enabled 77
	run ctl memorizer_enabled
	out <<<'77 - memorizer enabled, accesses of this process'
	run ctl memorizer_log_access 1
	works_on
	yes [ "$(observed)" = 0 ]
	run ctl memorizer_enabled 1
	grows 0
	ends 0
fi

t "Memorizer's commands, with another mount point"
if [ -n "$fuse" ]; then skip "$fuse"; else
	mkdir debug somedir
	begin a.kmap --control debug
	# As its documentation has it: objects are tracked, and accesses are not logged.
	run cat debug/memorizer/memorizer_log_access debug/log_accesses_enabled debug/memorizer/memorizer_enabled
	out <<'END'
N
N
1 - memorizer enabled, all processes
END
	yes [ "$(observed)" = 0 ]
	yes [ "$(ctl stats | awk '/Disabled:/ { print $2 }')" -gt 0 ]
	cat >commands <<'END'
echo 1 > /sys/kernel/debug/memorizer/memorizer_enabled
echo 1 > /sys/kernel/debug/memorizer/memorizer_log_access
cat /sys/kernel/debug/memorizer/show_stats
echo 1 > /sys/kernel/debug/memorizer/clear_object_list
echo 1 > /sys/kernel/debug/clear_object_list
echo 1 > /sys/kernel/debug/memorizer_log_access
tar zcf something.tar.gz somedir
until awk '/Missing:/ { if ($2 > 20000) found = 1 } END { exit !found }' /sys/kernel/debug/memorizer/show_stats; do sleep 0.1; done
echo 0 > /sys/kernel/debug/memorizer/memorizer_log_access
echo 0 > /sys/kernel/debug/memorizer/memorizer_enabled
cat /sys/kernel/debug/memorizer/kmap > test.kmap
END
	sed "s,/sys/kernel/debug,$PWD/debug," commands >ours
	run timeout "$limit" bash -e ours
	yes grep -q -- '------- Memory Accesses -------' "$work/log/out"
	yes counts test.kmap began
	run cat debug/memorizer_log_access debug/memorizer/memorizer_enabled
	out <<'END'
N
0 - memorizer disabled
END
	run atwalk kmap ctl debug
	out <<<"$listed"
	run atwalk kmap ctl debug kmap -o by-ctl.kmap
	same by-ctl.kmap test.kmap
	ends 0
	yes [ -z "$(ls -A debug)" ]
	run atwalk kmap ctl debug
	status 3
	no_out
	err_is 'atwalk: debug: not the control folder of a recording'
	yes [ ! -s rec.out ]
fi

t "two clients read at once"
if [ -n "$fuse" ]; then skip "$fuse"; else
	begin a.kmap --control debug
	run ctl memorizer_log_access 1
	grows 20000
	readers=()
	for i in 1 2 3 4; do
		cat debug/kmap >r$i.kmap & readers+=($!)
		ctl kmap >r$((i + 4)).kmap & readers+=($!)
	done
	yes wait "${readers[@]}"
	for i in 1 2 3 4 5 6 7 8; do yes counts r$i.kmap began; done
	ctl kmap_stream >stream.kmap & reader=$!
	await [ -s stream.kmap ]
	run cat debug/kmap_stream
	status 1
	err_has 'Device or resource busy'
	run ctl kmap_stream
	status 3
	err <<<'atwalk: sock: kmap_stream: it already has a reader'
	# The reader receives the rest when the recording ends.
	ends 0
	yes wait $reader
	yes counts stream.kmap began
	yes cmp stream.kmap a.kmap
	yes [ -z "$(ls -A debug)" ]
fi

t "a reader that waits for more data can be interrupted"
if [ -n "$fuse" ]; then skip "$fuse"; else
	begin a.kmap --control debug
	# The third reader shows that the first two removed nothing.
	for signal in TERM KILL TERM; do
		rm -f stream.kmap
		env --default-signal=TERM cat debug/kmap_stream >stream.kmap & reader=$!
		await [ -s stream.kmap ]
		# The reader has all data so far and is blocked in read(2).
		await waits_in $reader S 0
		kill -$signal $reader
		rc=0; wait $reader 2>"$work/log/wait" || rc=$?
		yes [ $rc -eq $((128 + $(kill -l $signal))) ]
	done
	ends 0
	yes [ -z "$(ls -A debug)" ]
fi

t "an open file in the folder does not keep the recording from ending"
if [ -n "$fuse" ]; then skip "$fuse"; else
	begin a.kmap --control debug
	exec 7<debug/kmap
	ends 0
	exec 7<&-
	yes [ -z "$(ls -A debug)" ]
fi

t "SIGKILL: nothing stays mounted, and the socket can be reused"
if [ -n "$fuse" ]; then skip "$fuse"; else
	begin a.kmap --control debug
	ends 137 -KILL
	await unmounted
	run ls -A debug
	no_out
	yes [ -S sock ]
	run atwalk kmap ctl sock stats
	status 3
	err <<<'atwalk: sock: the recording has ended'
	bios=bare.bin
	run timeout "$limit" "$built/atwalk" kmap record -q --bare --control debug --control-socket sock -o a.kmap -- \
		"${machine[@]}" bare.bin -device isa-debug-exit,iobase=0xf4
	yes [ ! -e sock ]
	bios=loop.bin
fi

t "invalid values are refused and change nothing"
if [ -n "$fuse" ]; then skip "$fuse"; else
	begin a.kmap --control debug
	for i in '' x 2 -1 99999999999999999999 '1 1'; do
		run bash -c "echo '$i' >debug/memorizer_enabled"
		status 1
		err_has 'Invalid argument'
	done
	run bash -c 'head -c 100000 /dev/zero >debug/memorizer_log_access'
	status 1
	err_has 'Invalid argument'
	run bash -c 'echo 1 >>debug/kmap'
	status 1
	err_has 'Permission denied'
	run bash -c 'echo 1 >debug/nosuch'
	status 1
	err_has 'Operation not permitted'
	run mkdir debug/more
	status 1
	err_is 'mkdir: *'
	run rm -f debug/kmap
	status 1
	err_is 'rm: *'
	run cat debug/clear_object_list
	status 1
	err_has 'Permission denied'
	run cat debug/memorizer_enabled debug/memorizer_log_access
	out <<'END'
1 - memorizer enabled, all processes
N
END
	run cat debug/cfgmap
	status 1
	err_has 'not supported'
	yes grep -q '^atwalk: cfgmap: calls of functions are not recorded: record them with kmap record --calls$' rec.err
	ends 0
fi

t "hostile lines"
if [ -n "$why" ]; then skip "$why"; else
	begin a.kmap
	cat >talk.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(300)
s.connect('sock')
try:
    s.sendall(eval(sys.argv[1]))
    s.shutdown(socket.SHUT_WR)
    while True:
        got = s.recv(65536)
        if not got:
            break
        sys.stdout.write(got.decode())
except ConnectionError:
    pass
END
	line="error 22 a line is 'read NAME', 'write NAME VALUE' or 'list'"
	run python3 talk.py "b'read\nwrite kmap\n\n read kmap\nREAD kmap\nread kmap kmap\nread nosuch\nread print_live_obj\n'"
	out <<END
$line
$line
$line
$line
$line
$line
error 2 there is no such control
data 2
Y
end
END
	run python3 talk.py "b'write memorizer_log_access 0\nread memorizer_log_access\nwrite stats 1\nread clear_printed_list\n'"
	out <<'END'
end
data 2
N
end
error 13 it is read-only
error 13 it is write-only
END
	run python3 talk.py "b'read kmap\0\nread kmap\n'"
	out <<<'error 22 the line is too long, or has a zero byte in it'
	run python3 talk.py "b'x' * 100000"
	run python3 talk.py "b'read kmap'"
	no_out
	# A client that sends requests and reads no answers.
	python3 -c 'import signal, socket
s = socket.socket(socket.AF_UNIX); s.connect("sock"); s.sendall(b"read stats\n" * 100000); signal.pause()' 2>/dev/null & lazy=$!
	# In sendto(2): neither side takes more.
	await waits_in $lazy S 44
	run ctl print_live_obj
	out <<<Y
	run ctl memorizer_enabled 3
	status 3
	err_has "memorizer_enabled: '3' selects the writing process and its children"
	run ctl
	out <<<"$listed"
	run ctl nosuch
	status 3
	err <<<'atwalk: sock: nosuch: there is no such control'
	ends 0
	kill $lazy 2>/dev/null
	wait $lazy 2>/dev/null
fi

t "hostile clients of the socket: idle ones are dropped, others are served"
if [ -n "$why" ]; then skip "$why"; else
	begin a.kmap
	cat >crowd.py <<'END'
import array, fcntl, socket, termios
def client():
    s = socket.socket(socket.AF_UNIX)
    s.connect('sock')
    return s
def ask(s, line):
    s.settimeout(300)
    s.sendall(line)
    got = b''
    while not got.endswith(b'end\n'):
        got += s.recv(4096) or b'end\n'
    return got
# Some send half a line, byte by byte; most send nothing, and all stay connected.
crowd = [client() for i in range(8)]
for c in crowd:
    for byte in b'read kma':
        c.sendall(bytes([byte]))
crowd += [client() for i in range(40)]
late = client()
print(ask(late, b'read print_live_obj\n')[:6])
# Clients that close in the middle of a reply.
for i in range(50):
    c = client()
    c.sendall(b'read kmap\nread stats\n')
    c.close()
# A value written in parts is one value, and a huge one is refused.
c = client()
for part in (b'wri', b'te memorizer_lo', b'g_access', b' ', b'0\n'):
    c.sendall(part)
    # Waits until the part was read, so that the next one arrives separately.
    left = array.array('i', [1])
    while left[0]:
        fcntl.ioctl(c, termios.TIOCOUTQ, left)
print(ask(c, b''))
c = client()
try:
    c.sendall(b'write memorizer_log_access ' + b'1' * 10000000 + b'\n')
except ConnectionError:
    pass
print(ask(client(), b'read memorizer_log_access\n')[-6:])
END
	run timeout "$limit" python3 crowd.py
	out <<'END'
b'data 2'
b'end\n'
b'N\nend\n'
END
	run ctl print_live_obj
	out <<<Y
	ends 0
	yes [ "$(tail -n 1 a.kmap)" = '# atwalk-kmap end objects 1 accesses 3 lost 0' ]
fi

t "hostile clients of the folder: endless opens, partial writes, and no reader"
if [ -n "$fuse" ]; then skip "$fuse"; else
	begin a.kmap --control debug
	run ctl memorizer_log_access 1
	cat >crowd.py <<'END'
import errno, os
def put(name, *parts):
    fd = os.open('debug/memorizer/' + name, os.O_WRONLY)
    try:
        for part in parts:
            os.write(fd, part)
        return 'fine'
    except OSError as why:
        return errno.errorcode[why.errno]
    finally:
        os.close(fd)
fds, why = [], None
for i in range(200):
    try:
        fds.append(os.open('debug/kmap', os.O_RDONLY))
    except OSError as e:
        why = errno.errorcode[e.errno]
print(len(fds), why)
print(put('memorizer_log_access', b'0'), put('memorizer_log_access', b'1', b'0'),
      put('memorizer_log_access', b'1' * (1 << 20)), put('memorizer_enabled', b'\0' * 64),
      put('memorizer_enabled', b'\xff\x1b[2J'), put('clear_object_list', b'x' * (1 << 20)))
small = [os.open('debug/stats', os.O_RDONLY) for i in range(500)]
print(os.read(small[499], 4096)[:7], os.pread(fds[0], 15, 0), os.pread(fds[31], 10, 1 << 40))
for fd in fds[1:]:
    os.close(fd)
print(len(open('debug/kmap', 'rb').read()) > 0)
END
	run timeout "$limit" python3 crowd.py
	out <<'END'
32 EMFILE
fine EINVAL EINVAL EINVAL EINVAL fine
b'-------' b'# atwalk-kmap 1' b''
True
END
	run cat debug/memorizer_log_access debug/memorizer_enabled
	out <<'END'
Y
1 - memorizer enabled, all processes
END
	ends 0
	yes [ -z "$(ls -A debug)" ]
fi

# These counts differ by at most the access that each CPU is executing.
# shellcheck disable=SC2317
counts_two() {
	"$built/atwalk" kmap show --rows accesses --format csv --columns ip,writes,reads "$1" >rows || return
	awk -F, 'function near(a, b, by) { return a - b >= 0 && a - b <= by }
		NR > 1 { at = substr($1, length($1) - 3); w[at] = $2; r[at] = $3 }
		END { exit !(w["0100"] > 1000 && w["0203"] > 1000 &&
			     near(r["0100"], w["0100"], 1) && near(w["0100"], w["0104"], 1) &&
			     near(r["0203"], w["0203"], 1) && near(w["0203"], w["0207"], 1) &&
			     near(w["0104"] + w["0207"], w["0300"], 2) &&
			     near(w["0300"], r["0301"], 2) && near(r["0301"], r["0302"], 2)) }' rows
}

# The totals of a KMAP, as in the stats.
sum() {
	"$built/atwalk" kmap show --rows accesses --format csv --columns writes,reads "$1" |
		awk -F, 'NR > 1 { n += $1 + $2 } END { printf "%d", n }'
}

# shellcheck disable=SC2317
both_work() {
	ctl kmap >one.kmap && counts_two one.kmap
}

one=("${machine[@]}")
machine=("${newer[@]}" "${grown[@]}") bios=two.bin
t "two CPUs: a copy is consistent across both, with other requests in parallel"
if [ -n "$two" ]; then skip "$two"; else
	begin a.kmap
	await both_work
	# Sixteen clients may connect at once.
	readers=()
	for i in 1 2 3; do
		ctl kmap >r$i.kmap & readers+=($!)
		ctl stats >s$i & readers+=($!)
		ctl clear_object_list 1 >c$i & readers+=($!)
		ctl accesses >x$i & readers+=($!)
	done
	for i in "${readers[@]}"; do yes wait "$i"; done
	for i in 1 2 3; do
		yes counts_two r$i.kmap
		yes [ "$(tail -n 1 r$i.kmap)" = '# atwalk-kmap end objects 1 accesses 7 lost 0' ]
		yes [ "$(awk '/Missing:/ { print $2 }' s$i)" -gt 1000 ]
		yes [ "$(wc -l <x$i)" = 8 ]
	done
	# Nothing was freed, so nothing is missing.
	yes [ "$(sum r3.kmap)" -ge "$(sum one.kmap)" ]
	ends 0
	yes counts_two a.kmap
	yes [ "$(tail -n 1 a.kmap)" = '# atwalk-kmap end objects 1 accesses 7 lost 0' ]
fi

t "two CPUs: switching off applies to both"
if [ -n "$two" ]; then skip "$two"; else
	begin a.kmap
	await both_work
	for i in memorizer_log_access log_accesses_enabled memorizer_log_access; do
		run ctl $i 0
		no_out
		run ctl kmap -o off1.kmap
		run ctl stats
		yes [ "$(awk '/Missing:/ { print $2 }' "$work/log/out")" = "$(sum off1.kmap)" ]
		works_on
		run ctl kmap -o off2.kmap
		same off1.kmap off2.kmap
		run ctl $i 1
		grows "$(sum off2.kmap)"
	done
	# A process that does not run: nothing counts.
	run ctl memorizer_enabled 77
	run ctl kmap -o off1.kmap
	works_on
	run ctl kmap -o off2.kmap
	same off1.kmap off2.kmap
	run ctl memorizer_enabled 1
	grows "$(sum off2.kmap)"
	# As fast as possible, while a client reads.
	for i in 1 2 3 4 5 6 7 8 9 10; do
		ctl memorizer_log_access 0 && ctl kmap >r$i.kmap && ctl memorizer_log_access 1 || bad "round $i"
	done
	ends 0
	yes [ "$(sum a.kmap)" -ge "$(sum r10.kmap)" ]
	run atwalk kmap show -q a.kmap
fi
machine=("${one[@]}") bios=loop.bin

t "compressed output and pipes cannot be read again, and the error names that"
if [ -n "$why" ] || [ -z "$zstd" ]; then skip "${why:-no zstd}"; else
	begin a.kmap.zst
	run ctl kmap
	status 3
	err <<<'atwalk: sock: kmap: cannot read back the recording: it is compressed'
	run ctl clear_object_list 1
	status 3
	err_has 'cannot read back the recording: it is compressed'
	ends 0
	begin /dev/null
	run ctl kmap_stream
	status 3
	err <<<'atwalk: sock: kmap_stream: cannot read back the recording: it is not written to a regular file'
	ends 0
fi

t "missing requirements are reported before QEMU starts"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk kmap record --bare -o x.kmap --control-socket "$(printf '%0200d' 1)" -- "${machine[@]}" loop.bin
	status 2
	err_has 'a socket'
	run atwalk kmap record --bare -o x.kmap --control-socket . -- "${machine[@]}" loop.bin
	status 3
	err <<<'atwalk: --control-socket .: Address already in use'
fi
if [ -z "$fuse" ]; then
	run atwalk kmap record --bare -o x.kmap --control . -- "${machine[@]}" loop.bin
	status 2
	err_has '--control .: the folder is not empty'
	run atwalk kmap record --bare -o x.kmap --control nosuch -- "${machine[@]}" loop.bin
	status 3
	err <<<'atwalk: --control nosuch: No such file or directory'
fi

# The documented paths, with and without debugfs.
t "Memorizer's own paths: with debugfs mounted, the hint is correct"
if [ -n "$fuse" ]; then skip "$fuse"
elif ! unshare -m sh -c 'mount -t debugfs nodev /sys/kernel/debug' 2>/dev/null; then
	skip "no debugfs, or no mount namespaces"
else
	cat >usual <<'END'
mount -t debugfs nodev /sys/kernel/debug || exit
for each in /sys/kernel/debug /sys/kernel/debug/ /sys/kernel/debug/memorizer; do
	"$1" kmap record --bare -o x.kmap --control $each -- qemu-system-x86_64 -m 16M
	echo $?
done
umount -l /sys/kernel/debug || exit
shift
"$@" >rec.out 2>rec.err &
until [ -e /sys/kernel/debug/memorizer/kmap ] || ! kill -0 $!; do sleep 0.1; done
sh -e commands || echo failed
kill $!
wait $!
echo $?
END
	rm -f test.kmap
	run timeout "$limit" unshare -m bash usual "$built/atwalk" "$built/atwalk" kmap record --bare -o a.kmap \
		--control /sys/kernel/debug -- "${machine[@]}" loop.bin
	yes [ "$(sed '/^[^0-9]/d;/^$/d' "$work/log/out" | tr '\n' ' ')" = '2 2 2 0 ' ]
	hint="        use an empty folder (mkdir /run/memorizer); or run it and the scripts that use /sys/kernel/debug in one shell of 'unshare -m', after 'umount -l /sys/kernel/debug'"
	err_has "atwalk: --control /sys/kernel/debug: debugfs is mounted there
$hint
atwalk: --control /sys/kernel/debug/: debugfs is mounted there
$hint
atwalk: --control /sys/kernel/debug/memorizer: debugfs is mounted there
$hint"
	yes counts test.kmap began
fi

t "kmap ctl: wrong usage"
run atwalk kmap ctl
status 2
err_has 'expected SOCKET|FOLDER [NAME [VALUE]]'
run atwalk kmap ctl . ../x
status 3
err_has 'there is no such control'
run atwalk kmap ctl . 'a b'
status 2
err_has "'a b' is not the name of a control"
run atwalk kmap ctl . x "$(printf '%065d' 1)"
status 2
err_has 'a value is one line of at most 64 bytes'
touch file
run atwalk kmap ctl file x
status 2
err_has 'file: neither the socket nor the folder of a recording'
run atwalk kmap ctl . nosuch
status 3
err <<<'atwalk: .: nosuch: No such file or directory'

finish
