#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# live:pagemap reports page sizes, also without PAGEMAP_SCAN, and areas without pagemap
# entries, for a process of this test. No other process is read.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	exec 8>&- 9<&-
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

cat >child.py <<'END'
import ctypes
import struct
import sys
from live_memory import HUGE, M, PAGE, SHARED, area, libc, touch
touch(area('huge', 4 * M, advice=HUGE, align=2 * M), 4 * M)
touch(area('small', M), M)
# perf_event_open(2) on x86-64, of a clock
event = struct.pack('<IIQ', 1, 128, 1).ljust(128, b'\0')
fd = libc.syscall(298, event, 0, -1, -1, 0)
if fd >= 0:
    at = libc.mmap(None, 3 * PAGE, 3, SHARED, fd, 0)
    _ = ctypes.c_uint64.from_address(at).value
    print('ring', '%x' % at, 3 * PAGE)
print('ready', flush=True)
sys.stdin.read()
END

declare -A at
why=''
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"
if [ -z "$why" ]; then
	mkfifo in out
	python3 child.py <in >out 2>"$work/log/child" &
	child=$!
	exec 8>in 9<out
	while read -r -t "$limit" -u 9 what from size && [ "$what" != ready ]; do
		at[$what]=$from+$size
	done
	[ "$what" = ready ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
fi
noscan() { python3 "$cli/noscan.py" "$O/atwalk" "$@"; }
if [ -z "$why" ]; then
	noscan info live:pagemap >"$work/log/info" 2>&1 ||
		why="PAGEMAP_SCAN cannot be taken away: $(tail -n 1 "$work/log/info")"
	atwalk map live:pagemap --pid "$child" "${at[huge]}" --split rights --format csv \
		--columns size,page >large 2>"$work/log/large"
	grep -qx '4194304,2097152' large || why="no large pages here"
fi

# list COMMAND OPTIONS...: runs it on the child, without PAGEMAP_SCAN.
list() {
	local command=$1
	shift
	run noscan "$command" live:pagemap --pid "$child" --format csv "$@"
	said_err=1               # n/a columns are reported there
}

# Without --watch under valgrind, which lacks pidfd_open(2).
t "without PAGEMAP_SCAN the sizes of large pages are n/a"
if [ -n "$why" ]; then skip "$why"; else
	list map "${at[huge]}" --split rights --columns size,page,state
	out <<'END'
size,page,state
4194304,,present
END
	list walk "${at[huge]%+*}" --columns size,page,state
	out <<'END'
size,page,state
4096,,present
END
	list pages "${at[huge]}" --totals --columns mapped,huge
	out <<'END'
mapped,huge
4194304,
END
	run noscan report use live:pagemap --pid "$child" --no-refs --format csv \
		--columns processes,huge,thp_anon
	said_err=1
	out <<'END'
processes,huge,thp_anon
1,,
END
	list pages "${at[huge]}" -q --areas-only --columns mapped,huge
	out <<'END'
mapped,huge
4194304,
END
	if [ -z "${WRAP:-}" ]; then
		list map "${at[huge]}" --watch 0.1,2 --columns mapped,4k,d_4k,2m,d_2m
		out <<'END'
mapped,4k,d_4k,2m,d_2m
4194304,,,,
4194304,,,,
END
	fi
	list map "${at[huge]}" --large --columns mapped,large,smaller,blocks,full,why
	out <<'END'
mapped,large,smaller,blocks,full,why
4194304,,,2,,
END
fi

t "areas without room for a large page have small pages"
if [ -n "$why" ]; then skip "$why"; else
	list map "${at[small]}" --split rights --columns size,page,state
	out <<'END'
size,page,state
1048576,4096,present
END
	list pages "${at[small]}" -q --areas-only --columns mapped,huge
	out <<'END'
mapped,huge
1048576,0
END
	if [ -z "${WRAP:-}" ]; then
		list map "${at[small]}" --watch 0.1,1 --columns mapped,4k,2m
		out <<'END'
mapped,4k,2m
1048576,1048576,0
END
	fi
	list map "${at[huge]%+*}+8K" --split rights --columns size,page
	out <<'END'
size,page
8192,
END
fi

t "pages of unknown size are not counted as small"
if [ -n "$why" ]; then skip "$why"; else
	run noscan map live:pagemap --pid "$child"
	said_err=1
	yes grep -q '^large pages (2M): n/a in them, 4M unknown, [0-9.]*M in smaller ones, because:$' \
		"$work/log/out"
fi

# said OPTIONS...: the first line below map's table of both areas, without the ranges.
said() {
	run "$@" map live:pagemap --pid "$child" "${at[huge]}" "${at[small]}" -q --split rights
	said_err=1
	sed -n 's/^[0-9]* ranges, //p' "$work/log/out" >got
}

t "map sums up its rows by page size"
if [ -n "$why" ]; then skip "$why"; else
	said atwalk
	echo '5M mapped: 1M in 256 pages of 4K, 4M in 2 pages of 2M' >want
	same got want
	said noscan
	echo '5M mapped: 4M in pages of unknown size, 1M in 256 pages of 4K' >want
	same got want
fi

t "page sizes are known even where frame numbers are hidden"
if [ -n "$why" ]; then skip "$why"
elif ! unshare -Urpf --mount-proc true 2>"$work/log/unshare"; then
	skip "no user namespace: $(head -n 1 "$work/log/unshare")"
else
	cat >hidden <<END
mkfifo in.2 out.2
python3 child.py <in.2 >out.2 &
exec 8>in.2 9<out.2
while read -r -u 9 what from size && [ "\$what" != ready ]; do
	for how in --totals -q; do
		[ \$what = ring ] || $O/atwalk pages live:pagemap --pid \$! \$from+\$size \$how \
			--format csv --columns mapped,private,huge
	done
done
END
	run unshare -Urpf --mount-proc bash hidden
	said_err=1
	for sum in 4194304,,4194304 4194304,,4194304 1048576,,0 1048576,,0; do
		printf 'mapped,private,huge\n%s\n' $sum
	done | out
fi

# wordless NAME: checks a VM_PFNMAP area in at[].
wordless() {
	run atwalk pages live:pagemap --pid "$child" "${at[$1]}" --format csv --columns size,state
	status 4
	printf 'size,state\n%s,\n' $((${at[$1]#*+})) | out
	said_err=1
	run atwalk pages live:pagemap --pid "$child" "${at[$1]}" -q --areas-only --format csv \
		--columns size,mapped,swapped,private,huge
	status 4
	printf 'size,mapped,swapped,private,huge\n%s,,0,,\n' $((${at[$1]#*+})) | out
	said_err=1
	run atwalk map live:pagemap --pid "$child" "${at[$1]}" --format csv --columns size,page,state
	status 4
	printf 'size,page,state\n%s,,\n' $((${at[$1]#*+})) | out
	said_err=1
	run atwalk map live:pagemap --pid "$child" "${at[$1]}" --large --format csv \
		--columns size,mapped,large,smaller
	status 4
	printf 'size,mapped,large,smaller\n%s,,,\n' $((${at[$1]#*+})) | out
	said_err=1
	run atwalk live:pagemap --pid "$child" "${at[$1]%+*}" --format csv --columns size,state
	status 4
	printf 'size,state\n4096,\n' | out
	said_err=1
}

t "the kernel's own pages in a process ([vvar]): pages are n/a"
vvar=$([ -z "$child" ] || sed -n 's/ .*\[vvar\]$//p' "/proc/$child/maps")
if [ -n "$why" ] || [ -z "$vvar" ]; then skip "${why:-no [vvar] here}"; else
	at[vvar]=${vvar%-*}+$((16#${vvar#*-} - 16#${vvar%-*}))
	wordless vvar
	run atwalk pages live:pagemap --pid "$child" --areas '[[]vdso],[[]vvar]' --totals --format csv \
		--columns mapped,swapped
	said_err=1
	out <<'END'
mapped,swapped
4096,0
END
fi

t "a perf ring buffer: pages are n/a"
if [ -n "$why" ]; then skip "$why"
elif [ -z "${at[ring]:-}" ]; then skip "no perf_event_open(2) for us"; else
	wordless ring
fi

finish
