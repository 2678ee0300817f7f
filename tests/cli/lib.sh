# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# lib.sh - a small harness for tests that run programs. A test file sources it
# and calls:
#
#	t NAME                  a test begins
#	run COMMAND...          run it; keep its output and status
#	status N                it ended with N (default: 0)
#	out                     its standard output is this file's input, exactly
#	golden NAME             its standard output is golden/NAME.txt beside the test, exactly
#	err                     its standard error likewise (default: empty)
#	err_is PATTERN          its standard error is one line, of this shape
#	err_has TEXT            TEXT is in it
#	no_out                  its standard output is empty
#	fits                    its table is at most 100 characters wide
#	fits_but EXCEPT         but for rows like EXCEPT
#	same A B                two files are equal
#	yes COMMAND...          the command succeeds
#	await COMMAND...        the command succeeds eventually: it is repeated until the limit
#	skip WHY                this test cannot run here
#	paravirtual             does the kernel run in user mode, under PVM?
#	no_zero_page            does it give pages that are only read frames of their own?
#	sql SOURCE QUERY        run it with its result as CSV
#	bare                    its texts as in the listing: cells without quotes that SQL adds
#	finish                  the closing count; the last line of every file
#
# The first failure prints "not ok" and the difference; later failures of the same
# test are ignored.
#
# Commands run in a folder of their own, $work, where x86.elf, arm64.elf,
# riscv.elf and tasks.kdump are the small dumps of tests/data. REGENERATE=1 writes the golden
# files instead of comparing; read the difference before you commit it.
#
# WRAP: prefix of the program (valgrind). $O is then a folder with a script named
# atwalk that adds it, so that every test uses it; $built is the real build.
# Valgrind writes to files of its own, because standard error is compared; a file
# that is not empty fails the test, whatever the status.
set -u
export LC_ALL=C TZ=UTC
unset ATWALK_CONFIG
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
O=${O:-build}
case $O in
/*) ;;
*) O=$top/$O ;;
esac
built=$O
cli=$top/tests/cli data=$top/tests/data beside=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH=$cli PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/atwalk-cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/config
mkdir "$work/cwd" "$work/log"
cd "$work/cwd" || exit 1
ln -s "$data/x86_64-4level.elf" x86.elf
ln -s "$data/arm64-lpa2.elf" arm64.elf
ln -s "$data/riscv64-sv57.elf" riscv.elf
ln -s "$data/x86_64-tasks.kdump" tasks.kdump

limit=300                        # seconds, after which a command hangs; other work may slow it down
if [ -n "${WRAP:-}" ]; then
	# Another user may have no access to the checkout.
	cp "$top/tests/valgrind.supp" "$work/valgrind.supp"
	WRAP=${WRAP//"$top/tests/valgrind.supp"/"$work/valgrind.supp"}
	limit=900
	O=$work/wrapped
	mkdir "$O"
	mkdir -m 1777 "$work/said"       # unprivileged users write there, too
	# Programs that atwalk executes are wrapped as well, so valgrind need not follow.
	# shellcheck disable=SC2016 # by that script
	printf '#!/bin/sh\nprogram="%s"\n[ "$1" != kmap ] || { program=$program-kmap; shift; }\nexec %s "$program" "$@"\n' \
		"$built/atwalk" "$WRAP" >"$O/atwalk"
	chmod 755 "$O/atwalk"
	ln -s "$built/tests" "$O/tests"
	export VALGRIND_OPTS="--log-file=$work/said/%p"
fi
runs=0

passed=0 failed=0 skipped=0
name='' wrong='' skipping=''
rc=0 said_status=1 said_err=1 last_run=''

# A crash fails the test, wherever it happens: also where a failure would be a reason to skip it.
atwalk() {
	local ended

	"$O/atwalk" "$@"
	ended=$?
	# ILL TRAP ABRT BUS FPE SEGV SYS
	case $ended in
	132 | 133 | 134 | 135 | 136 | 139 | 159)
		echo "atwalk $*: ended by signal $((ended - 128))" >>"$work/crashed"
		;;
	esac
	return $ended
}

# Starts listen.py as process $listener, at $port.
listen() {
	exec 7< <(exec python3 "$cli/listen.py" "$@" 2>"$work/log/listen")
	listener=$!
	read -r -t "$limit" -u 7 port || bad "listen.py did not start: $(cat "$work/log/listen")"
}

# The tools exit without freeing memory, which is not a leak worth reporting.
# Engines of others to compare with: packages of npm, in a folder that is kept. Prints it;
# fails where they cannot be had.
npm_have() {                      # FOLDER PACKAGE...
	local folder=${ATWALK_CACHE:-$HOME/.cache/atwalk}/$1 package there=1
	shift
	for package; do
		[ -d "$folder/node_modules/$package" ] || there=
	done
	if [ -z "$there" ]; then
		command -v npm >/dev/null && mkdir -p "$folder" || return
		timeout 300 npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund \
			"$@" >"$work/npm.log" 2>&1 || return
	fi
	echo "$folder/node_modules"
}

# A program of a Debian package that is big and need not be installed: only it is unpacked,
# into a folder that is kept. Prints its path; fails where it cannot be had. The package is
# downloaded if $ATWALK_DOWNLOAD is set, as the full matrix has it.
debian_have() {                   # PACKAGE PATTERN
	local folder=${ATWALK_CACHE:-$HOME/.cache/atwalk}/debian/$1 found
	found=$(find "$folder" -name "${2##*/}" 2>/dev/null | head -n 1)
	if [ -z "$found" ]; then
		[ -n "${ATWALK_DOWNLOAD:-}" ] && command -v apt-get >/dev/null || return
		mkdir -p "$work/$1/new" "$folder" && cd "$work/$1" &&
			timeout 300 apt-get -q download "$1" >"$work/apt.log" 2>&1 &&
			dpkg-deb --fsys-tarfile ./*.deb | tar -x -C new --wildcards "*/$2" &&
			found=$(find new -path "*/$2" | head -n 1) &&
			mv "$found" "$folder/new-$$" && mv "$folder/new-$$" "$folder/${2##*/}" || return
		found=$folder/${2##*/}
	fi
	echo "$found"
}

redump() { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$O/tests/tools/redump" "$@"; }
poke() { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$O/tests/tools/poke" "$@"; }
shrink() { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$O/tests/tools/shrink" "$@"; }

bad() {
	[ -n "$wrong" ] || wrong=$*
}

# For test files that need tasks.kdump throughout: skips all tests if it cannot be read.
need_tasks() {
	grep -q '^  found:.* zstd' "$built/found.txt" && return
	t "all tests"
	skip "this build has no zstd"
	finish
}

# Number of RAM frames without an initialized struct page: 0 with most kernels.
late_frames() {
	awk -v page="$(getconf PAGESIZE)" '
		$1 == "MemTotal:" { total = $2 * 1024 / page }
		$1 == "managed" { managed += $2 }
		END { print total - managed }' /proc/zoneinfo /proc/meminfo
}

# The output of WRAP for every program since the last call. Valgrind 3.19 has no
# pidfd_open(2): it answers as a kernel without it would, after these lines.
wrap_said() {
	local f

	for f in "$work"/said/*; do
		sed -i '/unhandled amd64-linux syscall: 434$/,/bug_reports.html/d' "$f"
		[ -s "$f" ] || continue
		bad "$last_run
under ${WRAP%% *}: $(head -n 40 "$f")"
		rm "$f"
	done
}

# Defaults for checks that the test omitted after the last run: status 0 and no errors.
settle() {
	if [ $said_status -eq 0 ] && [ "$rc" -ne 0 ]; then
		bad "ended with status $rc: $(head -n 3 "$work/log/err")"
	elif [ $said_err -eq 0 ] && [ -s "$work/log/err" ]; then
		bad "says on standard error: $(head -n 3 "$work/log/err")"
	fi
	said_status=1 said_err=1
}

close_test() {
	[ -n "$name" ] || return 0
	settle
	[ -z "${WRAP:-}" ] || wrap_said
	if [ -s "$work/crashed" ]; then
		bad "$(cat "$work/crashed")"
		skipping=''
		rm "$work/crashed"
	fi
	if [ -n "$skipping" ]; then
		echo "skip - $name: $skipping"
		skipped=$((skipped + 1))
	elif [ -n "$wrong" ]; then
		echo "not ok - $name"
		echo "    ${wrong//$'\n'/$'\n'    }"
		failed=$((failed + 1))
	else
		echo "ok - $name"
		passed=$((passed + 1))
	fi
	name='' wrong='' skipping=''
}

t() {
	close_test
	name=$*
}

skip() {
	skipping=$*
}

paravirtual() {
	grep -q '\bpvm_' /proc/cmdline || dmesg 2>/dev/null | grep -q 'running under PVM'
}

no_zero_page() {
	grep -q pvm_no_zero_page=1 /proc/cmdline
}

run() {
	settle
	[ -z "$wrong$skipping" ] || return 0
	last_run=$*
	runs=$((runs + 1))
	# In a PID namespace numbers begin at 1, and the files of a number may belong to root.
	[ -z "${WRAP:-}" ] || VALGRIND_OPTS="--log-file=$work/said/$runs.%p"
	"$@" >"$work/log/out" 2>"$work/log/err"
	rc=$?
	said_status=0 said_err=0
	[ -z "${WRAP:-}" ] || wrap_said
}

status() {
	[ -z "$wrong$skipping" ] || return 0
	said_status=1
	[ "$rc" -eq "$1" ] || bad "$last_run
ended with status $rc, not $1: $(head -n 3 "$work/log/err")"
}

# A run about all frames of this machine: complete, or but for those without a struct page.
all_frames() {
	[ -z "$wrong$skipping" ] || return 0
	[ "$rc" -eq 0 ] || [ "$(late_frames)" -eq 0 ] || {
		status 4
		said_err=1
	}
}

# got, wanted, and their description
compare() {
	[ -z "$wrong$skipping" ] || return 0
	cmp -s "$1" "$2" && return 0
	diff -a -U 0 "$2" "$1" | tail -n +3 >"$work/log/diff"
	bad "$last_run
$3 is wrong (- wanted, + got):
$(grep -a '^-' "$work/log/diff" | head -n 15 | tr -d '\0')
$(grep -a '^+' "$work/log/diff" | head -n 15 | tr -d '\0')"
}

out() {
	cat >"$work/log/want"
	compare "$work/log/out" "$work/log/want" "standard output"
}

err() {
	cat >"$work/log/want"
	said_err=1
	compare "$work/log/err" "$work/log/want" "standard error"
}

# A shell pattern, for messages with text of a library.
err_is() {
	local text

	[ -z "$wrong$skipping" ] || return 0
	said_err=1
	text=$(<"$work/log/err")
	# shellcheck disable=SC2053 # it is a pattern
	[[ $text == $1 && $text != *$'\n'* ]] || bad "$last_run
standard error is not one line '$1' but:
$text"
}

err_has() {
	[ -z "$wrong$skipping" ] || return 0
	said_err=1
	grep -qaF -e "$1" "$work/log/err" || bad "$last_run
standard error lacks '$1':
$(<"$work/log/err")"
}

# Notes below the table are sentences, and no row.
fits() {
	fits_but '^$'
}

fits_but() {                      # REGEX
	[ -z "$wrong$skipping" ] || return 0
	awk -v except="$1" '!NF { exit } length > 100 && $0 !~ except { exit bad = 1 } END { exit bad }' \
		"$work/log/out" || bad "$last_run
is wider than 100 characters"
}

no_out() {
	compare "$work/log/out" /dev/null "standard output"
}

golden() {
	local file=$beside/golden/$1.txt

	[ -z "$wrong$skipping" ] || return 0
	if [ -n "${REGENERATE:-}" ]; then
		cp "$work/log/out" "$file"
	elif [ ! -f "$file" ]; then
		bad "golden/$1.txt is missing"
	else
		compare "$work/log/out" "$file" "standard output"
	fi
}

same() {
	last_run="$1, $2"
	compare "$1" "$2" "the first"
}

yes() {
	[ -z "$wrong$skipping" ] || return 0
	"$@" || bad "is false: $*"
}

# Counts its attempts instead of reading a clock, so that load extends the limit.
await() {
	local i

	[ -z "$wrong$skipping" ] || return 0
	for ((i = 0; i < limit * 50; i++)); do
		"$@" && return
		sleep 0.02
	done
	bad "never succeeds: $*"
}

# until_row PATTERN: waits for a row that matches, of what --watch writes to file descriptor 7.
# $why: if not empty, it does not run.
until_row() {
	[ -z "${why:-}$wrong" ] || return
	while read -r -t "$limit" -u 7 row; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ $row == $1 ]] && return
	done
	bad "no row '$1': $(<"$work/log/watcher")"
}

# waits_in PID STATE SYSCALL...: the process is in that state, as in ps(1), and in one of
# these system calls, by their numbers here. Without numbers: in any.
waits_in() {
	local pid=$1 state=$2 now call

	shift 2
	now=$(sed 's/.*) \(.\) .*/\1/' "/proc/$pid/stat" 2>"$work/log/stat") || return
	[ "$now" = "$state" ] || return
	[ $# -gt 0 ] || return 0
	read -r call _ 2>"$work/log/stat" <"/proc/$pid/syscall" || return
	[[ " $* " == *" $call "* ]]
}

sql() {
	run atwalk sql "$@" --format csv
}

# Sets and letters are texts there: those are kept from being formulas, and quoted if empty.
bare() {
	sed -E "s/\"'([^\",]*)\"/\\1/g; s/\"\"//g"
}

finish() {
	close_test
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

# ---- QEMU's answers ----

# QEMU lists a mapping a line, 75000 of them, most like the one before. In
# tests/data a run of such lines is one, followed by how often and how far
# apart: "VA PA FLAGS xCOUNT VA-STEP PA-STEP" (info tlb), "START END SIZE
# RIGHTS xCOUNT STEP" (info mem). These turn the one form into the other.

pack_tlb() {
	local va pa flags n=0 va0 pa0 flags0 dv dp x y

	while read -r va pa flags; do
		x=16#${va%:} y=16#$pa
		if [ $n -eq 1 ] && [ "$flags" = "$flags0" ]; then
			dv=$((x - va0)) dp=$((y - pa0))
		fi
		if [ $n -gt 0 ] && [ "$flags" = "$flags0" ] &&
		   [ $((x)) -eq $((va0 + n * dv)) ] &&
		   [ $((y)) -eq $((pa0 + n * dp)) ]; then
			n=$((n + 1))
			continue
		fi
		[ $n -eq 0 ] || printf '%016x %016x %s x%d %x %x\n' "$va0" "$pa0" "$flags0" $n "$dv" "$dp"
		va0=$((x)) pa0=$((y)) flags0=$flags n=1 dv=0 dp=0
	done
	[ $n -eq 0 ] || printf '%016x %016x %s x%d %x %x\n' "$va0" "$pa0" "$flags0" $n "$dv" "$dp"
}

unpack_tlb() {
	local va pa flags n dv dp i

	while read -r va pa flags n dv dp; do
		for ((i = 0; i < ${n#x}; i++)); do
			printf '%016x: %016x %s\n' $((16#$va + i * 16#$dv)) $((16#$pa + i * 16#$dp)) "$flags"
		done
	done
}

pack_mem() {
	local range start size rights n=0 s0 size0 rights0 step x

	while read -r range size rights; do
		start=${range%-*} x=16#$start
		if [ $n -eq 1 ] && [ "$size $rights" = "$size0 $rights0" ]; then
			step=$((x - s0))
		fi
		if [ $n -gt 0 ] && [ "$size $rights" = "$size0 $rights0" ] &&
		   [ $((x)) -eq $((s0 + n * step)) ]; then
			n=$((n + 1))
			continue
		fi
		[ $n -eq 0 ] || printf '%016x %s %s x%d %x\n' "$s0" "$size0" "$rights0" $n "$step"
		s0=$((x)) size0=$size rights0=$rights n=1 step=0
	done
	[ $n -eq 0 ] || printf '%016x %s %s x%d %x\n' "$s0" "$size0" "$rights0" $n "$step"
}

unpack_mem() {
	local start size rights n step i at

	while read -r start size rights n step; do
		for ((i = 0; i < ${n#x}; i++)); do
			at=$((16#$start + i * 16#$step))
			printf '%016x-%016x %s %s\n' $at $((at + 16#$size)) "$size" "$rights"
		done
	done
}
