#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For a user address of the running kernel without --pid, the process that maps it is found
# in /proc, without privileges. All tests run in a PID namespace with only processes of this
# test. For page tables see live.sh.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

why=''
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
command -v python3 >"$work/log/python" || why="no python3, which the children are written in"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	why="needs root and setpriv, to drop privileges"
elif ! unshare --pid --fork --mount-proc true 2>"$work/log/unshare"; then
	why="no PID namespace: $(head -n 1 "$work/log/unshare")"
fi
chmod 755 "$work" && chmod 777 "$work/cwd"
cp "$built/atwalk" copy && chmod 755 copy
cp "$cli/live_memory.py" . && chmod 644 live_memory.py
denied="        run it as root, or allow it once: sudo setcap cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $work/cwd/copy"
hidden="/proc/PID/pagemap hides frame numbers from this process: physical addresses and all that is known of frames are n/a"

# hold.py NAME ADDRESS...: maps and touches 16 KiB at each address.
cat >hold.py <<'END'
import sys
from live_memory import *

libc.prctl(15, sys.argv[1].encode())
for text in sys.argv[2:]:
    at = int(text, 16)
    assert libc.mmap(at, 4 * PAGE, 3, PRIVATE | ANONYMOUS | FIXED_NOREPLACE, -1, 0) == at
    touch(at, 4 * PAGE)
print('ready', flush=True)
sys.stdin.read()
END
chmod 644 hold.py

# In the namespace: `hold NAME ADDRESS...` starts an unprivileged process, with `as=` one of root.
cat >begin <<END
export PYTHONPATH=$work/cwd LC_ALL=C PYTHONDONTWRITEBYTECODE=1
drop='setpriv --reuid=65534 --regid=65534 --clear-groups'
python=python3
\$drop python3 -c 0 2>python.log || python=/usr/bin/python3
atwalk() { \${as-\$drop} ${WRAP:-} ./copy "\$@"; }
hold() {
	mkfifo \$1.in
	: >\$1.out
	\${as-\$drop} \$python hold.py "\$@" <\$1.in >\$1.out 2>\$1.err &
	exec {keep}>\$1.in
	until grep -q ready \$1.out; do
		[ -d /proc/\$! ] || { cat \$1.err; exit 1; }
	done
}
END

# alone: runs its standard input as a script, and replaces PIDs in its errors by N.
alone() {
	cat begin - >inside
	rm -f ./*.in ./*.out profile.txt
	run unshare --pid --fork --mount-proc bash inside
	said_err=1
	sed -E 's/process [0-9]+/process N/g; s/([:,]) [0-9]+ \(/\1 N (/g' "$work/log/err" >said
}

t "one process maps it: selected, although page tables may not be read"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
hold owner 2f9a00000000
hold other 2f9b00000000
for way in live:pagemap live; do
	for command in walk map; do
		atwalk $command $way 2f9a00001000+8K --format csv --columns address,size,state,task
		echo $?
	done
done
atwalk live 2f9a00001000 -p -q -o profile.txt --format csv --columns address,state,task
echo $?; cat profile.txt
END
	for _ in live:pagemap live; do
		cat <<'END'
address,size,state,task
0x00002f9a00001000,4096,present,owner
0x00002f9a00002000,4096,present,owner
4
address,size,state,task
0x00002f9a00001000,8192,present,owner
4
END
	done >want
	cat >>want <<'END'
4
address,state,task
0x00002f9a00001000,present,owner
END
	same "$work/log/out" want
	for way in live:pagemap live; do
		for _ in walk map; do
			cat <<END
atwalk: $way: not every process could be read; process N (owner) may not be the only match: 1 of 4 processes: no permission to read them
$denied
atwalk: $way: $hidden
$denied
END
		done
	done >want
	sed -n 1,16p said >said.first
	same said.first want
fi

t "--allow-unreadable: unreadable processes do not change the status"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
hold owner 2f9a00000000
for command in walk map; do
	for of in 2f9a00001000 1000; do
		atwalk $command live:pagemap $of --allow-unreadable --format csv --columns address,size,state,task
		echo $?
	done
	atwalk $command live:pagemap 2f9a00001000 -q --allow-unreadable -o profile.txt
	grep -c '^not every process could be read: 1 of 3 ' profile.txt
done
END
	out <<'END'
address,size,state,task
0x00002f9a00001000,4096,present,owner
0
address,size,state,task
0x0000000000001000,,absent,
1
1
address,size,state,task
0x00002f9a00001000,4096,present,owner
0
address,size,state,task
1
1
END
	err_has "atwalk: live:pagemap: not every process could be read: 1 of 3 processes: no permission to read them"
	yes [ "$(grep -c 'perhaps not the only one' "$work/log/err")" = 0 ]
fi

t "each address and range has its own process; all processes were readable"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
as=
hold owner 2f9a00000000 2f9c00000000
hold other 2f9b00000000
atwalk live:pagemap 2f9b00000000 2f9a00003000 2f9b00003000 1000 --format csv --columns address,state,task
echo $?
atwalk map live:pagemap 2f9b00000000+16K 2f9a00000000-2f9b00000000 1000+4K --split rights --format csv --columns address,size,task
echo $?
atwalk map live:pagemap 1000+4K -q --format csv --columns address
echo $?
atwalk live:pagemap 1000 --filter exclusive -q --format csv --columns address
echo $?
END
	out <<'END'
address,state,task
0x00002f9b00000000,present,other
0x00002f9a00003000,present,owner
0x00002f9b00003000,present,other
0x0000000000001000,absent,
1
address,size,task
0x00002f9b00000000,16384,other
0x00002f9a00000000,16384,owner
0
address
1
address
1
END
	cat >want <<'END'
atwalk: live:pagemap: 2f9b00000000 is mapped only by process N (other)
atwalk: live:pagemap: 2f9a00003000 is mapped only by process N (owner)
atwalk: live:pagemap: 2f9b00003000 is mapped only by process N (other)
atwalk: live:pagemap: 1000: no process maps it
atwalk: live:pagemap: 2f9b00000000+16K is mapped only by process N (other)
atwalk: live:pagemap: 2f9a00000000-2f9b00000000 is mapped only by process N (owner)
atwalk: live:pagemap: 1000+4K: no process maps it
atwalk: live:pagemap: 1000+4K: no process maps it
atwalk: live:pagemap: 1000: no process maps it
END
	same said want
fi

t "several processes map it: they are listed, and no file is left"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
hold owner 2f9a00000000
hold other 2f9a00000000
for command in walk map; do
	atwalk $command live 2f9a00000000+4K -o profile.txt
	echo $?
done
as=
atwalk live:pagemap 2f9a00000000 -p -o profile.txt
echo $?
[ -e profile.txt ] || echo nothing
END
	out <<'END'
1
1
1
nothing
END
	for _ in walk map; do
		cat <<'END'
atwalk: live: 2f9a00000000+4K: 2 processes map it: N (owner), N (other); not every process could be read: 1 of 4 processes: no permission to read them
        use --pid N to select a process
END
	done >want
	cat >>want <<'END'
atwalk: live:pagemap: 2f9a00000000: 2 processes map it: N (owner), N (other)
        use --pid N to select a process
END
	same said want
fi

t "no readable process maps it: the result is partial"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
atwalk live 2f9a00000000 --format csv --columns address,state
echo $?
atwalk map live 2f9a00000000+4K --format csv --columns address,state
echo $?
END
	out <<'END'
address,state
0x00002f9a00000000,absent
4
address,state
4
END
	for what in '' +4K; do
		cat <<END
atwalk: live: 2f9a00000000$what: no process maps it of those that could be read: 1 of 2 processes: no permission to read them
$denied
END
	done >want
	same said want
fi

t "commands that need memory report that"
if [ -n "$why" ]; then skip "$why"; else
	for what in ffffffff81000000 init_task 'ffffffff81000000 1000' '1000 --depth 1' '1000 --root 1000' \
		"--pid $$ init_task"; do
		# shellcheck disable=SC2086 # an address and options
		run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./copy live $what
		status 3
		no_out
		err <<END
atwalk: live: reading the running kernel needs CAP_BPF and CAP_PERFMON, which this process does not have
        run it as root, or allow it once: sudo setcap cap_bpf,cap_perfmon+ep $work/cwd/copy
END
	done
fi

t "--large: read errors name the source"
if [ -n "$why" ]; then skip "$why"; else
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run setpriv --reuid=65534 --regid=65534 --clear-groups ${WRAP:-} ./copy map live:pagemap --pid $$ --large
	status 3
	no_out
	err <<END
atwalk: live:pagemap: /proc/$$/maps: Permission denied
$denied
END
fi

finish
