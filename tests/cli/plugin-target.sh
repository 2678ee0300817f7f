#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Targets that shared objects have: processes and pages without physical memory. What one returns
# is checked, each thing that it can do wrong is one sentence, and all that it does not know is
# n/a.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

cc=$(cut -d' ' -f1 "$built/flags")
umask 022
mkdir so
if grep -q STATIC=1 "$built/flags"; then
	t "targets of plugins"
	skip "a static program loads none"
	finish
fi

# Builds target.c as so/NAME.so with -D for each further word, against $headers.
headers=$top/include
build() {                        # NAME [DEFINE...]
	local name=$1
	shift
	"$cc" -std=gnu17 -Wall -Wno-unused -Werror -I"$headers" -fvisibility=hidden -fPIC \
		-shared -o "so/$name.so" "${@/#/-D}" "$data/plugins/target.c" || bad "$name.so was not built"
}
build saved
mistake=
saved() { run atwalk "$1" saved:x --plugin ./so/saved.so"${mistake:+:$mistake}" "${@:2}"; }

t "tasks, areas and pages; what is not known is n/a"
cat >wanted <<'END'
pid,tgid,ppid,task,kind,resident,resident_small,hugetlb,mm
7,7,1,seven,process,28672,,,
8,7,,a thread,thread,28672,,,
9,9,7,"nine, or so",process,28672,,,
11,11,,ended,,,,,
12,12,,"",process,12288,,,
END
saved ps -T --format csv --columns pid,tgid,ppid,task,kind,resident,resident_small,hugetlb,mm
out <wanted
cat >wanted <<'END'
address,size,physical,state,rights,area,flags
0x0000000000001000,4096,0x0000000000100000,present,r-xu,"/lib/a,b",
0x0000000000003000,8192,0x0000000000200000,present,r-xu,"/lib/a,b",
0x0000000000005000,8192,,present,rw-u,[heap],
0x0000000000008000,4096,,swap,,[heap],
0x000000000000a000,4096,0x0000000000100000,present,,,
0x000000000000c000,4096,0x0000000000300000,protnone,,"",
END
saved map --pid 7 --format csv --columns address,size,physical,state,rights,area,flags
out <wanted
cat >wanted <<'END'
address,size,physical,state,count,kcount,pageflags,swap
0x0000000000001000,4096,0x0000000000100000,present,,,,
0x0000000000002000,4096,,absent,,,,
0x0000000000003000,4096,0x0000000000200000,present,,,,
0x0000000000004000,4096,0x0000000000201000,present,,,,
END
saved pages --pid 12 --format csv --columns address,size,physical,state,count,kcount,pageflags,swap
out <wanted

t "a physical address leads back to the processes"
saved find 100000 --format csv --columns pid,task,address,physical
status 4
err_is "atwalk: saved:x: 2 mapped pages are without a recorded address; mappings may be missing"
out <<'END'
pid,task,address,physical
7,seven,0x0000000000001000,0x0000000000100000
7,seven,0x000000000000a000,0x0000000000100000
12,"",0x0000000000001000,0x0000000000100000
END
mistake=frameless
saved find 100000
status 3
err_has "atwalk: saved:x: has processes and their pages, and no physical memory; this needs page tables or the kernel's memory"
err_has "a dump, or live on that machine, has them"
mistake=

t "what needs memory says so"
for words in "rd 1000" "search --physical --text abc" "extract -o none"; do
	# shellcheck disable=SC2086 # words
	set -- $words
	saved "$@"
	status 3
	err_has "atwalk: saved:x: has processes and their pages, and no physical memory"
	yes [ ! -e none ]
done
saved info --format csv
cat >wanted <<'END'
fact,value
format,five tasks (plugin saved)
machine,x86_64
release,9.9
tasks,"5, with 2 address spaces and 5 areas"
END
head -n 5 "$work/log/out" >got
same got wanted
saved map --pid 7 ffff800000000000+4K
status 3
err_has "is a kernel address, and a saved state has those of processes only"
mistake=plain
saved info --filter fact=format --format csv
out <<<$'fact,value\nformat,a few tasks (plugin saved)'
mistake=

t "reports, captures, queries and checks of it"
saved report use --format csv --columns pid,rss,pss,swap,huge,name
out <<'END'
pid,rss,pss,swap,huge,name
7,28672,,4096,,seven
12,12288,,0,,""
END
saved report use --format csv --columns pid,hugetlb,uss,anon,file
out <<'END'
pid,hugetlb,uss,anon,file
7,,,,
12,,,,
END
saved report basic --format csv --columns pid,rx_count,lib_text,single,multi
out <<'END'
pid,rx_count,lib_text,single,multi
7,5,3,,
12,3,0,,
END
saved report nodes --format csv --columns pid,rss,hugetlb
err_has "cannot assign memory to NUMA nodes"
said_status=1
out <<'END'
pid,rss,hugetlb
7,28672,
12,12288,
,40960,
END
saved report metrics --format csv --columns metric,value
out <<'END'
metric,value
atwalk_memory_swap_bytes,4096
atwalk_processes,2
atwalk_lost_tasks,0
atwalk_ended_tasks,0
END
# Pages of no area are known: there is no sum of them, and it is not 0.
sed 's/PAGES = ATW_AREA_PAGES/PAGES = 0/' "$data/plugins/target.c" >no-pages.c
mkdir apart
"$cc" -std=gnu17 -I"$headers" -fvisibility=hidden -fPIC -shared -o apart/saved.so no-pages.c
run atwalk report metrics saved:x --plugin ./apart/saved.so --format csv --columns metric,value
status 4
said_err=1
out <<'END'
metric,value
atwalk_processes,2
atwalk_lost_tasks,2
atwalk_ended_tasks,0
END
saved collect -o tasks.atw
run atwalk pages tasks.atw --pid 7 --format csv --columns address,physical,state
cp "$work/log/out" got
saved pages --pid 7 --format csv --columns address,physical,state
out <got
if grep -q '^  found:.* sqlite' "$built/found.txt"; then
	saved sql "select pid, sum(size) as bytes from pages where state = 'present' group by pid" --format csv
	out <<<$'pid,bytes\n7,24576\n9,24576\n12,12288'
fi
mistake=closed
saved ps -q
err_is "closed 1"
mistake=

t "what is missing is said, and the exit status is 4"
mistake=incomplete
saved pages --pid 7 --format csv --columns address,size,state,area
status 4
cat >wanted <<'END'
0x0000000000010000,4096,lost,lost
0x0000000000011000,4096,present,lost
0x0000000000020000,4096,lost,unread
END
tail -n 3 "$work/log/out" >got
same got wanted
err_has "pages at 0x10000: the source does not have them"
saved ps -q
status 4
err_has "process 12: areas: the disk was full"
saved report basic -q
status 4
said_err=1
mistake=

# Nothing is printed, and no file is left.
opens() {                        # MISTAKE TEXT
	mistake=$1
	saved ps -o none
	status 3
	err_is "atwalk: saved:x: plugin saved: $2"
	yes [ ! -e none ]
}

t "whatever it returns is checked"
opens open "'x' is not to its liking"
opens silent "it failed with status -77 and gave no reason"
opens task "it has lost task 1"
opens area "it has lost area 1"
opens pages "it has lost batch 1"
opens lost "it has lost what is lost"
opens number "task 1 has no number, or an unknown flag (0x1)"
opens flag "process 7: task 1 has no number, or an unknown flag (0x2)"
opens odd "process 7: area at 0x5001: it ends at 0x9000, and pages have 4096 bytes"
opens empty "process 7: area at 0x5000: it ends at 0x5000, and pages have 4096 bytes"
opens overlap "process 7: area at 0x4000: it begins before the end of the one before it, 0x5000"
opens huge "process 7: area at 0x5000: all areas together have more than 2^63 bytes"
opens bit "process 7: area at 0x5000: it has an unknown flag (0x6b): it needs a newer atwalk"
opens long "process 7: area at 0x5000: a text is too long"
opens outside "process 7: area at 0x5000: 1 pages at 0x9000 are not in it, or not behind those before"
opens before "process 7: area at 0x5000: 1 pages at 0x6000 are not in it, or not behind those before"
opens half "process 7: area at 0x5000: 1 pages at 0x8800 are not in it, or not behind those before"
opens zero "process 7: area at 0x5000: 0 pages at 0x5000 are not in it, or not behind those before"
opens many "process 7: area at 0x5000: 4503599627370497 pages at 0x5000 are not in it, or not behind those before"
opens state "process 7: area at 0x5000: pages at 0x5000 are of no known state (4): it needs a newer atwalk"
opens frame "process 7: area at 0x5000: pages at 0x5000 have the physical address 0x10, which none has"
opens high "process 7: area at 0x5000: pages at 0x5000 have the physical address 0xfffffffffff000, which none has"
opens batch "process 7: area at 0x5000: a batch of runs has 4097 of them, or lacks an array"
opens array "process 7: area at 0x5000: a batch of runs has 2 of them, or lacks an array"
opens pagesize "its fact 'page' is not the size of a page"
opens tiny "its fact 'page' is not the size of a page"
opens short "its fact 'page' is not the size of a page"
opens endless "process 4194305: it has more than 4194304 tasks"
mistake=none
saved pages --pid 12 --format csv --columns address,size,state
status 1
out <<<$'address,size,state\n0x0000000000001000,16384,absent'
mistake=
run atwalk ps saved:x -S more --plugin ./so/saved.so
status 2
err_has "is not one part of a split set"

# Refused when it is loaded.
fails() {                        # NAME TEXT
	run atwalk map x86.elf --plugin ./so/"$1".so -o none
	status 3
	err_is "atwalk: ./so/$1.so: $2"
	yes [ ! -e none ]
}

t "what is refused"
build own 'NAME="elf"'
fails own "it has the source 'elf', which atwalk has itself"
build noted 'NOTED="other"'
fails noted "its note does not have the target 'saved'"
build lacks LACKS_PAGES
fails lacks "its struct atw_plugin_target has no \`pages\`"
for size in 8 5000; do
	build size "SIZE=$size"
	fails size "it states $size bytes as the size of a struct atw_plugin_target, which has *"
done
build flags FLAGS=2
fails flags "target 'saved' has an unknown flag (0x2): it needs a newer atwalk"
build twice TWICE
fails twice "it has the source 'saved', which plugin saved has"
build again
run atwalk map x86.elf --plugin ./so/saved.so --plugin ./so/again.so
status 3
err_is "atwalk: ./so/again.so: it has the source 'saved', which plugin saved has"
run atwalk plugins --plugin ./so/saved.so --format csv --columns kind,sources,state --filter 'path~so/saved'
out <<<$'kind,sources,state\ntarget,saved,used'

# The public header, edited by sed(1).
header() {
	rm -rf headers
	mkdir headers
	cp -r "$top/include/atwalk" headers
	sed -i "$1" headers/atwalk/plugin.h
	headers=$PWD/headers
}

t "an older plugin, and a newer one"
atwalk ps saved:x --plugin ./so/saved.so --format csv >wanted
header '/^struct atw_plugin_target {/,/^}/{/lost;/d;/fact;/d;/describe;/d;/close;/d}; /^struct atw_plugin_task {/,/^}/s/const char \*exe;/char gone[0]; __extension__ const char *exe[0];/'

	sed 's/\.lost = lost, .*//; s/, \.exe = "[^"]*"//' "$data/plugins/target.c" >old.c
"$cc" -std=gnu17 -Wno-unused -Iheaders -fvisibility=hidden -fPIC -shared -o so/old.so old.c || bad "old.so was not built"
run atwalk ps saved:x --plugin ./so/old.so --format csv
out <wanted
header '/^struct atw_plugin_target {/,/^}/s/close;/&\n\tconst void *more;/'
build new
run atwalk ps saved:x --plugin ./so/new.so --format csv
out <wanted
sed 's/\.close = close_it,/& .more = "new",/' "$data/plugins/target.c" >newest.c
"$cc" -std=gnu17 -Wno-unused -Iheaders -fvisibility=hidden -fPIC -shared -o so/newest.so newest.c || bad "newest.so was not built"
fails newest "it uses byte * of struct atw_plugin_target: it needs a newer atwalk"
headers=$top/include

finish
