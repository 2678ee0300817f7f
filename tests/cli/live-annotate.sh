#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# annotate of the running machine: addresses of a process that this test starts have the
# frames, states and areas that /proc has.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

why='' child=''
[ "$(getconf PAGESIZE)" = 4096 ] || why="pages are said to be of 4096 bytes here"
end_child() {
	exec 8>&- 9<&-
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	child=''
}
# shellcheck disable=SC2317 # by the trap
end() {
	end_child
	rm -rf "$work"
}
trap end EXIT

head -c 65536 /dev/urandom >mapped
mkfifo in out
python3 "$cli/annotate-child.py" mapped <in >out 2>"$work/log/child" &
child=$!
exec 8>in 9<out
echo pid,tid,addr,what >trace.csv
while read -r -t "$limit" -u 9 what at size; do
	[ "$what" != end ] || break
	for address in $((16#$at)) $((16#$at + 5 * 4096 + 7)) $((16#$at + size - 1)); do
		printf '%s,%s,0x%x,%s\n' "$child" "$child" "$address" "$what"
	done >>trace.csv
done
[ "$what" = end ] || why="the child did not start: $(tail -n 1 "$work/log/child")"
{
	sed -n "/^fff/!s/^\([0-9a-f]*\)-.*/$child,$child,0x\1,map/p" "/proc/$child/maps"
	echo "$child,$child,0x1000,none"
} >>trace.csv

# compare ROWS: with pagemap and maps of the child, which stands still.
cat >compare.py <<'END'
"""compare.py PID ROWS - every row has what /proc/PID has."""

import csv
import struct
import sys

pid, rows = sys.argv[1:]
maps = []
for line in open(f'/proc/{pid}/maps', encoding='utf-8'):
    fields = line.split(None, 5)
    start, end = (int(x, 16) for x in fields[0].split('-'))
    maps.append((start, end, fields[1], fields[5].strip() if len(fields) > 5 else ''))
seen = set()
with open(f'/proc/{pid}/pagemap', 'rb') as pagemap, open(rows, encoding='utf-8') as f:
    for row in csv.DictReader(f):
        at = int(row['address'], 16)
        pagemap.seek(at // 4096 * 8)
        word = struct.unpack('Q', pagemap.read(8))[0]
        present, pfn = word >> 63, word & ((1 << 55) - 1)
        area = [m for m in maps if m[0] <= at < m[1]]
        if area and area[0][3] in ('[vvar]', '[vvar_vclock]', '[vsyscall]'):
            continue
        assert (row['state'] == 'present') == bool(present), row
        if present and pfn:
            assert int(row['physical'], 16) == pfn * 4096 + at % 4096, (row, hex(pfn))
        else:
            assert not row['physical'], row
        assert row['area'] == (area[0][3] if area else ''), (row, area)
        assert (row['area_rights'] or None) == (area[0][2][:3] if area else None), (row, area)
        seen.add((row['state'], row['page']))
assert ('absent', '') in seen and ('present', '4096') in seen, seen
print(len(seen), 'kinds')
END

columns='address,physical,page,state,area_rights,area,pid,task'
for way in live:pagemap live; do
	t "$way: frames, states and areas of a process are those of /proc"
	if [ -n "$why" ]; then skip "$why"; continue; fi
	if ! atwalk info "$way" >"$work/log/way" 2>&1; then skip "$(head -n 1 "$work/log/way")"; continue; fi
	run atwalk annotate "$way" trace.csv --format csv --columns "$columns"
	yes python3 compare.py "$child" "$work/log/out"
	yes [ "$(grep -c ,present, "$work/log/out")" -ge 10 ]
	yes [ "$(sed 1d "$work/log/out" | cut -d , -f 7 | sort -u)" = "$child" ]
	run atwalk annotate "$way" trace.csv --summary
	yes grep -q "^$(($(wc -l <trace.csv) - 1)) events: " "$work/log/out"

	t "$way: large pages are those of smaps"
	if grep -q '^AnonHugePages: *[1-9]' "/proc/$child/smaps"; then
		run atwalk annotate "$way" trace.csv --format csv --columns page,address --filter 'page=2M'
		yes grep -q '^2097152,' "$work/log/out"
	else
		skip "the kernel gave the child no large page"
	fi
done

t "a thread's number stands for its process"
if [ -n "$why" ]; then skip "$why"; else
	printf 'tid,addr\n%s,0x1000\n' "$child" >thread.csv
	run atwalk annotate live:pagemap thread.csv --format csv --columns pid,state
	out <<<$'pid,state\n'"$child,absent"
fi

ways=()
for way in live:pagemap live; do
	[ -n "$why" ] || ! atwalk info "$way" >"$work/log/way" 2>&1 || ways+=("$way")
done

# feed PATTERN: writes more lines about the child to each, until all have such a row.
# shellcheck disable=SC2317 # by await
feed() {
	local way

	# Without a reader the pipe would fill.
	kill -0 "${pids[@]}" || return
	for way in "${ways[@]}"; do
		for _ in {1..200}; do echo "$ends,$address"; done >>"stream.$way"
	done
	for way in "${ways[@]}"; do grep -q "$1" "rows.$way" || return; done
}

t "a process that ends in the middle of the stream: rows until then, and not found behind"
if [ -n "$why" ]; then skip "$why"; else
	address=$(sed -n "s/^$child,$child,\(0x[0-9a-f]*\),touched$/\1/p" trace.csv | head -n 1)
	pids=() held=() ends=$child
	for way in "${ways[@]}"; do
		mkfifo "stream.$way"
		# The shell's own end keeps it open between lines.
		exec {hold}<>"stream.$way"
		held+=("$hold")
		"$built/atwalk" annotate "$way" "stream.$way" --format csv --columns pid,state \
			{hold}>&- >"rows.$way" 2>"said.$way" &
		pids+=($!)
		echo pid,addr >>"stream.$way"
	done
	await feed "^$ends,present$"
	end_child
	await feed "^$ends,$"
	for hold in "${held[@]}"; do exec {hold}>&-; done
	for i in "${!ways[@]}"; do
		rc=0
		wait "${pids[i]}" || rc=$?
		yes [ $rc -eq 4 ]
		yes grep -q ": process $ends has ended$" "said.${ways[i]}"
		yes grep -q "addresses are of processes that are not in it" "said.${ways[i]}"
		# No row is lost, and none is anything else.
		yes [ "$(sed 1d "rows.${ways[i]}" | sort -u)" = "$ends,"$'\n'"$ends,present" ]
		yes [ "$(sed 1d "rows.${ways[i]}" | uniq | wc -l)" = 2 ]
	done
fi

t "addresses of a process that has ended"
if [ -n "$why" ]; then skip "$why"; else
	end_child
	run atwalk annotate live:pagemap trace.csv --format csv --columns state --group state
	status 4
	err_has "addresses are of processes that are not in it"
fi

t "a process that may not be read: unreadable"
as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
if [ "$(id -u)" -ne 0 ] || ! "${as[@]}" true 2>"$work/log/setpriv"; then
	skip "needs root and setpriv, to drop privileges"
else
	cp "$O/atwalk" ./atwalk-copy
	printf 'pid,addr\n%s,0x1000\n' $$ >denied.csv
	chmod 755 "$work" "$work/cwd" ./atwalk-copy
	chmod 644 denied.csv
	run "${as[@]}" ./atwalk-copy annotate live:pagemap denied.csv --format csv --columns pid,state
	status 4
	err_has "1 address is of processes that may not be read"
	out <<<$'pid,state\n'"$$,unreadable"
	run "${as[@]}" ./atwalk-copy annotate live:pagemap denied.csv --allow-unreadable --format csv --columns state
	err_has "process $$"
	out <<<$'state\nunreadable'
fi

finish
