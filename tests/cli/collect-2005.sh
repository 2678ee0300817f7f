#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect --form 2005 writes the paper's own form. What fits reads back with the same
# figures; what does not is refused, by the name of its field.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

captures=$data/captures

# The paper's figures have a blank behind short names.
tidy() { sed 's/^T: \([^ ,]*\) ,/T: \1,/' "$1"; }

t "the paper's captures come out as they are"
for file in paper-figure1 captures/figure2 captures/figure4 captures/figure5 captures/figure9; do
	run atwalk collect -q --form 2005 "$data/$file.txt"
	said_status=1 said_err=1
	cp "$work/log/out" got
	tidy "$data/$file.txt" >want
	yes same want got
done
run atwalk collect --form 2005 "$data/paper-figure1.txt"
status 4
err <<END
atwalk: $data/paper-figure1.txt: 1 read error
END

t "by way of today's form, too, packed or not"
for file in paper-figure1 captures/figure2 captures/figure4; do
	atwalk collect -q -o today.cap "$data/$file.txt"
	run atwalk collect -q --form 2005 --zstd -o packed today.cap
	said_status=1 said_err=1
	run atwalk collect -q --form 2005 packed
	said_status=1 said_err=1
	cp "$work/log/out" got
	tidy "$data/$file.txt" >want
	yes same want got
done

# Two processes of today, at addresses of 32 bits: program headers, a thread, a library
# that was written to, code made at run time, shared memory, a file, stacks, zero pages.
t "a capture of today: the same figures"
run atwalk collect --form 2005 -o narrow.txt "$captures/narrow.cap"
no_out
# The program's own .bss is heap there, as the paper has it.
while read -r report columns; do
	run atwalk report "$report" --format csv --columns "$columns" "$captures/narrow.cap"
	sed 's/,bss$/,heap/' "$work/log/out" >want
	run atwalk report "$report" --format csv --columns "$columns" narrow.txt
	sed 's/,bss$/,heap/' "$work/log/out" >got
	yes [ "$(wc -l <got)" -gt 1 ]
	yes same want got
done <<'END'
basic pid,name,rw_count,rx_count,total,stack,data,text,heap,lib_bss,lib_data,lib_text,single,multi,other
areas pid,task,address,end,vsize,resident,single,shared,flags,name,class
count user_space_pages,mappings,processes
totals name,used,virtual_text,virtual_data,text,data
alerts pid,task,name,address,flags,class,single,shared
END
for report in basic areas alerts count; do
	run atwalk report "$report" --paper "$captures/narrow.cap"
	# The zero page belongs to no process.
	sed '/^\[/y/0/./; s/, flags = .*//' "$work/log/out" >want
	run atwalk report "$report" --paper narrow.txt
	sed 's/, flags = .*//' "$work/log/out" >got
	yes same want got
done
run atwalk report pages --paper "$captures/narrow.cap"
cut -f 1,2,4- "$work/log/out" >want
run atwalk report pages --paper narrow.txt
cut -f 1,2,4- "$work/log/out" >got
yes same want got
run atwalk collect --form 2005 narrow.txt
yes same "$work/log/out" narrow.txt

# ---- what does not fit ----

front=$'H: atwalk-capture, 1\nH: page, 4096\n'

# MESSAGE T V M...: one area at most is wrong.
refused() {
	local message=$1
	shift
	{
		printf '%s' "$front"
		printf '%s\n' "$@"
		printf 'E: %d, 1, 1, 0\n' $(($# + 2))
	} >odd.cap
	run atwalk collect --form 2005 -o odd.txt odd.cap
	status 3
	no_out
	err <<END
atwalk: odd.cap: cannot write the form of 2005: $message
END
	yes [ ! -e odd.txt ]
}

task='T: a, 7, 00000001, 0, 1, 2, 3, 4, 5, 6'
area='V: 00010000, 00011FFF, 00002000, 00001000, -, 00000073, NULL'
page='M: 00010000=00100052, 1, 0000006C |'

t "what does not fit is refused by its name"
refused 'process 7 (a): T: mm needs more than 32 bits' "${task/00000001/FFFF888000000000}" "$area" "$page"
refused 'process 7 (a): T: minor needs more than 32 bits' "${task/0, 1/0, 4294967296}" "$area" "$page"
refused 'process 7 (a): T: minor is unknown, and must have a value' "${task/0, 1, 2, 3, 4/0, -, -, -, -}" "$area" "$page"
refused 'process 7 (a): area 7F0000010000: V: start needs more than 32 bits' "$task" 'V: 7F0000010000, 7F0000011FFF, 00002000, 0, -, 00000073, NULL' 'P: 0, 0, 0, 0, 0'
refused 'process 7 (a): area FFFFF000: V: last needs more than 32 bits' "$task" 'V: FFFFF000, 100000FFF, 00002000, 0, -, 00000073, NULL' 'P: 0, 0, 0, 0, 0'
refused 'process 7 (a): area 00010000: M: entry needs more than 32 bits' "$task" "$area" "${page/00100052/100100052}"
refused 'process 7 (a): area 00010000: M: flags needs more than 32 bits' "$task" "$area" "${page/0000006C/100000000}"
refused 'process 7 (a): area 00010000: M: count is unknown, and must have a value' "$task" "$area" "${page/ 1,/ -,}"
refused 'process 7 (a): area 00010000: M: flags is unknown, and must have a value' "$task" "$area" "${page/0000006C/-}"
refused 'process 7 (a): area 00010000: M: entry is unknown, and must have a value' "$task" "$area" "${page/ |/, noframe=1 |}"
refused 'process 7 (a): area 00010000: M: swap is no field there, and 1 pages are on it' "$task" "$area" "$page 00011000=00000000, -, -, swap=0:1 |"
refused 'process 7 (a): area 00010000: V: name has characters that would be read back as others' "$task" "${area/NULL/\/a\\012b}" "$page"

t "and so is what would be read as memory for something else"
refused 'process 7 (a): area 00010000: V: flags cannot express its class: it is jit and would be read as anon (..rwxB)' "$task" "${area/73/77}" "$page"

t "what only looks like a device is memory of the process, now and when it is read back"
printf '%s%s\n%s\n%s\nE: 5, 1, 1, 0\n' "$front" "$task" \
	'V: 00010000, 00011FFF, 00002000, 00001000, -, 00000075, /dmabuf:a.so, offset=0, dev=FE:3, inode=11' "$page" >like.cap
run atwalk collect --form 2005 -o like.txt like.cap
no_out
run cat like.txt
out <<'END'
T: a, 7, 00000001, 0, 1, 2, 3, 4, 5, 6
V: 00010000, 00011FFF, 00002000, 00001000, 00000412, 00000075, /dmabuf:a.so
P: 1, 0, 0, 1, 0
M: 00010000=00100052, 1, 0000006C |
END
run atwalk collect --form 2005 like.txt
yes same "$work/log/out" like.txt

t "what is not known at all"
printf '%s%s\n%s\nL: 7, pages, gone\nE: 5, 1, 1, 1\n' "$front" "$task" "$area" >lost.cap
run atwalk collect --form 2005 -o lost.txt lost.cap
status 3
err_has 'process 7 (a): area 00010000: V: resident is unknown, and must have a value'
yes [ ! -e lost.txt ]
printf 'H: atwalk-capture, 1\nH: page, 65536\n%s\nE: 3, 1, 0, 0\n' "$task" >large.cap
run atwalk collect --form 2005 large.cap
status 3
no_out
err <<'END'
atwalk: large.cap: cannot write the form of 2005: pages have 65536 bytes, and its own 4096
END

printf 'H: atwalk-capture, 1\nR: 0, FFFF, System RAM\nF: 00000000*16=kernel |\nE: 3, 0, 0, 0\n' >frames.cap
run atwalk collect --form 2005 -o frames.txt frames.cap
status 3
err_has 'cannot write the form of 2005: there is no task'
yes [ ! -e frames.txt ]

t "wrong usage"
run atwalk collect --form 2004 large.cap
status 2
err_has "--form"
run atwalk collect --form 2005 --raw large.cap
status 2
err_has "--raw cannot be used with --form 2005, which has no raw entries"
run atwalk collect --form 2005 --frames large.cap
status 2
err_has "--frames cannot be used with --form 2005, which has no F: lines"
run atwalk collect --form today "$captures/narrow.cap"
yes same "$work/log/out" "$captures/narrow.cap"

finish
