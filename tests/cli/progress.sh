#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Progress of searches for the kernel: shown on a terminal or with --progress, on
# standard error alone, and never with -q.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

head -c 1048576 /dev/zero >mem
none="atwalk: raw:mem: no page-table root was found: no VMCOREINFO note, no VMCOREINFO in memory that leads to a kernel, and no CPU's CR3
        specify it with --root PHYS --paging MODE"

# on_terminal COMMAND...: runs it with standard error on a terminal, and prints what it
# wrote there, its control characters as cat -v shows them.
on_terminal() {
	python3 -c '
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=theirs, stdout=subprocess.DEVNULL)
os.close(theirs)
said = b""
try:
    while True:
        got = os.read(ours, 4096)
        if not got:
            break
        said += got
except OSError:
    pass
sys.stdout.buffer.write(said)
sys.exit(child.wait())' "$@" | cat -v
	return "${PIPESTATUS[0]}"
}

t "no terminal, no option: nothing"
run atwalk find raw:mem 0
status 3
no_out
err <<<"$none"

t "--progress: a line, though it is no terminal"
run atwalk find raw:mem 0 --progress
status 3
no_out
err <<END
atwalk: raw:mem: search for the kernel: 0 %
$none
END

t "-q goes over it"
run atwalk find raw:mem 0 --progress -q
status 3
no_out
err <<<"$none"

t "on a terminal the line is erased before anything else is written"
run on_terminal "$O/atwalk" find raw:mem 0 --progress
status 3
out <<END
^Matwalk: raw:mem: search for the kernel: 0 %^[[K^M^[[K${none//$'\n'/$'^M\n'}^M
END

t "on a terminal a short search shows nothing"
if [ -n "${WRAP:-}" ]; then skip "it is not short under ${WRAP%% *}"; else
	run on_terminal "$O/atwalk" find raw:mem 0
	status 3
	out <<END
${none//$'\n'/$'^M\n'}^M
END
fi

t "no search, no progress"
run atwalk x86.elf ffffffff91400000 --progress
out <<'END'
ADDRESS              SIZE  PHYSICAL            LEVEL  RIGHTS  STATE     FLAGS
0xffffffff91400000     2M  0x0000000008000000  PMD    r-x-    present   accessed,dirty,large,global,wb
END

finish
