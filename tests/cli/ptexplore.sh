#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The program under the name ptexplore: its options and lines, to the byte, of a process
# that this test starts. The expected lines are computed here from the kernel's files,
# page by page.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT
mkdir "$work/bin"
ln -s "$built/atwalk" "$work/bin/ptexplore"
# shellcheck disable=SC2086 # WRAP is a command with its options
# shellcheck disable=SC2317 # by run
ptexplore() { ${WRAP:-} "$work/bin/ptexplore" "$@"; }

t "without a process there is nothing to say"
run ptexplore
status 1
no_out
err <<'END'
Pid not specified
END

t "its help"
run ptexplore --help
no_out
err <<END
Explore page table of a process under Linux.
Works by attaching to a process and printing each memory area. Optionally, memory areas can be restricted via a filter.

Usage of ptexplore:
  -address string
    	Analyze a single address (e.g. '0x7f66a002ab70')
  -areas string
    	Comma separated list of memory areas (even patterns) to analyze (e.g. 'stack,heap,libc')
  -pid int
    	Pid of the process to analyze (e.g. 42)
  -quiet
    	Don't print page table details, just a summary of the memory areas
END
run ptexplore -pid 1 -x
status 2
no_out
err_has 'flag provided but not defined: -x'
run ptexplore -pid
status 2
no_out
err_has 'flag needs an argument: -pid'
run ptexplore -pid 4194305
status 1
no_out
err_has 'there is no process 4194305'

t "booleans as Go's package flag reads them"
for word in 1 t T true TRUE True 0 f F false FALSE False; do
	run ptexplore -quiet=$word
	status 1
	err <<'END'
Pid not specified
END
done
for word in bogus yes tRUE 01 ''; do
	run ptexplore -pid 1 -quiet=$word
	status 2
	no_out
	err_has "invalid boolean value \"$word\" for -quiet: parse error"
	err_has 'Usage of ptexplore:'
done

t "numbers as Go's package flag reads them"
# An empty answer of a process that cannot be there shows which number was read.
while read -r text number; do
	run ptexplore -pid "$text" -quiet
	status 1
	no_out
	err_has "there is no process $number"
done <<'END'
0x400001 4194305
0X400001 4194305
0o20000001 4194305
020000001 4194305
0b10000000000000000000001 4194305
4_194_305 4194305
0x_40_0001 4194305
0_20000001 4194305
+4194305 4194305
-1 -1
-0x10 -16
9223372036854775807 9223372036854775807
END
for text in 0x 0b 0o 08 0b2 1_ 1__2 _1 1z 0x1g '' - + ' 1' 0x_; do
	run ptexplore "-pid=$text"
	status 2
	no_out
	err_has "invalid value \"$text\" for flag -pid: parse error"
done
for text in 9223372036854775808 -9223372036854775809 0xffffffffffffffff; do
	run ptexplore "-pid=$text"
	status 2
	no_out
	err_has "invalid value \"$text\" for flag -pid: value out of range"
done
run ptexplore -pid 0x0
status 1
err <<'END'
Pid not specified
END

t "an address that is none is the program's own error"
for text in zz 0X10 1_0 0x -1 0x0x10; do
	run ptexplore -pid 1 -address "$text"
	status 1
	no_out
	err <<END
strconv.ParseUint: parsing "${text#0x}": invalid syntax
END
done
run ptexplore -pid 1 -address 0x10000000000000000
status 1
err <<'END'
strconv.ParseUint: parsing "10000000000000000": value out of range
END
run ptexplore -address zz
status 1
err <<'END'
Pid not specified
END

t "options that are none"
for text in ---pid -=1 --=; do
	run ptexplore "$text"
	status 2
	no_out
	err_has "bad flag syntax: $text"
done
run ptexplore -x=1
status 2
yes [ "$(head -n 1 "$work/log/err")" = "flag provided but not defined: -x" ]
err_has 'Usage of ptexplore:'
for text in -h --h -help --help=1; do
	run ptexplore "$text"
	no_out
	err_has 'Usage of ptexplore:'
done

cat >child.py <<'END'
import ctypes, mmap, sys

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
at = libc.mmap(None, 12345 * 4096, 3, 0x22, -1, 0)
with open('a\nb\x1bc', 'w+b') as f:
    f.truncate(4096)
    odd = mmap.mmap(f.fileno(), 4096)
for i in range(0, 5000, 3):
    ctypes.c_uint64.from_address(at + i * 4096).value = i
print('%x' % at, flush=True)
sys.stdin.read()
END

# wanted.py PID PATTERN,... ADDRESS QUIET: the classic lines.
cat >wanted.py <<'END'
import math, re, struct, sys

PID, PATTERNS, ADDRESS, QUIET = sys.argv[1], sys.argv[2], int(sys.argv[3], 16), sys.argv[4] == 'q'
NAMES = '''LOCKED ERROR REFERENCED UPTODATE DIRTY LRU ACTIVE SLAB WRITEBACK RECLAIM BUDDY MMAP
ANON SWAPCACHE SWAPBACKED COMPOUND_HEAD COMPOUND_TAIL HUGE UNEVICTABLE HWPOISON NOPAGE KSM THP
BALLOON ZERO_PAGE IDLE'''.split()
pagemap = open(f'/proc/{PID}/pagemap', 'rb', buffering=0)
counts = open('/proc/kpagecount', 'rb', buffering=0)
flags = open('/proc/kpageflags', 'rb', buffering=0)


def word(file, i):
    file.seek(i * 8)
    data = file.read(8)
    return struct.unpack('<Q', data)[0] if data else 0


def size(n):
    e = math.floor(math.log(n) / math.log(1000))
    v = math.floor(n / 1000 ** e * 10 + 0.5) / 10
    return ('%.1f %s' if v < 10 else '%.0f %s') % (v, ['B', 'kB', 'MB', 'GB', 'TB'][e])


areas = []
for line in open(f'/proc/{PID}/maps'):
    f = line.split()
    a, b = (int(x, 16) for x in f[0].split('-'))
    name = re.sub('[\x01-\x1f]', lambda m: '\\%03o' % ord(m.group()), f[5] if len(f) == 6 else 'anonymous')
    areas.append((name, a, b))
for name, a, b in [x for p in PATTERNS.split(',') for x in areas if p in x[0]]:
    if ADDRESS and not a <= ADDRESS < b:
        continue
    area = f"Area '{name}', range 0x{a:016x} - 0x{b:016x} ({size(b - a)})"
    if QUIET:
        print(area)
        continue
    print(f'\n{area}\n')
    none = 0
    for va in range(ADDRESS & ~4095 if ADDRESS else a, (ADDRESS & ~4095) + 4096 if ADDRESS else b, 4096):
        e = word(pagemap, va // 4096) if va < 1 << 63 else 0
        if not e >> 63:
            none += 1
            continue
        if none:
            print(f'... {none} non mapped pages ...')
            none = 0
        pfn = e & (1 << 55) - 1
        # KSM is said of every anonymous page by kernels 6.10 to 7.2
        k = word(flags, pfn) & ~(1 << 21)
        text = 'file-page ' if e >> 61 & 1 else ''
        text += 'exclusive ' if e >> 56 & 1 else ''
        text += 'soft-dirty ' if e >> 55 & 1 else ''
        print(f'0x{va:016x}: physical address: 0x{pfn * 4096:016x} {text}count:{word(counts, pfn)} '
              f"flags:{','.join(n for i, n in enumerate(NAMES) if k >> i & 1)}")
    if none:
        print(f'... {none} non mapped pages ...')
END

why=''
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
[ -r /proc/kpageflags ] || why="/proc/kpageflags is not for us to read"
command -v python3 >"$work/log/python" || why="no python3"
if [ -z "$why" ]; then
	mkfifo in out
	python3 child.py <in >out 2>"$work/log/child" &
	child=$!
	exec 8>in 9<out
	read -r -t "$limit" -u 9 at || why="the child did not start: $(tail -n 1 "$work/log/child")"
fi

# Flags that others change at any time: what has them is the same without.
steady() {
	sed -E 's/\b(REFERENCED|ACTIVE|IDLE)\b,?//g; s/,$//' "$1" >"$1.steady"
}

# check PATTERNS ADDRESS QUIET OPTIONS...: pages move while one looks: then again.
check() {
	local patterns=$1 address=$2 quiet=$3 try
	shift 3

	for try in 1 2 3 4 5; do
		python3 wanted.py "$child" "$patterns" "$address" "$quiet" >before
		run ptexplore "$@"
		python3 wanted.py "$child" "$patterns" "$address" "$quiet" >wanted
		steady before
		steady wanted
		steady "$work/log/out"
		cmp -s before.steady wanted.steady && cmp -s "$work/log/out.steady" wanted.steady && break
		echo "note - pages changed, try $try"
	done
	same "$work/log/out.steady" wanted.steady
}

t "areas alone"
if [ -n "$why" ]; then skip "$why"; else
	check '' 0 q -pid "$child" --quiet
	yes [ "$(grep -c '^Area ' wanted)" -gt 10 ]
	check stack,heap 0 q --pid="$child" -areas=stack,heap -quiet
fi

t "pages of some areas"
if [ -n "$why" ]; then skip "$why"; else
	check stack,heap 0 - -pid "$child" --areas stack,heap
	check "anonymous" "$at" - -pid "$child" --areas anonymous -address "0x$at"
	yes [ "$(grep -c 'physical address' wanted)" = 1 ]
fi

t "every page, and runs of none"
if [ -n "$why" ]; then skip "$why"; else
	check anonymous 0 - -pid "$child" -areas anonymous
	yes [ "$(grep -c 'physical address' wanted)" -ge 1667 ]
	yes grep -q '^\.\.\. 2 non mapped pages \.\.\.$' wanted
fi

t "names that would steer a terminal are written as /proc/PID/maps writes a line end"
if [ -n "$why" ]; then skip "$why"; else
	run ptexplore -pid "$child" -areas 'a\012b' -quiet=T
	yes [ "$(cut -d , -f 1 "$work/log/out")" = "Area '$PWD/a\\012b\\033c'" ]
fi

exec 8>&- 9<&-
finish
