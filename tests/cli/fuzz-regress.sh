#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No kept input makes a fuzz target fail: the seeds, the inputs of former findings,
# the kept corpus, and the files that must fail. WRAP: put in front of each (valgrind).
set -u
cd "$(dirname "$0")/../.." || exit
O=${O:-build}
passed=0 failed=0 skipped=0
for target in tests/fuzz/fuzz_*.c; do
	name=${target##*/fuzz_} name=${name%.c}
	if [ ! -x "$O/tests/fuzz/$name" ]; then
		skipped=$((skipped + 1))
		echo "skip - $name: not built; make fuzz-regress builds it"
		continue
	fi
	dirs=()
	for d in "$O/fuzz/seeds/$name" tests/fuzz/{regress,corpus}/"$name" tests/data/must-fail; do
		[ -d "$d" ] && dirs+=("$d")
	done
	# shellcheck disable=SC2086 # WRAP is a command with its options
	if said=$(timeout "${FUZZ_LIMIT:-900}" ${WRAP:-} "$O/tests/fuzz/$name" "${dirs[@]}" 2>&1); then
		passed=$((passed + 1))
		echo "ok - $name: ${said##*$'\n'}"
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n%s\n' "$name" "$said"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
