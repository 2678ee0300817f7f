# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for atwalk(1), atwalk-kmap(1) and atwalk-collect(8). The programs have the
# tables of their options, and print what fits.

_atwalk()
{
	local cur=${COMP_WORDS[COMP_CWORD]} line files=''

	COMPREPLY=()
	while IFS= read -r line; do
		if [ "$line" = :files ]; then
			files=1
		else
			COMPREPLY+=("${line%%$'\t'*}")
		fi
	done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	# What follows a colon is typed next.
	[[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null
	[ -n "$files" ] || return 0
	[ "$cur" != = ] || cur=
	compopt -o filenames 2>/dev/null
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
}
complete -F _atwalk atwalk atwalk-kmap

# It is small, and has --help alone.
_atwalk_collect()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}

	COMPREPLY=()
	case $prev in
	--pid) mapfile -t COMPREPLY < <(cd /proc 2>/dev/null && compgen -W "$(echo [0-9]*)" -- "$cur") ;;
	--mem|--rate) ;;
	*) if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null |
			sed -nE 's/^  (    |-., )(--[a-z-]+)( .*)?$/\2/p')" -- "$cur")
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi ;;
	esac
}
complete -F _atwalk_collect atwalk-collect
