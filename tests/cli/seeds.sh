#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The example commands of the documents in docs/seeds.md give their answers as they are
# written there, at the same addresses, in a process of this test.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

child=''
# shellcheck disable=SC2317 # by the trap
end() {
	[ -z "$child" ] || { kill -KILL "$child"; wait "$child"; } 2>"$work/log/kill"
	rm -rf "$work"
}
trap end EXIT

why=''
[ "$(uname -m)" = x86_64 ] || why="the addresses and levels are those of x86_64"
command -v python3 >"$work/log/python" || why="no python3, which the child is written in"
if [ -z "$why" ]; then
	truncate -s 4096 counters
	mkfifo in out
	python3 "$cli/live-child.py" counters <in >out 2>"$work/log/child" &
	child=$!
	exec 8>in 9<out
	for area in '7f9a00000000 8192' '7f9a00400000 8192'; do
		echo "take $area" >&8
		read -r -t "$limit" -u 9 || why="the child did not start: $(tail -n 1 "$work/log/child")"
	done
	run atwalk live --pid "$child" 7f9a00000000
	said_status=1 said_err=1
	[ "$rc" -eq 0 ] || why="the running kernel cannot be read here"
fi

# frame ADDRESS: the physical address that the kernel reports, hexadecimal.
frame() {
	python3 - "$child" "$1" <<'END'
import struct, sys
with open(f'/proc/{sys.argv[1]}/pagemap', 'rb') as f:
    f.seek(int(sys.argv[2], 16) // 4096 * 8)
    print('0x%016x' % ((struct.unpack('<Q', f.read(8))[0] & (1 << 55) - 1) * 4096))
END
}

t "atwalk SOURCE VIRTUAL-ADDRESS, of a dump"
run atwalk x86.elf 0xffffffff92ffb000
out <<'END'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffff92ffb000     2M  0x0000000009bfb000  PMD    rw--    present   rw,accessed,dirty,large,global,wb,nx
END

t "the levels of a live process in a file: -p -o profile.txt"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk live 0x7f9a00000000 -p -o profile.txt
	no_out
	err_has "is mapped only by process $child (python3)"
	awk '{ print $1, $2, $4, $5, $8, $9 }' profile.txt >levels
	diff - levels >"$work/log/levels" <<'END' || bad "$(cat "$work/log/levels")"
ADDRESS SIZE LEVEL INDEX RIGHTS STATE
0x00007f9a00000000 512G PGD 255 rwxu table
0x00007f9a00000000 1G PUD 104 rwxu table
0x00007f9a00000000 2M PMD 0 rwxu table
0x00007f9a00000000 4K PTE 0 rw-u present
END
	for try in 1 2 3 4 5; do
		wanted=$(frame 7f9a00000000)
		[ "$(tail -n 1 profile.txt | awk '{ print $3 }')" != "$wanted" ] || break
		echo "note - the page moved, try $try"
		atwalk live 0x7f9a00000000 -p -q -o profile.txt
	done
	yes [ "$(tail -n 1 profile.txt | awk '{ print $3 }')" = "$wanted" ]
fi

t "its depth limit: -s"
if [ -n "$why" ]; then skip "$why"; else
	run atwalk live 0x7f9a00000000 -p -s 2 -q --format csv --columns level,state
	out <<'END'
level,state
PGD,table
PUD,table
END
fi

t "the configuration file of the document"
mkdir -p "$XDG_CONFIG_HOME/atwalk"
cat >"$XDG_CONFIG_HOME/atwalk/config.ini" <<'END'
[output]
format=plain
columns=address,physical,flags
filter=present

[logging]
level=info
END
run atwalk x86.elf 0xffffffff92ffb000 0xffffffff00000000
status 1
out <<'END'
ADDRESS             PHYSICAL            FLAGS
0xffffffff92ffb000  0x0000000009bfb000  rw,accessed,dirty,large,global,wb,nx
END
rm "$XDG_CONFIG_HOME/atwalk/config.ini"

finish
