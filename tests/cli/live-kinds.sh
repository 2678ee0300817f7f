#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# live:pagemap and live:bpf report the kind of each page that a process of this test made,
# page by page. No other process is read. For a moment this test adds a small swap file and
# a few pages to the hugetlb pool, where that is allowed.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child='' pool='' swap=''
pool_file=/proc/sys/vm/nr_hugepages
# shellcheck disable=SC2317 # by the trap
end() {
	exec 8>&- 9<&-
	[ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>"$work/log/kill"
	[ -z "$pool" ] || echo "$pool" >"$pool_file"
	[ -z "$swap" ] || swapoff "$swap"
	rm -rf "$work"
}
trap end EXIT

# "FIRST PAGES STATE NEEDS NAME": NEEDS are flags that the page must have (+FLAG)
# or must not have (-FLAG), count=N for its mapcount, size=N for a row without --all.
cat >child.py <<'END'
import ctypes, mmap, os, struct, sys, tempfile, fcntl
from live_memory import *

FAILED = ctypes.c_void_p(-1).value


def area(size, advice=NOHUGE, flags=PRIVATE | ANONYMOUS, fd=-1, prot=3, align=PAGE):
    at = libc.mmap(None, size + align, prot, flags, fd, 0)
    if at == FAILED:
        return None
    at = (at + align - 1) // align * align
    libc.madvise(at, size, advice)
    libc.madvise(at, size, DONTFORK)
    return at


def write(at, size, step=PAGE):
    for a in range(at, at + size, step):
        ctypes.c_uint64.from_address(a).value = a | 1


def read(at, size):
    for a in range(at, at + size, PAGE):
        ctypes.c_uint64.from_address(a).value


def say(name, at, size, state, *needs):
    print('%x' % at, size // PAGE, state, ','.join(needs) or '.', name)


def lacks(name, why):
    print('lacks', name, why, sep=': ')


def word(at):
    with open('/proc/self/pagemap', 'rb') as f:
        f.seek(at // PAGE * 8)
        return struct.unpack('<Q', f.read(8))[0]


# ---- anonymous ----
at = area(M)
write(at, M)
say('written', at, M, 'present', '+ANON', 'count=1', '-ZERO_PAGE')
at = area(M)
say('untouched', at, M, 'absent')
at = area(M)
read(at, M)
zero_page = 'pvm_no_zero_page=1' not in open('/proc/cmdline').read()
# A kernel may give such pages frames of their own.
say('only read', at, M, 'present', *(('+ZERO_PAGE', 'count=0') if zero_page else ('+ANON', 'count=1')))
at = area(M)
write(at, M)
libc.madvise(at + 16 * PAGE, 16 * PAGE, DONTNEED)
say('before the hole', at, 16 * PAGE, 'present', 'count=1')
say('given back', at + 16 * PAGE, 16 * PAGE, 'absent')
say('behind the hole', at + 32 * PAGE, M - 32 * PAGE, 'present', 'count=1')
at = area(M)
write(at, M)
libc.mprotect(at + 64 * PAGE, 64 * PAGE, 0)
say('beside PROT_NONE', at, 64 * PAGE, 'present')
say('PROT_NONE', at + 64 * PAGE, 64 * PAGE, 'protnone', '+ANON', 'count=1')
at = area(M)
libc.mprotect(at, M, 0)
say('PROT_NONE, never touched', at, M, 'absent')
at = area(M)
write(at, M)
libc.mprotect(at, M, 1)
say('read-only', at, M, 'present', '+ANON')
at = area(64 * PAGE)
write(at, 64 * PAGE)
if libc.mlock(at, 64 * PAGE) == 0:
    say('locked', at, 64 * PAGE, 'present', '+UNEVICTABLE')
at = area(M)
write(at, M)
if libc.madvise(at + 8 * PAGE, 8 * PAGE, GUARD) == 0:
    say('before the guards', at, 8 * PAGE, 'present')
    say('guards', at + 8 * PAGE, 8 * PAGE, 'guard')
    say('behind the guards', at + 16 * PAGE, M - 16 * PAGE, 'present')
else:
    lacks('guards', 'this kernel has no MADV_GUARD_INSTALL')

# ---- large ----
at = area(8 * M, HUGE, align=2 * M)
write(at, 8 * M)
smaps = {}
with open('/proc/self/smaps') as f:
    for line in f:
        head = line.split('-')[0]
        if len(line.split()) > 4 and '-' in line.split()[0]:
            now = int(head, 16)
        elif line.startswith(('AnonHugePages', 'Private_Hugetlb')):
            smaps[now] = smaps.get(now, 0) + int(line.split()[1])
large = sum(v for k, v in smaps.items() if k <= at < k + 16 * M)
if large == 8 * 1024:
    say('large', at, 2 * M, 'present', '+THP', '+ANON', 'count=1', 'size=2097152')
    # The tables of the second one are split, and the page is not.
    libc.mprotect(at + 2 * M + PAGE, PAGE, 1)
    say('large, split', at + 2 * M, 2 * M, 'present', '+THP', 'size=4096')
    say('large, behind it', at + 4 * M, 4 * M, 'present', '+THP', 'size=2097152')
else:
    say('not large', at, 8 * M, 'present', '+ANON')
    lacks('large', 'the kernel gave none')
at = area(4 * M, HUGE, align=2 * M)
ctypes.c_uint64.from_address(at).value
ctypes.c_uint64.from_address(at + 2 * M).value
if word(at + PAGE) >> 63 and zero_page:
    say('large, only read', at, 4 * M, 'present', '+ZERO_PAGE', 'count=0', 'size=2097152')
else:
    lacks('large, only read', 'the kernel gave no large page of zeroes')
at = area(4 * M, flags=PRIVATE | ANONYMOUS | HUGETLB, align=2 * M)
if at is None:
    lacks('hugetlb', 'the pool of large pages is empty')
else:
    write(at, 2 * M)
    say('hugetlb', at, 2 * M, 'present', '+HUGE', '+ANON', 'count=1', 'size=2097152')
    say('hugetlb, untouched', at + 2 * M, 2 * M, 'absent')

# ---- files ----
memory = os.memfd_create('pages')
os.ftruncate(memory, 4 * M)
at = area(M, flags=SHARED, fd=memory)
write(at, M)
say('memfd', at, M, 'present', '-ANON', '+SWAPBACKED', 'count=2')
at = area(M, flags=SHARED, fd=memory)
read(at, M)
say('memfd, again', at, M, 'present', '-ANON', '+SWAPBACKED', 'count=2')
at = area(M, flags=SHARED | ANONYMOUS)
write(at, M // 2)
say('shared', at, M // 2, 'present', '-ANON', '+SWAPBACKED', 'count=1')
say('shared, untouched', at + M // 2, M // 2, 'absent')
with tempfile.TemporaryFile() as f:
    f.write(b'x' * M)
    f.flush()
    os.fsync(f.fileno())
    at = area(M, flags=SHARED, fd=f.fileno())
    read(at, M)
    say('file', at, M, 'present', '-ANON', '-ZERO_PAGE')
    at = area(M, flags=PRIVATE, fd=f.fileno())
    read(at, M)
    write(at, M, 4 * PAGE)
    for a in range(at, at + M, 4 * PAGE):
        say('file, copied', a, PAGE, 'present', '+ANON', 'count=1')
        say('file, mapped', a + PAGE, 3 * PAGE, 'present', '-ANON')

# ---- userfaultfd ----
UFFDIO_API, UFFDIO_REGISTER = 0xc018aa3f, 0xc020aa00
UFFDIO_WRITEPROTECT, UFFDIO_POISON = 0xc018aa06, 0xc020aa08
MISSING, WP, POISON = 1 << 0, 1 << 1, 1 << 14
WP_SHMEM, WP_UNPOPULATED, WP_ASYNC = 1 << 12, 1 << 13, 1 << 15


def uffd(features):
    fd = libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK | 1)
    if fd < 0:
        fd = libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK)
    if fd >= 0:
        try:
            fcntl.ioctl(fd, UFFDIO_API, struct.pack('<3Q', 0xaa, features, 0))
        except OSError:
            os.close(fd)
            fd = -1
    return fd


fd = uffd(WP_SHMEM)
if fd < 0:
    lacks('write-protected', 'no userfaultfd here')
else:
    at = area(M)
    write(at, M)
    fcntl.ioctl(fd, UFFDIO_REGISTER, struct.pack('<4Q', at, M, 2, 0))
    fcntl.ioctl(fd, UFFDIO_WRITEPROTECT, struct.pack('<3Q', at, M // 2, 1))
    say('write-protected', at, M // 2, 'present', '+ANON', 'wp')
    say('not write-protected', at + M // 2, M // 2, 'present', '+ANON', 'no-wp')
    at = area(M, flags=SHARED, fd=memory)
    libc.madvise(at, M, DONTNEED)
    fcntl.ioctl(fd, UFFDIO_REGISTER, struct.pack('<4Q', at, M, 2, 0))
    fcntl.ioctl(fd, UFFDIO_WRITEPROTECT, struct.pack('<3Q', at, 32 * PAGE, 1))
    say('markers', at, 32 * PAGE, 'marker')
    say('behind the markers', at + 32 * PAGE, M - 32 * PAGE, 'absent')
fd = uffd(POISON)
if fd < 0:
    lacks('poison', 'this kernel has no UFFDIO_POISON')
else:
    at = area(M)
    fcntl.ioctl(fd, UFFDIO_REGISTER, struct.pack('<4Q', at, M, 1, 0))
    fcntl.ioctl(fd, UFFDIO_POISON, struct.pack('<4Q', at, 4 * PAGE, 0, 0))
    say('poisoned', at, 4 * PAGE, 'poison')
    say('beside poison', at + 4 * PAGE, M - 4 * PAGE, 'absent')

# ---- swap ----
if len(sys.argv) > 1:
    at = area(M)
    write(at, M)
    for i in range(100):
        libc.madvise(at, M, PAGEOUT)
        out = [word(at + i * PAGE) >> 62 for i in range(M // PAGE)]
        if all(w == 1 for w in out):
            break
    if 1 not in out:
        lacks('swap', 'MADV_PAGEOUT put nothing on it')
    for i, w in enumerate(out):
        say('swap', at + i * PAGE, PAGE, 'swap' if w == 1 else 'present', *(['place'] if w == 1 else []))
else:
    lacks('swap', 'swapon is not allowed here')

# ---- fork, last ----
at = area(2 * M)
write(at, 2 * M)
libc.madvise(at, 2 * M, DOFORK)
r, w = os.pipe()
if os.fork() == 0:
    libc.prctl(1, 9)             # ends with its parent
    write(at, M)
    os.write(w, b'x')
    sys.stdin.read()
    os._exit(0)
os.read(r, 1)
say('forked, and written', at, M, 'present', '+ANON', 'count=1')
say('forked', at + M, M, 'present', '+ANON', 'count=2')
print('ready', flush=True)
sys.stdin.read()
END

# check.py KINDS PAGES ROWS: prints the kinds with wrong rows. PAGES are rows of
# single pages, ROWS those without --all.
cat >check.py <<'END'
import csv, sys

pages, sizes = {}, {}
for r in csv.DictReader(open(sys.argv[2])):
    for a in range(int(r['address'], 16), int(r['address'], 16) + int(r['size']), 4096):
        pages[a] = r
for r in csv.DictReader(open(sys.argv[3])):
    for a in range(int(r['address'], 16), int(r['address'], 16) + int(r['size']), 4096):
        sizes[a] = r['size']
checked = 0
bad = set()


def wrong(name, a, *what):
    if name not in bad:
        print(f'{name}, at {a:x}:', *what)
    bad.add(name)


for line in open(sys.argv[1]):
    first, n, state, needs, name = line.rstrip('\n').split(' ', 4)
    for i in range(int(n)):
        a = int(first, 16) + i * 4096
        r = pages.get(a)
        if not r:
            wrong(name, a, 'is no row')
            continue
        checked += 1
        have = set(r['pageflags'].split(','))
        if r['state'] != state:
            wrong(name, a, 'is', r['state'], 'not', state)
        for need in needs.split(','):
            if need[0] == '+' and need[1:] not in have or need[0] == '-' and need[1:] in have:
                wrong(name, a, 'flags', r['pageflags'], 'but', need)
            if need.startswith('count=') and r['kcount'] != need[6:]:
                wrong(name, a, 'count is', r['kcount'], 'not', need[6:])
            if need.startswith('size=') and sizes[a] != need[5:]:
                wrong(name, a, 'size is', sizes[a], 'not', need[5:])
            if need == 'place' and ':' not in r['swap']:
                wrong(name, a, 'has no place on swap')
            protected = 'uffd-wp' in r['flags'].split(',')
            if need in ('wp', 'no-wp') and protected != (need == 'wp'):
                wrong(name, a, 'flags', r['flags'], 'but', need)
print(checked, 'checked')
END

why=''
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"

# The hugetlb pool and swap, where this test may change them.
if [ -z "$why" ] && [ "$(id -u)" -eq 0 ]; then
	was=$(cat "$pool_file" 2>"$work/log/pool")
	if [ -n "$was" ] && echo $((was + 3)) 2>"$work/log/pool" >"$pool_file"; then
		pool=$was
	fi
	if dd if=/dev/zero of=swap-file bs=1M count=8 2>"$work/log/dd" && chmod 600 swap-file &&
		mkswap swap-file >"$work/log/mkswap" 2>&1 && swapon swap-file 2>"$work/log/swapon"; then
		swap=$PWD/swap-file
	fi
fi
if [ -z "$why" ]; then
	mkfifo stdin stdout
	python3 child.py ${swap:+swap} <stdin >stdout 2>"$work/log/child" &
	child=$!
	exec 8>stdin 9<stdout
	while read -r -t "$limit" -u 9 line && [ "$line" != ready ]; do
		case $line in
		lacks*) echo "${line#lacks: }" >>lacks ;;
		*) echo "$line" >>kinds ;;
		esac
	done
	[ "$line" = ready ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
	touch lacks
	# "/proc/PID/pagemap gives no frame numbers": what depends on them is n/a.
	atwalk pages live:pagemap --pid "$child" -q --areas-only >"$work/log/quiet" 2>"$work/log/hidden"
	! grep -q 'hides frame numbers' "$work/log/hidden" || why=$(head -n 1 "$work/log/hidden")
fi
for lacking in guards large 'large, only read' hugetlb write-protected poison swap; do
	[ -z "$why" ] && grep -q "^$lacking: " lacks || continue
	t "pages of the kind exist: $lacking"
	skip "$(sed -n "s/^$lacking: //p" lacks)"
done

columns=address,size,state,kcount,pageflags,swap,flags
for way in pagemap bpf; do
	t "live:$way: every page has the kind that the process made"
	if [ -n "$why" ]; then skip "$why"; continue; fi
	if ! atwalk info "live:$way" >"$work/log/info" 2>&1; then
		skip "$(head -n 1 "$work/log/info")"
		continue
	fi
	# Pages that the kernel migrates meanwhile differ for a moment.
	for try in 1 2 3 4 5; do
		run atwalk pages "live:$way" --pid "$child" --all --format csv --columns $columns
		said_err=1
		cp "$work/log/out" pages
		run atwalk pages "live:$way" --pid "$child" --format csv --columns $columns
		said_err=1
		python3 check.py kinds pages "$work/log/out" >got
		[ "$(wc -l <got)" -gt 1 ] || break
		echo "note - try $try: $(head -n 1 got)"
	done
	[ "$(wc -l <got)" = 1 ] || bad "$(cat got)"
	echo "note - $(tail -n 1 got)"
	yes [ "$(sed -n 's/ checked$//p' got)" -gt 5000 ]
done

t "both backends agree on addresses in memory and on swap"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/info" 2>&1; then skip "$(head -n 1 "$work/log/info")"
else
	cat >among.py <<'END'
import sys

kinds = set()
for line in open(sys.argv[1]):
    first, n = line.split(' ')[:2]
    kinds |= {int(first, 16) + i * 4096 for i in range(int(n))}
for line in sys.stdin:
    if line.startswith('0x') and int(line.split(',')[0], 16) in kinds:
        sys.stdout.write(line)
END
	for try in 1 2 3 4 5; do
		for way in pagemap bpf; do
			run atwalk pages "live:$way" --pid "$child" --all --format csv \
				--columns address,size,state,physical,kcount,swap,area \
				--filter 'not absent and not guard and not marker and not poison'
			said_err=1
			# The reading process maps libraries, too.
			python3 among.py kinds <"$work/log/out" >"where.$way"
		done
		cmp -s where.pagemap where.bpf && break
		echo "note - pages moved, try $try"
	done
	same where.pagemap where.bpf
	yes [ "$(wc -l <where.bpf)" -gt 4000 ]
fi

t "both backends agree on all other columns"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/info" 2>&1; then skip "$(head -n 1 "$work/log/info")"
else
	cat >each.py <<'END'
import sys

for line in sys.stdin:
    first, size = line.split(',')
    for a in range(int(first, 16), int(first, 16) + int(size), 4096):
        print('%x' % a)
END
	for try in 1 2 3 4 5; do
		for word in uffd-wp exclusive file soft-dirty; do
			for way in pagemap bpf; do
				# In /proc the huge zero page is marked as a file page.
				run atwalk pages "live:$way" --pid "$child" --all --format csv \
					--columns address,size \
					--filter "$word and not ZERO_PAGE"
				said_err=1
				python3 among.py kinds <"$work/log/out" |
					python3 each.py >"$word.$way"
			done
		done
		cat uffd-wp.pagemap exclusive.pagemap file.pagemap soft-dirty.pagemap >words.pagemap
		cat uffd-wp.bpf exclusive.bpf file.bpf soft-dirty.bpf >words.bpf
		cmp -s words.pagemap words.bpf && break
		echo "note - pages moved, try $try"
	done
	same words.pagemap words.bpf
	yes [ "$(wc -l <exclusive.bpf)" -gt 1000 ]
	yes [ "$(wc -l <file.bpf)" -gt 100 ]
fi

t "facts that only /proc has are n/a with page tables alone, and match neither yes nor no"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk info live:bpf >"$work/log/info" 2>&1; then skip "$(head -n 1 "$work/log/info")"
else
	run atwalk map live:bpf --pid "$child" --format csv --columns address --filter 'exclusive or flags!=file'
	said_err=1
	yes [ "$(wc -l <"$work/log/out")" = 1 ]
	run atwalk map live:bpf --pid "$child" --format csv --columns address --filter 'uffd-wp or present'
	said_err=1
	yes [ "$(wc -l <"$work/log/out")" -gt 1 ]
fi

# The reader of the listing blocks it half-way and then kills the process: rows up to
# then are printed.
for way in pagemap bpf; do
	t "live:$way: a process that ends while it is listed gives a partial result"
	if [ -n "$why" ]; then skip "$why"; continue; fi
	if ! atwalk info "live:$way" >"$work/log/info" 2>&1; then
		skip "$(head -n 1 "$work/log/info")"
		continue
	fi
	cat >ends.py <<'END'
import sys
from live_memory import *

at = libc.mmap(None, 512 * M, 3, 0x22, -1, 0)
libc.madvise(at, 512 * M, NOHUGE)
libc.memset(at, 1, 512 * M)
print('ready', flush=True)
sys.stdin.read()
END
	mkfifo "in.$way" "out.$way"
	python3 ends.py <"in.$way" >"out.$way" 2>"$work/log/ends" &
	ends=$!
	disown
	exec 6>"in.$way" 7<"out.$way"
	read -r -t "$limit" -u 7 _
	{
		atwalk map "live:$way" --pid "$ends" --all --format jsonl 2>"said.$way"
		echo $? >"ended.$way"
	} | {
		read -r _
		kill -KILL "$ends"
		while kill -0 "$ends" 2>"$work/log/gone" && ! grep -q '^State:.Z' "/proc/$ends/status"; do
			sleep 0.1
		done
		wc -l
	} >"rows.$way"
	exec 6>&- 7<&-
	yes [ "$(cat "ended.$way")" = 4 ]
	# Rows that were already in the pipe, but not all.
	yes [ "$(cat "rows.$way")" -gt 0 ]
	yes [ "$(cat "rows.$way")" -lt 131072 ]
	yes [ "$(wc -l <"said.$way")" = 1 ]
	yes grep -q "^atwalk: live:$way: .*process.* ended" "said.$way"
done

t "a gigabyte, page by page: both backends agree"
free=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "too much for $WRAP"
elif [ "${free:-0}" -lt $((3 << 20)) ]; then skip "there is not enough memory"
elif ! atwalk info live:bpf >"$work/log/info" 2>&1; then skip "$(head -n 1 "$work/log/info")"
else
	cat >big.py <<'END'
import sys
from live_memory import *

at = libc.mmap(None, G, 3, 0x22, -1, 0)
libc.madvise(at, G, NOHUGE)
libc.memset(at, 1, G)
print('%x' % at, flush=True)
sys.stdin.read()
END
	mkfifo in out
	python3 big.py <in >out 2>"$work/log/big" &
	big=$!
	exec 6>in 7<out
	read -r -t "$limit" -u 7 at
	for try in 1 2 3 4 5; do
		for way in pagemap bpf; do
			run atwalk pages "live:$way" --pid "$big" --all --format csv \
				--columns address,size,physical,state,kcount,swap,area "$at+1G"
			cksum <"$work/log/out" >"sum.$way"
			sed 1d "$work/log/out" | cut -d , -f 4 | uniq -c >"states.$way"
		done
		cmp -s sum.pagemap sum.bpf && break
		echo "note - pages moved, try $try"
	done
	exec 6>&- 7<&-
	wait "$big"
	same sum.pagemap sum.bpf
	yes [ "$(tr -s ' ' <states.bpf)" = ' 262144 present' ]
fi

t "where the presence of swap is unknown, swapped sizes are n/a, not 0"
bare=(setpriv --inh-caps=-all --bounding-set=-all)
if [ -n "$why" ]; then skip "$why"
elif [ -n "${WRAP:-}" ]; then skip "$WRAP is what would be denied"
elif [ -z "$swap" ]; then skip "swapon is not allowed here"
elif ! unshare --mount mount -t proc -o subset=pid proc /proc 2>"$work/log/mount" ||
	! "${bare[@]}" true 2>>"$work/log/mount"; then
	skip "$(head -n 1 "$work/log/mount")"
else
	cat >out.py <<'END'
import sys
from live_memory import *

at = libc.mmap(None, M, 3, 0x22, -1, 0)
libc.madvise(at, M, NOHUGE)
for page in range(at, at + M, PAGE):
    ctypes.c_uint64.from_address(page).value = page
libc.madvise(at, M, PAGEOUT)
print('%x' % at, flush=True)
sys.stdin.read()
END
	cp "$built/atwalk" atwalk-copy
	cat >asked <<END
mount -t proc -o subset=pid proc /proc
${bare[*]} ./atwalk-copy "\$@"
END
	mkfifo in.2 out.2
	"${bare[@]}" python3 out.py <in.2 >out.2 2>"$work/log/out-child" &
	other=$!
	exec 6>in.2 7<out.2
	read -r -t "$limit" -u 7 at
	# shellcheck disable=SC2317 # by run
	ask() { unshare --mount bash asked pages live:pagemap --pid "$other" "$at+1M" "$@"; }
	run ask --filter 'not present' --format csv --columns state
	said_err=1
	if [ "$(sed 1d "$work/log/out" | sort -u)" != '' ] || [ "$(wc -l <"$work/log/out")" -lt 2 ]; then
		skip "MADV_PAGEOUT put nothing on it"
	else
		for how in --totals -q; do
			run ask $how --format csv --columns size,swapped
			said_err=1
			printf 'size,swapped\n1048576,\n' | out
		done
		run ask
		said_err=1
		yes grep -qx '1 process: [0-9.]*[BKM] mapped, n/a on swap' "$work/log/out"
	fi
	exec 6>&- 7<&-
	wait "$other"
fi
finish
