#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The small dumps of tests/data hold page tables and nothing else, and give the same
# answers as the dumps they were made from. For the second, ATWALK_DUMPS has to name the
# folder of the full dumps.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

# What each small dump has beside the kernel's tables.
declare -A spaces=(
	[x86]='kernel:--cpu 0:--cpu 1'
	[arm64]=kernel
	[riscv]='kernel:--root 883db000:--root 82de5000'
)
declare -A made_from=(
	[x86]=x86_64-6.1-4level [arm64]=arm64-6.12-lpa2 [riscv]=riscv64-6.12-default
)

# phdrs FILE: "OFFSET PHYSICAL FILESZ MEMSZ" of every PT_LOAD, hexadecimal.
phdrs() {
	local n

	n=$(od -A n -t u2 -j 56 -N 2 "$1")
	od -A n -v -t x8 -w56 -j 64 -N $((56 * n)) "$1" |
		awk '$1 ~ /00000001$/ { print $2, $4, $5, $6 }'
}

# Pages (addresses without their last three digits) that the file holds.
pages_held() {
	local pa len

	while read -r _ pa len _; do
		for ((at = 16#$pa; at < 16#$pa + 16#$len; at += 4096)); do
			printf '%013x\n' $((at >> 12))
		done
	done < <(phdrs "$1") | sort
}

# Pages with an entry that a walk of the whole address space came by. A table
# of which a walk sees no entry would be missing here, and so be found out.
pages_walked() {
	local file=$1 space

	shift
	for space in "$@"; do
		[ "$space" != kernel ] || space=
		# shellcheck disable=SC2086 # an option and its value
		atwalk walk -p $space --format csv --columns entry_at "$file" 0-ffffffffffffffff
	done | sed -n 's/^0x\(.*\)...$/\1/p' | sort -u
}

# A range of a file, all of it zero?
zero() {
	cmp -s -n "$3" -i "$2:0" "$1" /dev/zero
}

for arch in x86 arm64 riscv; do
	IFS=: read -r -a list <<<"${spaces[$arch]}"
	t "$arch: every page in the file is a page of a table, and each is there once"
	run pages_held $arch.elf
	cp "$work/log/out" held
	pages_walked $arch.elf "${list[@]}" >walked
	yes [ "$(wc -l <walked)" -gt 100 ]
	same held walked

	t "$arch: the file ends with its last page, and no segment promises more"
	phdrs $arch.elf >loads
	end=$((16#$(head -n 1 loads | cut -d ' ' -f 1)))
	while read -r offset _ filesz memsz; do
		yes [ $((16#$offset)) -eq $end ]
		yes [ "$filesz" = "$memsz" ]
		end=$((16#$offset + 16#$filesz))
	done <loads
	yes [ "$(stat -L -c %s $arch.elf)" -eq $end ]
done

t "arm64: what shares a page with the root's 16 entries is zero"
at=0
while read -r offset pa _; do
	[ "$pa" != 0000000041f16000 ] || at=$((16#$offset))
done < <(phdrs arm64.elf)
yes [ $at -ne 0 ]
yes zero arm64.elf $((at + 128)) $((4096 - 128))

# Two CPUs: two NT_PRSTATUS, on x86 two of QEMU's notes, then VMCOREINFO.
for arch in x86:336 arm64:392 riscv:376; do
	file=${arch%:*}.elf prstatus=${arch#*:}
	t "${arch%:*}: no general register is in the notes"
	at=$(($(od -A n -t u8 -j 72 -N 8 "$file")))
	for _ in 0 1; do
		yes [ "$(od -A n -t u4 -j $at -N 12 "$file" | xargs)" = "5 $prstatus 1" ]
		yes zero "$file" $((at + 20)) "$prstatus"
		at=$((at + 20 + prstatus))
	done
	for _ in 0 1; do
		[ "${arch%:*}" = x86 ] || break
		yes [ "$(od -A n -t u4 -j $at -N 12 "$file" | xargs)" = "5 440 0" ]
		yes zero "$file" $((at + 28)) 384      # RAX to the IDT
		yes zero "$file" $((at + 20 + 408)) 8  # CR2
		yes zero "$file" $((at + 20 + 432)) 8  # kernel GS base
		at=$((at + 460))
	done
	yes [ "$(tail -c +$((at + 13)) "$file" | head -c 10)" = VMCOREINFO ]
done

t "a small dump made of a small dump is the same file"
run shrink x86.elf again.elf
same again.elf x86.elf
run shrink arm64.elf again.elf
same again.elf arm64.elf
run shrink riscv.elf again.elf --root 883db000 --root 82de5000
same again.elf riscv.elf

# ---- against the full dumps ----

# Every answer of one dump about one space, into a folder.
ask() {
	local file=$1 to=$2
	shift 2
	mkdir -p "$to"
	{ atwalk map "$@" "$file"; echo $?; } >"$to/map" 2>&1
	{ atwalk map --all "$@" --format csv "$file"; echo $?; } >"$to/map-all" 2>&1
	{ atwalk walk -p "$@" "$file" "${addresses[@]}"; echo $?; } >"$to/walk" 2>&1
	atwalk info "$@" "$file" | grep -E '^(machine|release|paging|kaslr|cpu)' >"$to/info"
	atwalk info "$@" "$file" | sed -n 's/^\(root *0x[0-9a-f]*\).*/\1/p' >>"$to/info"
}

for arch in x86 arm64 riscv; do
	IFS=: read -r -a list <<<"${spaces[$arch]}"
	full=${ATWALK_DUMPS:-}/${made_from[$arch]}/dump.elf
	for space in "${list[@]}"; do
		t "$arch, $space: the same answers as from the full dump"
		if [ ! -r "$full" ]; then
			skip "ATWALK_DUMPS does not name the folder of the full dumps"
			continue
		fi
		[ "$space" != kernel ] || space=
		ln -sf "$full" full.elf
		mapfile -t addresses < <(cut -d ' ' -f 2 "$data"/answers/"$(basename "$(readlink $arch.elf)" .elf)".gva2gpa)
		# Kernel addresses only, if the process of the others is unknown.
		[ -n "$space" ] || mapfile -t addresses < <(printf '%s\n' "${addresses[@]}" | grep 0xf)
		[ ${#addresses[@]} -gt 0 ] || addresses=(swapper_pg_dir _stext ff20000000000000)
		last_run="atwalk map, walk -p, info of both"
		# shellcheck disable=SC2086 # an option and its value
		ask full.elf full $space
		# shellcheck disable=SC2086
		ask $arch.elf small $space
		yes [ -s small/info ]
		for what in map map-all walk info; do
			same small/$what full/$what
		done
	done
done

finish
