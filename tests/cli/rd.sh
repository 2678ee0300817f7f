#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rd shows exactly the bytes that lie at virtual and physical addresses, and the reason
# where there are none.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

python3 "$cli/content.py" ram.bin || exit
tables="--root 1000 --paging x86_64-4"

t "bytes by physical address, without any kernel"
run atwalk rd --physical raw:ram.bin@0 6ff0+16
out <<'EOF'
ADDRESS             BYTES                                            TEXT              STATE
0x0000000000006ff0  f0 0f 00 60 00 80 ff ff f8 0f 00 68 65 6c 6c 6f  ...`.......hello  present
EOF

t "by virtual address, over two pages that are no neighbours in RAM"
# shellcheck disable=SC2086 # options
run atwalk rd $tables --format csv --columns address,physical,size,bytes,text raw:ram.bin@0 400ffb+11
out <<'EOF'
address,physical,size,bytes,text
0x0000000000400ffb,0x0000000000006ffb,11,68 65 6c 6c 6f 20 57 6f 72 6c 64,hello World
EOF

t "words, little-endian, and a length"
# shellcheck disable=SC2086
run atwalk rd $tables --as words --length 16 --format csv raw:ram.bin@0 401008
out <<'EOF'
address,value,symbol,text,state
0x0000000000401008,0xffff800050000008,,...P....,present
0x0000000000401010,0xffff800050000010,,...P....,present
EOF
# shellcheck disable=SC2086
run atwalk rd $tables --as words32 --length 8 --format csv --columns value raw:ram.bin@0 401008
out <<'EOF'
value
0x0000000050000008
0x00000000ffff8000
EOF
# shellcheck disable=SC2086
run atwalk rd $tables --as words16 --length 3 --format csv --columns address,value,text raw:ram.bin@0 401008
out <<'EOF'
address,value,text
0x0000000000401008,0x0000000000000008,..
0x000000000040100a,,.
EOF

t "the rest of a range that is no whole word has no value"
# shellcheck disable=SC2086
run atwalk rd $tables --as words --format csv --columns address,value,size raw:ram.bin@0 401008+12
out <<'EOF'
address,value,size
0x0000000000401008,0xffff800050000008,8
0x0000000000401010,,4
EOF

t "a string: to its NUL, also over the border of pages"
run atwalk rd --physical --as string --format csv --columns address,size,text raw:ram.bin@0 7000
out <<'EOF'
address,size,text
0x0000000000007000,16,protected string
EOF
# shellcheck disable=SC2086
run atwalk rd $tables --as string --format csv --columns address,physical,size raw:ram.bin@0 400ffb
out <<'EOF'
address,physical,size
0x0000000000400ffb,0x0000000000006ffb,11
EOF

t "a page without access (PROT_NONE) is still memory"
# shellcheck disable=SC2086
run atwalk rd $tables --as string --format csv --columns address,physical,text raw:ram.bin@0 405000
out <<'EOF'
address,physical,text
0x0000000000405000,0x0000000000007000,protected string
EOF

t "absent and lost pages are rows with their state; status 4"
# shellcheck disable=SC2086
run atwalk rd $tables --format csv --columns address,size,state raw:ram.bin@0 402000-405000
status 4
err <<'EOF'
atwalk: raw:ram.bin@0: 4K of memory cannot be read from it
EOF
out <<'EOF'
address,size,state
0x0000000000402000,4096,absent
0x0000000000403000,4096,lost
0x0000000000404000,4096,absent
EOF

t "nothing but absent: status 1"
# shellcheck disable=SC2086
run atwalk rd $tables --format csv --columns address,size,state raw:ram.bin@0 402000+32
status 1
out <<'EOF'
address,size,state
0x0000000000402000,32,absent
EOF

t "--raw: the very bytes, in a file of its owner's alone"
run atwalk rd --raw --physical raw:ram.bin@0 0-8000 -o copy.bin
same copy.bin ram.bin
yes test "$(stat -c %a copy.bin)" = 600

t "--raw: a gap ends it, and no file is left"
# shellcheck disable=SC2086
run atwalk rd --raw $tables raw:ram.bin@0 401000-403000 -o gap.bin
status 3
err <<'EOF'
atwalk: raw:ram.bin@0: cannot write the bytes at 0x402000: absent
EOF
yes test ! -e gap.bin

t "wrong usage"
run atwalk rd --length 0 raw:ram.bin@0 0
status 2
err_has "--length: '0' is no number of bytes"
run atwalk rd --raw --as words raw:ram.bin@0 0
status 2
err_has "--raw cannot be used with --as"
run atwalk rd raw:ram.bin@0
status 2
err_has "ADDRESS is missing"

t "a capture has no memory"
run atwalk rd "$data/captures/server.cap" 0
status 3
err_has "is a capture"

t "the dump of a guest: a symbol, its string, and a pointer with its symbol"
need_tasks
run atwalk rd --as words --length 8 --format csv --columns value,state tasks.kdump init_task
status 4
err_has "cannot be read"

t "a string where nothing is mapped"
# shellcheck disable=SC2086
run atwalk rd $tables --as string --format csv --columns address,text,state raw:ram.bin@0 ffffffffffffffff
status 1
out <<'EOF'
address,text,state
0xffffffffffffffff,,absent
EOF

finish
