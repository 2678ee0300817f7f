#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# atwalk kmap is atwalk-kmap: where it is looked for, and that help and hints are the same
# by both names.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"

commands='record ctl show report diff convert sql'

t "help by any of its names"
run atwalk kmap --help
cp "$work/log/out" help
for words in 'kmap -h' 'help kmap' 'help kmap nothing'; do
	# shellcheck disable=SC2086 # words
	run "$built/atwalk" $words
	same "$work/log/out" help
done
run "$built/atwalk-kmap" --help
same "$work/log/out" help
yes [ "$(sed -nE 's/^  ([a-z]+) .*/\1/p' help | tr '\n' ' ')" = "$commands " ]

for word in $commands; do
	t "help of $word"
	run atwalk kmap "$word" --help
	yes grep -q "^usage: atwalk kmap $word \[options\]" "$work/log/out"
	cp "$work/log/out" help
	run "$built/atwalk" help kmap "$word"
	same "$work/log/out" help
	run "$built/atwalk-kmap" "$word" --help
	same "$work/log/out" help
done

t "a command of its own, typed alone"
for word in record ctl show convert; do
	run atwalk "$word" x
	status 2
	err_has "atwalk kmap $word is the command of that name"
done

t "exit status and messages are those of atwalk"
for way in "$built/atwalk kmap" "$built/atwalk-kmap"; do
	run $way
	status 2
	err <<END
atwalk: kmap: COMMAND is missing: ${commands// /, }
        see: atwalk kmap --help
END
	run $way help
	status 2
	err <<END
atwalk: kmap: unknown command 'help'; known: ${commands// /, }
        see: atwalk kmap --help
END
	run $way show gone.kmap
	status 3
	err_is 'atwalk: gone.kmap: *'
	run $way --version
	out <<END
atwalk-kmap $(atwalk --version | cut -d ' ' -f 2)
END
	run $way --breakpoints x
	status 2
	err_has "unknown command '--breakpoints'"
done

t "the program is the one beside atwalk, by whatever name atwalk is called"
mkdir both && cp "$built/atwalk" both/ && ln -s both/atwalk link
# shellcheck disable=SC2016 # by the other shell
printf '#!/bin/sh\necho "$0" "$@"\nexit 4\n' >both/atwalk-kmap && chmod 755 both/atwalk-kmap
for way in both/atwalk ./link; do
	run $way kmap show 'a b' --help
	status 4
	out <<END
$work/cwd/both/atwalk-kmap show a b --help
END
done

t "a program that cannot be executed"
chmod 644 both/atwalk-kmap
run both/atwalk kmap show x
status 3
no_out
err <<END
atwalk: cannot run $work/cwd/both/atwalk-kmap: Permission denied
END

t "there is none"
rm both/atwalk-kmap
for words in 'kmap show x' 'kmap' 'help kmap' 'kmap --help'; do
	# shellcheck disable=SC2086 # words
	run both/atwalk $words
	status 3
	no_out
	err <<END
atwalk: cannot run 'kmap': there is no atwalk-kmap in $work/cwd/both
END
done

t "atwalk itself needs no libfuse"
if ! command -v readelf >"$work/log/readelf"; then skip "no readelf"; else
	run readelf -d "$built/atwalk"
	yes [ "$(grep -c fuse "$work/log/out")" = 0 ]
fi

finish
