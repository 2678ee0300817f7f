#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every file of tests/data/must-fail, given to atwalk: the exit status and the
# first sentence on stderr must be those of its line in the index there.
#
# WRAP: put in front of atwalk (valgrind); an error it finds changes both.
#
# must-fail.sh --print writes the index as the program would have it now.
set -u
cd "$(dirname "$0")/../.." || exit
O=$(realpath "${O:-build}")
cd tests/data/must-fail || exit
atwalk=$O/atwalk
limit=300                        # seconds, after which a command hangs
[ -z "${WRAP:-}" ] || limit=900
passed=0 failed=0 skipped=0
export -n ATWALK_CONFIG

# Sets `status` and `said`: what became of `atwalk ARGS` with FILE for %.
ask() {
	local file=$1 args=$2 err
	# shellcheck disable=SC2086 # arguments are words, and so is WRAP
	err=$(XDG_CONFIG_HOME=/nonexistent timeout $limit ${WRAP:-} "$atwalk" ${args//%/$file} \
		2>&1 >/dev/null </dev/null)
	status=$?
	said=${err%%$'\n'*}
	said=${said#atwalk: }
}

if [ "${1:-}" = --print ]; then
	while IFS=$'\t' read -r file status args said; do
		if [[ $file == \#* ]]; then
			printf '%s\t%s\t%s\t%s\n' "$file" "$status" "$args" "$said" |
				sed 's/\t*$//'
			continue
		fi
		[[ $said == *... ]] || ask "$file" "$args"
		printf '%s\t%s\t%s\t%s\n' "$file" "$status" "$args" "$said"
	done <index
	exit
fi

declare -A listed
while IFS=$'\t' read -r file want_status args want; do
	[[ -n $file && $file != \#* ]] || continue
	listed[$file]=1
	ask "$file" "$args"
	if [[ $said == *"this build "* ]]; then
		skipped=$((skipped + 1))
		echo "skip - $file: $said"
	elif [ "$status" -eq "$want_status" ] &&
		{ [ "$said" = "$want" ] ||
		  [[ $want == *... && $said == "${want%...}"* ]]; }; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok - atwalk %s: status %s, not %s\n  says  %s\n  index %s\n' \
			"${args//%/$file}" "$status" "$want_status" "$said" "$want"
	fi
done <index
for file in *; do
	case $file in make | index) continue ;; esac
	if [ -z "${listed[$file]:-}" ]; then
		failed=$((failed + 1))
		echo "not ok - $file: is not in the index"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
