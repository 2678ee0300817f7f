#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --format parquet: every listing and report has the rows and the n/a of its JSON, as a
# reader written from the specification and, where npm has them, two other engines see them.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# A complete answer, or what there is of one.
# shellcheck disable=SC2317 # run calls it
made() {
	local rc=0

	atwalk "$@" || rc=$?
	# 1: they differ, or a policy is violated.
	[ "$rc" -le 1 ] || [ "$rc" -eq 4 ]
}

# A listing in both forms, compared; the number of its rows is expected, or "some", and that
# of their groups.
both() {                          # ROWS[/GROUPS] COMMAND...
	local rows=${1%/*} groups=1
	[ "$rows" != 0 ] || groups=0
	[ "$rows" = "$1" ] || groups=${1#*/}
	shift
	kept=$((kept + 1))
	yes made "$@" --format parquet -q -o "$work/$kept.parquet"
	yes made "$@" --format json -q -o "$work/$kept.json"
	run python3 "$cli/parquet.py" "$work/$kept.parquet" "$work/$kept.json"
	if [ "$rows" = some ]; then
		yes grep -qx '[1-9][0-9]* rows 1 groups' "$work/log/out"
	else
		out <<<"$rows rows $groups groups"
	fi
}
kept=0

t "listings of page tables"
both 1 walk x86.elf _stext
both some map x86.elf
both some map riscv.elf
both 2 find tasks.kdump init_task
both 0 map x86.elf --filter 'size=3'

t "tasks, areas and pages, with n/a"
both 75 ps tasks.kdump
both some pages tasks.kdump
both some pages tasks.kdump --areas-only

t "other listings"
atwalk collect -q --pid 101 -o other.cap tasks.kdump
both some info x86.elf
both some info tasks.kdump
both 22 pages tasks.kdump --totals
both some search tasks.kdump --text Linux --physical
both some diff tasks.kdump other.cap --areas-only
both some audit tasks.kdump
both some kmap report processes "$data/kmap/own.kmap"

t "several groups of rows"
"$built/tests/tools/mkcapture" -m 8G -p 20 -r 5000 >large.cap 2>"$work/log/made"
both 149788/2 pages large.cap --columns address,size,physical,state,rights,pid,task

t "every report"
atwalk report --help | sed -n '/^NAME:/,/^$/s/^  \([a-z]*\) .*/\1/p' >kinds
yes [ "$(wc -l <kinds)" -ge 15 ]
while read -r kind; do
	case $kind in
	thrash | growth) continue ;;      # of several sources
	nodes | kernel | machine) continue ;;    # the dump lacks what they need
	esac
	both some report "$kind" tasks.kdump
done <kinds

t "lists are their length, and chosen, sorted and grouped rows are what is written"
both some kmap show "$data/kmap/own.kmap"
both 4 pages tasks.kdump --columns state,count,size --group state
both 5 ps tasks.kdump --columns pid,task,rss --filter 'rss>0' --sort rss:desc --filter 'pid<103 and pid>97'

t "other engines read the same rows"
if ! command -v node >/dev/null ||
	! modules=$(npm_have parquet hyparquet hyparquet-compressors parquet-wasm apache-arrow); then
	skip "no node, or npm cannot install hyparquet and parquet-wasm"
else
	pairs=()
	for i in $(seq "$kept"); do pairs+=("$work/$i.parquet" "$work/$i.json"); done
	NODE_PATH=$modules run node "$cli/parquet.cjs" "${pairs[@]}"
	out <<<"$kept files: hyparquet same, arrow same"
fi

t "a terminal gets none, and several tables need a folder"
run script -qec "$O/atwalk map x86.elf --format parquet" /dev/null
status 2
yes grep -q 'refusing to write parquet to a terminal' "$work/log/out"
run atwalk report use,totals tasks.kdump --format parquet
status 2
err_has "a parquet file has one table"
run atwalk report use,totals tasks.kdump --format parquet -q -o folder
yes python3 "$cli/parquet.py" folder/use.parquet <(atwalk report use tasks.kdump -q --format json)
yes python3 "$cli/parquet.py" folder/totals.parquet <(atwalk report totals tasks.kdump -q --format json)

t "a full disk leaves no file behind"
run atwalk map x86.elf --format parquet -o /dev/full
status 3
err_has "No space left on device"

finish
