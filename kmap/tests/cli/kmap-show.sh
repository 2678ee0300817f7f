#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap show and kmap convert read files of every version, including difficult ones that were
# written by hand (tests/data/README), and report damage.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"

k=$data/kmap
have_zstd() { grep -q '^  found:.* zstd' "$built/found.txt"; }

# ---- the command ----

t "kmap without arguments lists its commands"
run atwalk kmap
status 2
err_has "kmap: COMMAND is missing: record, ctl, show, report, diff, convert, sql"
run atwalk kmap nonsense
status 2
err_has "unknown command 'nonsense'; known: record, ctl, show, report, diff, convert, sql"
run atwalk kmap --help
golden kmap-help
run atwalk help kmap
golden kmap-help
run atwalk kmap show --help
cp "$work/log/out" help
run atwalk help kmap show
same "$work/log/out" help

# ---- show ----

for f in v1.kmap v2.kmap v3.cmap v4.kmap uscope.cmap.comp own.kmap; do
	t "show $f"
	run atwalk kmap show "$k/$f"
	golden "kmap-${f%%.*}"
	run atwalk kmap show --format csv "$k/$f"
	golden "kmap-${f%%.*}-csv"
	run atwalk kmap show --format json "$k/$f"
	golden "kmap-${f%%.*}-json"
done

t "--rows selects the kind of rows"
run atwalk kmap show --format csv --rows objects --columns address,accesses,writes,reads "$k/v4.kmap"
out <<'END'
address,accesses,writes,reads
0x0000000000000000,1,7,8
0xffff880006a3b300,2,5,7
0xffff880006a3c000,1,1,0
0xffff880006a3c040,0,0,0
END
run atwalk kmap show --rows accesses --format jsonl --columns ip,caller,access_pid "$k/v3.cmap"
out <<'END'
{"ip":"0xffffffff81001234","caller":"0xffffffff81001300","access_pid":null}
{"ip":"0xffffffff81001238","caller":null,"access_pid":null}
{"ip":"0xffffffff811c2240","caller":null,"access_pid":null}
{"ip":null,"caller":null,"access_pid":null}
{"ip":"0xffffffff811c2248","caller":null,"access_pid":null}
END

t "the fate of an object is a word for --filter"
run atwalk kmap show --format csv --rows objects --columns address,fate,new_type "$k/v4.kmap"
out <<'END'
address,fate,new_type
0x0000000000000000,live,NONE
0xffff880006a3b300,missed,NONE
0xffff880006a3c000,nested,KMEM_CACHE
0xffff880006a3c040,live,NONE
END
run atwalk kmap show --format csv --rows objects --columns address --filter 'missed or nested' "$k/v4.kmap"
out <<'END'
address
0xffff880006a3b300
0xffff880006a3c000
END

t "sorted by the number of sites, with the list of them"
run atwalk kmap show --format jsonl --columns address,accesses --sort accesses:desc,address \
	--filter 'accesses>0' "$k/v4.kmap"
out <<'END'
{"address":"0xffff880006a3b300","accesses":[{"ip":"0xffffffff811c2240","pid":98,"writes":5,"reads":6},{"ip":"0xffffffff811c2244","pid":null,"writes":0,"reads":1}]}
{"address":"0x0000000000000000","accesses":[{"ip":"0xffffffff81001238","pid":null,"writes":7,"reads":8}]}
{"address":"0xffff880006a3c000","accesses":[{"ip":"0xffffffff811c2248","pid":2,"writes":1,"reads":0}]}
END

t "when objects were used"
run atwalk kmap show --format jsonl --columns address,free_time,first_use,last_use \
	--filter 'size=192' "$k/used.kmap"
out <<'E'
{"address":"0xffff888000001000","free_time":null,"first_use":20,"last_use":40}
{"address":"0xffff888000001000","free_time":50,"first_use":12,"last_use":15}
{"address":"0xffff888000001100","free_time":60,"first_use":55,"last_use":60}
{"address":"0xffff888000001200","free_time":70,"first_use":null,"last_use":null}
{"address":"0xffff888000001300","free_time":null,"first_use":null,"last_use":null}
{"address":"0xffff888000001300","free_time":90,"first_use":80,"last_use":81}
E
run atwalk kmap convert --to v4 -o none.kmap "$k/used.kmap"
err_has "version 4 cannot hold: heat of lines (1), header lines (5), times of accesses (6), names of functions (1)"
yes [ "$(grep -c '^#' none.kmap)" = 0 ]

t "memory references for atwalk lines: of lines, and of objects that fit into one"
run atwalk kmap convert -q --to references -o used.refs "$k/used.kmap"
status 4
err_is "atwalk: *used.kmap: 5 accesses to objects of more than 64 bytes left out: where in them is not recorded"
run atwalk lines --from used.refs --columns address,refs,reads,writes,threads,verdict --format csv
out <<'E'
address,refs,reads,writes,threads,verdict
0xffff888000001000,1,0,1,,undecided
0xffff888000002000,2,1,1,1,private
0xffff888000002040,3,3,0,,undecided
0xffff888000003000,1,0,1,1,private
E
sed 's/mode instance/mode site/' "$k/own.kmap" >site.kmap
run atwalk kmap convert --to references site.kmap
status 3
err_has "an object of this KMAP stands for all of its site"
run atwalk kmap convert --to references "$k/uscope.cmap.comp"
status 3
err_has "an object of a compressed KMAP stands for all of its site"
sed 's/mode instance/mode sample/' "$k/own.kmap" >part.kmap
run atwalk kmap convert -q --to references -o part.refs part.kmap
status 4
err_is "atwalk: part.kmap: 3 accesses to objects of more than 64 bytes left out: where in them is not recorded"
yes grep -qx '# counts sampled' part.refs
run atwalk kmap convert --to references --zstd "$k/own.kmap"
status 2
err_has "--zstd cannot be used with --to references"

t "a conversion that loses names of functions or the mark of a sample is reported"
sed 's/mode instance/mode sample/' "$k/own.kmap" >sample.kmap
run atwalk kmap convert --to v4 --output callers.kmap "$k/v3.cmap"
err_has "v3.cmap: version 4 cannot hold: callers (1), calls (2), comments (1)"
yes [ "$(stat -c %a callers.kmap)" = 600 ]
run grep from: callers.kmap
out <<'E'
  from:ffffffff81001234,2,3
  from:ffffffff81001238,0,1
E
run atwalk kmap convert --to atwalk -o callers.kmap "$k/v3.cmap"
run atwalk kmap convert -q --to v3 callers.kmap
yes grep -qx '  from:ffffffff81001234,caller:ffffffff81001300,2,3' "$work/log/out"
run atwalk kmap convert --to v4 -o none.kmap sample.kmap
err <<'END'
atwalk: sample.kmap: version 4 cannot hold: heat of lines (2), header lines (5), names of functions (1), marks of a sample (1)
END

t "heat of lines"
run atwalk kmap show --format jsonl --columns free_time,heat "$k/own.kmap"
out <<'END'
{"free_time":null,"heat":[{"line":0,"writes":5,"reads":0},{"line":2,"writes":0,"reads":6}]}
{"free_time":33,"heat":null}
END

t "an object with very many accesses has several parts"
{
	echo "1,0,2,3,4,5,6,a"
	awk 'BEGIN { for (i = 0; i < 70000; i++) printf "  %x,1,1,2\n", i }'
} >many
run atwalk kmap show --format csv --rows objects --columns address,accesses,writes,reads many
out <<'END'
address,accesses,writes,reads
0x0000000000000002,65536,65536,131072
0x0000000000000002,4464,4464,8928
END

t "from a pipe"
run sh -c "cat '$k/own.kmap' | '$O/atwalk' kmap show -"
golden kmap-own
run sh -c "cat '$k/v2.kmap' | '$O/atwalk' kmap show --format csv -"
golden kmap-v2-csv

t "mistakes"
run atwalk kmap show
status 2
err_has "FILE is missing"
run atwalk kmap show a b
status 2
err_has "too many arguments; expected one FILE"
run atwalk kmap show --columns nonsense "$k/v1.kmap"
status 2
err_has "--columns: unknown column 'nonsense'; known: alloc_ip, pid,"
run atwalk kmap show no-such-file
status 3
err_is "atwalk: no-such-file: No such file or directory"
run atwalk kmap show .
status 3
err_is "atwalk: .: is a directory"
cp "$k/v1.kmap" same.kmap
run atwalk kmap show -o same.kmap same.kmap
status 2
err_is "atwalk: --output: this is the source itself"

# ---- damaged files ----

t "not a KMAP"
: >empty
run atwalk kmap show empty
status 3
err_is "atwalk: empty: is empty"
run atwalk kmap show x86.elf
status 3
err_is "atwalk: x86.elf: not a KMAP: expected a first line *"
for head in alloc_ip,pid,ptr,size,alloc_serial,free_serial,free_ip,type,slab,new_type \
	alloc_ip,pid,ptr,size,alloc_time,free_time,free_ip,type,slab,new_type \
	alloc_index,access_ip,pid,writes,reads alloc_index,access_ip,writes,reads; do
	printf '%s\n%s\n' $head 0000000000000010,5,0000000000001000,8,1,2,20,KMALLOC,sh,NULL,NONE >table
	run atwalk kmap show table
	status 3
	err_is "atwalk: table: not a KMAP, but a table of the control folder; read 'kmap' there"
done

t "cut off in a line"
head -c -3 "$k/v1.kmap" >short.kmap
run atwalk kmap show --format csv --rows objects --columns address short.kmap
status 4
out <<'END'
address
0x0000000000000000
0xffff880007c4d000
0xffff880006a3b2c0
END
err_is "atwalk: short.kmap: line 8: cut off in the middle"

t "cut off before the end line"
head -n 12 "$k/own.kmap" >short.kmap
run atwalk kmap show --format csv --rows objects --columns free_time,accesses short.kmap
status 4
out <<'END'
free_time,accesses
,1
33,0
END
err_is "atwalk: short.kmap: no end line: cut off after line 12"

t "events lost by the recorder"
sed 's/lost 0$/lost 7/' "$k/own.kmap" >lost
run atwalk kmap show --columns size --format csv --rows objects lost
status 4
err_is "atwalk: lost: its recorder lost 7 events"

t "lines that cannot be read, by file and line"
sed '3s/4096/x/; 7s/null/nul/' "$k/v1.kmap" >bad
run atwalk kmap show --format csv --columns address,ip bad
status 4
out <<'END'
address,ip
0x0000000000000000,0xffffffff810012a0
0xffff880006a3b2c0,
0xffff880006a3b300,
END
err <<'END'
atwalk: bad: line 3: size: 'x' is not a number
atwalk: bad: line 7: ip: '(nul)' is not an address
END

t "very many invalid lines"
{
	cat "$k/v1.kmap"
	seq -f rubbish%.0f 1000
} >bad
run atwalk kmap show --columns address --format csv --rows objects bad
status 4
err_has "atwalk: bad: line 9: 'rubbish1' is neither"
err_has "atwalk: bad: line 28: 'rubbish20' is neither"
err_has "atwalk: bad: 980 more lines are invalid"

t "two versions in a file"
cat "$k/v4.kmap" "$k/v2.kmap" >mixed
run atwalk kmap show -o rows mixed
status 3
err_is "atwalk: mixed: line 9: an object of 10 fields, which is not of version 4 like those before"
yes [ ! -e rows ]

# ---- functions ----

t "functions by the symbols of the recording, with --limit"
run atwalk kmap show --rows accesses --format csv --columns ip,function,alloc_function --limit 2 "$k/own.kmap"
out <<'END'
ip,function,alloc_function
0xffffffff811c2240,security_file_alloc,security_file_alloc
0xffffffff811c2240,security_file_alloc,security_file_alloc
END
err_is "atwalk: kmap show: --limit leaves out 1 rows"
run atwalk kmap show --columns address,alloc_function --limit 1 "$k/own.kmap"
out <<'END'
ADDRESS             ALLOC_FUNCTION
0xffff880006a3b300  security_file_alloc
... and 1 more

2 objects, 3 accesses: version 4, of atwalk's own
END
run atwalk kmap show --limit 0 "$k/own.kmap"
status 2
err_has "--limit must be at least 1"

t "symbols that are far from an instruction are not its function"
{
	head -n -1 "$k/own.kmap"
	for i in $(seq 2000); do echo "# atwalk-kmap symbol $(printf %x $((0x1811c2240 + i * 16))) late$i"; done
	tail -n 8 "$k/own.kmap" | head -n -1
} >late.kmap
run atwalk kmap show -q --rows accesses --format csv --columns ip,function late.kmap
status 4
err_has "late.kmap: no end line"
yes [ "$(grep -c security_file_alloc "$work/log/out")" -ge 3 ]
yes [ "$(grep -c late "$work/log/out")" -eq 0 ]

t "hostile names: control characters, commas, markup, invalid UTF-8"
if ! command -v python3 >/dev/null; then skip "no python3"; else
cat >hostile.py <<'E'
import csv, json, subprocess, sys, xml.dom.minidom
atwalk = sys.argv[1]
names = [b'a\x1b[31mb', b'x,y,z', b',,,', b'"q"', b'=1+2', b'\xff\xfe\xc3', b'\xe2\x80\xae rtl',
         b'<b>&amp;]]>', b'\t\ttab\r', b'A' * 3000, b"'; drop", b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b' ']
text = b'# atwalk-kmap 1\n# atwalk-kmap kernel \x1b[31m<x>\xff\n'
text += b'# atwalk-kmap symbol ffffffff81003000 \x1b[2Jevil\xff"<script>\n# task 10 \x1b[31m\xff\n'
for name in names:
    for task, cache in (name, b'filp'), (b'sh', name.replace(b',', b';')):
        text += (b'ffffffff81003010,10,ffff888000002000,64,150,160,ffffffff81003050,KMALLOC,' + task +
                 b',' + cache + b',NONE\n  ffffffff81003020,3,1,10\n')
n = 2 * len(names)
text += b'# atwalk-kmap end objects %d accesses %d lost 0\n' % (n, n)
open('hostile.kmap', 'wb').write(text)
def say(*args):
    done = subprocess.run([atwalk, 'kmap', *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode or any(c < 32 and c != 10 for c in done.stderr):
        sys.exit(f'{args}: {done.returncode} {done.stderr}')
    return done.stdout.decode()
def clean(args, out):
    # A page has a script of its own, with tabs.
    fine = '\n\t' if '<script' in out else '\n'
    wrong = {c for c in out if (ord(c) < 32 and c not in fine) or ord(c) == 127}
    if wrong:
        sys.exit(f'{args}: {wrong}')
    return out
columns = ['--columns', 'task,cache,alloc_function']
show = ['show', '-q', '--rows', 'objects', 'hostile.kmap']
clean('plain', say(*show))
assert len(json.loads(clean('json', say(*show, '--format', 'json')))) == n
first = list(csv.reader(say(*show, *columns, '--format', 'csv').splitlines()))
assert len(first) == n + 1 and first[3][0] == 'x,y,z', first
xml.dom.minidom.parseString(clean('html', say(*show, '--format', 'html')).encode())
every = 'caches,sites,objects,code,processes,matrix,writers,flows'
clean('reports', say('report', '-q', every, 'hostile.kmap'))
xml.dom.minidom.parseString(clean('page', say('report', '-q', every, '--format', 'html', 'hostile.kmap')).encode())
for kind in 'caches', 'sites', 'matrix', 'flows':
    xml.dom.minidom.parseString(clean(kind, say('report', '-q', kind, '--format', 'svg', 'hostile.kmap')).encode())
say('convert', '--to', 'atwalk', '-o', 'again.kmap', 'hostile.kmap')
assert open('again.kmap', 'rb').read() == text
E
run timeout 60 python3 hostile.py "$O/atwalk"
no_out
fi

t "objects that are older than the recording"
cat >older.kmap <<'E'
# atwalk-kmap 1
0000000000000000,-1,ffff888000002000,64,0,160,ffffffff81003050,KMALLOC,,kmalloc-64,NONE
# mark before
0000000000000000,0,ffffffff82000000,8,0,0,0000000000000000,GLOBAL,,jiffies,NONE
  ffffffff81003020,3,1,10
# mark before
0000000000000000,0,0000000000000000,0,0,0,0000000000000000,UFO_HEAP,,NULL,NONE
  ffffffff81003020,3,1,10
ffffffff81003010,10,ffff888000002040,64,151,161,ffffffff81003050,KMEM_CACHE,sh,filp,NONE
# atwalk-kmap end objects 4 accesses 2 lost 0
E
run atwalk kmap show -q --rows objects --format csv --columns address,origin,pid,alloc_time,free_time,fate older.kmap
out <<'E'
address,origin,pid,alloc_time,free_time,fate
0xffff888000002000,before,,,160,freed
0xffffffff82000000,before,0,,,live
0x0000000000000000,,0,0,,live
0xffff888000002040,recorded,10,151,161,freed
E
run atwalk kmap show -q --rows objects --format csv --columns address --filter 'origin=before' older.kmap
yes [ "$(wc -l <"$work/log/out")" = 3 ]
sed '2d' older.kmap >none.kmap
run atwalk kmap show -q none.kmap
status 4
err_has 'line 2: a mark without an object before it'

# Recorders name each function before its first use.
t "functions that are named repeatedly before the objects that refer to them, in a pipe"
{
	echo '# atwalk-kmap 1'
	for i in $(seq 1500 -1 1); do
		printf '# atwalk-kmap symbol %x f%d\n' $((i * 4096)) "$i"
		[ $((i % 3)) != 0 ] || printf '# atwalk-kmap symbol %x f%d\n' $((i * 4096)) "$i"
		printf '%016x,1,%016x,8,%d,0,0000000000000000,KMALLOC,sh,NULL,NONE\n' $((i * 4096 + 8)) $((i * 64)) $((i + 1))
		printf '  %016x,1,2,3\n' $((i * 4096 + 4095))
	done
	echo '# atwalk-kmap symbols 1500'
	echo '# atwalk-kmap end objects 1500 accesses 1500 lost 0'
} >named.kmap
run sh -c "'$O/atwalk' kmap show -q --rows accesses --format csv --columns ip,function,alloc_function - <named.kmap"
yes [ "$(tail -n +2 "$work/log/out" | awk -F, '$2 == $3' | wc -l)" = 1500 ]
yes [ "$(sed -n 2p "$work/log/out")" = 0x00000000005dcfff,f1500,f1500 ]
yes [ "$(tail -n 1 "$work/log/out")" = 0x0000000000001fff,f1,f1 ]
# All functions are named, some twice, so their sizes are known.
run atwalk kmap report code -q --format csv --columns code,code_size --sort code:asc --limit 2 named.kmap
out <<'END'
code,code_size
f1,4096
f10,4096
END
# A file of another kernel is detected once enough functions are named.
for i in $(seq 1500); do printf '%016x T f%d\n' $((i * 4096 + 64)) "$i"; done >other.map
run atwalk kmap show --rows accesses --symbols other.map -q --limit 1 --columns function named.kmap
status 3
err_has '--symbols: other.map: is of another kernel: f'
head -n 9 named.kmap >few.kmap
run atwalk kmap show --rows accesses --symbols other.map -q --limit 1 --columns function few.kmap
status 3
err_has 'is of another kernel'

t "functions from a file, and a file without functions"
printf '%s\n' '0000000000000000 A nowhere' 'ffffffff811c2240 T somewhere' 'ffffffff811c2248 T end' >own.map
run atwalk kmap show --rows accesses --format csv --columns ip,function --symbols own.map "$k/v4.kmap"
out <<'END'
ip,function
0xffffffff81001238,
0xffffffff811c2240,somewhere
0xffffffff811c2244,somewhere
0xffffffff811c2248,end
,
END
run atwalk kmap show --rows accesses --filter 'function=x' --format csv "$k/v4.kmap"
err_has "v4.kmap: no symbols; use --symbols FILE"
run atwalk kmap show --symbols own.map --limit 1 "$k/v4.kmap"
yes grep -q 'ALLOC_FUNCTION' "$work/log/out"
run atwalk kmap show --symbols none "$k/v4.kmap"
status 3
no_out
err_has "--symbols: none: "

# ---- convert ----

for v in v1 v2 v3 v4 comp atwalk; do
	t "each file to $v"
	for f in v1.kmap v2.kmap v3.cmap v4.kmap uscope.cmap.comp own.kmap; do
		echo "==> $f"
		atwalk kmap convert --to $v "$k/$f" 2>said
		echo "status $?"
		sed "s|$k/||" said
	done >all
	run cat all
	golden kmap-to-$v
done

t "conversion to a version with all fields and back is lossless"
for way in "v1.kmap v4 v1" "v3.cmap v3 v3" "v4.kmap v4 v4" "v1.kmap v1 v1" "v2.kmap v3 v2" \
	"v4.kmap atwalk v4"; do
	# shellcheck disable=SC2086 # three words
	set -- $way
	run atwalk kmap convert -q --to "$2" -o there "$k/$1"
	run atwalk kmap convert -q --to "$3" -o back there
	run atwalk kmap show --format jsonl "$k/$1"
	cp "$work/log/out" want
	run atwalk kmap show --format jsonl back
	same "$work/log/out" want
done

t "conversion to our own version keeps everything"
for f in own.kmap used.kmap; do
	run atwalk kmap convert --to atwalk -o there "$k/$f"
	same there "$k/$f"
done

t "a file with a cut header and an end line is complete"
printf '%s\n' '# atwalk-kmap 1' '# atwalk-kmap cut x' '# atwalk-kmap end objects 0 accesses 0 lost 0' >both.kmap
run atwalk kmap convert --to atwalk -o there both.kmap
same there both.kmap

t "the compressed version is not converted to objects"
{
	grep -v '^ ' "$k/uscope.cmap.comp" | head -n 3
	for i in $(seq 20000); do
		echo "ffffffff8120${i},0,ffff88800000$i,64,0,0,0000000000000000,KMALLOC,a,kmalloc-64"
		echo "  ffffffff811c2248,1,0,2"
	done
} >many.comp
run atwalk kmap convert --to atwalk many.comp
status 3
no_out
err_has "has single objects, and the compressed form only sums of them"

t "a conversion of an incomplete file is marked as incomplete"
head -n -1 "$k/own.kmap" >headless.kmap
run atwalk kmap convert -q --to atwalk -o there headless.kmap
status 4
err_has "headless.kmap: no end line"
run tail -n 1 there
out <<'END'
# atwalk-kmap cut its input is cut off
END
run atwalk kmap convert --to atwalk -o back there
status 4
err_has "there: no end line"
same back there
sed 's/^  /  ,/' "$k/v4.kmap" >wrong.kmap
run atwalk kmap convert -q --to atwalk -o there wrong.kmap
status 4
err_has "wrong.kmap: line "
run tail -n 1 there
out <<'END'
# atwalk-kmap cut invalid lines in its input: 4
END

t "compressed, by option or by name"
if have_zstd; then
	run atwalk kmap convert --to v4 -o packed.zst "$k/v4.kmap"
	run atwalk kmap convert --to v4 --zstd -o packed "$k/v4.kmap"
	same packed packed.zst
	run atwalk kmap show packed
	golden kmap-v4
	cat packed packed >twice
	run sh -c "'$O/atwalk' kmap convert --to v4 twice | wc -l"
	out <<'END'
16
END
else
	skip "this build has no zstd"
fi

t "compressed, and cut off"
if have_zstd; then
	{
		echo "1,0,2,3,4,5,6,a"
		awk 'BEGIN { for (i = 0; i < 70000; i++) printf "  %x,1,%d,2\n", i * 7919 % 65536, i * 31 % 4099 }'
	} >many
	run atwalk kmap convert --to v1 -o many.zst many
	head -c -1000 many.zst >cut.zst
	run atwalk kmap show -q --rows objects --format csv --columns address cut.zst
	status 4
	err_is "atwalk: cut.zst: packed by zstd, and cut off behind byte *"
	run sh -c "'$O/atwalk' kmap show --rows accesses --format csv --columns ip cut.zst 2>/dev/null | wc -l"
	yes [ "$(cat "$work/log/out")" -gt 10000 ]
else
	skip "this build has no zstd"
fi

t "mistakes of convert"
run atwalk kmap convert "$k/v1.kmap"
status 2
err_has "--to is missing: v1, v2, v3, v4, comp, atwalk or references"
run atwalk kmap convert --to v5 "$k/v1.kmap"
status 2
err_has "--to: 'v5' is not one of v1|v2|v3|v4|comp|atwalk"
run atwalk kmap convert --to v1 --filter x "$k/v1.kmap"
status 2
err_has "--filter cannot be used with 'kmap convert'"
run atwalk kmap convert --to v1 -o there mixed
status 3
err_has "mixed: line 9"
run atwalk kmap convert --to v1 -o /dev/full "$k/v1.kmap"
status 3
err_is "atwalk: /dev/full: cannot write: No space left on device"

t "-q suppresses the report of losses"
run atwalk kmap convert -q --to v1 -o there "$k/own.kmap"

t "reading stops after very many invalid lines"
{ echo "# atwalk-kmap 1"; command yes x | head -n 1100000; echo "ffffffff81003010,0,ffff888000002000,64,150,0,0000000000000000,KMALLOC,softirq,kmalloc-64,NONE"; } >wrong.kmap
run atwalk kmap show wrong.kmap --format csv --columns size
status 4
err_has "atwalk: wrong.kmap: line 1048577: 1048576 invalid lines so far: the rest is not read"
out <<'E'
size
E

finish
