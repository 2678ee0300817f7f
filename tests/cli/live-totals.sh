#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every command that sums up the memory of processes (RSS, PSS, USS, swap, hugetlb, large
# pages) agrees with /proc/PID/smaps_rollup. The processes of this test are static
# programs: atwalk shares nothing with them but [vdso].
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

parent='' twin=''
# shellcheck disable=SC2317 # by the trap
end() {
	exec 8>&- 9<&-
	[ -z "$parent" ] || { kill -KILL "$parent"; wait "$parent"; } 2>"$work/log/kill"
	[ -z "$twin" ] || { kill -KILL "$twin"; wait "$twin"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

# Memory of every kind, some of it the parent's; then as many children as are asked for.
cat >kinds.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096, M = 1 << 20, PAGEOUT = 21 };
#define BIG (2UL * M)

static char *map(size_t len, size_t align, int flags, int advice)
{
	char *p = mmap(NULL, len + align, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	p = (char *)(((uintptr_t)p + align - 1) & ~(align - 1));
	madvise(p, len, advice);
	return p;
}

static void look(const volatile char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		(void)p[i];
}

static void put(char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		p[i] = 1;
}

static void put_hugetlb(void)
{
	char *p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		       -1, 0);

	if (p != MAP_FAILED)
		put(p, BIG);
}

/* Of a file in the page cache, some in parts of large pages. */
static void look_large(const char *file, int n)
{
	int fd = open(file, O_RDONLY);
	char *p = map(4 * BIG, BIG, MAP_PRIVATE | MAP_ANONYMOUS, MADV_NORMAL);

	p = mmap(p, 4 * BIG, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		_exit(1);
	madvise(p, 4 * BIG, MADV_HUGEPAGE);
	look(p, 4 * BIG);
	if (n % 2)
		madvise(p + BIG + 3 * PAGE, PAGE, MADV_DONTNEED);
}

static void child(int n, char *cow, char *shared, char *big, const char *file,
		  const char *large)
{
	const int own = MAP_PRIVATE | MAP_ANONYMOUS;
	int fd = open(file, O_RDONLY);
	char *p = mmap(NULL, M, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	prctl(PR_SET_PDEATHSIG, 9);
	look(p, M);                              /* of a file, and copied */
	put(p + M / 2, (n % 7) * PAGE);
	put(cow, (n % 11) * 3 * PAGE);
	look(shared, (n % 5) * 7 * PAGE);
	look(big, n % 3 ? BIG : 0);
	put(map((n + 1) * PAGE, PAGE, own, MADV_NOHUGEPAGE), (n + 1) * PAGE);
	look(map(M, PAGE, own, MADV_NOHUGEPAGE), M);             /* zeroes */
	if (n % 2)
		look(map(BIG, BIG, own, MADV_HUGEPAGE), BIG);
	p = map(3 * BIG, BIG, own, MADV_HUGEPAGE);
	put(p, 3 * BIG);
	madvise(p + BIG, PAGE, MADV_DONTNEED);                   /* a large page in parts */
	madvise(p + BIG, BIG, MADV_NOHUGEPAGE);                  /* and it stays so */
	p = map(16 * PAGE, PAGE, own, MADV_NOHUGEPAGE);
	put(p, 16 * PAGE);
	mprotect(p, 5 * PAGE, PROT_NONE);
	madvise(p + 8 * PAGE, 8 * PAGE, PAGEOUT);
	if (n % 3 == 1)
		look_large(large, n);
	if (!n)
		put_hugetlb();
}

int main(int argc, char **argv)
{
	const int all = MAP_SHARED | MAP_ANONYMOUS;
	char *cow = map(M, PAGE, MAP_PRIVATE | MAP_ANONYMOUS, MADV_NOHUGEPAGE);
	char *shared = map(M, PAGE, all, MADV_NOHUGEPAGE), *big = map(BIG, BIG, all, MADV_HUGEPAGE);
	int ready[2];
	char c;

	prctl(PR_SET_PDEATHSIG, 9);
	put(cow, M);
	put(shared, M);
	put(big, BIG);
	if (argc < 4 || pipe(ready))
		return 1;
	for (int n = 0; n < atoi(argv[1]); n++) {
		if (!fork()) {
			child(n, cow, shared, big, argv[2], argv[3]);
			if (write(ready[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		if (read(ready[0], &c, 1) != 1)
			return 1;
	}
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
END

n=30
[ -z "${WRAP:-}" ] || n=3
why=''
[ "$(uname -m)" = x86_64 ] || why="pages are said to be of 4096 bytes here"
[ -r /proc/self/smaps_rollup ] || why="no smaps_rollup here"
if [ -z "$why" ]; then
	"${CC:-cc}" -static -O1 -o kinds kinds.c 2>"$work/log/cc" || why="no static program can be made here"
fi
if [ -z "$why" ]; then
	head -c 1048576 /dev/zero >file
	head -c 8388608 /dev/urandom >large
	# What was written is in small pages, and is read again in large ones, where there are any.
	dd if=large iflag=nocache count=0 2>"$work/log/dd"
	sync large
	dd if=large iflag=nocache count=0 2>"$work/log/dd"
	mkfifo out
	./kinds $n file large >out 2>"$work/log/kinds" &
	parent=$!
	read -r -t "$limit" said <out
	[ "$said" = ready ] || why="the processes did not start: $(tail -n 1 "$work/log/kinds")"
fi

# PID and all that there is to compare, of each, by the kernel.
rollups() {
	local pid

	for pid in $parent $(tr ' ' '\n' <"/proc/$parent/task/$parent/children"); do
		awk -v pid="$pid" '{ v[$1] = $2 } END { print pid, v["Rss:"], v["Pss:"],
			v["Private_Clean:"] + v["Private_Dirty:"], v["Swap:"],
			v["Private_Hugetlb:"] + v["Shared_Hugetlb:"], v["AnonHugePages:"],
			v["ShmemPmdMapped:"], v["FilePmdMapped:"],
			v["Anonymous:"], v["Rss:"] - v["Anonymous:"] }' "/proc/$pid/smaps_rollup"
	done | sort -n
}

# compare COLUMNS COMMAND...: of the processes of this test; pid first, then some of
# rss pss uss swap hugetlb, the three of large pages, anon and file, or - for each that is
# not there.
compare() {
	local columns=$1

	shift
	last_run="atwalk $*"
	rollups >want
	# The kernel may put pages together, or take some away, while they are looked at.
	for ((k = 0; k < 9; k++)); do
		atwalk "$@" --format csv --columns "$columns" >rows 2>"$work/log/err"
		rc=$? said_status=1 said_err=1
		mv want before
		rollups >want
		! cmp -s want before || break
	done
	[ $rc = 0 ] || [ $rc = 4 ] || bad "$last_run ended with $rc: $(head -n 3 "$work/log/err")"
	# The share of [vdso] varies with other processes, and the kernel truncates early.
	awk -v rows=rows '
		BEGIN {
			FS = ","
			getline header <rows
			while ((getline <rows) > 0)
				line[$1] = $0
			FS = " "
		}
		{
			found = split(line[$1], is, ",")
			for (i = 2; i <= found; i++) {
				got = int(is[i] / 1024)
				less = i == 3 ? int(is[i] / 1024 - 1) : got
				more = i == 3 ? int(is[i] / 1024 + 1) : got
				if (is[i] == "" || $i < less || $i > more)
					print "process " $1 ": column " i " is " is[i] " bytes, not " $i " KiB"
			}
			if (!found)
				print "process " $1 " is not there"
		}' want >wrong
	[ ! -s wrong ] || bad "$last_run:
$(head -n 5 wrong)"
	[ "$(wc -l <want)" = $((n + 1)) ] || bad "there are $(wc -l <want) processes"
}

# Of a capture: written anew where the kernel did something meanwhile.
captured() {
	for ((j = 0; j < 9; j++)); do
		rollups >earlier
		run atwalk collect "$1" -q -o kinds.cap
		said_status=1 said_err=1
		rollups >want
		! cmp -s earlier want || break
	done
	compare pid,$sums report use kinds.cap
	compare pid,${sums/swap/swapped} pages kinds.cap --totals
	rm -f kinds.cap
}

sums=rss,pss,uss,swap,hugetlb,thp_anon,thp_shmem,thp_file
if [ -z "$why" ]; then rollups >want; fi
note() { echo "note - $(awk '{ for (i = 2; i <= NF; i++) n[i] += $i } END {
	print NR, "processes: rss", n[2], "uss", n[4], "swap", n[5], "hugetlb", n[6],
	      "large", n[7], n[8], n[9], "KiB" }' want)"; }
[ -n "$why" ] || note

for way in live:pagemap live:bpf live:kcore; do
	no=$why
	if [ -z "$no" ] && ! atwalk report use $way --pid "$parent" --format csv --columns pss \
		>"$work/log/way" 2>&1; then
		grep -q '^[0-9]' "$work/log/way" || no="$way: $(tail -n 1 "$work/log/way")"
	fi

	t "$way: report use"
	if [ -n "$no" ]; then skip "$no"; else
		compare pid,$sums report use $way
		compare pid,$sums,anon,file report use $way
	fi

	t "$way: pages --totals"
	if [ -n "$no" ]; then skip "$no"; else
		compare pid,${sums/swap/swapped} pages $way --totals
	fi

	t "$way: a capture of it"
	if [ -n "$no" ]; then skip "$no"; else
		captured $way
	fi
done

t "live:bpf: ps"
if ! atwalk ps live:bpf 1 --format csv >"$work/log/way" 2>&1; then
	skip "$(tail -n 1 "$work/log/way")"
elif [ -n "$why" ]; then skip "$why"; else
	rollups | awk '{ print $1, $2, $6 }' >want
	atwalk ps live:bpf --format csv --columns pid,resident,hugetlb >rows 2>"$work/log/err"
	awk -F, 'NR > 1 && $2 != "" { print $1, $2 / 1024, $3 / 1024 }' rows |
		grep -Ff <(awk '{ print $1 " " }' want) | sort -n >got
	yes [ -s got ]
	grep -vxFf got want >"$work/log/diff"
	[ ! -s "$work/log/diff" ] || bad "ps: not there: $(head -n 3 "$work/log/diff")"
fi

cat >twin.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char memory[8 << 20], stack[1 << 16];

static int child(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

int main(void)
{
	memset(memory, 1, sizeof(memory));
	printf("%d\n", clone(child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL));
	fflush(stdout);
	for (;;)
		pause();
}
END

# The sums of its memory are made for the first of the two. The share of [vdso] varies.
same=$why
if [ -z "$same" ]; then
	"${CC:-cc}" -static -O1 -o twin twin.c 2>"$work/log/cc" || same="no static program can be made here"
fi
if [ -z "$same" ]; then
	mkfifo twins
	./twin >twins &
	twin=$!
	read -r -t "$limit" second <twins || same="the process did not start"
fi
for way in live:pagemap live:bpf live:kcore; do
	t "$way: a process that has the memory of another one"
	if [ -n "$same" ]; then skip "$same"
	elif ! atwalk report use $way --pid "$twin" --format csv --columns "${sums/,pss/}" >first 2>"$work/log/way"; then
		skip "$way: $(tail -n 1 "$work/log/way")"
	else
		atwalk report use $way --pid "$second" --format csv --columns "${sums/,pss/}" >other 2>"$work/log/way"
		yes cmp -s first other
		yes [ "$(sed -n '2s/,.*//p' first)" -gt 8388608 ]
	fi
done

finish
