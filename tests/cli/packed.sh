#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A dump, raw image or capture that was packed as a whole gives the answers of the
# unpacked one.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2034
. "$(dirname "$0")/lib.sh"

listing=(--format csv --columns 'address,end,physical,rights,entry')
atwalk map "${listing[@]}" x86.elf >elf.want
atwalk collect -o capture --pid $$ live:pagemap 2>"$work/log/collect"
lacks=

# packs COMMAND...: skips the test if there is no such program, or no library for it.
packs() {
	lacks=
	command -v "$1" >"$work/log/tool" || lacks="there is no $1"
	[ -n "$lacks" ] || "$@" <x86.elf >x86.packed
	[ -n "$lacks" ] || atwalk map x86.packed 2>&1 >"$work/log/map" |
		grep -q 'this build lacks' && lacks="this build has no library for $1"
	[ -z "$lacks" ] || skip "$lacks"
}

for command in 'zstd -qc' 'gzip -c' 'xz -c' 'lz4 -qc' 'bzip2 -c'; do
	read -ra words <<<"$command"
	tool=${words[0]}
	t "$tool: an ELF core"
	packs "${words[@]}"
	[ -z "$lacks" ] || continue
	run atwalk map "${listing[@]}" x86.packed
	status 0
	same "$work/log/out" elf.want

	t "$tool: its format is named"
	run atwalk map "${listing[@]}" elf:x86.packed
	status 0
	same "$work/log/out" elf.want

	t "$tool: through a pipe"
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat x86.packed | atwalk map "${listing[@]}" - >got 2>"$work/log/pipe"
	same got elf.want

	t "$tool: two parts, one behind the other"
	{ head -c 100000 x86.elf | "${words[@]}"; tail -c +100001 x86.elf | "${words[@]}"; } >two
	run atwalk map "${listing[@]}" two
	status 0
	same "$work/log/out" elf.want

	t "$tool: cut off"
	size=$(stat -c %s x86.packed)
	head -c $((size - 300)) x86.packed >short
	run atwalk map short
	status 3
	no_out
	err_is "atwalk: short: packed by $tool, and cut off behind byte [0-9]*"

	t "$tool: damaged"
	{
		head -c $((size / 2)) x86.packed
		head -c 300 /dev/zero
		tail -c +$((size / 2 + 301)) x86.packed
	} >bad
	run atwalk map bad
	status 3
	no_out
	err_has "atwalk: bad: packed by $tool, and damaged behind byte "

	t "$tool: a capture"
	"${words[@]}" <capture >capture.packed
	run atwalk ps capture
	said_status=1 said_err=1
	mv "$work/log/out" want
	run atwalk ps capture.packed
	said_status=1 said_err=1
	yes test -s want
	same "$work/log/out" want
	run atwalk info capture.packed
	said_status=1 said_err=1
	yes grep -q "packed by $tool" "$work/log/out"

	t "$tool: what is neither"
	head -c 5000 /dev/zero | "${words[@]}" >zero
	run atwalk map zero
	status 3
	no_out
	said_err=1
	yes grep -q '^atwalk: zero: ' "$work/log/err"
done

t "more than 4096 times as many bytes"
truncate -s 600M large
if zstd -qc large >large.packed 2>"$work/log/zstd" && ! atwalk map "elf:large.packed" 2>&1 | grep -q 'this build lacks'; then
	run atwalk map elf:large.packed
	status 3
	no_out
	err_has 'of it become more than 4096 times as many'
	err_has '        if that is as it should be, unpack it with zstd -d'
else
	skip "there is no zstd"
fi
finish
