# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for atwalk(1), atwalk-kmap(1), atwalk-collect(8) and ptexplore(1). The
# programs have the tables of their options, and print what fits.

# REPLY: the word as the program gets it. Of what a shell expands, it knows ~/ alone.
_atwalk_unquote()
{
	local text=$1 quote='' c

	REPLY=
	[[ $text != \~/* ]] || text=$HOME${text:1}
	while [ -n "$text" ]; do
		c=${text:0:1} text=${text:1}
		if [ "$c" = "$quote" ]; then
			quote=
		elif [[ -z $quote && $c == [\'\"] ]]; then
			quote=$c
		elif [[ $c == \\ && ( -z $quote || $quote == \" && $text == [\$\`\"\\]* ) ]]; then
			REPLY+=${text:0:1} text=${text:1}
		else
			REPLY+=$c
		fi
	done
}

_atwalk()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words=() word line files='' REPLY

	COMPREPLY=()
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		_atwalk_unquote "$word"
		words+=("$REPLY")
	done
	# A quote that is still open is no part of what bash compares.
	words+=("${cur#[\'\"]}")
	while IFS= read -r line; do
		if [ "$line" = :files ]; then
			files=1
		else
			COMPREPLY+=("${line%%$'\t'*}")
		fi
	done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	# What follows a colon is typed next.
	[[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null
	[ -n "$files" ] || return 0
	[ "$cur" != = ] || cur=
	compopt -o filenames 2>/dev/null
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
}
complete -F _atwalk atwalk atwalk-kmap atwalk-collect ptexplore
