#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap report and kmap diff print exact numbers for recordings with known contents.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/../../../tests/cli/lib.sh"

# Two caches, three functions with accesses, one that frees; an object in two parts, one
# with a missed free, one that is never freed.
cat >a.kmap <<'E'
# atwalk-kmap 1
# atwalk-kmap kernel 6.1.0
# atwalk-kmap machine x86_64
# atwalk-kmap slide 0
# atwalk-kmap mode instance
# atwalk-kmap clock serial
# atwalk-kmap symbol ffffffff81002000 dentry_reader
# atwalk-kmap symbol ffffffff81001000 alloc_dentry.part.0
# atwalk-kmap symbol ffffffff81003000 inode_writer.constprop.0.cold
# atwalk-kmap symbol ffffffff81004000 free_it_noprof
ffffffff81001010,10,ffff888000001000,192,100,200,ffffffff81004008,KMEM_CACHE,bash,dentry,NONE
  ffffffff81001020,5,0,10
  ffffffff81002008,0,7,11
# line 0,5,3
# line 2,0,4
ffffffff81001010,10,ffff888000001100,192,110,0,0000000000000000,KMEM_CACHE,bash,dentry,NONE
  ffffffff81001020,2,0,10
ffffffff81001010,10,ffff888000001100,192,110,300,ffffffff81004008,KMEM_CACHE,bash,dentry,NONE
  ffffffff81001020,1,0,10
ffffffff81003010,0,ffff888000002000,64,150,0,0000000000000000,KMALLOC,softirq,kmalloc-64,NONE
  ffffffff81003020,9,1,-1
  ffffffff81002008,0,2,11
ffffffff81003010,0,ffff888000002040,64,160,163,00000000deadbeef,KMALLOC,softirq,kmalloc-64,NONE
# atwalk-kmap end objects 5 accesses 6 lost 0
E
sed -e 's/,dentry,NONE/,inode_cache,NONE/' -e 's/02008,0,2,11/02008,0,3,11/' a.kmap >b.kmap
all=caches,sites,objects,code,processes,matrix,writers,unread,lifetimes,live,flows
all+=,privilege,compartments,lines
drawn=caches,sites,code,matrix,writers,unread,lifetimes,live,flows,lines

# ---- reports ----

t "all reports of a recording in sequence"
run atwalk kmap report $all a.kmap
golden kmap-report

# Two sites share a size class, and two functions share pages of unknown origin.
t "flows are through objects of one site, not through a size class"
cat >class.kmap <<'E'
# atwalk-kmap 1
ffffffff81003010,0,ffff888000002000,64,150,0,0000000000000000,KMALLOC,sh,kmalloc-64,NONE
  ffffffff81003020,9,0,1
  ffffffff81003028,0,4,1
ffffffff81004010,0,ffff888000002040,64,160,0,0000000000000000,KMALLOC,sh,kmalloc-64,NONE
  ffffffff81004020,7,0,1
  ffffffff81004028,0,3,1
0000000000000000,0,ffff888000003000,4096,161,0,0000000000000000,ALLOC_PAGES,sh,NULL,NONE
  ffffffff81005020,7,0,1
  ffffffff81005028,0,3,1
0000000000000000,0,ffffffff82000000,8,0,0,0000000000000000,GLOBAL,,jiffies,NONE
  ffffffff81005020,1,0,1
  ffffffff81005028,0,2,1
# atwalk-kmap end objects 4 accesses 8 lost 0
E
run atwalk kmap report -q flows --level instruction --format csv --columns writer,reader,alloc_ip,cache,writes,reads class.kmap
out <<'E'
writer,reader,alloc_ip,cache,writes,reads
0xffffffff81003020,0xffffffff81003028,0xffffffff81003010,kmalloc-64,9,4
0xffffffff81004020,0xffffffff81004028,0xffffffff81004010,kmalloc-64,7,3
0xffffffff81005020,0xffffffff81005028,,jiffies,1,2
E
run atwalk kmap report -q flows --level instruction class.kmap
yes grep -q '^kinds of memory without a known allocation site, not listed: 1$' "$work/log/out"

t "as CSV, and hidden columns"
run atwalk kmap report caches --format csv --columns +live,missed,nested a.kmap
out <<'E'
cache,type,objects,size,freed,live,live_bytes,reads,writes,sites,readers,writers,missed,nested
dentry,KMEM_CACHE,2,384,2,0,0,7,8,1,1,1,0,0
kmalloc-64,KMALLOC,2,128,1,1,64,3,9,1,2,1,1,0
E

t "as JSON, and only the hottest"
run atwalk kmap report objects --format jsonl --columns address,free_time,pid,writes --top 1 a.kmap
out <<'E'
{"address":"0xffff888000001000","free_time":200,"pid":10,"writes":5}
E

t "processes; code outside of any thread has no pid"
run atwalk kmap report processes --format csv a.kmap
out <<'E'
pid,task,objects,size,reads,writes,sites
,,0,0,1,9,1
11,,0,0,9,0,2
10,bash,2,384,0,8,1
0,softirq,2,128,0,0,0
E

t "a task may have parentheses in its name"
sed 's/,bash,/,sh(1),/' a.kmap >paren.kmap
run atwalk kmap report processes --format csv --columns task --filter pid=10 paren.kmap
out <<'E'
task
sh(1)
E

t "filters and sort keys are those of all commands"
run atwalk kmap report matrix --format csv --filter 'writes>0' --sort writes a.kmap
out <<'E'
cache,type,code,reads,writes,frees
dentry,KMEM_CACHE,alloc_dentry,0,8,0
kmalloc-64,KMALLOC,inode_writer,1,9,0
E

t "by instruction"
run atwalk kmap report writers --level instruction --format csv a.kmap
out <<'E'
cache,type,code,writes,instructions
kmalloc-64,KMALLOC,inode_writer.constprop.0.cold+0x20,9,1
dentry,KMEM_CACHE,alloc_dentry.part.0+0x20,8,1
E

t "several reports are written to files in a folder"
run atwalk kmap report caches,lines --format csv -o folder a.kmap
no_out
yes test -s folder/caches.csv
run cat folder/lines.csv
out <<'E'
cache,type,line,offset,reads,writes,told
dentry,KMEM_CACHE,0,0x0000000000000000,3,5,1
dentry,KMEM_CACHE,2,0x0000000000000080,4,0,1
E

t "several reports: all files or none"
echo mine >afile
run atwalk kmap report caches,sites --format csv -o afile a.kmap
status 3
err <<'E'
atwalk: afile: not a folder; several reports need a folder
E
yes [ "$(cat afile)" = mine ]
mkdir some some/sites.csv
run atwalk kmap report caches,sites,code --format csv -o some a.kmap
status 3
err_has "some/sites.csv: cannot write: Is a directory"
yes [ "$(ls -A some)" = sites.csv ]
mkfifo slow
env --default-signal=TERM "$O/atwalk" kmap report caches,sites --format csv -o gone slow &
exec 9>slow
until [ -d gone ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -TERM $!
exec 9>&-
wait $!
yes [ $? = 143 ]
yes [ ! -e gone ]

t "--limit: the first rows, and the number of the rest"
run atwalk kmap report caches --columns cache,objects --limit 1 a.kmap
out <<'E'
CACHE                  OBJECTS
dentry                       2
... and 1 more
E
run atwalk kmap report caches --columns cache --limit 1 --format csv a.kmap
out <<'E'
cache
dentry
E
err <<'E'
atwalk: kmap report caches: --limit leaves out 1 rows
E

t "from a pipe, compressed in two frames"
if command -v zstd >/dev/null && grep -q '^  found:.* zstd' "$built/found.txt"; then
	head -n 17 a.kmap | zstd -qc >two.zst
	tail -n +18 a.kmap | zstd -qc >>two.zst
	run atwalk kmap report caches --format csv --columns cache,writes - <two.zst
	out <<'E'
cache,writes
dentry,8
kmalloc-64,9
E
else
	skip "there is no zstd"
fi

# An object with its last access in its first part, 10 before the free; one that is freed at
# its last access; one without accesses; one with a part without times; one that is accessed
# after its free; one without times, in a cache of its own.
t "how long objects are dead before they are freed"
run atwalk kmap report lifetimes "$data/kmap/used.kmap"
out <<'E'
CACHE                 TYPE               LEAST          MOST    OBJECTS     SIZE  UNTOUCHED       DEAD  DEAD_SIZE
dentry                KMEM_CACHE             0             0          0       0B          0          1       192B
dentry                KMEM_CACHE             8            15          2     384B          1          1       192B
dentry                KMEM_CACHE            16            31          1     192B          0          0         0B
dentry                KMEM_CACHE            32            63          1     192B          0          0         0B
kmalloc-64            KMALLOC               64           127          1      64B          0          0         0B
kmalloc-32            KMALLOC                1             1          1      32B          0        n/a        n/a

times count events: each allocation and each free is one
objects without a recorded free, not listed: 1
objects that have a dead time, from the last access to the free: 2
objects with accesses without times, so that their dead time is n/a: 2
objects that were accessed after they were freed have no dead time: 1
E
run atwalk kmap report lifetimes --format csv --columns least,dead a.kmap
out <<'E'
least,dead
64,
128,
2,
E
sed 's/^# used 30,95/# used 95,30/' "$data/kmap/used.kmap" >backwards.kmap
run atwalk kmap report lifetimes --columns cache backwards.kmap
status 4
err_has "backwards.kmap: line 25: the first access, 95, is after the last one, 30"

# ---- kinds of recordings ----

t "only a sample is marked as a sample, with its scale"
sed 's/mode instance/mode sample/; s/clock serial/clock serial\n# atwalk-kmap scale 64/' a.kmap >s.kmap
run atwalk kmap report caches s.kmap
yes grep -qx 'sampled, and not exact: scale 64; multiply numbers of allocated objects and of accesses to them by it to estimate the total; GLOBAL and UFO are not sampled' \
	"$work/log/out"
run atwalk kmap report matrix --format svg -o s.svg s.kmap
yes grep -q 'accesses; sampled, scale 64' s.svg
run atwalk kmap report unread s.kmap
yes test "$(grep -c 'while it was watched' "$work/log/out")" -eq 0

t "a sample of accesses has its scale after the objects, which are exact"
sed 's/mode instance/mode sample/; s/\(# atwalk-kmap end\)/# atwalk-kmap scale 900\n\1/' a.kmap >s.kmap
run atwalk kmap report caches s.kmap
yes grep -qx 'accesses are sampled, and not exact: scale 900; multiply numbers of them by it to estimate the total' \
	"$work/log/out"
run atwalk kmap report live --format svg -o s.svg s.kmap
yes grep -q 'bytes, over ticks of the recording.*s clock; accesses sampled, scale 900' s.svg
for kind in unread lifetimes; do
	run atwalk kmap report $kind s.kmap
	yes grep -qx 'untouched, only read and only written apply to the time an object was watched; objects that were never watched are not counted' \
		"$work/log/out"
done
sed '/scale 900/d' s.kmap >none.kmap
run atwalk kmap report caches none.kmap
yes grep -qx 'accesses are sampled, and not exact; the recording has no scale' "$work/log/out"

# Two of three filp objects were watched, and one of these was accessed; no pid object was.
t "a sample has its error, and n/a for objects that were not watched"
cat >w.kmap <<'END'
# atwalk-kmap 1
# atwalk-kmap mode sample
# atwalk-kmap sampling watch
ffffffff81003010,10,ffff888000002000,64,150,160,ffffffff81003050,KMEM_CACHE,sh,filp,NONE
  ffffffff81003020,3,1,10
# mark watched
ffffffff81003010,10,ffff888000002040,64,151,161,ffffffff81003050,KMEM_CACHE,sh,filp,NONE
# mark watched
ffffffff81003010,10,ffff888000002080,64,152,162,ffffffff81003050,KMEM_CACHE,sh,filp,NONE
ffffffff81004010,10,ffff888000003000,64,153,163,ffffffff81003050,KMEM_CACHE,sh,pid,NONE
ffffffff81005010,10,ffff888000004000,64,154,164,ffffffff81003050,KMEM_CACHE,sh,dentry,NONE
# mark watched unheard-of
# atwalk-kmap scale 100
# atwalk-kmap end objects 5 accesses 1 lost 0
END
run atwalk kmap report caches -q --format csv w.kmap
out <<'END'
cache,type,objects,size,freed,live_bytes,reads,writes,sites,readers,writers,estimate,error
filp,KMEM_CACHE,3,192,3,0,1,3,1,1,1,400,784
pid,KMEM_CACHE,1,64,1,0,,,1,,,,
dentry,KMEM_CACHE,1,64,1,0,0,0,1,0,0,0,300
END
run atwalk kmap report sites -q --format csv --columns alloc_ip,reads,writes,estimate,error w.kmap
out <<'END'
alloc_ip,reads,writes,estimate,error
0xffffffff81003010,1,3,400,784
0xffffffff81004010,,,,
0xffffffff81005010,0,0,0,300
END
run atwalk kmap report caches -q w.kmap
yes grep -qx 'all accesses, estimated: 400, plus or minus 784 with a confidence of 95 %' "$work/log/out"
yes grep -qx 'objects with sampled accesses: 3 of 5; accesses to others are n/a' "$work/log/out"
run atwalk kmap report unread -q --format csv --columns cache,untouched w.kmap
out <<'END'
cache,untouched
filp,1
dentry,1
END
run atwalk kmap show -q --format jsonl --rows objects --columns address,accesses,writes,reads w.kmap
out <<'END'
{"address":"0xffff888000002000","accesses":[{"ip":"0xffffffff81003020","pid":10,"writes":3,"reads":1}],"writes":3,"reads":1}
{"address":"0xffff888000002040","accesses":[],"writes":0,"reads":0}
{"address":"0xffff888000002080","accesses":null,"writes":null,"reads":null}
{"address":"0xffff888000003000","accesses":null,"writes":null,"reads":null}
{"address":"0xffff888000004000","accesses":[],"writes":0,"reads":0}
END
# With sampling by the CPU, each hit is independent: 1.96 times 2.
sed 's/sampling watch/sampling rate/; /^# mark/d' w.kmap >r.kmap
run atwalk kmap report caches -q --format csv --columns cache,reads,writes,estimate,error r.kmap
out <<'END'
cache,reads,writes,estimate,error
filp,1,3,400,392
pid,0,0,0,300
dentry,0,0,0,300
END
# Exact recordings have no error, nor do recordings of a sample of objects with all accesses.
run atwalk kmap report caches -q --format csv --columns cache,reads,estimate a.kmap
out <<'END'
cache,reads,estimate
dentry,7,
kmalloc-64,3,
END
# A conversion keeps the marks, or reports their loss.
run atwalk kmap convert --to atwalk w.kmap
yes [ "$(grep -c '^# mark watched$' "$work/log/out")" = 3 ]
run atwalk kmap convert --to v3 -o w.v3 w.kmap
err_has 'marks of objects (3)'

t "without cache lines in the recording, table and picture have a note"
grep -v '^# line' a.kmap >none.kmap
run atwalk kmap report lines none.kmap
yes grep -qx 'this recording has no accesses by line' "$work/log/out"
run atwalk kmap report lines --format svg -o s.svg none.kmap
yes grep -q 'this recording has no accesses by line; 0 caches' s.svg
run atwalk kmap report caches a.kmap
yes test "$(grep -c sampled "$work/log/out")" -eq 0

t "a recording that is cut off has a note, and its rows are printed"
head -n 20 a.kmap >cut.kmap
run atwalk kmap report caches --columns cache,objects,freed cut.kmap
status 4
err_has "cut.kmap: no end line: cut off after line 20"
out <<'E'
CACHE                  OBJECTS     FREED
dentry                       2         2
kmalloc-64                   1         0

the recording is cut off: only its beginning is reported
E
run atwalk kmap report code --format svg -o cut.svg cut.kmap
status 4
err_has "cut off"
yes grep -q 'the recording is cut off' cut.svg

t "invalid lines are counted, and the others are reported"
sed '12s/5,0,10/5,x,10/' a.kmap >bad.kmap
run atwalk kmap report caches --columns cache,writes bad.kmap
status 4
err_has "bad.kmap: line 12"
yes grep -q '^1 line could not be read' "$work/log/out"

t "events lost by the recorder"
sed 's/lost 0/lost 12/' a.kmap >lost.kmap
run atwalk kmap report caches lost.kmap
status 4
err_has "lost 12 events"
yes grep -q '^its recorder lost 12 events' "$work/log/out"

t "objects that were merged by site are not counted"
run atwalk kmap report caches,processes -q "$data/kmap/uscope.cmap.comp"
out <<'E'
caches: Caches: kinds of objects, the hottest first
CACHE                 TYPE         OBJECTS     SIZE     FREED  LIVE_BYTES       READS      WRITES  SITES  READERS  WRITERS
n/a                   GLOBAL           n/a     5.1K       n/a         n/a          44           0      1        1        0
kmalloc-192           KMALLOC          n/a     192B       n/a         n/a           6           5      1        1        1
n/a                   STACK_PAGE       n/a      32K       n/a         n/a           0           1      1        0        1
filp                  KMEM_CACHE       n/a     232B       n/a         n/a           0           0      1        0        0

this recording merged all objects of a site: their number is n/a

processes: Processes: allocations, reads and writes of each thread
   PID  TASK               OBJECTS     SIZE       READS      WRITES   SITES

this recording merged all objects of a site, whichever threads allocated and used them
E

t "Memorizer's files of every version have all reports"
for f in v1.kmap v2.kmap v3.cmap v4.kmap; do
	run atwalk kmap report $all -q "$data/kmap/$f"
	yes test "$(grep -c '^[a-z]*: ' "$work/log/out")" -eq 14
done

t "an implausible time of free is ignored"
run atwalk kmap report lifetimes,live,privilege -q --format csv -o late "$data/kmap/v3.cmap"
run cat late/lifetimes.csv
out <<'E'
cache,type,least,most,objects,size,untouched,dead,dead_size
TCP,KMEM_CACHE,1,1,1,32,0,,
E
run cat late/live.csv
out <<'E'
from,to,alloc_ip,function,cache,type,size
4,4,,,TCP,KMEM_CACHE,32
5,17,,,TCP,KMEM_CACHE,0
E
run atwalk kmap report sites --format csv --columns cache,weight --filter 'cache=dentry' \
	-q "$data/kmap/v3.cmap"
out <<'E'
cache,weight
dentry,0
E
for kind in lifetimes live privilege compartments; do
	what="are not listed"
	[ $kind = lifetimes ] || [ $kind = live ] || what="weigh nothing"
	run atwalk kmap report $kind -q "$data/kmap/v3.cmap"
	yes grep -qx "objects with an implausible time of free, above 10^11, $what: 1" \
		"$work/log/out"
done

# ---- privilege: the same kernel as in tests/unit/kmap_privilege.c ----

cat >three.cmap <<'E'
ffffffff81000003 ffffffff81000014 5
ffffffff81000003 ffffffff81000032 3
ffffffff81000016 ffffffff81000014 2
ffffffff81000010,0,ffff888000001000,10,0,0,0000000000000000,KMALLOC,sh,a
  ffffffff81000001,0,4
  ffffffff81000002,0,5
  ffffffff81000015,0,6
  ffffffff81000034,7,0
ffffffff81000040,0,ffff888000002000,20,0,0,0000000000000000,KMALLOC,sh,b
  ffffffff81000015,0,8
  ffffffff81000033,9,0
  ffffffff81000034,1,0
E
cat >three.map <<'E'
ffffffff81000000 T f1
ffffffff81000014 T f2.part.0
ffffffff81000032 T f3
ffffffff81000042 T end
E

t "uSCOPE's numbers, computed by hand"
run atwalk kmap report privilege --symbols three.map --format csv three.cmap
out <<'E'
cut,compartments,operation,ps,psr_ppm,pm,ecr_ppm
instruction,7,read,50,555556,0,
instruction,7,write,50,833333,0,
instruction,7,free,,,,
instruction,7,call,76,575758,0,
instruction,7,total,176,624113,0,
function,3,read,50,555556,0,
function,3,write,60,1000000,10,
function,3,free,,,,
function,3,call,76,575758,0,800000
function,3,total,186,659574,10,800000
monolithic,1,read,90,1000000,40,
monolithic,1,write,60,1000000,10,
monolithic,1,free,,,,
monolithic,1,call,132,1000000,56,0
monolithic,1,total,282,1000000,106,0
E

t "a recording with all symbols has the sizes as well"
cat >three.kmap <<'E'
# atwalk-kmap 1
# atwalk-kmap symbol ffffffff81000000 f1
# atwalk-kmap symbol ffffffff81000014 f2.part.0
# atwalk-kmap symbol ffffffff81000032 f3
# atwalk-kmap symbol ffffffff81000042 end
# atwalk-kmap symbols 4
E
run atwalk kmap report privilege --symbols three.map --format csv three.cmap
cp "$work/log/out" want
run atwalk kmap convert --to atwalk three.cmap
grep -v '^# atwalk-kmap 1$' "$work/log/out" >>three.kmap
run atwalk kmap report privilege --format csv three.kmap
same "$work/log/out" want
run atwalk kmap report privilege --cut size:36 --format csv three.kmap
cp "$work/log/out" of-own
run atwalk kmap report privilege --cut size:36 --format csv --symbols three.map three.cmap
same "$work/log/out" of-own
# The ends of a few functions among many are unknown.
sed 's/symbols 4/symbols 5/' three.kmap >few.kmap
run atwalk kmap report privilege --cut size:36 few.kmap
status 3
err_has "the size of f1 is not known"

t "compartments one by one, and calls between them"
run atwalk kmap report compartments --symbols three.map --format csv \
	--columns +calls_inside,calls_in,calls_out three.cmap
out <<'E'
code,sites,read_instructions,readable,write_instructions,writable,ps,calls_inside,calls_in,calls_out
f1,1,2,10,0,0,66,0,0,8
f2,2,1,30,0,0,60,2,5,0
f3,2,0,0,2,30,60,0,3,0
E

# Clusters by hand. f1 and f3 have 36 bytes together, f1 and f2 50. f1 touches a; the others
# a and b. f1 calls f2 5 times and f3 3 times, of 10 calls.
#	size	f1, f2: 5 / (20 bytes * (1 + 1 site)) = 0.125
#		f1, f3: 3 / (16 bytes * (1 + 1 site)) = 0.094
#	ratio	f1, f2: 500000 / (2 reads of b, 40, and calls, 1 * 30 + 1 * 20) = 5555.6
#		f1, f3: 300000 / (calls, 1 * 16 + 0 * 20) = 18750; they have nothing to
#		share but calls, for one reads and the other one writes. Then
#		f1+f3, f2: 500000 / (40, and calls, 1 * 30 + 1 * 36) = 4716.98
cut_rows() {
	run atwalk kmap report privilege --symbols three.map --format csv --filter "$1" \
		--columns cut,bound,compartments,operation,ps,psr_ppm,pm,ecr_ppm "${@:2}" three.cmap
}

t "clusters of functions, computed by hand"
# f1 and f3: reads 2 * 10, writes 2 * 30, calls 1 * (36 + 30); f2: reads 30, calls 30.
cut_rows 'cut=size and operation!=free' --cut size:36
out <<'E'
cut,bound,compartments,operation,ps,psr_ppm,pm,ecr_ppm
size,36,2,read,50,555556,0,
size,36,2,write,60,1000000,10,
size,36,2,call,96,727273,20,500000
size,36,2,total,206,730496,30,500000
E
# f1 and f2: reads 3 * 30, calls 2 * (50 + 16); f3: writes 2 * 30.
cut_rows 'operation=total and (cut=size or cut=ratio)' --cut size:35 --cut size:36 --cut size:0x32 \
	--cut size:1K --cut ratio:18750.1 --cut ratio:18750 --cut ratio:4716.981132075472 \
	--cut ratio:4716.981132075471 --cut ratio:0
out <<'E'
cut,bound,compartments,operation,ps,psr_ppm,pm,ecr_ppm
size,35,3,total,186,659574,10,800000
size,36,2,total,206,730496,30,500000
size,0x32,2,total,282,1000000,106,300000
size,1K,1,total,282,1000000,106,0
ratio,18750.1,3,total,186,659574,10,800000
ratio,18750,2,total,206,730496,30,500000
ratio,4716.981132075472,2,total,206,730496,30,500000
ratio,4716.981132075471,1,total,282,1000000,106,0
ratio,0,1,total,282,1000000,106,0
E

t "contents of clusters and other compartments"
run atwalk kmap report compartments --symbols three.map --cut ratio:5000 three.cmap
out <<'E'
CODE                           SITES  READ_INSTRUCTIONS  READABLE  WRITE_INSTRUCTIONS  WRITABLE              PS  FUNCTIONS                     TOUCHED
f1 +1                              2                  2       10B                   2       30B             146  f1,f3                         a,b
f2                                 2                  1       30B                   0        0B              60  f2                            a,b
E
run atwalk kmap report compartments --symbols three.map --cut size:50 --format csv \
	--columns code,calls_inside,calls_in,calls_out,functions,touched three.cmap
out <<'E'
code,calls_inside,calls_in,calls_out,functions,touched
f1 +1,7,0,3,"f1,f2","a,b"
f3,0,3,0,f3,"a,b"
E
run atwalk kmap report compartments --symbols three.map --format csv \
	--columns code,functions,touched three.cmap
out <<'E'
code,functions,touched
f1,f1,a
f2,f2,"a,b"
f3,f3,"a,b"
E

t "partitions that are refused"
run atwalk kmap report compartments --symbols three.map --cut size:1K a.kmap
status 3
no_out
err_has "--cut: size:1K: the recording has no calls, from which clusters are formed"
tail -n +2 three.map >two.map
run atwalk kmap report privilege --symbols two.map --cut ratio:1 three.cmap
status 3
no_out
err_has "--cut: ratio:1: the size of 0xffffffff81000003 is not known, but the recording has calls of it"
run atwalk kmap report privilege --cut size:1 three.cmap
status 3
no_out
err_has "the size of 0xffffffff81000003 is not known, but the recording has calls of it"
wrong_cut() { # SENTENCE, arguments
	run atwalk kmap report "${@:2}" three.cmap
	status 2
	no_out
	err_has "$1"
}
wrong_cut "--cut cannot be used with caches" privilege,caches --cut size:1 --symbols three.map
wrong_cut "--cut: compartments takes only one" compartments --cut size:1 --cut size:2
wrong_cut "--cut and --level cannot be used together" compartments --cut size:1 --level function
wrong_cut "--cut: 'function' is neither size:BYTES nor ratio:A" privilege --cut function
wrong_cut "--cut size:0: '0' is not a code size" privilege --cut size:0
for a in '' . 1. .5 -1 1e-6 1000001 0.0000000000001; do
	wrong_cut "--cut ratio:$a: '$a' is not a number from 0" privilege --cut "ratio:$a"
done
many=()
for i in $(seq 33); do many+=(--cut "size:$i"); done
wrong_cut "--cut: expected at most 32" privilege "${many[@]}"

t "without symbols functions and calls are unknown, and a note says that"
run atwalk kmap report privilege three.cmap
err_has "no symbols; use --symbols FILE"
yes grep -q '^functions are not known: that needs symbols' "$work/log/out"
yes grep -q '^calls are n/a: the sizes of all functions' "$work/log/out"
yes test "$(grep -c '^function ' "$work/log/out")" -eq 0

t "symbols of another kernel are noticed"
echo 'ffffffff91000000 T elsewhere' >other.map
run atwalk kmap report code --symbols other.map three.cmap
err_has "three.cmap: the symbols name 0 of its"

t "symbols that contradict those of the recording are refused"
cat >moved.map <<'E'
ffffffff81002000 T alloc_dentry.part.0
ffffffff81003000 T dentry_reader
ffffffff81004000 T something_else
E
run atwalk kmap report code --symbols moved.map a.kmap
status 3
no_out
err <<'E'
atwalk: --symbols: moved.map: is of another kernel: dentry_reader is at 0xffffffff81003000 in it, and at 0xffffffff81002000 in the recording
E

# ---- files and folders ----

# A program of three files, and a recording of it. 1: there is no compiler for it.
make_files() {
	mkdir -p mm fs/ext4
	echo 'int slab_alloc(int x) { return x + 1; } int slab_free(int x) { return x - 1; }' >mm/slub.c
	echo 'int ext4_read(int x) { return x * 3; }' >fs/ext4/inode.c
	echo 'int vfs_open(int x) { return x ^ 7; } void _start(void) { }' >fs/open.c
	cc -g -O0 -fno-pie -no-pie -nostdlib -static -o vmlinux mm/slub.c fs/ext4/inode.c fs/open.c \
		2>/dev/null && nm vmlinux >syms || return 1
	at() { awk -v n="$1" '$3 == n { print $1 }' syms; }
	cat >files.kmap <<E
# atwalk-kmap 1
$(at slab_alloc),1,ffff888000001000,100,10,110,$(at slab_free),KMEM_CACHE,sh,inode,NONE
  $(at vfs_open),3,0,1
  $(at ext4_read),0,5,1
  $(at slab_alloc),1,0,1
# atwalk-kmap end objects 1 accesses 3 lost 0
E
}

t "files, folders and flows between them, from debug information"
if ! command -v cc >/dev/null || ! command -v nm >/dev/null; then
	skip "there is no compiler"
elif ! grep -q '^  found:.* libdw' "$built/found.txt"; then
	skip "this build has no libdw"
elif ! make_files; then
	skip "the compiler makes no program here"
fi
run atwalk kmap report flows --kernel vmlinux --format csv files.kmap
out <<'E'
writer,reader,function,cache,type,writes,reads
fs,fs/ext4,slab_alloc,inode,KMEM_CACHE,3,5
mm,fs/ext4,slab_alloc,inode,KMEM_CACHE,1,5
E
run atwalk kmap report flows --level topdir --kernel vmlinux --format csv files.kmap
out <<'E'
writer,reader,function,cache,type,writes,reads
mm,fs,slab_alloc,inode,KMEM_CACHE,1,5
E
run atwalk kmap report code --level file --kernel vmlinux --format csv \
	--columns code,reads,writes,frees files.kmap
out <<'E'
code,reads,writes,frees
fs/ext4/inode.c,5,0,0
fs/open.c,0,3,0
mm/slub.c,0,1,1
E
run atwalk kmap report sites --kernel vmlinux --format csv --columns function,file files.kmap
out <<'E'
function,file
slab_alloc,mm/slub.c
E
# The size of the last function comes from the file, not from the next symbol.
[ -n "$skipping" ] || sed "/^  $(at slab_alloc)/s/.*/  $(at _start),1,0,1/" files.kmap >last.kmap
run atwalk kmap report code --level function --kernel vmlinux --format csv \
	--filter code=_start --columns code,code_size last.kmap
[ -n "$skipping" ] || printf 'code,code_size\n_start,%d\n' \
	"0x$(nm -S vmlinux | awk '$4 == "_start" { print $2 }')" >want
same "$work/log/out" want
run atwalk kmap report privilege --kernel vmlinux --format csv --columns cut,compartments,ps \
	--filter 'operation=write' files.kmap
out <<'E'
cut,compartments,ps
instruction,4,200
function,4,200
file,3,200
directory,3,200
topdir,2,200
monolithic,1,200
E
[ -n "$skipping" ] || strip -g -o stripped vmlinux
run atwalk kmap report code --level file --kernel stripped files.kmap
status 2
err <<'E'
atwalk: --level file: files and folders are not known: stripped has no debug information (DWARF)
E
run atwalk kmap report flows --kernel stripped files.kmap
yes grep -q '^by function: files and folders are not known: stripped has no debug' "$work/log/out"

# ---- pictures ----

t "pictures and pages"
run atwalk kmap report $drawn --format svg -o svg a.kmap
no_out
yes test "$(find svg -name '*.svg' | wc -l)" -eq 10
yes grep -q '<title>dentry, alloc_dentry: 8 accesses</title>' svg/matrix.svg
yes grep -q '<title>kmalloc-64, 2: 1 objects freed</title>' svg/lifetimes.svg
yes grep -q '<title>dentry, 128: 4 accesses</title>' svg/lines.svg
yes grep -q '<title>inode_writer, dentry_reader: 2 reads of objects' svg/flows.svg
run atwalk kmap report caches,matrix,privilege --format html -o page.html a.kmap
no_out
yes grep -q '<svg' page.html
yes grep -q 'a.kmap; Linux 6.1.0, x86_64' page.html

t "the picture of lifetimes has dead times, or a note that they are unknown"
run atwalk kmap report lifetimes --format svg -o life.svg "$data/kmap/used.kmap"
yes grep -q '<title>dentry, 8: 2 objects freed</title>' life.svg
yes grep -q '>How long kernel objects are dead before they are freed<' life.svg
yes grep -q '>2 objects freed after their last access; 1 caches, most first; colours by logarithm<' life.svg
yes grep -q '<title>dentry, 0: 1 objects freed after their last access</title>' life.svg
yes grep -q '<title>dentry, 8: 1 objects freed after their last access</title>' life.svg
yes grep -q 'in ticks of the recording.*s clock; n/a of 2 objects' life.svg
yes test "$(grep -c 'how long they were dead is n/a' life.svg)" -eq 0
run atwalk kmap report lifetimes --format svg -o life.svg a.kmap
yes grep -q 'how long they were dead is n/a' life.svg
yes test "$(grep -c 'are dead before' life.svg)" -eq 0

t "pictures of many objects are complete, and everything is inside"
if ! command -v python3 >/dev/null; then
	skip "there is no python3"
else
	python3 "$beside/many_objects.py" 3000 >many.kmap
fi
cat >inside.py <<'E'
import sys
import xml.etree.ElementTree as tree

NS = '{http://www.w3.org/2000/svg}'
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    width, height = float(root.get('width')), float(root.get('height'))
    for e in root.iter(NS + 'rect'):
        if e.get('x'):
            assert float(e.get('x')) + float(e.get('width')) <= width + 0.02, path
            assert float(e.get('y')) + float(e.get('height')) <= height + 0.02, path
    for e in root.iter(NS + 'text'):
        assert 0 <= float(e.get('x')) <= width and 0 < float(e.get('y')) < height, e.text
E
run atwalk kmap report $drawn --format svg -o many many.kmap
no_out
yes python3 inside.py many/*.svg

# ---- comparison with sums computed by awk ----

t "sums agree with the file"
command -v python3 >/dev/null || skip "there is no python3"
run atwalk kmap report caches --format csv --columns cache,objects,size,reads,writes many.kmap
sort "$work/log/out" >got
[ -n "$skipping" ] || awk -F, '/^ / { w[c] += $2; r[c] += $3; next }
	!/^#/ { c = $10; o[c]++; s[c] += $4 }
	END { for (c in o) printf "%s,%d,%d,%d,%d\n", c, o[c], s[c], r[c], w[c]
	      print "cache,objects,size,reads,writes" }' many.kmap | sort >want
same got want
run atwalk kmap report lifetimes --format csv --columns objects many.kmap
sum=$(awk 'NR > 1 { n += $1 } END { print n }' "$work/log/out")
yes test "$sum" -eq "$(awk -F, '!/^[ #]/ && $6 > 0' many.kmap | wc -l)"

# ---- diff ----

t "differences, and exit status 1"
run atwalk kmap diff a.kmap b.kmap
status 1
golden kmap-diff
run atwalk kmap diff --no-counts --format csv --columns what,change,cache,code a.kmap b.kmap
status 1
out <<'E'
what,change,cache,code
cache,gone,dentry,
cache,new,inode_cache,
site,gone,dentry,alloc_dentry
site,new,inode_cache,alloc_dentry
edge,gone,dentry,alloc_dentry
edge,new,inode_cache,alloc_dentry
edge,gone,dentry,dentry_reader
edge,new,inode_cache,dentry_reader
E
run atwalk kmap diff --filter change=changed --format csv --columns what,code,d_reads a.kmap b.kmap
status 1
out <<'E'
what,code,d_reads
cache,,1
site,inode_writer,1
edge,dentry_reader,1
E

t "equal recordings are equal at any kernel base"
run atwalk kmap diff a.kmap a.kmap
out <<'E'
WHAT   CHANGE   CACHE               TYPE        CODE                        OBJECTS_A  OBJECTS_B    READS_A    READS_B   WRITES_A   WRITES_B

0 of 8 caches, sites and edges differ; code compared by function
E
sed 's/ffffffff8100/ffffffff8200/g' a.kmap >moved.kmap
run atwalk kmap diff -q a.kmap moved.kmap
run atwalk kmap diff -q --level instruction three.cmap three.cmap
run atwalk kmap diff --symbols three.map three.cmap three.cmap
run atwalk kmap diff --symbols three.map --symbols other.map -q three.cmap three.cmap
status 1

t "diff --limit: the first rows, and the number of the others"
run atwalk kmap diff --limit 2 --format csv --columns what,change,cache a.kmap b.kmap
status 1
out <<'E'
what,change,cache
cache,gone,dentry
cache,new,inode_cache
E
err_is 'atwalk: kmap diff: --limit leaves out 9 rows'
run atwalk kmap diff --limit 1 --columns what,change,cache a.kmap b.kmap
status 1
out <<'E'
WHAT   CHANGE   CACHE
cache  gone     dentry
... and 10 more

11 of 12 caches, sites and edges differ; code compared by function
E

t "diff --least and --ratio: differences that are large enough"
sed -e 's/03020,9,1,/03020,12,1,/' a.kmap >c.kmap
run atwalk kmap diff --least 3 --format csv --columns what,cache,code,writes_a,writes_b a.kmap c.kmap
status 1
out <<'E'
what,cache,code,writes_a,writes_b
cache,kmalloc-64,,9,12
site,kmalloc-64,inode_writer,9,12
edge,kmalloc-64,inode_writer,9,12
E
run atwalk kmap diff --least 4 --format csv --columns what a.kmap c.kmap
out <<<what
run atwalk kmap diff --ratio 1.33 -q a.kmap c.kmap
status 1
run atwalk kmap diff --ratio 1.334 a.kmap c.kmap --columns what
out <<'E'
WHAT

0 of 8 caches, sites and edges differ enough; code compared by function
E
# New and gone is any ratio, but no more objects, reads or writes than one side has.
run atwalk kmap diff --ratio 1000 --least 8 --format csv --columns what,change,cache,code a.kmap b.kmap
status 1
out <<'E'
what,change,cache,code
cache,gone,dentry,
cache,new,inode_cache,
site,gone,dentry,alloc_dentry
site,new,inode_cache,alloc_dentry
edge,gone,dentry,alloc_dentry
edge,new,inode_cache,alloc_dentry
E
run atwalk kmap diff --no-counts --least 9 -q a.kmap b.kmap

t "diff --since and --since-task: what was allocated before is not compared"
run atwalk kmap diff --since 150 a.kmap b.kmap --columns what,change,cache,code,reads_a,reads_b
status 1
out <<'E'
WHAT   CHANGE   CACHE               CODE                          READS_A    READS_B
cache  changed  kmalloc-64          n/a                                 3          4
site   changed  kmalloc-64          inode_writer                        3          4
edge   changed  kmalloc-64          dentry_reader                       2          3

3 of 4 caches, sites and edges differ; code compared by function
a.kmap: 3 records of objects that were allocated before 150, or at an unknown time, are left out
b.kmap: 3 records of objects that were allocated before 150, or at an unknown time, are left out
E
cp "$work/log/out" since
run atwalk kmap diff --since-task softirq a.kmap b.kmap --columns what,change,cache,code,reads_a,reads_b
status 1
same "$work/log/out" since
run atwalk kmap diff --since 151 a.kmap b.kmap -q
# Boot takes longer in the other one: its clock is 1000 later.
awk -F, -v OFS=, '/^[0-9a-f]/ { $5 += 1000; if ($6) $6 += 1000 } 1' b.kmap >late.kmap
run atwalk kmap diff --since 150 --since 1150 --format csv --columns what,code a.kmap late.kmap
status 1
out <<'E'
what,code
cache,
site,inode_writer
edge,dentry_reader
E
run atwalk kmap diff --since-task softirq --format csv --columns what,code a.kmap late.kmap
status 1
out <<'E'
what,code
cache,
site,inode_writer
edge,dentry_reader
E

t "diff --since-mark: a moment that was named while it was recorded"
# Beside it one with a longer name, a later one, and lines that are no marks.
marked() {
	{
		head -n -1 "$1"
		printf '# atwalk-kmap mark %s\n' '9 load-test' 'x load' load "$2 load" '9 load'
		tail -n 1 "$1"
	} >"marked-$1"
}
marked a.kmap 150
marked late.kmap 1150
run atwalk kmap diff --since-mark load --format csv --columns what,code marked-a.kmap marked-late.kmap
status 1
out <<'END'
what,code
cache,
site,inode_writer
edge,dentry_reader
END
run atwalk kmap diff --since-mark load marked-a.kmap b.kmap
status 3
no_out
err <<'END'
atwalk: b.kmap: no mark 'load' is in this recording
END
run atwalk kmap diff --since-mark load - marked-a.kmap <a.kmap
status 2
err_has '--since-mark reads a file twice; standard input cannot be'

t "diff: a mark that is not in the file, or no object behind it"
run atwalk kmap diff --since-task nginx a.kmap b.kmap
status 3
no_out
err <<'E'
atwalk: a.kmap: no task 'nginx' allocated an object at a time that is recorded
E
run atwalk kmap diff --since 161 a.kmap b.kmap
status 4
err <<'E'
atwalk: a.kmap: no object was allocated at 161 or later
atwalk: b.kmap: no object was allocated at 161 or later
E
for bad in '--ratio 1' '--ratio x' '--ratio 1.2345' '--ratio 1.' '--limit 0' '--since 0' '--since soon' \
	   '--since 1 --since-task a' '--since-mark a --since-task a' '--since 1 --since 2 --since 3'; do
	# shellcheck disable=SC2086 # options
	run atwalk kmap diff $bad a.kmap b.kmap
	status 2
	no_out
	err_has "${bad%% *}"
done
run atwalk kmap diff --since-task bash a.kmap - <b.kmap
status 2
err_has '--since-task reads a file twice; standard input cannot be'

t "a comparison with a file that is cut off is partial"
run atwalk kmap diff a.kmap cut.kmap
status 4
err_has "cut off"
yes grep -q '^cut.kmap: the recording is cut off' "$work/log/out"

# ---- errors ----

t "FILE KIND is KIND FILE"
run atwalk kmap report caches a.kmap --format csv
cp "$work/log/out" in-order
run atwalk kmap report a.kmap caches --format csv
same "$work/log/out" in-order

t "error messages"
run atwalk kmap report caches
status 2
err_has "FILE is missing"
run atwalk kmap report what a.kmap
status 2
err_has "there is no report 'what'; known: caches, sites, objects"
run atwalk kmap report caches,caches a.kmap
status 2
err_has "'caches' is given twice"
run atwalk kmap report lines --level file a.kmap
status 2
err_has "--level cannot be used with lines"
run atwalk kmap report matrix --level file a.kmap
status 2
err_has "--level file: files and folders are not known: that needs a vmlinux"
run atwalk kmap report privilege --format svg a.kmap
status 2
err_has "privilege cannot be drawn; these can: caches, sites, code"
run atwalk kmap report matrix --format svg --filter writes a.kmap
status 2
err_has "--format svg cannot be used with --filter"
run atwalk kmap report matrix --format svg --limit 2 a.kmap
status 2
err_has "--format svg cannot be used with --limit"
run atwalk kmap report caches --limit 0 a.kmap
status 2
err_has "--limit must be at least 1"
run atwalk kmap report matrix --units bytes a.kmap
status 2
err_has "--units: matrix has no column of sizes"
run atwalk kmap diff --format svg a.kmap b.kmap
status 2
err_has "--format: 'svg' is not one of plain|csv|json|jsonl|html|parquet"
run atwalk kmap report objects --top 0 a.kmap
status 2
err_has "--top: expected 1 to 1000000"
run atwalk kmap report caches,code --top 5 a.kmap
status 2
err <<'E'
atwalk: --top can only be used with objects; use --limit 5 for the first rows of any report
        see: atwalk kmap report --help
E
run atwalk kmap report a.kmap
status 2
err <<'E'
atwalk: KIND or FILE is missing: kmap report caches a.kmap
        see: atwalk kmap report --help
E
run atwalk kmap report caches
status 2
err <<'E'
atwalk: FILE is missing
        see: atwalk kmap report --help
E
run atwalk kmap report caches,code --format html -o folder a.kmap
status 2
err <<'E'
atwalk: --format html writes one page, and folder is a folder
        see: atwalk kmap report --help
E
run atwalk kmap report caches nothing.kmap
status 3
err_has "nothing.kmap"
run atwalk kmap report caches --symbols nothing.map a.kmap
status 3
err_has "--symbols: nothing.map"
run atwalk kmap report caches -o a.kmap a.kmap
status 2
err_has "--output: this is the source itself"
run atwalk kmap diff a.kmap
status 2
err_has "expected two files, A and B"
run atwalk kmap diff - - <a.kmap
status 2
err_has "standard input can be only one"
run atwalk kmap diff a.kmap x86.elf
status 3
err_has "x86.elf"
finish
