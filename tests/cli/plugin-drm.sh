#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The plugin drm: fdinfo of several drivers, cards, dma-bufs and BARs, from a tree of /proc
# and /sys; and the running kernel.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

if [ ! -e "$built/plugins/drm.so" ]; then
	t "all tests"
	skip "this build has no plugin drm"
	finish
fi

fdinfo() {                       # PID/FD: standard input, with a tab behind each colon
	mkdir -p "tree/proc/${1%/*}/fdinfo"
	{
		printf 'pos:\t0\nflags:\t02100002\nmnt_id:\t25\n'
		sed 's/: */:\t/'
	} >"tree/proc/${1%/*}/fdinfo/${1#*/}"
}
task() { mkdir -p "tree/proc/$1/fdinfo"; echo "$2" >"tree/proc/$1/comm"; }

task 100 firefox
task 200 gnome-shell
task 300 shell
# amdgpu of 6.14: drm-resident-, and drm-memory- beside it, which counts in another way.
fdinfo 100/5 <<'END'
ino: 900
drm-driver: amdgpu
drm-client-id: 10
drm-client-name: a b
drm-pdev: 0000:03:00.0
pasid: 32770
drm-total-cpu: 0
drm-shared-cpu: 0
drm-total-vram: 20 MiB
drm-shared-vram: 1 MiB
drm-resident-vram: 16384 KiB
drm-purgeable-vram: 0
drm-active-vram: 4096
drm-memory-vram: 17 MiB
drm-memory-gtt: 3 KiB
amd-evicted-vram: 4 MiB
drm-engine-gfx: 29345 ns
drm-total-cycles-gfx: 123
END
# The same client by another descriptor, and in another process.
cp tree/proc/100/fdinfo/5 tree/proc/100/fdinfo/6
cp tree/proc/100/fdinfo/5 tree/proc/200/fdinfo/9
# amdgpu up to 6.13; another device with the same number of a client.
fdinfo 200/10 <<'END'
drm-driver: amdgpu
drm-client-id: 10
drm-pdev: 0000:04:00.0
drm-memory-vram: 1000 KiB
drm-memory-gtt: 24 KiB
drm-memory-cpu: 0 KiB
drm-shared-vram: 0 KiB
amd-memory-visible-vram: 1000 KiB
END
fdinfo 200/11 <<'END'
drm-driver: i915
drm-client-id: 7
drm-pdev: 0000:00:02.0
drm-total-system0: 129 MiB
drm-shared-system0: 16 MiB
drm-active-system0: 110 MiB
drm-resident-system0: 128 MiB
drm-purgeable-system0: 2 MiB
drm-total-stolen-system0: 0
drm-engine-render: 9288864723 ns
drm-engine-capacity-video: 2
END
fdinfo 300/3 <<'END'
drm-driver: xe
drm-client-id: 61
drm-pdev: 0000:05:00.0
drm-total-system: 0
drm-total-vram0: 18446744073709551615 MiB
drm-resident-vram0: 8 MiB
drm-cycles-rcs: 28257900
drm-total-cycles-rcs: 7655183225
END
fdinfo 300/4 <<'END'
drm-driver: panthor
drm-client-id: 3
drm-engine-panthor: 111110952750 ns
drm-cycles-panthor: 94439687187
drm-total-memory: 16480 KiB
drm-shared-memory: 0
drm-active-memory: 16200 KiB
drm-resident-memory: 16480 KiB
drm-purgeable-memory: 0
END
# Without numbers each descriptor is a client; nouveau has no memory.
fdinfo 300/5 <<<'drm-driver: nouveau'
fdinfo 300/6 <<<'drm-driver: nouveau'
fdinfo 300/7 <<<'eventfd-count: 0'
printf 'drm-driver' >tree/proc/300/fdinfo/8
printf 'drm-driver:\tx\n\n:\n:::\ndrm-total-:\t1\ndrm-total-%s:\t1\n' "$(printf %080d 0)" >tree/proc/300/fdinfo/9

t "clients: each once, with the units of each line"
run atwalk report drm x86.elf --plugin drm:root=tree --format csv \
	--columns pid,task,device,driver,client,region,total,shared,resident,processes,fds
out <<'END'
pid,task,device,driver,client,region,total,shared,resident,processes,fds
100,firefox,0000:03:00.0,amdgpu,10,cpu,0,0,,2,3
100,firefox,0000:03:00.0,amdgpu,10,vram,20971520,1048576,16777216,2,3
200,gnome-shell,0000:04:00.0,amdgpu,10,vram,,0,1024000,1,1
200,gnome-shell,0000:04:00.0,amdgpu,10,gtt,,,24576,1,1
200,gnome-shell,0000:04:00.0,amdgpu,10,cpu,,,0,1,1
200,gnome-shell,0000:00:02.0,i915,7,system0,135266304,16777216,134217728,1,1
200,gnome-shell,0000:00:02.0,i915,7,stolen-system0,0,,,1,1
300,shell,0000:05:00.0,xe,61,system,0,,,1,1
300,shell,0000:05:00.0,xe,61,vram0,,,8388608,1,1
300,shell,,panthor,3,memory,16875520,0,16875520,1,1
300,shell,,nouveau,,,,,,1,1
300,shell,,nouveau,,,,,,1,1
300,shell,,x,,,,,,1,1
END
run atwalk report drm x86.elf --plugin drm:root=tree --format csv --filter 'client=10 and region=vram' \
	--columns client_name,purgeable,active,evicted
out <<'END'
client_name,purgeable,active,evicted
a b,0,4096,4194304
,,,
END
run atwalk report drm x86.elf --plugin drm:root=tree --format csv --group driver --filter 'region~m'
yes grep -q '^i915,2,' "$work/log/out"

t "cards"
for card in 0:03:amdgpu 1:00:i915; do
	IFS=: read -r n bus driver <<<"$card"
	mkdir -p "tree/sys/devices/0000:$bus:00.0" "tree/sys/class/drm/card$n" tree/sys/class/drm/card0-DP-1
	ln -s "../../../devices/0000:$bus:00.0" "tree/sys/class/drm/card$n/device"
	ln -s "../../bus/pci/drivers/$driver" "tree/sys/devices/0000:$bus:00.0/driver"
done
for file in vram_total:17163091968 vram_used:2000 vis_vram_total:268435456 gtt_total:16 gtt_used:x; do
	echo "${file#*:}" >"tree/sys/devices/0000:03:00.0/mem_info_${file%:*}"
done
run atwalk report drm-devices x86.elf --plugin drm:root=tree --format csv
out <<'END'
card,device,driver,region,total,used
card0,0000:03:00.0,amdgpu,vram,17163091968,2000
card0,0000:03:00.0,amdgpu,vis_vram,268435456,
card0,0000:03:00.0,amdgpu,gtt,16,
card1,0000:00:00.0,i915,,,
END

t "dma-bufs: by descriptor, by mapping, and of the kernel alone"
fdinfo 100/20 <<'END'
ino: 55
size: 8192
count: 4
exp_name: amdgpu
name: frame
END
cp tree/proc/100/fdinfo/20 tree/proc/100/fdinfo/21
cp tree/proc/100/fdinfo/20 tree/proc/200/fdinfo/20
cat >tree/proc/300/maps <<'END'
55d0c8e00000-55d0c8e01000 r-xp 00001000 fe:00 55 /usr/bin/cat
7f0000000000-7f0000002000 rw-s 00000000 00:0d 55 /dmabuf:frame
7f0000010000-7f0000011000 rw-s 00000000 00:0d 56 /dmabuf:other (deleted)
END
mkdir -p tree/sys/kernel/dmabuf/buffers/{55,57}
echo 8192 >tree/sys/kernel/dmabuf/buffers/55/size
echo 4096 >tree/sys/kernel/dmabuf/buffers/57/size
echo i915 >tree/sys/kernel/dmabuf/buffers/57/exporter_name
run atwalk report dma-buf x86.elf --plugin drm:root=tree --format csv --columns +references
out <<'END'
inode,size,name,exporter,references,processes,pss,pids
55,8192,frame,amdgpu,4,3,2730,"100,200,300"
56,,other,,,1,,300
57,4096,,i915,,0,,
END

t "mappings of BARs, by device and memory type"
mkdir -p tree/sys/bus/pci/devices/0000:{03:00.0,04:00.0}
cat >tree/sys/bus/pci/devices/0000:03:00.0/resource <<'END'
0x0000000000001000 0x0000000000001fff 0x000000000014220c
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x0000000000098000 0x000000000009afff 0x0000000000140204
0x0000000000000000 0x0000000000000fff 0x0000000000040101
END
ln -s ../../../../bus/pci/drivers/amdgpu tree/sys/bus/pci/devices/0000:03:00.0/driver
printf 'x\n0x1 0x2\n0x9 0x1 0x200\n' >tree/sys/bus/pci/devices/0000:04:00.0/resource
run atwalk map x86.elf --all --plugin drm:root=tree --format csv --filter 'bar>=0 and address<0xffff8b3ac0200000' \
	--columns physical,device,driver,bar,memory,caching
out <<'END'
physical,device,driver,bar,memory,caching
0x0000000000001000,0000:03:00.0,amdgpu,0,wb,cached
0x0000000000098000,0000:03:00.0,amdgpu,2,wb,cached
0x0000000000099000,0000:03:00.0,amdgpu,2,wb,cached
0x000000000009a000,0000:03:00.0,amdgpu,2,wb,cached
END
run atwalk map x86.elf --plugin drm --format csv --filter 'bar>=0' --columns bar
out <<<bar

t "memory types of BARs: PWT, PCD and PAT choose them, in large pages too"
mkdir -p tree/sys/bus/pci/devices/0000:06:00.0
cat >tree/sys/bus/pci/devices/0000:06:00.0/resource <<'END'
0x00000000e0000000 0x00000000efffffff 0x000000000014220c
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x00000000f0000000 0x00000000f0003fff 0x0000000000040200
END
python3 -c 'import struct, sys
# Four tables at 0x1000: Linux has WC in entry 1 of the PAT, UC- in 2, UC in 3, WP in 5, WT in 7.
tables = [{} for _ in range(4)]
tables[0][0], tables[1][0], tables[2][0] = 0x2003, 0x3003, 0x4003
for i, bits in enumerate((0, 0x8, 0x10, 0x18)):
    tables[3][i] = 0xf0000003 + 0x1000 * i | bits
for i, bits in enumerate((0x88, 0x98), 4):
    tables[3][i] = 0xe0000003 + 0x1000 * i | bits
tables[3][6] = 0xd000001b                          # of no BAR
for i, bits in enumerate((0x8, 0x18, 0x1008), 1):
    tables[2][i] = 0xe0000083 + 0x200000 * i | bits
for t in tables:
    sys.stdout.buffer.write(struct.pack("<512Q", *(t.get(i, 0) for i in range(512))))' >types.raw
run atwalk map raw:types.raw@1000 --root 1000 --paging x86_64-4 --all --plugin drm:root=tree --format csv \
	--columns address,physical,size,device,driver,bar,memory,caching
out <<'END'
address,physical,size,device,driver,bar,memory,caching
0x0000000000000000,0x00000000f0000000,4096,0000:06:00.0,,2,wb,cached
0x0000000000001000,0x00000000f0001000,4096,0000:06:00.0,,2,wc,uncached
0x0000000000002000,0x00000000f0002000,4096,0000:06:00.0,,2,uc-minus,uncached
0x0000000000003000,0x00000000f0003000,4096,0000:06:00.0,,2,uc,uncached
0x0000000000004000,0x00000000e0004000,4096,0000:06:00.0,,0,wp,cached
0x0000000000005000,0x00000000e0005000,4096,0000:06:00.0,,0,wt,cached
0x0000000000006000,0x00000000d0000000,4096,,,,,
0x0000000000200000,0x00000000e0200000,2097152,0000:06:00.0,,0,wc,uncached
0x0000000000400000,0x00000000e0400000,2097152,0000:06:00.0,,0,uc,uncached
0x0000000000600000,0x00000000e0600000,2097152,0000:06:00.0,,0,wp,cached
END
# Sums by type, and what is cached: mostly a mistake.
run atwalk map raw:types.raw@1000 --root 1000 --paging x86_64-4 --all --plugin drm:root=tree --format csv \
	--group memory --filter 'caching=uncached' --sort memory
out <<'END'
memory,count,size
uc,2,2101248
uc-minus,1,4096
wc,2,2101248
END

t "processes that may not be read: which, why, and that they are allowed"
cp -r tree denied
mkdir -p denied/proc/{101..109}/fdinfo
for pid in {100..109}; do echo "task$pid" >"denied/proc/$pid/comm"; done
chmod 0 denied/proc/100/fdinfo
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
cp "$O/atwalk" ./atwalk-copy
cp "$O/plugins/drm.so" drm.so
chmod 755 "$work" "$work/cwd" ./atwalk-copy
if ! "${as[@]}" true 2>"$work/log/setpriv"; then
	skip "needs setpriv, to drop privileges"
else
	denied() { run "${as[@]}" ./atwalk-copy report "$1" x86.elf --plugin "./drm.so:root=denied" "${@:2}"; }
	one="descriptors of process 100 (task100) may not be read: Permission denied"
	for kind in drm dma-buf; do
		denied $kind --format csv
		status 4
		err_is "atwalk: report $kind: $one"
		cp "$work/log/out" all
		denied $kind --format csv --allow-unreadable
		status 0
		err_is "atwalk: $one"
		same "$work/log/out" all
		denied $kind --allow-unreadable
		yes grep -qxF "$one" "$work/log/out"
		said_err=1
	done
	chmod 0 denied/proc/*/fdinfo
	denied drm --format csv
	status 4
	err_is "atwalk: report drm: descriptors of 12 processes may not be read: 100 (task100), 101 (task101), 102 (task102), 103 (task103), 104 (task104), 105 (task105), 106 (task106), 107 (task107), ...: Permission denied"
	denied drm --format csv --allow-unreadable
	status 0
	err_has "descriptors of 12 processes may not be read: 100 (task100), 101"
	chmod -R u+rwX denied
fi

t "wrong use"
run atwalk report drm x86.elf --plugin drm -o file
status 3
err_is "atwalk: plugin drm: it needs the running system, or its /proc and /sys by the option root=FOLDER"
yes [ ! -e file ]
run atwalk report drm live --plugin drm:tree
status 2
err_is "atwalk: plugin drm: unknown option 'tree'; known: root=FOLDER*"
run atwalk report drm live --plugin drm --pid 1
status 2
err_has "--pid cannot be used with report drm"

t "the running kernel"
run atwalk report drm-devices live:pagemap --plugin drm --format csv --columns card
wanted=$(find /sys/class/drm -maxdepth 1 -regex '.*/card[0-9]+' -printf '%f\n' 2>/dev/null | sort -u)
yes [ "$(sed 1d "$work/log/out" | sort -u)" = "$wanted" ]
run atwalk report drm live:pagemap --plugin drm --format csv --columns driver
said_status=1 said_err=1
yes grep -q '^driver' "$work/log/out"

finish
