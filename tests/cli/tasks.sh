#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processes of a small dump are reported exactly: page-table isolation, a maple tree, threads,
# a zombie, swap, large and hugetlb pages.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
need_tasks

t "ps: every process"
run atwalk ps tasks.kdump
golden tasks-ps

t "ps: processes without threads, as CSV"
run atwalk ps tasks.kdump --filter process --format csv \
	--columns pid,ppid,task,state,mm,root,user_root,resident,page_sizes,lost,at
golden tasks-ps-csv

t "ps --threads: threads follow their leader and share its address space"
run atwalk ps -T tasks.kdump --filter 'tgid=92' --format csv --columns pid,tgid,ppid,task,kind,mm,resident
golden tasks-ps-threads
run atwalk ps -T tasks.kdump --format csv --columns pid
yes [ "$(wc -l <"$work/log/out")" = 79 ]

t "ps: a zombie has no address space"
run atwalk ps tasks.kdump 97 --format csv --columns pid,task,state,mm,root,resident
out <<'X'
pid,task,state,mm,root,resident
97,zombie,Z,,,
X

t "ps PID: a thread by its TID; a missing PID"
run atwalk ps tasks.kdump 93 --format csv --columns pid,tgid,task
run atwalk ps tasks.kdump 5000
status 1
err_has "tasks.kdump: there is no process or thread 5000"

t "pages: the number of the page frame, as the address in hexadecimal"
run atwalk pages tasks.kdump --task swap --format csv --columns physical,pfn --filter 'pfn>=0'
yes [ "$(wc -l <"$work/log/out")" -gt 100 ]
sed '1d; s/,.*//' "$work/log/out" | while read -r at; do echo $((at >> 12)); done >shifted
sed '1d; s/.*,//' "$work/log/out" >pfn
same shifted pfn

t "pages: properties, by the names that all CPUs share"
run atwalk pages tasks.kdump --task swap --format csv --columns properties --filter 'accessed and not dirty and not global and not large'
yes [ "$(sed 1d "$work/log/out" | sort -u)" = accessed ]
run atwalk pages tasks.kdump --format csv --columns size,properties --filter large
yes [ "$(sed '1d; s/,.*//' "$work/log/out" | sort -un | head -n 1)" -ge 2097152 ]

t "pages: the swap slot of a page"
run atwalk pages --task swap tasks.kdump --format csv
golden tasks-pages-swap

t "pages: hugetlb pages"
run atwalk pages --task hugetlb tasks.kdump --format csv
golden tasks-pages-hugetlb

t "pages: transparent huge pages, whole and split"
run atwalk pages --task thp tasks.kdump --group pageflags --format csv
golden tasks-pages-thp
run atwalk pages --task thp tasks.kdump --filter 'COMPOUND_HEAD' --format csv
golden tasks-pages-thp-heads

t "pages: one address; an area by its name"
run atwalk pages --pid 86 tasks.kdump --address 401234 --format csv
out <<'X'
address,size,physical,state,count,kcount,swap,pageflags,pid,task,area
0x0000000000401000,4096,0x000000000f83d000,present,22,22,,"REFERENCED,UPTODATE,DIRTY,LRU,MMAP,SWAPBACKED,UNEVICTABLE,MLOCKED",86,file-writer,/init
X
run atwalk pages --pid 1 tasks.kdump --areas stack --format csv --columns area --group area
out <<'X'
area
[stack]
X

t "pages: an address in a large page gives the whole page"
run atwalk pages --pid 99 tasks.kdump --address 7ff0f2a12345 --format csv --columns address,size
out <<'X'
address,size
0x00007ff0f2a00000,2097152
X
run atwalk pages --pid 99 tasks.kdump --address 7ff0f2a12345 --all --format csv --columns address,size
out <<'X'
address,size
0x00007ff0f2a12000,4096
X

t "pages: addresses outside of areas, and areas without pages"
run atwalk pages tasks.kdump --task swap --address 1000 --format csv --columns address
status 1
out <<<address
err <<'END'
atwalk: tasks.kdump: there is no area at these addresses
END
run atwalk pages tasks.kdump --task swap --areas nosuch --format csv --columns address
status 1
out <<<address
err <<'END'
atwalk: tasks.kdump: there is no area of such a name
END
run atwalk pages tasks.kdump --task swap --areas vvar --format csv --columns address,size
status 1
out <<'END'
address,size
0x00007ffe67bf3000,16384
END

t "pages -q: the same rows without warnings"
run atwalk pages tasks.kdump --task threads
said_err=1
cp "$work/log/out" want
run atwalk pages -q tasks.kdump --task threads
err </dev/null
same "$work/log/out" want
run atwalk pages tasks.kdump --task threads --areas nosuch
status 1
err_is 'atwalk: tasks.kdump: there is no area of such a name'
run atwalk pages -q tasks.kdump --task threads --areas nosuch
status 1
err </dev/null

t "pages --areas-only: no pages"
run atwalk pages --areas-only tasks.kdump --task threads
golden tasks-areas

t "pages --totals: additional columns keep the default ones"
run atwalk pages tasks.kdump --pid 103 --totals --format csv --columns rss,pss,uss,shared
said_err=1
cp "$work/log/out" want
run atwalk pages tasks.kdump --pid 103 --totals --format csv --columns +level
said_err=1
cut -d , -f 3-6 <"$work/log/out" >got
same got want

t "RSS and hugetlb are the same in ps, pages --totals, report use, and from a capture"
run atwalk ps tasks.kdump --filter process --format csv --columns pid,resident,hugetlb
sed -n '2,$p' "$work/log/out" | grep -v ',,$' | sort >by-ps
yes [ "$(grep -c , by-ps)" = 22 ]
run atwalk collect tasks.kdump -q -o tasks.cap
said_status=1 said_err=1
for source in tasks.kdump tasks.cap; do
	run atwalk pages $source --totals --format csv --columns pid,rss,hugetlb
	said_err=1
	sed 1d "$work/log/out" | sort >by-pages
	same by-pages by-ps
	run atwalk report use $source --format csv --columns pid,rss,hugetlb
	said_err=1
	sed 1d "$work/log/out" | sort >by-use
	same by-use by-ps
done
run atwalk ps tasks.cap --filter 'kind=process' --format csv --columns pid,resident,hugetlb
said_err=1
sed 1d "$work/log/out" | grep -v ',,$' | sort >by-cap
same by-cap by-ps

t "map: the address space of a process, through the page table of user mode"
run atwalk map --pid 102 tasks.kdump --format csv --columns address,end,size,physical,page,rights,state
golden tasks-map
run atwalk map --pid 103 tasks.kdump --filter swap --group state --format csv
golden tasks-map-swap

t "--pti: two copies of the root; only one is executable in user mode"
run atwalk walk -p --pid 99 --pti user tasks.kdump 401000
golden tasks-walk-user
run atwalk walk -p --pid 99 --pti kernel tasks.kdump 401000
golden tasks-walk-kernel
run atwalk walk --pid 99 --pti user tasks.kdump init_task --format csv --columns state
status 1
run atwalk walk --pid 99 --pti kernel tasks.kdump init_task --format csv --columns physical,state
out <<'X'
physical,state
0x000000000841aa40,present
X

t "--task: the same as --pid"
run atwalk walk -p --task thp --pti kernel tasks.kdump 401000
golden tasks-walk-kernel
run atwalk walk --task 'odd) (name' tasks.kdump 401000 --format csv --columns address,state
out <<'X'
address,state
0x0000000000401000,present
X

t "a user address that only one process maps"
run atwalk walk tasks.kdump 7ff0f34ee000 --format csv --columns address,size,state
status 1
err <<'X'
atwalk: tasks.kdump: 7ff0f34ee000 is mapped only by process 103 (swap)
X
out <<'X'
address,size,state
0x00007ff0f34ee000,4096,swap
X

t "a user address that several processes map: their list"
run atwalk walk tasks.kdump 401000
status 1
no_out
err <<'X'
atwalk: tasks.kdump: 401000: 22 processes map it: 1 (init), 86 (file-writer), 87 (file-reader), 88 (cow-parent), 89 (cow-child), 90 (shared-parent), 91 (shared-child), 92 (threads), 96 (odd) (name), 98 (sparse), 99 (thp), 100 (folios), ...
        use --pid N to select a process
X

t "a user address that no process maps"
run atwalk walk tasks.kdump 10000
status 1
err <<'X'
atwalk: tasks.kdump: 10000: no process maps it
X

t "--task: an unknown name; a process without an address space"
run atwalk walk --task absent tasks.kdump 401000
status 1
err <<'X'
atwalk: tasks.kdump: --task: there is no process named 'absent'
X
run atwalk map --pid 2 tasks.kdump
status 1
err <<'X'
atwalk: tasks.kdump: process 2 is a kernel thread: it has no address space of its own
X
run atwalk map --pid 97 tasks.kdump
status 1
err <<'X'
atwalk: tasks.kdump: process 97 has ended: its address space is gone
X
run atwalk map --pid 4000000000 tasks.kdump
status 1
err <<'X'
atwalk: tasks.kdump: there is no process or thread 4000000000 among 78 tasks
X

t "find: a page that several processes share"
run atwalk find -q tasks.kdump 9220000 --format csv \
	--columns pid,task,address,size,level,index,entry_at,rights,area
said_err=1
golden tasks-find

t "find: an address of a process, and other mappings of its frame"
run atwalk find -q tasks.kdump 9220000 --format csv --columns pid,address,physical
said_err=1
cp "$work/log/out" by-frame
run atwalk find tasks.kdump --pid 92 41e000 --format csv --columns pid,address,physical
err <<'X'
atwalk: tasks.kdump: 41e000 is at physical 0x9220000
X
same "$work/log/out" by-frame
run atwalk find -q tasks.kdump --task thp --virtual 41e000 --format csv --columns pid,address,physical
same "$work/log/out" by-frame
run atwalk find tasks.kdump --pid 92 401000-402800 --filter 'pid=92' --columns address,size,physical
yes grep -qx '401000-402800 is at physical 0xf83d000-0xf83e000, 0xf93d000-0xf93d800' "$work/log/out"
yes [ "$(grep -c '^0x000000000040[12]000' "$work/log/out")" = 2 ]

t "find: a partially mapped range"
run atwalk find tasks.kdump --pid 92 400000-402000 --filter 'pid=92' --columns address
yes grep -qx '400000-402000 is at physical 0xf83d000-0xf83e000; 4096 bytes of it are mapped' "$work/log/out"

t "find: an unmapped address of a process, and a user address without a process"
run atwalk find tasks.kdump --pid 92 --virtual 400000 --format csv --columns address
status 1
out <<'X'
address
X
err <<'X'
atwalk: tasks.kdump: 400000 is not mapped by process 92 (threads)
X
run atwalk find tasks.kdump --virtual 401000
status 1
no_out
err_has '401000: 22 processes map it: 1 (init), '
err_has '        use --pid N to select a process'

t "find: a number that the process does not map is a physical address"
run atwalk find tasks.kdump --pid 92 841a000 --format csv --columns pid
status 1
out <<'X'
pid
X
err <<'X'
atwalk: tasks.kdump: 841a000 is not part of its memory
X

t "find: an anonymous area is not an unknown one"
run atwalk find tasks.kdump 8256000 --format csv --columns task,address,area --filter 'task=swap'
said_err=1
out <<'END'
task,address,area
swap,0x0000000000636000,""
END

t "find: a page table of a process"
run atwalk find tasks.kdump 3f1d000 --format csv --columns pid,task,level,index,entry_at
golden tasks-find-table

t "symbols: data symbols"
run atwalk walk tasks.kdump init_task init_task+0x40 --format csv --columns address,physical
golden tasks-symbols
run atwalk walk tasks.kdump no_such_symbol
status 2
err <<'X'
atwalk: 'no_such_symbol' is neither a hexadecimal address nor a symbol of tasks.kdump
X

t "info: where symbols, types and per-CPU data were found"
facts='fact=format or fact=release or fact=root or fact=kaslr or fact=symbols or fact=types'
run atwalk info tasks.kdump --format csv --filter "$facts or fact=per-cpu or fact=\"command line\""
golden tasks-info
run atwalk info tasks.kdump --format csv --filter 'fact=banner'
yes grep -q '^banner,"*Linux version 6.1.0-50-cloud-amd64 ' "$work/log/out"

t "an extract of it is an ELF file with the same rows"
run atwalk extract -q --pages -o tasks.elf tasks.kdump
for what in 'ps -T' pages 'pages -q --areas-only' 'map --pid 99'; do
	# shellcheck disable=SC2086 # words
	run atwalk $what tasks.kdump --format csv
	cp "$work/log/out" whole
	# shellcheck disable=SC2086
	run atwalk $what tasks.elf --format csv
	same "$work/log/out" whole
done

t "--sort -rss is resident:desc"
run atwalk ps tasks.kdump --sort resident:desc --format csv --columns pid,resident
cp "$work/log/out" in-order
run atwalk ps tasks.kdump --sort -rss --format csv --columns pid,rss
same "$work/log/out" in-order
yes [ "$(head -n 1 in-order)" = pid,resident ]
run atwalk ps tasks.kdump --sort rss --filter 'rss>0 and comm~a' --format csv --columns pid
cp "$work/log/out" in-order
run atwalk ps tasks.kdump --sort resident --filter 'resident>0 and task~a' --format csv --columns pid
same "$work/log/out" in-order

t "column names of other programs are accepted"
run atwalk pages tasks.kdump --columns task,pageflags --filter present --format csv
cp "$work/log/out" in-order
run atwalk pages tasks.kdump --columns comm,kpageflags --filter present --format csv
same "$work/log/out" in-order
yes grep -qi uptodate in-order

t "PIDs and names of processes in the wrong place"
run atwalk ps tasks.kdump init
status 2
no_out
err <<'X'
atwalk: 'init' is not a process number; to select by name, use --filter task=NAME
        see: atwalk ps --help
X
run atwalk ps aux tasks.kdump
status 2
no_out
err <<'X'
atwalk: 'tasks.kdump' is not a process number; type SOURCE first
        see: atwalk ps --help
X
run atwalk map tasks.kdump --task 92
status 1
no_out
err <<'X'
atwalk: tasks.kdump: --task: there is no process named '92'
        use --pid with a process number
X
run atwalk pages tasks.kdump 92 --format csv --columns address
status 1
err_has 'atwalk: tasks.kdump: 92 is an address; process 92 is --pid 92'

t "a single word that is part of a name"
run atwalk pages tasks.kdump --filter busybox
status 2
no_out
err_has "        texts match as in swap~busybox, task~busybox, area~busybox"

finish
