#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The target criu: processes that CRIU 3.17 saved in a guest (tests/data/criu), against smaps of
# that kernel just before, and images that are damaged or missing.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if [ ! -e "$built/plugins/criu.so" ]; then
	t "images of CRIU"
	skip "this build has no plugins"
	finish
fi
cp -r "$data/criu" images
criu() { run atwalk "$1" criu:"${folder:-images}" --plugin criu "${@:2}"; }
folder=

t "tasks, programs and threads"
criu ps -T --format csv --columns pid,tgid,ppid,task,resident
out <<'END'
pid,tgid,ppid,task,resident
126,126,0,victim,147456
129,126,0,victim thread,147456
128,128,126,victim child,135168
END
criu info --format csv
cat >wanted <<'END'
format,images of CRIU (plugin criu)
machine,x86_64
tasks,"3, with 2 address spaces and 34 areas"
page,4K
page flags,not recorded
END
grep -E '^(format|machine|tasks|page)' "$work/log/out" >got
same got wanted

# Areas of smaps with what was anonymous in private ones, and in shared ones present in process 126,
# which alone touched them. CRIU itself wrote to a page of the program, and saves [vdso].
t "areas and their pages are those of the kernel's smaps"
for pid in 126 128; do
	awk -v pid=$pid '
		/^[0-9a-f]+-/ { split($1, a, "-"); rights = $2; name = $6
			for (i = 7; i <= NF; i++) name = name " " $i }
		/^Rss:/ { rss = $2 }
		/^Anonymous:/ {
			n = rights ~ /s$/ && name !~ /^\/data/ ? "shared" : $2 * 1024
			if (rights ~ /x/ && name == "/victim") n += 4096
			if (name == "[vdso]") n = "vdso"
			r = substr(rights, 1, 3)
			print "0x" sprintf("%16s", a[1]) "," r "u," n "," name
		}' "$data/criu/smaps.$pid" | sed 's/^0x[ 0]*//' >wanted
	criu pages --pid $pid --areas-only --format csv --columns address,rights,rss,area
	sed '1d; s/^0x0*//; s/,""$/,/; /dev.zero\|memfd/s/,[0-9]*,/,shared,/; /vdso/s/,[0-9]*,/,vdso,/' "$work/log/out" >got
	same got wanted
done
criu map --pid 126 10000000-60000000 --format csv --columns address,size,rights,area
out <<'END'
address,size,rights,area
0x0000000010000000,12288,rw-u,""
0x0000000010005000,16384,rw-u,""
0x000000001000a000,24576,rw-u,""
0x0000000020000000,4096,rw-u,/dev/zero (deleted)
0x0000000020005000,8192,rw-u,/dev/zero (deleted)
0x0000000030001000,4096,rw-u,/data
0x0000000050002000,4096,rw-u,/memfd:shared words (deleted)
END

t "private pages and areas are those that crit reads"
if command -v crit >/dev/null && command -v python3 >/dev/null; then
	for pid in 126 128; do
		crit decode -i "images/pagemap-$pid.img" | python3 -c 'import json, sys
for e in json.load(sys.stdin)["entries"][1:]:
    for i in range(e["nr_pages"]):
        print("0x%016x" % (e["vaddr"] + 4096 * i))' >wanted
		criu pages --pid $pid --format csv --columns address,area --filter present
		sed '1d; /dev.zero/d; /memfd/d; s/,.*//' "$work/log/out" >got
		yes [ -s wanted ]
		same got wanted
		crit decode -i "images/mm-$pid.img" | python3 -c 'import json, sys
for v in json.load(sys.stdin)["entries"][0]["vmas"]:
    print("0x%016x,0x%016x" % (v["start"], v["end"]))' >wanted
		criu pages --pid $pid --areas-only --format csv --columns address,end
		sed 1d "$work/log/out" >got
		same got wanted
	done
else
	skip "there is no crit"
fi

t "pages that an older dump has, and files of older versions"
criu map --pid 126 --format csv >plain
mv "$work/log/out" plain
cp -r images more
cp images/incremental/* more
folder='more'
criu map --pid 126 --format csv
out <plain
if command -v python3 >/dev/null; then
	# files.img as reg-files.img: the messages in field 3 of its entries.
	python3 - more/files.img more/reg-files.img <<'END'
import struct, sys

def varint(b, i):
    v = s = 0
    while True:
        v |= (b[i] & 127) << s
        s += 7
        i += 1
        if not b[i - 1] & 128:
            return v, i

b = open(sys.argv[1], "rb").read()
out = struct.pack("<II", 0x54564319, 0x50363636)
at = 8
while at < len(b):
    n = struct.unpack_from("<I", b, at)[0]
    m, at = b[at + 4:at + 4 + n], at + 4 + n
    i = 0
    while i < len(m):
        key, i = varint(m, i)
        v, i = varint(m, i)
        if key & 7 == 2:
            if key >> 3 == 3:
                out += struct.pack("<I", v) + m[i:i + v]
            i += v
open(sys.argv[2], "wb").write(out)
END
	rm more/files.img more/memfd.img
	criu pages --pid 126 --areas-only --format csv --columns address,area --filter 'area~victim or area~data'
	status 4
	said_err=1
	out <<'END'
address,area
0x0000000000400000,/victim
0x0000000000401000,/victim
0x000000000048c000,/victim
0x00000000004b6000,/victim
0x00000000004ba000,/victim
0x0000000030000000,/data
0x0000000031000000,/data
END
fi
folder=

t "reports, queries and captures"
criu report use --format csv --columns pid,huge,hugetlb
out <<'END'
pid,huge,hugetlb
126,,
128,,
END
criu report basic --format csv --columns pid,total,lib_text,single,multi
out <<'END'
pid,total,lib_text,single,multi
126,36,0,,
128,33,0,,
END
criu report use --format csv --columns pid,rss,pss,name
out <<<$'pid,rss,pss,name\n126,147456,,victim\n128,135168,,victim child'
criu collect -o criu.atw
run atwalk ps criu.atw --format csv --columns pid,task,resident
out <<<$'pid,task,resident\n126,victim,147456\n128,victim child,135168'
criu find 1000
status 3
err_has "has processes and their pages, and no physical memory"

t "images that are missing"
missing() {                      # NAME STATUS TEXT
	rm -rf some
	cp -r images some
	rm "some/$1"
	folder=some
	criu pages --areas-only -o none --format csv
	status "$2"
	err_has "$3"
	folder=
}
missing pstree.img 3 "atwalk: criu:some: plugin criu: pstree.img: No such file or directory"
missing core-129.img 4 "process 126: name: core-129.img: No such file or directory"
missing mm-128.img 4 "process 128: areas: mm-128.img: No such file or directory"
missing pagemap-126.img 4 "process 126: pages: pagemap-126.img: No such file or directory"
yes grep -q '^0x0000000010000000,.*,126,victim' none
missing pagemap-shmem-3.img 4 "process 126: pages: pagemap-shmem-3.img: No such file or directory"
run atwalk ps criu:none/x --plugin criu
status 3
err_is "atwalk: criu:none/x: plugin criu: pstree.img: Not a directory"
run atwalk ps criu:images --plugin criu:x
status 2
err_has "plugin criu: it has no option 'x'"

t "images that are damaged"
damaged() {                      # NAME OFFSET BYTES TEXT
	rm -rf some none
	cp -r images some
	# shellcheck disable=SC2059 # bytes
	printf "$3" | dd of="some/$1" bs=1 seek="$2" conv=notrunc status=none
	folder=some
	criu pages -o none
	status 3
	err_is "atwalk: criu:some: plugin criu: $4"
	yes [ ! -e none ]
	folder=
}
damaged pstree.img 4 x "pstree.img: it is not such an image of CRIU"
damaged pstree.img 8 '\xff' "pstree.img: it ends within entry 1"
damaged pstree.img 12 '\x08\x00' "pstree.img: entry 1 is not one of a process"
damaged core-126.img 12 x "core-126.img: entry 1 is not one of a task"
damaged mm-126.img 8 '\xff\xff' "mm-126.img: it ends within entry 1"
damaged mm-126.img 12 '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' "mm-126.img: entry 1 is not one of an address space"
damaged files.img 14 x "files.img: entry 1 is not one of a file"
damaged memfd.img 12 x "memfd.img: entry 1 is not one of a memfd"
damaged pagemap-126.img 8 '\xff' "pagemap-126.img: it ends within entry 1"
cp -r images cut
for n in $(seq 1 3 180); do
	head -c "$n" images/pagemap-126.img >cut/pagemap-126.img
	folder='cut' criu map --pid 126 -o none
	said_err=1 said_status=1
	[ "$rc" = 3 ] || [ "$rc" = 0 ] || bad "with $n bytes it ended with $rc"
done

finish
