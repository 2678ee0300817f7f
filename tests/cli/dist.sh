#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The archive of a release: the same bytes from the same commit, a bill of materials that
# names it, and a licence for every file.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

version=$(atwalk --version | cut -d ' ' -f 2)

if ! git -C "$top" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	t "archives"
	skip "this is no clone"
	finish
	exit 0
fi

t "the same commit gives the same archive, whoever makes it and when"
for each in one:022 two:077; do
	git clone -q "$top" "${each%:*}"
	yes sh -c "umask ${each#*:}; make -C ${each%:*} --no-print-directory KMAP= O=out dist >make.log 2>&1"
done
same "one/out/dist/atwalk-$version.tar.gz" "two/out/dist/atwalk-$version.tar.gz"
same "one/out/dist/atwalk-$version.spdx.json" "two/out/dist/atwalk-$version.spdx.json"
yes tar -xzf "one/out/dist/atwalk-$version.tar.gz"
run diff -r --exclude .git --exclude out "one" "atwalk-$version"
out </dev/null

t "where git has no commit there is no archive, and no part of one"
run env GIT_CEILING_DIRECTORIES="$PWD" make -C "atwalk-$version" --no-print-directory KMAP= O=out dist
status 2
err_has 'fatal: not a git repository'
yes [ -z "$(ls "atwalk-$version/out/dist")" ]
rm -rf "atwalk-$version/out"

t "the bill of materials is SPDX, and names the archive by its hash"
run python3 - "one/out/dist/atwalk-$version" <<'END'
import hashlib
import json
import sys

with open(sys.argv[1] + '.spdx.json') as f:
    doc = json.load(f)
with open(sys.argv[1] + '.tar.gz', 'rb') as f:
    digest = hashlib.sha256(f.read()).hexdigest()
own = doc['packages'][0]
print(doc['spdxVersion'], doc['dataLicense'], own['name'], own['licenseDeclared'])
print(doc['creationInfo']['creators'] == [f"Tool: make-sbom-{own['versionInfo']}"])
print(own['checksums'] == [{'algorithm': 'SHA256', 'checksumValue': digest}])
known = {p['SPDXID'] for p in doc['packages']} | {doc['SPDXID']}
print(all(r[end] in known for r in doc['relationships']
          for end in ('spdxElementId', 'relatedSpdxElement')))
END
out <<'EOT'
SPDX-2.3 CC0-1.0 atwalk GPL-2.0-or-later
True
True
True
EOT

t "it has every library that this build found"
sed -n 's/^  found:  //p' "$built/found.txt" | head -n 1 | tr ' ' '\n' | sed 's/^lzma$/xz/; s/^libdw$/elfutils/' |
	grep -vx gettext | sort >wanted
python3 -c 'import json, sys
print("\n".join(sorted(p["name"] for p in json.load(sys.stdin)["packages"])))' \
	<"one/out/dist/atwalk-$version.spdx.json" >names
yes [ -z "$(comm -23 wanted names)" ]

t "libraries that are linked are those that the programs need, and no other is"
run python3 - "one/out/dist/atwalk-$version.spdx.json" "$built/atwalk" "$built/atwalk-kmap" <<'END'
import json
import re
import subprocess
import sys

NAMES = {'zlib': 'z', 'lzo': 'lzo2', 'xz': 'lzma', 'bzip2': 'bz2', 'elfutils': 'dw'}
SAME = {'elf': 'dw'}            # of one package
with open(sys.argv[1]) as f:
    doc = json.load(f)
how = {}
for r in doc['relationships']:
    for end in (r['spdxElementId'], r['relatedSpdxElement']):
        name = end.removeprefix('SPDXRef-')
        how.setdefault(NAMES.get(name, name), r['relationshipType'])
needed = set()
for program in sys.argv[2:]:
    text = subprocess.run(['readelf', '-dW', program], capture_output=True, text=True, check=True).stdout
    needed |= {SAME.get(n, n) for n in re.findall(r'NEEDED.*\[lib(\w+)\.so', text)}
for library in sorted(needed - {'c', 'm', 'dl', 'pthread', 'gcc_s', 'asan', 'ubsan', 'tsan'}):
    if how.get(library) != 'DYNAMIC_LINK':
        print(library, how.get(library, 'is missing'))
print(how.get('snappy'), how.get('sqlite3'))
END
out <<'EOT'
OPTIONAL_DEPENDENCY_OF OPTIONAL_DEPENDENCY_OF
EOT

t "validators of others accept the bill of materials"
validated=''
if command -v pyspdxtools >/dev/null; then
	validated=1
	yes pyspdxtools --infile "one/out/dist/atwalk-$version.spdx.json"
fi
if command -v node >/dev/null && modules=$(npm_have spdx spdx-expression-parse); then
	validated=1
	python3 -c 'import json, sys
for p in json.load(sys.stdin)["packages"]: print(p["licenseDeclared"]); print(p["licenseConcluded"])' \
		<"one/out/dist/atwalk-$version.spdx.json" | grep -vx NOASSERTION | sort -u >licences
	yes [ "$(wc -l <licences)" -gt 5 ]
	run env NODE_PATH="$modules" node -e 'const parse = require("spdx-expression-parse");
for (const text of require("fs").readFileSync("licences", "utf8").trim().split("\n"))
	try { parse(text); } catch (e) { console.log(text + ": " + e.message); }'
	no_out
fi
[ "$validated" ] || skip "neither pyspdxtools nor node with npm"

t "every file has a licence"
if command -v reuse >/dev/null; then
	(cd "atwalk-$version" && reuse lint) >"$work/reuse" 2>&1
	yes grep -q '^Congratulations' "$work/reuse"
else
	skip "no reuse"
fi

t "the workflow pins its actions by hash, and may only read"
grep -E '^ *(- )?uses:' "$top"/.github/workflows/*.yml >uses
yes [ -s uses ]
yes [ -z "$(grep -vE '@[0-9a-f]{40} # v[0-9.]+$' uses)" ]
yes [ "$(grep -hA 1 '^permissions:' "$top"/.github/workflows/*.yml)" = "permissions:
  contents: read" ]

finish
