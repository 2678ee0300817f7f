#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --format parquet: every listing and report has the rows and the n/a of its CSV and its JSON,
# as a reader written from the specification and, where npm has them, three other engines see
# them.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/ram-cap.sh
. "$cli/ram-cap.sh"
# shellcheck source=tests/cli/vmram.sh
. "$cli/vmram.sh"

# CSV is for an engine that is not asked under valgrind.
formats=(parquet json csv)
[ -z "${WRAP:-}" ] || formats=(parquet json)

# A complete answer, or what there is of one.
# shellcheck disable=SC2317 # run calls it
made() {
	local rc=0

	atwalk "$@" || rc=$?
	# 1: they differ, or a policy is violated.
	[ "$rc" -le 1 ] || [ "$rc" -eq 4 ]
}

# The three files of a listing, to be compared with each other.
keep() {                          # STEM EXPECTED
	kept+=("$1")
	wanted+=("$2")
}
kept=() wanted=()

# A listing in three forms; the number of its rows is expected, or "some" or "any", and
# that of their groups.
forms() {                         # ROWS[/GROUPS] COMMAND...
	local stem=$work/${#kept[@]} rows=$1 format
	shift
	for format in "${formats[@]}"; do
		# extract has another use for -o.
		yes made "$@" --format "$format" -q >"$stem.$format" 2>>"$work/log/made"
	done
	keep "$stem" "$rows"
}

# Those of several reports at once.
reports() {                       # ROWS PREFIX KINDS SOURCE...
	local rows=$1 prefix=$2 kinds=$3 format kind
	shift 3
	for format in "${formats[@]}"; do
		yes made "${report[@]}" "$kinds" "$@" --format "$format" -q -o "$prefix" 2>>"$work/log/made"
	done
	for kind in ${kinds//,/ }; do keep "$work/cwd/$prefix/$kind" "$rows"; done
}

# Compares the files that were kept since the last time.
compared() {
	local i fits n groups
	list parquet json "${kept[@]:done_so_far}" >pairs
	run python3 "$cli/parquet.py" <pairs
	cp "$work/log/out" counted
	while read -r i fits; do
		read -r n _ groups _ <&8 || n=
		[[ $n/$groups =~ ^($fits)$ ]] || bad "$i: '$n' rows in '$groups' groups"
	done < <(for ((i = done_so_far; i < ${#kept[@]}; i++)); do
		case ${wanted[i]} in
		some) echo "${kept[i]} [1-9][0-9]*/1" ;;
		any) echo "${kept[i]} 0/0|[1-9][0-9]*/1" ;;
		0 | */*) echo "${kept[i]} ${wanted[i]/#0*/0/0}" ;;
		*) echo "${kept[i]} ${wanted[i]}/1" ;;
		esac
	done) 8<counted
	done_so_far=${#kept[@]}
}
# Names of files, one of each kind in a line.
list() {                          # KIND... STEM...
	local kinds=() stem
	while [[ $1 != /* ]]; do kinds+=("$1"); shift; done
	for stem; do echo "${kinds[*]/#/$stem.}"; done
}
done_so_far=0

t "listings of page tables"
forms 1 walk x86.elf _stext
forms some map x86.elf
forms some map riscv.elf
forms 2 find tasks.kdump init_task
forms 0 map x86.elf --filter 'size=3'
compared

t "tasks, areas and pages, with n/a"
forms 75 ps tasks.kdump
forms some pages tasks.kdump
forms some pages tasks.kdump --areas-only
forms 22 pages tasks.kdump --totals
compared

t "several groups of rows"
"$built/tests/tools/mkcapture" -m 8G -p 20 -r 5000 >large.cap 2>"$work/log/made"
forms 149788/2 pages large.cap --columns address,size,physical,state,rights,pid,task
compared

t "lists are their length, and chosen, sorted and grouped rows are what is written"
forms 4 pages tasks.kdump --columns state,count,size --group state
forms 5 ps tasks.kdump --columns pid,task,rss --filter 'rss>0' --sort rss:desc --filter 'pid<103 and pid>97'
compared

# Of each listing its command lines, as a shell reads them. A name that the program has and
# this table lacks fails.
cat >trace <<'END'
# atwalk references 1
# backend qemu
# counts exact
# program /tmp/program
# columns address size kind tid ip count
10000 8 b 7 401000 1000
10040 8 b 7 401010 500
10048 8 b 8 401014 500
# lost 0
# end 3
END
atwalk collect -q --pid 101 -o other.cap tasks.kdump
guest qemu-system-x86_64 -m 256 -M q35 -x found 0 tasks.kdump -name guest=web,debug-threads=on
# shellcheck disable=SC2034 # for eval
own=$data/kmap/own.kmap
# shellcheck disable=SC2016,SC2034 # for eval
declare -A how=(
	[walk]='tasks.kdump --pid 99 400000+64K
		x86.elf _stext --path'
	[map]='tasks.kdump --pid 99
		tasks.kdump --task thp --large'
	[info]='x86.elf
		tasks.kdump
		tasks.kdump --symbols --filter symbol~init_
		--paging-modes
		--paging-flags x86_64-4'
	[ps]='tasks.kdump --threads'
	[find]='tasks.kdump 9211000+64K'
	[lines]='--from trace
		tasks.kdump init_task'
	[rd]='x86.elf _stext+64
		tasks.kdump --pid 99 400000+256'
	[search]='tasks.kdump --text Linux --physical'
	[extract]='x86.elf -o made.elf'
	[pages]='tasks.kdump --pid 99'
	[annotate]='tasks.kdump "$data/samples.perf"
		tasks.kdump "$data/samples.perf" --summary'
	[diff]='tasks.kdump other.cap --areas-only
		tasks.kdump other.cap --by process
		tasks.kdump other.cap --by unit'
	[report]=''               # below
	[check]='"$top/policies/memory.ini" tasks.kdump'
	[audit]='tasks.kdump'
	[sql]='tasks.kdump "SELECT * FROM vmas"'
	[vms]='"$guest"'
	[probe]='--pid $$'
	[plugins]='--filter kind!=command'
	[kmap show]='"$own" --rows objects
		"$own" --rows accesses'
	[kmap report]=''
	[kmap diff]='"$own" "$data/kmap/used.kmap"'
	[kmap sql]='"$own" "SELECT * FROM objects"'
)
# What the program offers behind such words.
offered() { "$built/atwalk" __complete "$@" '' | sed 's/\t.*//; /^:/d'; }
listings=$(for name in $(offered); do
	case $name in
	kmap) for kind in $(offered kmap); do echo "kmap $kind"; done ;;
	live* | help) ;;
	*) echo "$name" ;;
	esac
done | while read -r name; do
	# shellcheck disable=SC2086 # it may be two words
	! offered $name --format | grep -qx parquet || echo "$name"
done)

t "every listing, with all of its columns"
yes [ "$(wc -l <<<"$listings")" -ge 20 ]
yes [ "$(printf '%s\n' "${!how[@]}" | sort)" = "$(sort <<<"$listings")" ]
for listing in "${!how[@]}"; do
	while read -r line; do
		[ -n "$line" ] || continue
		case $listing in
		plugins) [ -e "$built/plugins/numa.so" ] || continue ;;
		*sql) grep -q '^  found:.* sqlite3' "$built/found.txt" || continue ;;
		esac
		eval "words=($listing $line)"
		# shellcheck disable=SC2154 # by eval
		forms some "${words[@]}" --columns "$(offered "${words[@]}" --columns | paste -sd,)"
	done <<<"${how[$listing]}"
done
compared

# A machine of two nodes, three times.
for look in 1 2 3; do
	python3 "$cli/many_processes.py" 5 $look |
		sed -e 's/^R: 0.*/&, node=0/; s/^R: C.*/&, node=1/' \
			-e 's/^H: hz.*/&\nH: slab.kmalloc-64, 64 1536 1500 24 24\nH: slab.dentry, 192 1344 - 64 128/' \
			-e 's/^E: /E: 2/' >look$look.cap
done

t "every report, with rows and with n/a"
all=$(offered report | tr '\n' ' ')
yes [ "$(wc -w <<<"$all")" -ge 16 ]
report=(report)
for kind in $all; do
	case $kind in
	thrash | growth) several+=,$kind ;;
	# Only of a guest that is read from outside.
	backing) ;;
	*) single+=,$kind ;;
	esac
done
reports some looks "${several#,}" look1.cap look2.cap look3.cap
single=${single#,}
# One has no areas to alert to, the other one no counters of slabs.
reports some look "${single/,alerts/}" look1.cap
reports some dump "${single/,kernel/}" tasks.kdump
ram_cap | sed -e 's/^F: 1000\*2=reserved.*/F: 1000*2=reserved, host=backed | 3000*6=free, host=swapped |/' \
	-e 's/^F: 10000.*/F: 10000*2=free, host=absent | 12000*4=anon, host=backed | 16000=slab |/' \
	-e '/^F: 24000/d' -e 's/^E: .*/E: 13, 1, 0, 0/' >guest.cap
reports some guest backing,machine guest.cap
compared

# Code that writes what other code reads, and an object that is not used.
cat >paths.kmap <<'END'
# atwalk-kmap 1
# atwalk-kmap machine x86_64
# atwalk-kmap mode instance
# atwalk-kmap clock serial
# atwalk-kmap symbol ffffffff81001000 writer
# atwalk-kmap symbol ffffffff81002000 reader
ffffffff81001010,10,ffff888000001000,192,100,200,ffffffff81001008,KMEM_CACHE,sh(1),dentry,NONE
  ffffffff81001020,0,5,10
  ffffffff81002008,7,0,11
# line 0,7,5
ffffffff81001010,0,ffff888000001100,192,110,0,0000000000000000,KMEM_CACHE,softirq,dentry,NONE
# atwalk-kmap end objects 2 accesses 2 lost 0
END
t "every report of kmap"
of_kmap=$(offered kmap report | tr '\n' ' ')
yes [ "$(wc -w <<<"$of_kmap")" -ge 14 ]
report=(kmap report)
of_kmap=${of_kmap% }
reports some paths "${of_kmap// /,}" paths.kmap
reports any used "${of_kmap// /,}" "$data/kmap/used.kmap"
compared

t "other engines read the same rows"
if ! command -v node >/dev/null ||
	! modules=$(npm_have parquet hyparquet hyparquet-compressors parquet-wasm apache-arrow); then
	skip "no node, or npm cannot install hyparquet and parquet-wasm"
else
	list parquet json "${kept[@]}" >all
	NODE_PATH=$modules run node "$cli/parquet.cjs" <all
	out <<<"${#kept[@]} files: hyparquet same, arrow same"
fi

t "DuckDB reads the rows of the CSV, and null where it has n/a"
if [ -n "${WRAP:-}" ]; then skip "there is no CSV under valgrind"
elif ! command -v node >/dev/null || ! modules=$(npm_have duckdb @duckdb/node-api); then
	skip "no node, or npm cannot install DuckDB"
else
	list parquet csv json "${kept[@]}" >all
	NODE_PATH=$modules run node "$cli/parquet_rows.cjs" <all
	out <<<"${#kept[@]} files: same"
fi

t "a terminal gets none, and several tables need a folder"
run script -qec "$O/atwalk map x86.elf --format parquet" /dev/null
status 2
yes grep -q 'refusing to write parquet to a terminal' "$work/log/out"
run atwalk report use,totals tasks.kdump --format parquet
status 2
err_has "a parquet file has one table"

t "a full disk leaves no file behind"
run atwalk map x86.elf --format parquet -o /dev/full
status 3
err_has "No space left on device"

finish
