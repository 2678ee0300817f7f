#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where guests have their RAM, by /proc alone: QEMU places pages of known content in real
# machines that do not run (-S) and have no monitor, and atwalk reads them at these addresses.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# A page of its own for each address.
stamp() {
	mkdir -p stamps
	[ -e "stamps/$1" ] || { printf 'atwalkpg %-16s' "$1" && head -c 4071 /dev/urandom; } >"stamps/$1"
}

# machine PROGRAM OPTION... -- ADDRESS...: starts it with a stamp at each address; its PID in
# $guest. false, after a skip: it cannot be run here.
machine() {
	local program=$1 words=()
	shift
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	command -v "$program" >"$work/log/which" || { skip "needs $program"; return 1; }
	for address; do
		stamp "$address"
		words+=(-device "loader,file=$PWD/stamps/$address,addr=$address,force-raw=on")
	done
	rm -f pid
	# It leaves its parent when the machine is complete, with the stamps in its memory.
	if ! "$program" -S -nodefaults -display none -accel tcg -daemonize -pidfile "$PWD/pid" \
		"${words[@]}" >"$work/log/qemu" 2>&1; then
		bad "$program does not start: $(head -n 1 "$work/log/qemu")"
		return 1
	fi
	guest=$(cat pid)
	others+=("$guest")
}

# has ADDRESS...: its stamp is there.
has() {
	for address; do
		run atwalk rd --physical --raw "qemu:$guest" "$address+4K" -o got
		said_err=1
		status 0
		yes cmp -s got "stamps/$address"
	done
}
# lacks ADDRESS...: nothing is there.
lacks() {
	for address; do
		run atwalk rd --physical "qemu:$guest" "$address+8"
		said_err=1
		status 4
		yes grep -q ' lost$' "$work/log/out"
	done
}
# Of 6 GiB, only the stamps and the firmware's pages are ever touched.
x86=(qemu-system-x86_64 -m 6G)

t "x86_64 q35, 6 GiB: 2 below the hole, 4 above 4 GiB"
if machine "${x86[@]}" -M q35 -- 0x200000 0x7ffff000 0x100000000 0x123456000 0x1fffff000; then
	has 0x200000 0x7ffff000 0x100000000 0x123456000 0x1fffff000
	lacks 0x80000000 0xfffff000 0x200000000
fi

t "x86_64 pc, 6 GiB: 3 below the hole, 3 above 4 GiB; in a memfd"
if machine "${x86[@]}" -M pc,memory-backend=r -object memory-backend-memfd,id=r,size=6G -- \
	0x80000000 0xbffff000 0x100000000 0x1bffff000; then
	has 0x80000000 0xbffff000 0x100000000 0x1bffff000
	lacks 0xc0000000 0x1c0000000
fi

t "x86_64 with a limit of its own: 1 GiB below, 5 above; in a file"
mkdir -m 700 ram
if machine "${x86[@]}" -M q35,max-ram-below-4g=1G,memory-backend=r \
	-object "memory-backend-file,id=r,size=6G,mem-path=$PWD/ram,share=on" -- \
	0x3ffff000 0x100000000 0x23ffff000; then
	has 0x3ffff000 0x100000000 0x23ffff000
	lacks 0x40000000 0x240000000
fi

t "x86_64, two nodes of 3 GiB: the first is cut at the hole"
if machine "${x86[@]}" -M q35 -object memory-backend-ram,id=n0,size=3G \
	-object memory-backend-ram,id=n1,size=3G -numa node,memdev=n0 -numa node,memdev=n1 -- \
	0x7ffff000 0x100000000 0x13ffff000 0x140000000 0x1fffff000; then
	has 0x7ffff000 0x100000000 0x13ffff000 0x140000000 0x1fffff000
	lacks 0x80000000 0x200000000
fi

t "x86_64, two nodes in memfds, the second one first"
if machine "${x86[@]}" -M pc -object memory-backend-memfd,id=n1,size=4G \
	-object memory-backend-memfd,id=n0,size=2G -numa node,memdev=n0 -numa node,memdev=n1 -- \
	0x7ffff000 0x80000000 0xbffff000 0x100000000; then
	has 0x7ffff000 0x80000000 0xbffff000 0x100000000
	lacks 0xc0000000 0x1c0000000
fi

t "x86_64, a DIMM and no monitor: RAM without the DIMM, and a warning"
if machine qemu-system-x86_64 -M q35 -m 256M,slots=2,maxmem=2G \
	-object memory-backend-ram,id=d,size=64M -device pc-dimm,memdev=d -- \
	0x9000000 0x101000000; then
	has 0x9000000
	err_has "memory of devices of the guest (pc-dimm, nvdimm, virtio-mem, virtio-pmem) is not read"
	lacks 0x101000000
fi

# Huge pages that are not in the pool, and that are freed with the machine.
more=/proc/sys/vm/nr_overcommit_hugepages
for kind in memfd file; do
	t "x86_64, memory of hugetlb: $kind"
	# shellcheck disable=SC2054 # commas of QEMU
	words=(-object memory-backend-memfd,id=r,size=256M,hugetlb=on,hugetlbsize=2M,prealloc=off)
	if [ "$kind" = file ]; then
		words=(-object "memory-backend-file,id=r,size=256M,mem-path=$PWD/huge,share=on")
		mkdir huge
		if ! mount -t hugetlbfs -o pagesize=2M none huge 2>"$work/log/mount"; then
			skip "hugetlbfs cannot be mounted"
			continue
		fi
	fi
	if { had=$(cat $more) && echo $((had + 300)) >$more; } 2>"$work/log/huge"; then
		machine qemu-system-x86_64 -m 256M -M q35,memory-backend=r "${words[@]}" -- \
			0x200000 0xffff000
		works=$?
		# What is mapped stays so.
		[ "$kind" != file ] || umount -l huge
		if [ $works = 0 ]; then
			yes grep -q '^HugetlbPages:.*[1-9]' "/proc/$guest/status"
			has 0x200000 0xffff000
			lacks 0x10000000
		fi
		echo "$had" >$more
	else
		skip "cannot write to $more"
		[ "$kind" != file ] || umount -l huge
	fi
done

t "arm64, 6 GiB: one piece from 1 GiB on"
if machine qemu-system-aarch64 -M virt -cpu cortex-a72 -m 6G -- 0x40200000 0x100000000 0x1bffff000; then
	has 0x40200000 0x100000000 0x1bffff000
	lacks 0x3ffff000 0x1c0000000
fi

t "riscv64, two nodes of 3 GiB: one piece from 2 GiB on"
if machine qemu-system-riscv64 -M virt -smp 2 -m 6G -object memory-backend-ram,id=n0,size=3G \
	-object memory-backend-ram,id=n1,size=3G -numa node,memdev=n0 -numa node,memdev=n1 -- \
	0x80800000 0x13ffff000 0x140000000 0x1fffff000; then
	has 0x80800000 0x13ffff000 0x140000000 0x1fffff000
	lacks 0x7ffff000 0x200000000
fi

finish
