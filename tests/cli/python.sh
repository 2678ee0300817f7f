#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Python module: its documents run, its rows are those of atwalk(1), its buffers and
# Arrow streams hold the same values, and what goes wrong raises exceptions.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# Of the system, because the module was built for its headers.
python=/usr/bin/python3

t "there is a module to test"
[ -e "$built/python/atwalk/_atwalk.abi3.so" ] || skip "it was built without python3-dev"
[ -x "$python" ] || skip "there is no $python"
if grep -q fsanitize "$built/flags"; then
	LD_PRELOAD=$(gcc -print-file-name=libasan.so)
	export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0
fi
export PYTHONPATH=$built/python:$cli
module() { run "$python" "$@"; }
module -c 'import atwalk; print(atwalk.__version__)'
status 0
yes grep -qE '^[0-9]+[.][0-9]+' "$work/log/out"

t "only names of the stable ABI are used"
nm -D --undefined-only "$built/python/atwalk/_atwalk.abi3.so" | awk '{ print $2 }' |
	grep -E '^_Py' | grep -vE '^_Py_(Dealloc|NoneStruct|TrueStruct|FalseStruct)$|_SizeT$' >private
same private /dev/null

ln -s "$data/kmap/own.kmap" memory.kmap

t "documents"
module "$cli/python_module.py" documents "$top/docs/python.md"
status 0

redump x86.elf kdump-zlib excluded.kd --exclude-range 1055000-1056000 2>made

for part in rows filters notebooks buffers arrow errors signals; do
	t "$part"
	O=$O module "$cli/python_module.py" $part
	status 0
	err </dev/null
done

t "Ctrl-C ends each call within a tenth of a second"
live=$(atwalk info -q live:bpf 2>&1 >/dev/null | head -n 1) more=(live)
[ -z "$live" ] || more=()
if [ -n "${LD_PRELOAD:-}" ]; then skip "calls take longer under sanitizers"; fi
module "$cli/python_module.py" prompt "${more[@]}"
status 0
err </dev/null

t "the running kernel through BPF, against /proc"
[ -z "$live" ] || skip "$live"
module "$cli/python_module.py" live
status 0

for library in numpy pandas polars pyarrow; do
	t "$library has the values of a table, and none where there is none"
	if [ -n "${LD_PRELOAD:-}" ]; then skip "$library is not built for the sanitizers' runtime"
	elif ! "$python" -c "import $library" 2>/dev/null; then
		skip "$python has no $library; pip install $library, where there is a registry"
	fi
	module "$cli/python_module.py" "$library"
	status 0
done

t "recordings of kmap"
if [ ! -e "$built/atwalk-kmap" ]; then skip "it was built without kmap"
elif ! grep -q '^  found:.* sqlite3' "$built/found.txt"; then skip "it was built without SQLite"
else
	KMAPS=$data/kmap O=$O module "$cli/python_module.py" kmaps
	status 0
	err </dev/null
fi

t "the notebook of examples/"
module "$top/examples/notebook.py" tasks.kdump 20000
status 0
err_has "rows: address, size, physical"
cp "$work/log/out" cells
run sed '/^<atwalk.Table/d; /DuckDB/,$d' cells
out <<END
<atwalk.Source 'tasks.kdump': dump, kdump, x86_64-4>
$(atwalk report use tasks.kdump --sort pss:desc --format csv --columns pid,name,pss |
	awk -F, 'NR > 1 && NR < 5 { printf "%6d %-16s %9d bytes\n", $1, $2, $3 }')
Q True True
True
END

t "DuckDB reads tables by their Arrow streams"
if ! modules=$(npm_have duckdb @duckdb/node-api) ||
	! library=$(find "$modules" -name libduckdb.so | grep -m 1 .); then skip "npm cannot install DuckDB"
elif [ -n "${LD_PRELOAD:-}" ]; then skip "DuckDB is not built for the sanitizers' runtime"
else
	DUCKDB=$library O=$O module "$cli/python_module.py" duckdb
	status 0
fi

t "10,000 opens leave nothing behind"
O=$O module "$cli/python_module.py" leaks
status 0

if [ -n "${WRAP:-}" ]; then
	t "nor do they under valgrind"
	# shellcheck disable=SC2086 # words of a command
	PYTHONMALLOC=malloc WRAPPED=1 run $WRAP "$python" "$cli/python_module.py" leaks
	status 0
fi

t "the shell has the source"
module -m atwalk tasks.kdump <<<'print(len(src.tasks()))'
status 0
yes grep -q 78 "$work/log/out"
err_has "src is <atwalk.Source 'tasks.kdump'"
module "$cli/python_module.py" terminal
status 0
run "$python" -m atwalk there-is-none </dev/null
status 3
err_has "atwalk: there-is-none: "
finish
