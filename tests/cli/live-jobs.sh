#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several threads list processes of the running kernel as one does. All of those that are
# compared are started by this test, and do not change.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/crowd.sh
. "$cli/crowd.sh"

crowd=60
crowd_name=jobs$$                       # unique to this run
crowd "$crowd" "$crowd_name"

for way in live:bpf live:pagemap; do
	t "$way: the same rows"
	if ! atwalk pages $way --pid "$parent" --address "$own" --format csv \
		--columns physical >first.txt 2>&1 || ! grep -q 0x first.txt; then
		skip "$(head -n 1 first.txt)"
	else
		for n in 1 2 7; do
			atwalk pages $way --jobs $n --format csv --columns pid,address,size,state,area \
				--filter "task=$crowd_name and writable" >pages$n 2>>err
			atwalk pages $way --jobs $n --format jsonl --areas-only \
				--columns pid,address,rss,uss,rights \
				--filter "task=$crowd_name and writable" >areas$n 2>>err
			same pages$n pages1
			same areas$n areas1
		done
		yes [ "$(grep -c . pages1)" -gt $crowd ]
		yes [ "$(grep -c . areas1)" -gt $crowd ]
	fi

	t "$way: it ends with its reader, and when it is interrupted"
	for n in 1 3; do
		atwalk pages $way --jobs $n 2>>err | head -n 1 >first
		timeout -s INT 0.05 atwalk pages $way --jobs $n >/dev/null 2>&1
	done
done

t "ps: the same tasks"
if ! atwalk ps live:bpf --format csv --filter "task=$crowd_name" >ps0 2>first.txt; then
	skip "$(head -n 1 first.txt)"
else
	for n in 1 2 7; do
		atwalk ps live:bpf -T --jobs $n --format csv --filter "task=$crowd_name" \
			--columns pid,mm,root,resident,page_sizes,kind >ps$n 2>>err
		same ps$n ps1
	done
	yes [ "$(grep -c "$crowd_name\|process" ps1)" = $crowd ]
fi

t "ps: processes end between the list of tasks and their page tables"
if ! atwalk ps live:bpf >first 2>first.txt; then
	skip "$(head -n 1 first.txt)"
else
	(while [ -e first ]; do /bin/true; done) &
	for n in 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2; do
		atwalk ps live:bpf --jobs $n --format csv >shown 2>>err
		yes grep -qx '[04]' <<<$?
	done
	rm first
	wait $!
fi

t "find: all that share a page"
physical=$(atwalk pages live:bpf --pid "$parent" --address "$shared" --format csv \
	--columns physical 2>first.txt | tail -n 1)
if [ "${physical#0x}" = "$physical" ]; then skip "$(head -n 1 first.txt)"; else
	for n in 1 2 7; do
		atwalk find live:bpf "${physical#0x}" --jobs $n --format csv >find$n 2>>err
		same find$n find1
	done
	yes [ "$(grep -c "$crowd_name" find1)" = $crowd ]
fi

finish
