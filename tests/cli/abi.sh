#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The ABI of libatwalk is that of the last release, and programs that were compiled with
# older and newer headers work.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

abi=$data/abi/0.2.txt
cc=$(cut -d' ' -f1 "$built/flags")

# After a release only additions are allowed, and structs may grow at their end.
# REGENERATE=1 rewrites the list.
t "symbols, constants and structs are those of 0.2"
command -v python3 >/dev/null || skip "there is no python3"
[ "$(getconf LONG_BIT)" = 64 ] || skip "the list is that of 64-bit machines"
CC=$cc run "$top/tools/list-abi"
[ -z "${REGENERATE:-}" ] || cp "$work/log/out" "$abi"
compare "$work/log/out" "$abi" "the ABI"

t "options begin with their size and have no padding"
awk '
	function done() { if (name && (first != "size" || sum != size)) print name }
	/^(struct|union|constant|function)/ { done(); name = "" }
	/^struct/ && ($2 ~ /_opts$/ || $2 == "atw_subject") { name = $2; size = $4; sum = 0; first = "" }
	/^\t/ && name { sum += $5; first = first ? first : $1 }
	END { done() }' "$abi" >wrong
same wrong /dev/null
yes [ "$(grep -cE '^struct (atw_[a-z]*_opts|atw_subject) ' "$abi")" -ge 9 ]

cat >program.c <<'END'
#include <stdio.h>
#include <string.h>
#include <atwalk/atwalk.h>

int main(int argc, char **argv)
{
	struct atw_open_opts opts = { .size = sizeof(opts) };
	struct atw_err err = { 0 };
	struct atw_target *t;

	if (argc > 2)
		memset((char *)&opts + sizeof(opts) - 8, 1, 8);
	if (atw_target_open(argv[1], &opts, &t, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	printf("%zu %s\n", sizeof(opts), atw_target_get_info(t)->paging);
	atw_target_close(t);
	return 0;
}
END

# Builds program.c with struct atw_open_opts edited by sed(1).
build() {
	rm -rf headers
	mkdir headers
	cp -r "$top/include/atwalk" headers
	sed -i "/^struct atw_open_opts {/,/^}/{$1}" headers/atwalk/target.h
	"$cc" -std=c11 -Wall -Werror -Iheaders -o program program.c "$built/libatwalk.so"
}

export LD_LIBRARY_PATH=$built
why=
grep -qE -- '-fsanitize|--coverage' "$built/flags" && why="the library is instrumented"
[ -z "${WRAP:-}" ] || why="the programs are run without WRAP"

t "a program with older, shorter options"
[ -z "$why" ] || skip "$why"
run build '/paging_ext/,/layout/d'
run ./program x86.elf
out <<<"32 x86_64-4"

t "a program with newer, longer options: refused only if it sets an unknown member"
[ -z "$why" ] || skip "$why"
run build 's/const char \*layout;/&\n\tuint64_t more;/'
run ./program x86.elf
out <<<"80 x86_64-4"
run ./program x86.elf use
status 3
err <<<"options: byte 72 is set, which libatwalk $(sed -n 's/^.define ATWALK_VERSION "\(.*\)"/\1/p' "$top/lib/base/version.h") does not know"

finish
