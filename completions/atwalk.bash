# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for atwalk(1), atwalk-kmap(1) and atwalk-collect(8): what their --help lists

# Names in a list of a help text, which begins with a line $1.
_atwalk_names()
{
	sed -nE "/^$1:/,/^\$/s/^  ([a-z]+) .*/\1/p"
}

# The option $2 in a help text $1: its metavariable and the words it takes, in $value and
# $choices.
_atwalk_option()
{
	local line

	value='' choices=''
	while IFS= read -r line; do
		[[ $line =~ ^\ +(-.,\ )?"$2"\  || $line =~ ^\ \ "$2",\  ]] || continue
		[[ $line =~ ^\ +(-.,\ )?--[a-z-]+\ ([^\ ]+) ]] && value=${BASH_REMATCH[2]}
		[[ $line =~ \(([a-z0-9]+(\|[a-z0-9]+)+)\)$ ]] && choices=${BASH_REMATCH[1]//|/ }
		return 0
	done <<<"$1"
	return 1
}

_atwalk_reply()
{
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

_atwalk()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local program=${COMP_WORDS[0]} cmd=walk sub='' at=1 commands help words='' value choices

	COMPREPLY=()
	commands=$("$program" --help 2>/dev/null | _atwalk_names commands)
	if [ "$COMP_CWORD" -gt 1 ] && grep -qx -e "${COMP_WORDS[1]}" <<<"$commands"; then
		cmd=${COMP_WORDS[1]} at=2
	fi
	help=$("$program" "$cmd" --help 2>/dev/null)
	# A command that is several lists them, and no options.
	if [[ $help != *$'\ncommon options:'* ]]; then
		if [ "$COMP_CWORD" -eq 2 ]; then
			_atwalk_reply -W "$(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$help")"
			return
		fi
		sub=${COMP_WORDS[2]} at=3
		help=$("$program" "$cmd" "$sub" --help 2>/dev/null)
	fi

	# The value of an option; bash splits --format=csv into three words.
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 1 ]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if [[ $prev == -* ]] && _atwalk_option "$help" "$prev" && [ -n "$value" ]; then
		words=$choices
		case $prev in
		--split) words='rights page physical flags' ;;
		--pte-ext) words='thead svrsw60t59b lpa2' ;;
		--paging|--paging-flags)
			words=$("$program" info --paging-modes --format csv \
				--columns mode 2>/dev/null | sed 1d) ;;
		--pid) words=$(cd /proc 2>/dev/null && printf '%s ' [0-9]*) ;;
		esac
		case $value in
		FILE|FOLDER|PATH|VMLINUX)
			compopt -o filenames 2>/dev/null
			_atwalk_reply -f ;;
		*)
			[ -z "$words" ] || _atwalk_reply -W "$words" ;;
		esac
		return
	fi

	if [[ $cur == -* ]]; then
		_atwalk_reply -W "$(sed -nE 's/^  (    |-., )(--[a-z-]+)( .*)?$/\2/p' <<<"$help")"
		return
	fi
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$commands help live"
	elif [ "$COMP_CWORD" -eq 2 ] && [ "$prev" = help ]; then
		words=$commands
	elif [ "$cmd $sub" = 'kmap ctl' ]; then
		[ "$COMP_CWORD" -ne 4 ] || words='memorizer_enabled memorizer_log_access
			print_live_obj show_stats clear_object_list clear_printed_list kmap kmap_stream'
	elif [ "${sub:-$cmd}" = report ] && [ "$COMP_CWORD" -eq "$at" ]; then
		words=$(_atwalk_names '(NAME|KIND)' <<<"$help")
	elif [ "$at" -eq 2 ] && { [ "$COMP_CWORD" -eq 2 ] || { [ "$cmd" = report ] &&
		[ "$COMP_CWORD" -eq 3 ]; }; }; then
		words='live live:kcore live:bpf live:pagemap'
	fi
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -f -- "$cur")
}
complete -F _atwalk atwalk

# The words behind it are those behind `atwalk kmap`, which lies beside it.
_atwalk_kmap()
{
	COMP_WORDS=("${COMP_WORDS[0]%-kmap}" kmap "${COMP_WORDS[@]:1}")
	COMP_CWORD=$((COMP_CWORD + 1))
	_atwalk
}
complete -F _atwalk_kmap atwalk-kmap

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
