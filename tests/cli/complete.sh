#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion: candidates come from the option tables and from the columns of the listing
# that is typed, and bash, zsh and fish offer the same ones.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# The candidates alone.
# shellcheck disable=SC2317 # run calls it
offered() {
	atwalk __complete "$@" | cut -f 1
}

t "commands, with what they are for"
run atwalk __complete extr
out <<'EOT'
extract	write a small dump of page tables and kernel metadata only
:files
EOT

t "options of a command, and no other one"
run offered map --pt
out <<'EOT'
--pti
--pte-ext
EOT
run offered collect --colu
out </dev/null

t "words of an option, whether a shell splits at = or not"
run offered map --units ''
out <<'EOT'
human
bytes
pages
EOT
run offered map --units=b
out <<'EOT'
--units=bytes
EOT
run offered map --units = b
out <<'EOT'
bytes
EOT
run offered map --units =
out <<'EOT'
human
bytes
pages
EOT

t "columns of the listing that is typed, each with its meaning"
run atwalk __complete map x86.elf --columns address,si
out <<'EOT'
address,size	bytes this row speaks for
EOT
run offered report use tasks.kdump --sort -ps
out <<'EOT'
-pss
EOT
run offered report nodes tasks.kdump --sort ps
out </dev/null
run offered kmap show "$data/kmap/own.kmap" --columns ca
out <<'EOT'
cache
EOT

t "columns of a query, which is asked of the columns of its tables"
if ! grep -q '^  found:.* sqlite3' "$built/found.txt"; then skip "this build has no SQL"; fi
for of in "sql tasks.kdump tasks" "kmap sql $data/kmap/own.kmap objects"; do
	read -ra words <<<"$of"
	run offered "${words[@]::${#words[@]}-1}" "SELECT pid FROM ${words[-1]}" --columns p
	out <<<pid
done

t "options about the output do not matter, and those about the source do"
run offered pages tasks.kdump --format html -o /nonexistent/x --task swap --columns kc
out <<'EOT'
kcount
EOT
run offered pages tasks.kdump --task no-such-task --columns kc
out </dev/null

t "formats and sources of plugins that are named, by their notes"
if [ -e "$built/plugins/ihex.so" ]; then
	run offered map x86.elf --plugin markdown --format ma
	out <<<markdown
	run atwalk __complete map --plugin ihex --plugin=criu ''
	out <<'EOT'
live	the running kernel
live:kcore	the running kernel
live:bpf	the running kernel
live:pagemap	the running kernel
criu:	a source of a plugin
ihex:	a source of a plugin
:files
EOT
	run offered map --plugin ihex x86.elf i
	out <<<:files
	run offered map i
	out <<<:files
fi

t "words of filters"
run offered map x86.elf --filter 'present and exec'
out <<'EOT'
present and executable
EOT

t "names of reports, modes, controls, policies' files"
run offered report use,st
out <<'EOT'
use,stacks
EOT
run offered info --paging arm64-16k-4
out <<'EOT'
arm64-16k-47
arm64-16k-48
EOT
run offered kmap ctl x clear_o
out <<'EOT'
clear_object_list
EOT
run offered map -S ''
out <<'EOT'
:files
EOT

t "what cannot be completed is no error"
run offered nonsense --x
out </dev/null
run offered map nonexistent --columns a
out </dev/null
run atwalk __complete
status 2

ln -s "$O/atwalk" ptexplore
collect=$O/atwalk-collect
# shellcheck disable=SC2317 # run calls it
offered_by() {                    # PROGRAM WORD...
	"$1" __complete "${@:2}" | cut -f 1
}

t "ptexplore: its options with one dash or two, and processes"
run ./ptexplore __complete -pid 1 -q
out <<<$'-quiet\tDon\'t print page table details, just a summary of the memory areas'
run offered_by ./ptexplore -
sed -n 's/^\.It Fl \([a-z]*\).*/-\1/p' "$top/man/ptexplore.1" | sort >named
same "$work/log/out" named
run offered_by ./ptexplore -quiet --
sed -i 's/^/-/' named
same "$work/log/out" named
run offered_by ./ptexplore -pid $$
yes grep -qx $$ "$work/log/out"
run offered_by ./ptexplore --pid=$$
yes grep -qx -- "--pid=$$" "$work/log/out"
run offered_by ./ptexplore --pid = $$
yes grep -qx $$ "$work/log/out"
for word in -areas -address -pid=x; do
	run offered_by ./ptexplore $word ''
	no_out
done
run ./ptexplore __complete
no_out

t "atwalk-collect: its options, processes and files"
if [ ! -x "$collect" ]; then skip "there is no static libc here"; else
	run "$collect" __complete --m
	out <<<$'--mem\tuse at most BYTES of memory (K, M, G)'
	run offered_by "$collect" -q -
	"$collect" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' >named
	same "$work/log/out" named
	yes [ "$(wc -l <named)" = 13 ]
	run offered_by "$collect" --pid $$
	yes grep -qx $$ "$work/log/out"
	for words in '' '-q' '-o' '--output' '--pid 1' '--frames --mem 1M'; do
		# shellcheck disable=SC2086 # words
		run "$collect" __complete $words ''
		out <<<:files
	done
	run "$collect" __complete --output=x
	out <<<:files
	for words in '--mem' '--rate' 'to' '--pid 1 to'; do
		# shellcheck disable=SC2086 # words
		run "$collect" __complete $words ''
		no_out
	done
	# By itself, the word is a TO.
	run "$collect" --pid $$ __complete
	yes [ -s __complete ]
	said_err=1 said_status=1
fi

# ---- shells ----

# shellcheck disable=SC2317 # run calls it
in_bash() {
	bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _atwalk
		printf "%s\n" "${COMPREPLY[@]}"' "$top/completions/atwalk.bash" "${program:-$O/atwalk}" "$@"
}

t "bash"
run in_bash map x86.elf --columns address,si
out <<'EOT'
address,size
EOT
mkdir -p files
touch files/one files/two
run in_bash map files/o
out <<'EOT'
files/one
EOT

program=./ptexplore run in_bash -pid 1 -q
out <<<-quiet
[ ! -x "$collect" ] || {
	program=$collect run in_bash --m
	out <<<--mem
	program=$collect run in_bash --pid 1 files/o
	out <<<files/one
}

t "bash, of words with quotes, as they are typed"
cp x86.elf 'a b.elf'
# shellcheck disable=SC2088 # completion expands it
for word in "'a b.elf'" 'a\ b.elf' '"a b.elf"' '~/a\ b.elf'; do
	HOME=$PWD run in_bash map "$word" --filter '"present and exec'
	out <<'EOT'
present and executable
EOT
done

t "fish"
if command -v fish >/dev/null; then
	run fish --no-config -c "source $top/completions/atwalk.fish; complete -C '$O/atwalk map x86.elf --columns address,si'"
	out <<'EOT'
address,size	bytes this row speaks for
EOT
	for word in "'present and exec" 'present\ and\ exec' '"present and exec'; do
		# shellcheck disable=SC2016 # fish expands it
		run fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' \
			"$top/completions/atwalk.fish" "$O/atwalk map 'a b.elf' --filter $word"
		fish_out=$(cut -f 1 "$work/log/out")
		yes [ "$fish_out" = 'present and executable' ]
	done
	run fish --no-config -c "source $top/completions/atwalk.fish; complete -C './ptexplore -pid 1 -q'"
	out <<<$'-quiet\tDon\'t print page table details, just a summary of the memory areas'
	[ ! -x "$collect" ] || {
		run fish --no-config -c "source $top/completions/atwalk.fish; complete -C '$collect --pid 1 --m'"
		out <<<$'--mem\tuse at most BYTES of memory (K, M, G)'
	}
else
	skip "no fish"
fi

# Its own functions are replaced: they need a terminal.
# shellcheck disable=SC2317 # run calls it
in_zsh() {
	zsh -f -c '
		compdef() { : }
		_describe() { print -rl -- "${(@P)2}" }
		_files() { print files }
		typeset -A compstate
		script=$1; shift
		words=("$@") CURRENT=$#
		[[ ${@[-1]} != \"* ]] || compstate=(quote \")
		source $script' zsh "$top/completions/_atwalk" "${program:-$O/atwalk}" "$@"
}

t "every report is in the help and in the completions"
run atwalk report nosuch live
status 2
err_has "known: basic, "
sed -n 's/.*; known: //p' "$work/log/err" | tr -d ' ' | tr , '\n' | sort >known
yes grep -qx backing known
atwalk report --help | sed -n '/^NAME:/,/^options:/s/^  \([a-z]*\)  *[^ ].*/\1/p' | sort >helped
same helped known
atwalk __complete report '' | cut -f 1 | sort >completed
same completed known

t "zsh"
if command -v zsh >/dev/null; then
	run in_zsh map x86.elf --columns address,si
	out <<'EOT'
address,size:bytes this row speaks for
EOT
	run in_zsh map live:kc
	out <<'EOT'
live\:kcore:the running kernel
files
EOT
	# shellcheck disable=SC2088 # likewise
	HOME=$PWD run in_zsh map '~/a\ b.elf' --filter '"present and exec'
	cut -d : -f 1 "$work/log/out" >zsh_out
	yes grep -qx 'present and executable' zsh_out
	program=./ptexplore run in_zsh -pid 1 -q
	out <<<"-quiet:Don't print page table details, just a summary of the memory areas"
	[ ! -x "$collect" ] || {
		program=$collect run in_zsh --pid 1 --m
		out <<<"--mem:use at most BYTES of memory (K, M, G)"
		program=$collect run in_zsh -o x
		out <<<files
	}
else
	skip "no zsh"
fi

finish
