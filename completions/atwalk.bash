# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for atwalk(1) and atwalk-collect(8)

_atwalk()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local cmd=walk sub=${COMP_WORDS[2]:-} words=''
	local common='--output --format --columns --filter --sort --group --units
		--part --quiet --verbose --rate --color --help --version'
	local space='--pid --task --pti --cpu --root --paging --pte-ext --cbit
		--kernel'
	local commands='walk map info ps pages find extract probe collect report kmap'
	local kmap='record ctl show report diff convert'

	case ${COMP_WORDS[1]} in
	walk|map|info|ps|pages|find|extract|probe|collect|report|kmap) [ "$COMP_CWORD" -gt 1 ] && cmd=${COMP_WORDS[1]} ;;
	esac
	COMPREPLY=()

	# The value of an option; bash splits --format=csv into three words.
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 1 ]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	case $prev in
	--format) words='plain csv json jsonl html svg ps pdf png' ;;
	--units) words='human bytes pages' ;;
	--color) words='auto always never' ;;
	--form) words='today 2005' ;;
	--by) words='process user cgroup unit' ;;
	--rows) words='objects accesses' ;;
	--mode) words='instance site sample' ;;
	--level) words='instruction function file directory topdir' ;;
	--to) words='v1 v2 v3 v4'
		[ "$sub" = convert ] && words="$words comp atwalk" ;;
	--split) words='rights page physical flags' ;;
	--pte-ext) words='thead svrsw60t59b lpa2' ;;
	--paging|--paging-flags)
		words=$("${COMP_WORDS[0]}" info --paging-modes --format csv \
			--columns mode 2>/dev/null | sed 1d) ;;
	--pti) words='user kernel' ;;
	--pid) words=$(cd /proc 2>/dev/null && printf '%s ' [0-9]*) ;;
	--columns|--filter|--sort|--group|--rate|--watch|--task|--areas|--address|--cpu|--root|--cbit|-s|--depth)
		return ;;
	-o|--output|-S|--part|--kernel)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	esac
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi

	case $cur in
	-*)
		case $cmd in
		walk) words="$common $space --path --depth --allow-unreadable --freeze" ;;
		map) words="$common $space --all --split --large --depth --watch --allow-unreadable --freeze" ;;
		info) words="$common $space --paging-modes --paging-flags --log" ;;
		pages) words="$common --pid --task --areas --address --all --areas-only --totals --allow-unreadable --watch --freeze --root --paging
			--pte-ext --cbit --kernel" ;;
		find) words="$common $space --all --virtual --freeze" ;;
		extract) words="$common --pages --root --paging --pte-ext --cbit
			--kernel" ;;
		probe) words="$common --pid" ;;
		collect) words="$common --frames --raw --form --threads --zstd --pid --task --no-refs --progress --allow-unreadable
			--freeze --root --paging --pte-ext --cbit --kernel" ;;
		report) words="$common --virtual --paper --kernel-threads --by --watch --limit --pid --task --no-refs --progress --allow-unreadable
			--freeze --root --paging --pte-ext --cbit --kernel" ;;
		ps) words="$common --threads --allow-unreadable --root --paging --pte-ext --cbit --kernel" ;;
		kmap)
			case $sub in
			record) words="$common --mode --sample --cache --site --range --task-pid --times --lines --calls --live --pid --seconds --watch --mem --off --to --zstd
				--no-symbols --bare --plugin --control --control-socket" ;;
			ctl) words=$common ;;
			show) words="$common --rows --symbols --limit --progress" ;;
			convert) words="$common --to --zstd --progress" ;;
			report) words="$common --level --cut --symbols --kernel --top --limit --progress" ;;
			diff) words="$common --level --no-counts --symbols --kernel --progress" ;;
			esac ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	*)
		[ "$COMP_CWORD" -eq 1 ] && words="$commands help live"
		[ "$COMP_CWORD" -eq 2 ] && words="live live:kcore live:bpf live:pagemap"
		[ "$COMP_CWORD" -eq 2 ] && [ "$cmd" = kmap ] && words=$kmap
		[ "$COMP_CWORD" -eq 3 ] && [ "$cmd" = kmap ] && [ "$sub" = report ] && words='caches
			sites objects code processes matrix writers unread lifetimes live flows
			privilege compartments lines'
		[ "$COMP_CWORD" -eq 2 ] && [ "$prev" = help ] && words=$commands
		[ "$COMP_CWORD" -eq 2 ] && [ "$cmd" = report ] && words='basic areas units totals
			alerts count pages use nodes machine stacks tasks kernel thrash growth'
		[ "$COMP_CWORD" -eq 3 ] && [ "$cmd" = report ] && words="live live:kcore live:bpf
			live:pagemap"
		[ "$COMP_CWORD" -eq 4 ] && [ "$cmd" = kmap ] && [ "$sub" = ctl ] &&
			words='memorizer_enabled memorizer_log_access print_live_obj show_stats
			clear_object_list clear_printed_list kmap kmap_stream'
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -f -- "$cur") ;;
	esac
}
complete -F _atwalk atwalk

_atwalk_collect()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=''

	COMPREPLY=()
	case $prev in
	--pid) words=$(cd /proc 2>/dev/null && printf '%s ' [0-9]*) ;;
	--mem|--rate) return ;;
	*) words='--pid --frames --raw --allow-unreadable --no-refs --mem --rate --progress --quiet --verbose
		--help --version' ;;
	esac
	if [[ $cur == -* || $prev == --pid ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -F _atwalk_collect atwalk-collect
