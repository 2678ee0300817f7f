#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where /proc and /sys are hidden, partial or missing, errors name the mounts and not the
# kernel. All tests run in namespaces with only processes of this test.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

why=''
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$work/log/setpriv"; then
	why="needs root and setpriv, to drop privileges"
elif ! unshare -m --pid --fork --mount-proc mount -t tmpfs none /proc 2>"$work/log/unshare"; then
	why="no namespaces: $(head -n 1 "$work/log/unshare")"
fi
chmod 755 "$work" "$work/cwd"
cp "$built/atwalk" copy && chmod 755 copy

# alone: runs its standard input as a script; $as runs a command without privileges.
alone() {
	{
		echo "as='setpriv --reuid=65534 --regid=65534 --clear-groups'"
		echo "atwalk() { ${WRAP:-} ./copy \"\$@\"; }"
		echo "probed() { \$by ${WRAP:-} ./copy probe --format csv --columns capability,allowed,why,command \"\$@\"; }"
		cat
	} >inside
	run unshare -m --pid --fork --mount-proc bash inside
	said_err=1
}

t "no /proc: everything that depends on it is n/a"
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "valgrind needs /proc"
elif grep -q -e '-fsanitize' "$built/flags"; then skip "sanitizers need /proc"
else
	alone <<'END'
mount -t tmpfs none /proc
probed --filter 'capability!="bpf" and capability!="breakpoints" and not capability~"lines by"'
atwalk pages live:pagemap --pid 1
echo $?
atwalk live:pagemap --pid 4194305 1000
echo $?
atwalk collect live:pagemap
echo $?
$as ./copy live --pid 1 1000
echo $?
END
	gone="/proc is not there: it is not mounted, or something hides it"
	{
		echo capability,allowed,why,command
		for what in kcore 'own processes' 'all processes' 'frame numbers' 'frame flags' \
			'frame counts' 'frame cgroups' holes; do
			echo "$what,no,\"$gone\","
		done
		printf '3\n3\n3\n3\n'
	} >want
	same "$work/log/out" want
	cat >want <<END
atwalk: live: $gone
atwalk: live: $gone
atwalk: live: $gone
atwalk: live: reading the running kernel needs CAP_BPF and CAP_PERFMON, which this process does not have
        run it as root
END
	same "$work/log/err" want
fi

t "hidepid: other users' processes are hidden, so not all may be read"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
for hide in 2 1; do
	mount -o remount,hidepid=$hide /proc
	sleep 10000 &
	by=$as probed --filter 'capability="all processes"'
	by=$as probed --filter 'capability="all processes"' --pid $!
	by= probed --filter 'capability="all processes"' | sed 's/[0-9] of [0-9]/N of N/'
	kill $!
done
END
	sed -E "s/process [0-9]+/process N/; s,/proc/[0-9]+/,/proc/N/,; s/=(2|1|invisible|noaccess),/=X,/" \
		"$work/log/out" >got
	command="\"sudo setcap cap_dac_read_search,cap_sys_ptrace+ep $work/cwd/copy\""
	for one in "/proc hides process N from this process" "/proc/N/status: Operation not permitted"; do
		cat <<END
capability,allowed,why,command
all processes,no,"1 of 1 processes may be read, and /proc is mounted with hidepid=X, which hides those of others",$command
capability,allowed,why,command
all processes,no,$one,$command
capability,allowed,why,command
all processes,yes,N of N processes may be read,
END
	done >want
	same got want
fi

t "hidepid: without permission, a listing of all processes is partial"
if [ -n "$why" ]; then skip "$why"; else
	# The collector lacks kpageflags as well, which alone makes the result partial. It
	# is linked with a static libc, in which valgrind reports errors.
	cp "$built/atwalk-collect" collector
	chmod 755 collector
	alone <<'END'
mount -o remount,hidepid=2 /proc
for allow in '' --allow-unreadable; do
	$as ${WRAP:-} ./copy pages live:pagemap --totals --columns task $allow
	echo $?
	$as ${WRAP:-} ./copy report count live:pagemap --columns processes $allow
	echo $?
	$as ./collector -q --no-refs $allow >collected 2>collected.err
	echo $?
done
grep -c '^L: 0, processes, .*, denied=0$' collected
END
	left='left out: processes, which could not be read'
	yes [ "$(grep '^[0-9]$' "$work/log/out" | tr -d '\n')" = 4440041 ]
	yes [ "$(grep -c "^$left" "$work/log/out")" = 2 ]
	sed -E 's/=(2|invisible),/=X,/' "$work/log/err" >got
	hides='/proc is mounted with hidepid=X, which hides those of others'
	cat >want <<END
atwalk: live:pagemap: processes: $hides
        run it as root, or allow it once: sudo setcap cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $work/cwd/copy
atwalk: live:pagemap: 1 read error: -v lists them
atwalk: live:pagemap: processes could not be read: $hides
atwalk: live:pagemap: processes could not be read: $hides
END
	grep -v 'frame\|run it as root, or\|kpage' want >want2
	grep -v 'frame\|run it as root, or\|kpage' got >got2
	same got2 want2
fi

t "hidepid: a hidden process is not reported as missing"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
mount -o remount,hidepid=2 /proc
sleep 10000 &
$as ${WRAP:-} ./copy map live:pagemap --pid $!
echo $?
$as ${WRAP:-} ./copy map live:pagemap --pid 4194305
echo $?
kill $!
END
	printf '3\n1\n' | out
	sed -E 's/process [0-9]{1,5} /process N /' "$work/log/err" >got
	cat >want <<'END'
atwalk: live:pagemap: /proc hides process N from this process
atwalk: live:pagemap: there is no process 4194305
END
	same got want
fi

t "hidepid: the process that maps an address may be hidden"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
mount -o remount,hidepid=2 /proc
$as ${WRAP:-} ./copy live:pagemap 1000 --format csv --columns state
echo $?
END
	out <<'END'
state
absent
4
END
	sed -E 's/=(2|invisible),/=X,/' "$work/log/err" >got
	cat >want <<END
atwalk: live:pagemap: 1000: no process maps it of those that could be read: /proc is mounted with hidepid=X, which hides processes of others
        run it as root, or allow it once: sudo setcap cap_dac_read_search,cap_sys_admin,cap_sys_ptrace+ep $work/cwd/copy
END
	same got want
fi

t "subset=pid: facts from /proc/kpage* are n/a, with the reason"
if [ -n "$why" ]; then skip "$why"; else
	alone <<'END'
umount /proc && mount -t proc -o subset=pid none /proc
probed --filter 'capability="kcore" or capability="frame counts" or capability="holes"' \
	--columns capability,allowed,why | sed '/^holes/s/,.*/,/'
atwalk pages live:pagemap --pid $$ --totals --format csv --columns private,pss
END
	out <<'END'
capability,allowed,why
kcore,no,/proc is mounted with subset=pid: it has files of processes alone
frame counts,no,/proc is mounted with subset=pid: it has files of processes alone
holes,
private,pss
,
END
	cat >want <<'END'
atwalk: live:pagemap: kpageflags, kpagecount and kpagecgroup are not there, and what they say is n/a: /proc is mounted with subset=pid: it has files of processes alone
END
	same "$work/log/err" want
fi

t "no /sys: the reason for missing types"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/bpf" 2>&1; then
	skip "$(head -n 1 "$work/log/bpf")"
else
	alone <<'END'
mount -t tmpfs none /sys
ATWALK_RUNTIME_DIR='' atwalk live:bpf _stext
echo $?
END
	out <<'END'
3
END
	cat >want <<'END'
atwalk: live: /sys/kernel/btf/vmlinux is not there because /sys is not mounted, or something hides it
END
	same "$work/log/err" want
fi

finish
