# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# ram-cap.sh - a capture of a small machine, written by hand: two ranges of RAM on two nodes,
# frames of every use, and what the kernel counts of them.
ram_cap() {
	cat <<'END'
H: atwalk-capture, 1
H: page, 4096
H: way, bpf
H: MemTotal, 124
H: MemFree, 20
H: zoneinfo.count, 3
H: AnonPages, 16
H: Slab, 36
R: 00001000, 00009BFF, System RAM, node=0
R: 00010000, 00027FFF, System RAM, node=1
T: swapper, 0, 0, 0, 0, 0, 0, 0, 0, 0
F: 1000*2=reserved | 3000*6=free |
F: 10000*2=free | 12000*4=anon | 16000*8=slab | 1E000=pgtable | 1F000*5=kernel |
F: 24000*2=file | 26000=hwpoison |
E: 14, 1, 0, 0
END
}
