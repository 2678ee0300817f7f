#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Common options: a command takes those that its help lists, and refuses every other
# with one sentence.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# The lines of a list in a help text.
section() {
	sed -n "/^$1:/,/^\$/p" "$work/log/out" | sed 1d
}

# Names and metavariables of the common options that a help text lists.
common() {
	section 'common options' |
		sed -nE 's/^  (    |-., )(--[a-z-]+)( [A-Z]+)? .*/\2\3/p'
}

atwalk --help >"$work/log/out"
common >all
mapfile -t commands < <(section commands | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx kmap)
atwalk kmap --help >"$work/log/out"
mapfile -t kmap < <(sed -nE 's/^  ([a-z]+) .*/kmap \1/p' "$work/log/out")
commands+=("${kmap[@]}")

t "which common options each command takes"
yes [ "${#commands[@]}" = 28 ]
yes [ "$(wc -l <all)" = 21 ]
: >table
for command in "${commands[@]}"; do
	read -ra words <<<"$command"
	run atwalk "${words[@]}" --help
	echo "$command: $(common | sed 's/ .*//' | paste -sd ' ')" >>table
	cp "$work/log/out" "help-${command// /-}"
	# --help of it all has no option that no command has.
	common >"takes-${command// /-}"
	yes [ -z "$(comm -13 <(sort all) <(sort "takes-${command// /-}"))" ]
done
cp table "$work/log/out"
golden common-options

# What an option is given as its value: for the words of a list the first one.
value_of() {
	local words

	words=$(sed -nE "s/^ .*--$1 [A-Z]+ .*\(([a-z0-9]+)\|.*\)\$/\1/p" help-walk)
	case $1 in
	rate) echo 1M ;;
	jobs) echo 2 ;;
	expect) echo some ;;
	*) echo "${words:-x}" ;;
	esac
}

# Without its operands a command ends where it has read its options.
refused=0 taken=0
for command in "${commands[@]}"; do
	read -ra words <<<"$command"
	[ "$command" != probe ] || words+=(operand)
	t "$command: each common option"
	while read -r option arg; do
		given=("$option")
		[ -z "$arg" ] || given+=("$(value_of "${option#--}")")
		run atwalk "${words[@]}" "${given[@]}"
		# kmap record has a --plugin of its own, of QEMU.
		if grep -qx -e "$option${arg:+ $arg}" "takes-${command// /-}" ||
			[ "$command $option" = "kmap record --plugin" ]; then
			taken=$((taken + 1))
			said_status=1 said_err=1
			yes [ "$(grep -cE 'unknown option|cannot be used with' "$work/log/err")" = 0 ]
			continue
		fi
		refused=$((refused + 1))
		status 2
		no_out
		err <<E
atwalk: $option cannot be used with '$command'
        see: atwalk $command --help
E
	done <all
done

t "some were refused, most were taken"
yes [ $refused = 102 ]
yes [ $taken = 486 ]

t "an option that is refused, by its letter and with its value behind ="
run atwalk probe -S x.elf
status 2
no_out
err <<'E'
atwalk: --part cannot be used with 'probe'
        see: atwalk probe --help
E
run atwalk probe -qv
status 2
no_out
err <<'E'
atwalk: --verbose cannot be used with 'probe'
        see: atwalk probe --help
E
run atwalk probe --rate=5
status 2
no_out
err <<'E'
atwalk: --rate cannot be used with 'probe'
        see: atwalk probe --help
E

t "an option that is refused is not suggested"
run atwalk probe --verb
status 2
err <<'E'
atwalk: unknown option --verb
        see: atwalk probe --help
E
run atwalk probe --human
status 2
err <<'E'
atwalk: unknown option --human
        see: atwalk probe --help
E

t "an option of two groups is suggested once"
run atwalk report -f
status 2
err <<'E'
atwalk: unknown option -f; did you mean --freeze, --format, --filter?
        see: atwalk report --help
E
run atwalk report --fo
status 2
err <<'E'
atwalk: unknown option --fo; did you mean --format?
        see: atwalk report --help
E

t "--expect: the exit status is whether so many rows match the filter"
expect() {
	run atwalk map --expect "$1" --filter "$2" --format csv --columns level x86.elf
	status "$3"
}
rows=$(($(atwalk map --format csv --filter 'size>=2M' --columns level x86.elf | wc -l) - 1))
yes [ $rows -gt 1 ]
expect some 'size>=2M' 0
expect none 'size>=2M' 1
expect $rows 'size>=2M' 0
expect $((rows - 1)) 'size>=2M' 1
expect 0 'size>=2M' 1
expect none 'size<4K' 0
expect 0 'size<4K' 0
expect some 'size<4K' 1

t "--expect: rows before they are grouped, and of all reports"
run atwalk map --expect $rows --group level --filter 'size>=2M' x86.elf
run atwalk report --expect 1 basic,totals "$data/captures/server.cap"
status 1
run atwalk report --expect some basic,totals "$data/captures/server.cap"

t "--expect: an error and an incomplete answer remain"
run atwalk map --expect none none.elf
status 3
err_has 'none.elf: No such file or directory'
run atwalk map --expect none --pid 99 "$data/captures/server.cap"
status 1
err_has 'there is no process'
run atwalk pages -q --expect some "$data/captures/copies.cap"
status 4
said_err=1

t "--expect: what is no number of rows"
run atwalk map --expect few x86.elf
status 2
no_out
err <<'E'
atwalk: --expect: 'few' is not some, none or a number
        see: atwalk map --help
E
run atwalk collect --expect none x86.elf
status 2
err <<'E'
atwalk: --expect cannot be used with 'collect'
        see: atwalk collect --help
E

t "formats of pictures are those of commands that draw"
run atwalk map --format svg x86.elf
status 2
no_out
err <<'E'
atwalk: --format: 'svg' is not one of plain|csv|json|jsonl|html|parquet
        see: atwalk map --help
E
for command in report 'kmap report'; do
	read -ra words <<<"$command"
	run atwalk "${words[@]}" --format gif
	status 2
	no_out
	err <<E
atwalk: --format: 'gif' is not one of plain|csv|json|jsonl|html|parquet|svg|ps|pdf|png|pprof
        see: atwalk $command --help
E
done

finish
