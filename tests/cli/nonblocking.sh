#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A pipe that its other end made non-blocking is a pipe like any other: a slow reader or
# writer is waited for, and nothing is lost.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >"$work/log/python"; then
	t "all of it"
	skip "no python3, to be slow"
	finish
fi
zstd=''
grep -q '^  found:.* zstd' "$built/found.txt" || zstd="this build has no zstd"

# shellcheck disable=SC2317 # by run
slowly() { python3 "$cli/nonblocking.py" "$@"; }

# Some 400 KiB of each kind.
awk 'BEGIN {
	print "H: atwalk-capture, 1\nH: page, 4096"
	for (i = 1; i <= 12000; i++)
		printf "T: a, %d, 00000001, 0, 0, 0, 0, 0, 0, 0\n", i
	print "E: 12002, 12000, 0, 0"
}' >many.cap
awk 'BEGIN {
	for (i = 0; i < 6000; i++)
		printf "ffffffff81%06x,42,ffff8800%08x,64,%d,0,0000000000000000,KMALLOC,make,kmalloc-64,NONE\n", i * 7919 % 65536, i * 64, i
}' >many.kmap
yes [ "$(wc -c <many.cap)" -gt 400000 ]

# ---- writing ----

t "collect"
run atwalk collect -q many.cap -o want
run slowly out "$O/atwalk" collect -q many.cap
same "$work/log/out" want

t "collect --zstd"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run slowly out "$O/atwalk" collect --zstd tasks.kdump
	cp "$work/log/out" got.zst
	run atwalk collect got.zst
	cp "$work/log/out" got
	run atwalk collect tasks.kdump
	same got "$work/log/out"
fi

t "extract"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk extract -q tasks.kdump -o want.elf
	run slowly out "$O/atwalk" extract -q tasks.kdump -o /dev/stdout
	same "$work/log/out" want.elf
fi

t "kmap convert"
run atwalk kmap convert --to v4 many.kmap -o want
run slowly out "$O/atwalk" kmap convert --to v4 many.kmap
same "$work/log/out" want

t "kmap convert --zstd"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run slowly out "$O/atwalk" kmap convert --zstd --to v4 many.kmap
	cp "$work/log/out" got.zst
	run atwalk kmap convert --to v4 got.zst
	same "$work/log/out" want
fi

t "kmap record --live"
why=''
atwalk info -q live:bpf >/dev/null 2>"$work/log/why" || why=$(head -n 1 "$work/log/why")
if [ -n "$why" ]; then skip "$why"; else
	# shellcheck disable=SC2016 # by the other shell
	run slowly out bash -c 'exec 3>&1 >/dev/null
		exec "$0" kmap record --live -q --watch 0 --no-symbols -o /dev/fd/3 -- "$1" seek 1' \
		"$O/atwalk" "$built/kmap/tests/tools/kmemwork"
	said_err=1
	yes [ "$(wc -c <"$work/log/out")" -gt 8192 ]
	yes [ "$(tail -n 1 "$work/log/out" | cut -c -17)" = '# atwalk-kmap end' ]
fi

t "rows"
run atwalk map --all --cpu 0 --format csv x86.elf -o want
run slowly out "$O/atwalk" map --all --cpu 0 --format csv x86.elf
same "$work/log/out" want

t "atwalk-collect"
if [ ! -x "$built/atwalk-collect" ]; then skip "there is no static libc here"; else
	run slowly out "$built/atwalk-collect" -q --no-refs --pid $$
	said_status=1
	# Incomplete without permission to read frame numbers.
	[ "$rc" -eq 4 ] || status 0
	yes [ "$(tail -n 1 "$work/log/out" | sed -n 's/^E: \([0-9]*\), .*/\1/p')" = $(($(wc -l <"$work/log/out") - 1)) ]
fi

# ---- reading ----

# COMMAND... of one file says the same of it as it comes
comes() {
	local file=$1

	shift
	run "$O/atwalk" "$@" "$file"
	cp "$work/log/out" want
	run slowly in "$O/atwalk" "$@" - <"$file"
	same "$work/log/out" want
}

t "report"
comes many.cap report count --format csv

t "kmap show"
comes many.kmap kmap show --format csv

t "map, of a dump"
comes x86.elf map --all --cpu 0 --format csv

t "what is packed"
if [ -n "$zstd" ]; then skip "$zstd"; else
	run atwalk kmap convert --zstd --to v4 many.kmap -o many.zst
	comes many.zst kmap show --format csv
fi

finish
