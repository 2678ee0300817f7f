#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --format pprof of report stacks: samples as a reader written from the specification sees
# them, and pprof itself where it is installed.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# The sums of report use, which has hugetlb apart. Each page of it in these sources belongs to
# one process.
use() {                           # SOURCE
	atwalk report use -q "$1" --format csv --columns pss,uss,rss,swap,hugetlb 2>/dev/null |
		awk -F, 'NR > 1 { p += $1 + $5; u += $2 + $5; r += $3 + $5; s += $4 } END { printf "%d %d %d %d\n", p, u, r, s }'
}

t "a capture: frames, values, labels, mappings with build IDs"
cat >one.cap <<'END'
H: atwalk-capture, 1
H: page, 4096
U: FE:1, 9, /usr/lib/libz.so.1, build=BB02
T: web; a, 5, 10, 0, 0, 0, 0, 0, 0, 0, tgid=5, cgroup=/system.slice/web.service
V: 00010000, 00013FFF, 00004000, 00002000, -, 00100073, [heap]
M: 00010000*2=000FE4D2, 1, 00005868, refs=1 | 00012000*2=00000000, -, -, swap=0:5 |
V: 7F0000000000, 7F0000000FFF, 00001000, 00001000, -, 00000075, /usr/lib/libz.so.1, dev=FE:1, inode=9, offset=0
M: 7F0000000000=00100612, 2, 0000006C, refs=2 |
T: idle, 6, 20, 0, 0, 0, 0, 0, 0, 0, tgid=6
V: 00020000, 00020FFF, 00001000, 00000000, -, 00100073, [heap]
M: 00020000=00000000, -, -, swap=0:9 |
E: 11, 2, 3, 0
END
run atwalk report stacks one.cap --format pprof -o one.pprof
run python3 "$cli/pprof.py" one.pprof
out <<'END'
default pss
pss=8192 uss=8192 rss=8192 swap=8192 | web.service > web: a > heap | pid=5 unit=web.service class=heap
pss=2048 uss=0 rss=4096 swap=0 | web.service > web: a > libz.so.1 (/usr/lib/libz.so.1 bb02) > text (/usr/lib/libz.so.1 bb02) | pid=5 unit=web.service class=text
pss=0 uss=0 rss=0 swap=4096 | idle > heap | pid=6 class=heap
END
run atwalk report stacks one.cap
sed -i "s/   */ /" "$work/log/out"
out <<'END'
STACK PSS
web: a;heap 8192
web: a;libz.so.1;text 2048
END

t "n/a is not 0: such a type is left out, and the profile says so"
sed 's/, 2, 0000006C, refs=2/, -, -/' one.cap >na.cap
run atwalk report stacks na.cap --format pprof -o na.pprof
run python3 "$cli/pprof.py" na.pprof
yes [ "$(sed -n 1,3p "$work/log/out")" = "default rss
comment pss is not known of every stack, and so left out
comment uss is not known of every stack, and so left out" ]
yes grep -q '^rss=4096 swap=0 | ' "$work/log/out"

t "a dump: the totals are those of report use"
run atwalk report stacks tasks.kdump --format pprof -o dump.pprof
run python3 "$cli/pprof.py" dump.pprof
sed 1d "$work/log/out" | tr '=|' '  ' |
	awk '{ p += $2; u += $4; r += $6; s += $8 } END { print NR, p, u, r, s }' >got
read -r n p u r s <got
read -r p2 u2 r2 s2 <<<"$(use tasks.kdump)"
yes [ "$n" -gt 50 ]
# A share is rounded to a byte.
yes [ $((p > p2 ? p - p2 : p2 - p)) -le "$n" ]
yes [ "$u $r $s" = "$u2 $r2 $s2" ]

t "columns that are chosen are labels"
run atwalk report stacks one.cap --format pprof --columns stack,swap,pages -o own.pprof
run python3 "$cli/pprof.py" own.pprof
yes grep -qx 'swap=8192 | web: a > heap | pages=2' "$work/log/out"

t "refused: other tables, a terminal"
run atwalk report use one.cap --format pprof
status 2
err_has "--format: a profile for pprof needs a column 'stack', as report stacks has"
run script -qec "$O/atwalk report stacks one.cap --format pprof" /dev/null
status 2
yes grep -q 'refusing to write pprof to a terminal' "$work/log/out"
run atwalk walk x86.elf --format pprof _stext
status 2
err_has "'pprof' is not one of"

t "pprof reads it, and compares two"
pprof=$(command -v pprof || find /usr/lib/go-*/pkg/tool -name pprof 2>/dev/null | grep -m 1 . ||
	debian_have "$(apt-cache depends golang-go 2>/dev/null |
		sed -nE 's/.*Depends: (golang-[0-9.]+-go)$/\1/p')" 'pprof')
if [ -z "$pprof" ]; then skip "there is no pprof here (Debian: golang-go)"; else
	export PPROF_TMPDIR=$work
	run "$pprof" -unit=bytes -top one.pprof
	said_err=1
	yes grep -q '^Type: pss' "$work/log/out"
	yes grep -qE '^ +8192B 80.00%  *80.00%  *8192B 80.00%  heap$' "$work/log/out"
	run "$pprof" -unit=bytes -sample_index=swap -top one.pprof
	said_err=1
	yes grep -q 'of 12288B total' "$work/log/out"
	sed 's/00010000\*2=000FE4D2/00010000=000FE4D2/; s/, 00002000, -, 00100073/, 00001000, -, 00100073/' one.cap >less.cap
	run atwalk report stacks less.cap --format pprof -o less.pprof
	run "$pprof" -unit=bytes -top -diff_base less.pprof one.pprof
	said_err=1
	yes grep -qE '^ +4096B .* heap$' "$work/log/out"
fi

t "its totals are those of report use"
if [ -z "$pprof" ]; then skip "there is no pprof here (Debian: golang-go)"; else
	# A share of the dump's pages is rounded to a byte.
	for file in "one.cap one.pprof 0" "tasks.kdump dump.pprof $n"; do
		read -r from to off <<<"$file"
		read -r p2 u2 r2 s2 <<<"$(use "$from")"
		for pair in "pss $p2" "uss $u2" "rss $r2" "swap $s2"; do
			run "$pprof" -unit=bytes -sample_index="${pair% *}" -top "$to"
			said_err=1
			got=$(sed -nE 's/.* of ([0-9]+)B total$/\1/p' "$work/log/out")
			if [ "${pair% *}" = pss ]; then
				more=$((got - ${pair#* }))
				yes [ "${more#-}" -le "$off" ]
			else
				yes [ "$got" = "${pair#* }" ]
			fi
		done
	done
fi

finish
