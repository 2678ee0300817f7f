#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk probe --vm: the conditions of reading a guest, and that the command helps. The
# guests are processes of QEMU's name (tests/tools/vmram.c).
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# Of the rows these two columns.
rows=(--format csv --columns "capability,allowed")
all_yes() {
	out <<'END'
capability,allowed
program,yes
user,yes
dumpable,yes
files,yes
memory,yes
yama,yes
security module,yes
END
}

t "a process of the same user"
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump
run atwalk probe --vm "$guest" "${rows[@]}"
status 0
all_yes
run atwalk ps "qemu:$guest" --columns pid --format csv
status 0
yes test "$(wc -l <"$work/log/out")" -gt 60

t "not a virtual machine, no process, two processes"
run atwalk probe --vm $$
status 1
no_out
err_is "atwalk: process $$ does not run a virtual machine"
for number in 4194305 99999999999; do
	run atwalk probe --vm $number
	status 1
	no_out
	err_is "atwalk: there is no process $number"
done
run atwalk probe --vm $$ --pid $$
status 2
no_out
err_has "--pid and --vm cannot be combined"

t "another program"
other=$guest
guest firecracker -m 256 -M q35 -x anon 0 x86.elf --id vm
run atwalk probe --vm "$guest" --format csv --columns allowed,why --filter capability=program
status 0
out <<END
allowed,why
no,"process $guest runs firecracker, so kvm:$guest reads its guest"
END

# ---- as another user ----

drop=(setpriv --reuid=65534 --regid=65534 --clear-groups)
why=''
[ "$(id -u)" -eq 0 ] && command -v setpriv >"$work/log/setpriv" ||
	why="needs root and setpriv, to drop privileges"
chmod 755 "$work" "$work/cwd"
cp "$built/atwalk" copy && chmod 755 copy

# as_user ARGUMENT...
as_user() {
	# shellcheck disable=SC2086 # WRAP is a command with its options
	run "${drop[@]}" ${WRAP:-} ./copy "$@"
}

t "a process of another user: what stands in the way, and a command"
guest=$other
if [ -n "$why" ]; then
	skip "$why"
else
	as_user probe --vm "$guest" "${rows[@]}"
	status 0
	out <<'END'
capability,allowed
program,yes
user,no
dumpable,yes
files,no
memory,no
yama,yes
security module,yes
END
	as_user probe --vm "$guest" --format csv --columns why,command --filter capability=user
	out <<END
why,command
"process $guest runs as user 0 and group 0, this one as 65534 and 65534","sudo setcap cap_dac_read_search,cap_sys_ptrace+ep $PWD/copy"
END
	as_user ps "qemu:$guest"
	status 3
	err_has "cap_dac_read_search,cap_sys_ptrace+ep $PWD/copy"
fi

t "the command helps"
if [ -n "$why" ]; then
	skip "$why"
elif [ -n "${WRAP:-}" ] || ! setcap cap_dac_read_search,cap_sys_ptrace+ep copy 2>"$work/log/setcap"; then
	skip "files cannot have capabilities here"
else
	as_user probe --vm "$guest" "${rows[@]}"
	status 0
	all_yes
	as_user ps "qemu:$guest" --columns pid --format csv
	status 0
	yes test "$(wc -l <"$work/log/out")" -gt 60
	setcap -r copy
fi

t "a process of the same user that is not dumpable, because it changed its user"
if [ -n "$why" ]; then
	skip "$why"
else
	cp "$built/tests/tools/vmram" qemu-kvm && chmod 755 qemu-kvm
	cp -L tasks.kdump readable.kdump && chmod 644 readable.kdump
	# The guest before wrote to that file, too.
	: >ready
	"${drop[@]}" ./qemu-kvm -m 256 -M q35 -x found 0 readable.kdump -runas qemu >ready 2>"$work/log/guest" &
	guest=$!
	others+=("$guest")
	await grep -q ready ready
	as_user probe --vm "$guest" "${rows[@]}" --filter 'capability=user or capability=dumpable or capability=files or capability="security module"'
	status 0
	out <<'END'
capability,allowed
user,yes
dumpable,no
files,no
security module,yes
END
fi

# ---- what this machine may lack: files of its own, in a mount namespace ----

guest=$other
# shellcheck disable=SC2016 # by the shell in the namespace
{
# The memory of the process: a device on a file system without devices, refused to root as well.
refuse='mount -t tmpfs -o nodev none nodev && mknod nodev/mem c 1 3 && mount --bind nodev/mem /proc/$guest/mem'
yama='mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo $scope >/proc/sys/kernel/yama/ptrace_scope'
selinux='mount -t tmpfs none /sys/fs && mkdir -p /sys/fs/selinux/booleans && echo 1 >/sys/fs/selinux/booleans/deny_ptrace'
label='mount --bind label /proc/$guest/attr/current'
}
mkdir nodev
echo 'libvirt-1 (enforce)' >label
export guest scope
[ -n "$why" ] || scope=1 unshare -m bash -c "$refuse && $yama && $selinux && $label" 2>"$work/log/unshare" ||
	why="files of /proc cannot be replaced: $(head -n 1 "$work/log/unshare")"
# with MOUNTS COMMAND...: the row of a capability, as its command is with these files.
with() {
	local mounts=$1
	shift
	# shellcheck disable=SC2016 # by the inner shell
	run unshare -m bash -c "$mounts"' && exec "$@"' bash "$@"
}
row() { echo probe --vm "$guest" --format csv --columns allowed,why,command --filter "capability=$1"; }

helps="sudo setcap cap_dac_read_search,cap_sys_ptrace+ep $PWD/copy"
for line in "1|only a parent may trace, or CAP_SYS_PTRACE|$helps" "2|only CAP_SYS_PTRACE may trace|$helps" \
	"3|no process may trace, until the machine is booted again|"; do
	IFS='|' read -r scope text command <<<"$line"
	t "yama $scope, as another user"
	if [ -n "$why" ]; then skip "$why"; else
		# shellcheck disable=SC2046,SC2086 # several words
		with "$yama" "${drop[@]}" ${WRAP:-} ./copy $(row yama)
		status 0
		file=/proc/sys/kernel/yama/ptrace_scope
		want="\"$file is $scope: $text\""
		[[ $text == *,* ]] || want=${want//\"/}
		out <<END
allowed,why,command
no,$want,$([[ $command != *,* ]] && echo "$command" || echo "\"$command\"")
END
	fi
done
scope=0

t "yama 0, and none"
if [ -n "$why" ]; then skip "$why"; else
	# shellcheck disable=SC2046,SC2086 # several words
	with "$yama" "${drop[@]}" ${WRAP:-} ./copy $(row yama)
	out <<'END'
allowed,why,command
yes,/proc/sys/kernel/yama/ptrace_scope is 0,
END
	# shellcheck disable=SC2046,SC2086 # several words
	with 'mount -t tmpfs none /proc/sys/kernel' "${drop[@]}" ${WRAP:-} ./copy $(row yama)
	out <<'END'
allowed,why,command
yes,this kernel has no yama,
END
fi

t "a refusal that nothing else explains: that of AppArmor, with what to allow"
if [ -n "$why" ]; then skip "$why"; else
	with "$refuse && $label" "$O/atwalk" probe --vm "$guest" --format csv --columns allowed,why,command \
		--filter 'capability="security module"'
	status 0
	yes grep -q "^no,\"label of process $guest: libvirt-1 (enforce); of this one: [^;]*; run atwalk unconfined, or allow 'ptrace (read, trace)' in its profile and '(readby, tracedby)' in the other\",$" "$work/log/out"
fi

t "the same under SELinux that denies ptrace, with the command"
if [ -n "$why" ]; then skip "$why"; else
	with "$refuse && $selinux" "$O/atwalk" probe --vm "$guest" --format csv --columns allowed,command \
		--filter 'capability="security module"'
	status 0
	out <<'END'
allowed,command
no,setsebool deny_ptrace off
END
fi
finish
