#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The library as another program gets it: installed in folders of one's own choice, found by
# pkg-config, with no header but those that are installed. Every program of examples/ is
# built so and run.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

need_tasks
t "the library can be installed"
why=
command -v pkg-config >/dev/null || why="there is no pkg-config"
grep -qE -- '-fsanitize|--coverage' "$built/flags" && why="the library is instrumented"
[ -z "${WRAP:-}" ] || why="the programs are run without WRAP"
if [ -n "$why" ]; then skip "$why"; finish; fi

root=$work/root libdir=/opt/lib64 includedir=/opt/headers
cc=$(cut -d' ' -f1 "$built/flags")

# The example $1, built to ./$1.
build() {
	# shellcheck disable=SC2046 # words
	"$cc" -std=c11 -Wall -Wextra -Werror -pedantic -pthread -o "$1" "$top/examples/$1.c" \
		$(pkg-config --cflags --libs atwalk)
}

# The program that is built knows where plugins are, seen from its own folder.
plugins=$(cat "$built/plugins_folder")
# MAKEFLAGS has what `make test` was called with, and pipes that are not ours.
MAKEFLAGS='' run make -s -C "$top" O="$built" CC="$cc" DESTDIR="$root" PREFIX=/opt \
	LIBDIR=$libdir INCLUDEDIR=$includedir MANDIR=/opt/man LIBEXECDIR=/opt/helpers \
	PLUGINDIR="/opt/bin/$plugins" install
yes [ -x "$root/opt/bin/atwalk" ]
yes [ -e "$root/opt/man/man1/atwalk.1" ]
yes [ -e "$root/opt/man/man3/atw_target_open.3" ]
yes [ -e "$root$libdir/libatwalk.so.1" ]
yes [ "$(cd "$root$includedir/atwalk" && echo ./*)" = "$(cd "$top/include/atwalk" && echo ./*)" ]

t "every program has the completions of its own name"
collector=''
[ ! -x "$built/atwalk-collect" ] || collector=atwalk-collect
for program in atwalk atwalk-kmap $collector ptexplore; do
	share=$root/opt/share
	# shellcheck disable=SC2016 # the shell expands it
	run bash -c 'source "$1" && complete -p "$2"' bash "$share/bash-completion/completions/$program" "$program"
	out <<<"complete -F _atwalk $program"
	yes grep -q "^complete -c $program -f " "$share/fish/vendor_completions.d/$program.fish"
	yes [ "$(cat "$share"/zsh/site-functions/_* | grep '^#compdef ' | tr ' ' '\n' | grep -cx "$program")" = 1 ]
done

t "the installed program finds the plugins that are installed"
[ -e "$built/plugins/numa.so" ] || skip "this build has no plugins"
run "$root/opt/bin/atwalk" plugins --format csv --columns name,state --filter kind!=command
sed -i '/^python,/d' "$work/log/out"
out <<<$'name,state\ncriu,available\ndrm,available\nihex,available\nmarkdown,available\nnuma,available'

export PKG_CONFIG_PATH=$root$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH=$root$libdir

t "pkg-config names the folders and the version"
run pkg-config --cflags atwalk
out <<<"-I$root$includedir "
run sed -n 's/^libdir=//p' "$root$libdir/pkgconfig/atwalk.pc"
out <<<"$libdir"
run pkg-config --atleast-version=0.2 atwalk

t "the headers stand by themselves, each of them, in C and C++"
for h in "$root$includedir"/atwalk/*.h; do
	run "$cc" -std=c11 -Wall -Wextra -Werror -pedantic -I"$root$includedir" -fsyntax-only -x c "$h"
	command -v c++ >/dev/null || continue
	run c++ -std=c++11 -Wall -Wextra -Werror -I"$root$includedir" -fsyntax-only -x c++ "$h"
done

t "what the library exports is what its headers declare"
sed -n 's/^\t\t\(atw_.*\);$/\1/p' "$top/lib/libatwalk.map" >listed
cat "$root$includedir"/atwalk/*.h | tr '\n\t' '  ' | grep -oE 'ATW_API [^;(]*\(' |
	grep -oE 'atw_[a-z_]+\($' | tr -d '(' | sort >declared
same declared listed
nm -D --defined-only "$root$libdir/libatwalk.so" | sed -n 's/.* T \(.*\)@@ATWALK_.*/\1/p' |
	sort >exported
same exported listed

t "mappings: VMAs of a process"
run build mappings
run ./mappings tasks.kdump 1
golden examples-mappings
run ./mappings tasks.kdump 2
status 3
err <<<"mappings: process 2 is a kernel thread: it has no address space of its own"

t "mappings: of a running process, by /proc alone"
sleep 300 &
child=$!
for ((i = 0; i < 3000; i++)); do
	[ "$(cat /proc/$child/comm)" != sleep ] || break
	sleep 0.1
done
run ./mappings live:pagemap $child
awk '{ print $1, $2, $7 }' "$work/log/out" >got
awk '{ print $1, $2, $6 }' /proc/$child/maps >want
kill $child
same got want

t "rmap: the mappings of a frame"
run build rmap
run ./rmap tasks.kdump 9211000
out <<'END'
     1 init             0x0000000000400000 r--u
     0 [kernel]         0xffff895789211000 rw--
     0 [kernel]         0xffffffffac011000 rw--
END
run ./rmap x86.elf 1000
status 3
yes [ -s "$work/log/err" ]
err_has "rmap: "

t "pss: the report use has the rows that the program prints"
run build pss
run ./pss tasks.kdump
cp "$work/log/out" got
atwalk report use tasks.kdump --format csv --columns pid,rss,pss,name |
	awk -F, 'NR > 1 { printf "%6d %10d %10d %s\n", $1, int($2 / 1024), int($3 / 1024), $4 }' >want
yes [ -s want ]
same got want
run ./pss "$data/captures/server.cap"
out <<'END'
   100        160        106 server
   110        116         72 worker
END

t "translate: many addresses from standard input"
run build translate
atwalk walk tasks.kdump --pid 1 400000-4dcfff --format csv --columns address,physical >rows
sed -n 's/^0x0*\([0-9a-f]*\),.*/\1/p' rows >list
echo 7 >>list
run ./translate tasks.kdump 1 <list
cp "$work/log/out" got
sed -n 's/^0x0*\([0-9a-f]*\),0x0*\([0-9a-f]*\)$/0x\1 0x\2/p' rows >want
echo "0x7 -" >>want
yes [ "$(wc -l <want)" -gt 200 ]
same got want

t "threads: two dumps at once"
run build threads
run ./threads tasks.kdump arm64.elf
out <<'END'
tasks.kdump: 8776 entries map memory, 103 tables, 78 tasks
arm64.elf: 98584 entries map memory, 214 tables, 0 tasks
END
run ./threads tasks.kdump none.elf
status 3
err_has "none.elf"

t "a program that was linked with the archive needs no library of ours"
# shellcheck disable=SC2046 # words
run "$cc" -o alone "$top/examples/translate.c" $(pkg-config --cflags atwalk) \
	"$root$libdir/libatwalk.a" $(pkg-config --libs --static atwalk | sed 's/-latwalk//')
LD_LIBRARY_PATH='' run ./alone tasks.kdump 1 <list
same "$work/log/out" want

finish
