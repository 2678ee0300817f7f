#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# search finds every place of a pattern in RAM and in address spaces, over borders of pages
# as well, and says what it could not search.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

python3 "$cli/content.py" ram.bin || exit
tables="--root 1000 --paging x86_64-4"

t "text in all RAM, without any kernel"
run atwalk search --text hello raw:ram.bin@0
out <<'EOF'
PHYSICAL            BYTES                                            TEXT
0x0000000000006ffb  68 65 6c 6c 6f 70 72 6f 74 65 63 74 65 64 20 73  helloprotected s

1 match in 32K
EOF

t "text over the border of pages that are neighbours in the address space alone"
# shellcheck disable=SC2086 # options
run atwalk search $tables --text 'hello World' --format csv --columns address,physical,text raw:ram.bin@0 400000-407000
status 4
err_has "4K of memory cannot be read from it"
out <<'EOF'
address,physical,text
0x0000000000400ffb,0x0000000000006ffb,hello World.....
EOF

t "and not where they are neighbours in RAM alone"
run atwalk search --text 'hello World' --format csv --columns physical raw:ram.bin@0
status 1
out <<'EOF'
physical
EOF

t "a page that is mapped twice is found twice"
# shellcheck disable=SC2086
run atwalk search $tables --text hello --format csv --columns address raw:ram.bin@0 400000-407000
status 4
err_has "cannot be read"
out <<'EOF'
address
0x0000000000400ffb
0x0000000000406ffb
EOF

t "bytes with wildcards, letters in either case, several patterns, in order of places"
run atwalk search --bytes '68 65 6c6c ?f' --text WORLD --ignore-case --format csv --columns physical,pattern raw:ram.bin@0
out <<'EOF'
physical,pattern
0x0000000000005001,WORLD
0x0000000000006ffb,68 65 6c6c ?f
EOF

t "words: a value, some of its bits, and only where they are aligned"
run atwalk search --word ffff800050000100 --format csv --columns physical raw:ram.bin@0
out <<'EOF'
physical
0x0000000000005100
EOF
run atwalk search --word 0/ffffffffffff0007 --format csv --columns physical raw:ram.bin@0 --physical 5ff8+16
status 1
out <<'EOF'
physical
EOF
run atwalk search --word 8000 --width 2 --format csv --columns physical --physical raw:ram.bin@0 5ff4+6
out <<'EOF'
physical
0x0000000000005ff4
EOF

t "pointers to a range of addresses"
run atwalk search --pointers-to ffff800060000800+9 --format csv --columns physical,bytes raw:ram.bin@0
out <<'EOF'
physical,bytes
0x0000000000006800,00 08 00 60 00 80 ff ff 08 08 00 60 00 80 ff ff
0x0000000000006808,08 08 00 60 00 80 ff ff 10 08 00 60 00 80 ff ff
EOF

t "no pattern, bad patterns"
run atwalk search raw:ram.bin@0
status 2
err_has "a pattern is missing"
run atwalk search --bytes 7f4 raw:ram.bin@0
status 2
err_has "the number of digits is odd"
run atwalk search --bytes '????' raw:ram.bin@0
status 2
err_has "there is no digit"
run atwalk search --word 12345 --width 2 raw:ram.bin@0
status 2
err_has "does not fit into 2 bytes"
run atwalk search --word 3/1 raw:ram.bin@0
status 2
err_has "bits that the mask"
run atwalk search --text '' raw:ram.bin@0
status 2
err_has "empty"
run atwalk search --width 3 --word 1 raw:ram.bin@0
status 2
err_has "--width is 1, 2, 4 or 8"

t "all memory of a running machine is refused"
run atwalk search --text x live:bpf
case $(cat "$work/log/err") in
*"refusing to search all memory of a running machine"*)
	status 2
	err_has "name ranges of addresses"
	;;
*) said_status=0 said_err=0 skip "there is no live:bpf here" ;;
esac

finish
