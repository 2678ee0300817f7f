#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every query of docs/queries.md on the running kernel: rows about processes that this test
# starts are those of /proc, and others those of the listings.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

writer='' runner=''
# shellcheck disable=SC2317 # by the trap
end() {
	exec 8>&-
	[ -z "$writer$runner" ] || wait
	rm -rf "$work"
}
trap end EXIT

why=''
if ! grep -q '^  found:.* sqlite3' "$built/found.txt"; then why="this build has no SQL"
elif ! command -v python3 >/dev/null; then why="there is no python3"
elif [ "$(getconf PAGESIZE)" != 4096 ]; then why="pages are said to be of 4096 bytes here"
elif ! command -v ldd >/dev/null || ! ldd "$built/tests/tools/still" >libraries 2>&1; then
	why="the libraries of a program cannot be listed"
fi

# Programs and libraries of their own: no other process has pages of them.
start() {                         # writer|runner [MEMORY]: sets $pid, $other and $fd
	own/loader --library-path own own/still "$@" <in >out 2>"$work/log/still" 8>&- &
	[ -n "$writer" ] || exec 8>in
	read -r -t "$limit" pid other fd <out || why="it did not start: $(tail -n 1 "$work/log/still")"
}
mkdir own
if [ -z "$why" ]; then
	cp "$built/tests/tools/still" own/
	grep -o '/[^ ]*' libraries | while read -r path; do cp -L "$path" own/; done
	loader=$(sed -n 's|^[[:space:]]*/\([^ ]*/\)*\([^ /]*\) (.*|\2|p' libraries | head -n 1)
	[ -n "$loader" ] && mv "own/$loader" own/loader || why="the program has no loader"
fi
if [ -z "$why" ]; then
	mkfifo in out
	start writer
	writer=$pid child=$other
	[ -n "$why" ] || start runner "/proc/$writer/fd/$fd"
	runner=$pid
fi

awk '/```sql/ { n++; on = 1; next } /```/ { on = 0 } on { print > ("query" n ".sql") }' \
	"$top/docs/queries.md"

# Runs queries about these processes only; the writer takes the place of process 1.
ask() {                           # SOURCE NUMBER...
	local source=$1 n of with=''

	shift
	for of in tasks vmas pages report_use; do
		with+="${with:+, }$of AS (SELECT * FROM main.$of WHERE pid IN ($writer, $runner"
		# Reports have one process for each address space.
		[ $of = report_use ] || with+=", $child"
		with+="))"
	done
	for n; do
		sed "s/pid = 1\b/pid = $writer/; s/pid <> 1\b/pid <> $writer/" "query$n.sql" >text
		run atwalk sql -q "$source" --format json "WITH $with $(cat text)"
		cp "$work/log/out" "$n.json"
	done
}

processes="1 2 3 5 6 7 8 9 10 11 12 13 14 16"
t "queries about processes have the rows of /proc: through page tables"
no_tables=''
atwalk info -q live:bpf >/dev/null 2>denied || no_tables=$(head -n 1 denied)
if [ -n "$why$no_tables" ]; then skip "${why:-$no_tables}"
else
	# shellcheck disable=SC2086 # words
	ask live $processes
	run atwalk sql -q --allow-unreadable live --format json \
		"$(sed "s/pid = 1\b/pid = $writer/" query18.sql)"
	cp "$work/log/out" 18.json
	run atwalk sql -q live --format json <query20.sql
	cp "$work/log/out" 20.json
	run atwalk info -q live --format json --columns fact,value
	cp "$work/log/out" facts.json
	run python3 "$cli/queries_live.py" . "$writer" "$runner" "$child" tables
	answered=$(cut -d' ' -f1 "$work/log/out" | paste -sd' ')
	yes [ "$answered" = "$processes 18 20" ]
	yes grep -q '^11 [1-9]' "$work/log/out"
fi

t "and through /proc alone"
if [ -n "$why" ]; then skip "$why"
elif ! atwalk pages live:pagemap --pid $$ --format csv --columns physical 2>&1 | grep -q 0x; then
	skip "/proc/PID/pagemap gives no frame numbers here"
else
	# shellcheck disable=SC2086 # words
	ask live:pagemap $processes
	run python3 "$cli/queries_live.py" . "$writer" "$runner" "$child"
	yes [ "$(cut -d' ' -f1 "$work/log/out" | paste -sd' ')" = "$processes" ]
fi

t "queries about the kernel have the rows of the listings"
if [ -n "$why$no_tables" ]; then skip "${why:-$no_tables}"
else
	# All of RAM, each frame once, at one moment.
	run atwalk sql -q live --format csv "SELECT (SELECT sum(size) FROM ($(tr -d ';' <query4.sql)))
		- (SELECT size FROM report_machine WHERE use = 'RAM' AND node IS NULL) AS more"
	all_frames
	out <<<$'more\n0'
	run atwalk sql -q live --format csv <query15.sql
	cp "$work/log/out" got
	run atwalk map -q live --columns address,end,size,area,rights --format csv \
		--filter 'writable and executable'
	said_status=1
	same "$work/log/out" got
	run atwalk sql -q live --format csv <query17.sql
	cp "$work/log/out" got
	run atwalk walk -q --path live _stext --columns level,entry_at,entry,rights --format csv
	same "$work/log/out" got
	# The kernel's text stays, and so do mappings of RAM that are not split meanwhile.
	for at in before after; do
		run atwalk map -q live --columns area,page,size --format csv --filter 'state=present'
		sed 1d "$work/log/out" | awk -F, '{ n[$1 "," $2] += $3 } END { for (of in n) print of "," n[of] }' |
			sort >$at
		[ $at = after ] || run atwalk sql -q live --format csv <query19.sql
		[ $at = after ] || sed 1d "$work/log/out" | sort >got
	done
	comm -12 before after >stayed
	yes grep -q '^kernel text,' stayed
	yes [ "$(comm -12 stayed got | wc -l)" -ge 2 ]
	# A row that differs is one that did not stay.
	cut -d, -f1,2 stayed | grep -Fxf - <(cut -d, -f1,2 got) >both
	yes [ "$(comm -12 stayed got | wc -l)" = "$(wc -l <both)" ]
fi

finish
