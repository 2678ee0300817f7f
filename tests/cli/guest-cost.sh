#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No command allocates memory in the process of a guest: not for anonymous memory, of which a
# read maps zero pages, and not for a memfd, of which a read of a hole fills it. With --freeze
# and without. The processes are those of tests/tools/vmram.c.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"
need_tasks

# What the process has: resident (anonymous, of files, shared), swapped and page tables; and
# the blocks of its memfd.
cost() {
	grep -E '^(VmRSS|RssAnon|RssFile|RssShmem|VmPTE|VmSwap):' "/proc/$guest/status"
	for fd in "/proc/$guest/fd/"*; do
		case $(readlink "$fd") in
		*memfd*) stat -L -c 'blocks %b' "$fd" ;;
		esac
	done
}

printf 'pid,tid,address,op,size\n1,1,0x400010,r,8\n102,102,0x7ff0f3000008,rw,4\n' >profile.csv
atwalk --help >help
sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' help | grep -vxE 'kmap|probe|plugins' | sort >commands
: >used

# reads COMMAND WORD...: the cost before and after; SOURCE stands for the guest. The answer is
# complete or in part, or no.
reads() {
	local words=("${@//SOURCE/qemu:$guest}")

	echo "$1" >>used
	rm -rf made
	cost >before
	run atwalk "${words[@]}"
	said_status=1 said_err=1
	yes test "$rc" -ne 2
	yes test "$rc" -ne 3
	cost >after
	same after before
	[ "$2" != freeze ] && atwalk "$1" --help | grep -q -- --freeze || return
	rm -rf made
	run atwalk "${words[@]}" --freeze
	said_status=1 said_err=1
	grep -q 'cannot be stopped\|CAP_SYS_PTRACE' "$work/log/err" && return
	yes test "$rc" -ne 2
	yes test "$rc" -ne 3
	cost >after
	same after before
}

for kind in found found,memfd; do
	guest qemu-system-x86_64 -m 256 -M q35 -x $kind 0 tasks.kdump
	cost >first
	t "$kind: listings"
	yes grep -q VmPTE first
	reads walk SOURCE init_task
	reads walk SOURCE 7ff0f3000000 --pid 102 --path
	reads map SOURCE --all
	reads map SOURCE --task thp --large
	reads info SOURCE
	reads ps SOURCE
	reads pages SOURCE --all
	reads find SOURCE 1000000+2M
	reads find SOURCE a000000+1M --columns address,pid
	reads vms "$guest"

	t "$kind: memory, read where there is some and where there is none"
	reads rd SOURCE init_task+16K
	reads rd SOURCE --physical 0+1M
	reads rd SOURCE --physical --raw 8000000+4M -o made
	reads search SOURCE --text Linux --physical
	reads lines SOURCE init_task+4K
	reads annotate SOURCE profile.csv

	t "$kind: captures, reports, policies"
	reads collect SOURCE -o made --frames
	reads export SOURCE made --host h --time 1
	reads extract SOURCE -o made
	reads diff SOURCE tasks.kdump
	reads report machine SOURCE
	reads report backing SOURCE
	reads report areas SOURCE
	reads report kernel SOURCE
	reads check "$top/policies/memory.ini" SOURCE
	reads audit SOURCE
	reads sql SOURCE 'SELECT count(*) FROM tasks'
	cost >last
	same last first
	# A read that does allocate is seen: of 4 MiB that the guest never wrote.
	run python3 -c '
import sys
pid, size = sys.argv[1:]
for line in open(f"/proc/{pid}/maps"):
    start, end = (int(word, 16) for word in line.split()[0].split("-"))
    if end - start == int(size):
        memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
        memory.seek(end - (16 << 20))
        memory.read(4 << 20)' "$guest" $((256 << 20))
	cost >last
	yes test -n "$(cmp last first)"
done

t "every command was used"
sort -u used >got
same got commands

finish
