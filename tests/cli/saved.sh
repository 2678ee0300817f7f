#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that QEMU saved, the installed one and the newer one of tests/vm: every byte is
# that of its own dump of the same guest.
# shellcheck source=tests/cli/lib.sh disable=SC2154,SC2034
. "$(dirname "$0")/lib.sh"

cache=${ATWALK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/atwalk}

# qemu VERSION ARCH CACHE: sets qemu=(); false if there is none.
qemu() {
	local folder=$cache/qemu-10-$3

	qemu=("qemu-system-$2")
	if [ "$1" = 10 ]; then
		qemu=("$folder/usr/bin/qemu-system-$2" -L "$folder/usr/share/qemu"
			-L "$folder/usr/share/seabios" -L "$folder/usr/share/opensbi")
	fi
	command -v "${qemu[0]}" >"$work/log/qemu"
}

# save NAME MIB ADDRESS FORMS ARGUMENT...: what saved_guest.py says is in `said`.
save() {
	local name=$1 mib=$2 address=$3 forms=$4
	shift 4
	python3 "$cli/saved_guest.py" . "$name" "$mib" "$address" "$forms" \
		"${qemu[@]}" "$@" >said 2>"$work/log/save"
}

# equals ELF SAVED BYTES: of x86, without what firmware maps over RAM below 1 MiB.
equals() {
	run "$built/tests/tools/samemem" -x c0000-100000 "$1" "$2"
	said_status=1
	yes grep -q "^$3 same, 0 differ, 0 unreadable, " "$work/log/out"
	yes grep -q ' 0 only in B ' "$work/log/out"
}

# libvirt_header FILE PACKING OFFSET: libvirt's, over what is before the stream at OFFSET.
libvirt_header() {
	python3 - "$@" <<-'EOF'
		import struct, sys
		path, packing, offset = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		xml = b'<domain/>\0'.ljust(min(offset, 600) - 92, b'\0')
		with open(path, 'r+b') as out:
		    out.write(struct.pack('<16s5I56x', b'LibvirtQemudSave', 2, len(xml), 1, packing, 0) + xml)
	EOF
}

# What QEMU is asked to save, for each architecture; bytes that are compared.
declare -A machine=([x86_64]=q35 [aarch64]=virt [riscv64]=virt)
declare -A address=([x86_64]=0x1000000 [aarch64]=0x41000000 [riscv64]=0x81000000)
declare -A bytes=([x86_64]=66846720 [aarch64]=67108864 [riscv64]=67108864)
declare -A option=([x86_64]='' [aarch64]='-cpu cortex-a72' [riscv64]='')
declare -A folder=([x86_64]=x86 [aarch64]=arm [riscv64]=riscv)

for version in installed 10; do
	for arch in x86_64 aarch64 riscv64; do
		forms=stream
		[ $version = 10 ] && forms=stream,savevm,mapped,multifd,offset
		[ $version$arch = installedx86_64 ] && forms=stream,compress,savevm,mapped,multifd
		guest=$version-$arch
		if ! qemu "$version" "$arch" "${folder[$arch]}"; then
			t "$version, $arch"
			skip "there is no such QEMU"
			continue
		fi
		# shellcheck disable=SC2086 # words
		save "$guest" 64 "${address[$arch]}" $forms -M "${machine[$arch]}" -smp 2 ${option[$arch]}
		while read -r form word; do
			t "$version, $arch: $form"
			if [ "$word" != ok ]; then
				skip "this QEMU has none: $word"
				continue
			fi
			source=$guest.$form
			[ "$form" != savevm ] || source=qcow2:$source@second
			[ "$form" != offset ] || libvirt_header "$source" 6 12288
			equals "$guest.$form.elf" "$source" "${bytes[$arch]}"
			run atwalk info "$source"
			said_status=1 said_err=1
			yes grep -q "^machine  *$arch$" "$work/log/out"
			yes grep -q '^cpus  *2$' "$work/log/out"
		done <said
		rm -f "$guest".*
	done
done

# saved PACKING COMMAND...: base.stream as virsh save writes it.
saved() {
	local packing=$1
	shift
	truncate -s 600 head
	libvirt_header head "$packing" 600
	{ cat head; "$@" <base.stream; } >"saved.$packing"
}

qemu installed x86_64 x86 || { t "layouts"; skip "there is no QEMU"; finish; }

t "q35 with 3 GiB: a third is above 4 GiB"
save high 3072 0x100001000 large -M q35
yes grep -q 'large ok' said
run atwalk rd --physical --raw --root 0 --paging x86_64-4 high.large 100001000+0x12c4d2
status 0
same "$work/log/out" high.memory
run atwalk rd --physical --root 0 --paging x86_64-4 high.large 7ffffff0+10 80000000+10
status 4
err_is 'atwalk: high.large: 10B of memory cannot be read from it'

t "two NUMA nodes of one size are one RAM"
save numa 128 0x5000000 stream -M pc -smp 2 \
	-object memory-backend-ram,id=b,size=64M -object memory-backend-memfd,id=a,size=64M \
	-numa node,memdev=b -numa node,memdev=a
equals numa.stream.elf numa.stream 133955584

t "two of different sizes are refused"
save odd 128 0x100000 large -M pc -smp 2 \
	-object memory-backend-ram,id=b,size=96M -object memory-backend-ram,id=a,size=32M \
	-numa node,memdev=b -numa node,memdev=a
run atwalk info odd.large
status 3
no_out
err_is 'atwalk: odd.large: its RAM is in blocks of 0x6000000 and 0x2000000 bytes, and which comes first is not in the stream'

t "a DIMM is reported as missing"
save dimm 64,slots=2,maxmem=1G 0x100000 large -M q35 \
	-object memory-backend-ram,id=d,size=128M -device pc-dimm,memdev=d
run atwalk info dimm.large
said_status=1 said_err=1
yes grep -q 'memory of devices of the guest (1 backend) is not read: its address is not in the stream' "$work/log/out" "$work/log/err"

t "shared memory that was left out is refused"
save shared 64 0x100000 shared -M q35,memory-backend=m \
	-object memory-backend-memfd,id=m,size=64M,share=on
run atwalk info shared.shared
status 3
no_out
err_has 'its RAM is not in the stream: it was shared memory, which x-ignore-shared leaves out'

save base 64 0x1000000 stream,savevm -M pc -smp 2
for form in '0 cat' '1 gzip -c' '2 bzip2 -c' '3 xz -c' '5 zstd -c'; do
	t "saved by libvirt: $form"
	read -r packing command <<<"$form"
	if ! command -v "${command%% *}" >"$work/log/tool"; then
		skip "there is no ${command%% *}"
		continue
	fi
	# shellcheck disable=SC2086 # words
	saved "$packing" $command
	run atwalk info "saved.$packing"
	said_status=1 said_err=1
	case $(cat "$work/log/err") in
	*'this build lacks'*) skip "this build has no library for it"; continue ;;
	esac
	yes grep -q '^format  *saved by libvirt, pc-i440fx-[^ ]*, RAM of 64M$' "$work/log/out"
	equals base.stream.elf "saved.$packing" 66846720
done

t "saved by libvirt with lzop"
saved 4 printf '\211LZO\0\r\n\032\n'
run atwalk info saved.4
status 3
no_out
err_has 'atwalk: saved.4: packed by lzop, which is not supported'
err_has '        unpack it with lzop -d'

if [ -e base.savevm ]; then
	t "several snapshots are listed"
	run atwalk info base.savevm
	status 2
	no_out
	err_has 'atwalk: base.savevm: has 2 snapshots of a guest'
	err_has '        choose one with qcow2:PATH@SNAPSHOT: first, second'
	run atwalk info qcow2:base.savevm@third
	status 2
	no_out
	err_has "atwalk: base.savevm: has no snapshot 'third' of a guest"
	run atwalk info qcow2:base.savevm@1
	said_status=1 said_err=1
	yes grep -q '^format  *snapshot first, pc-i440fx-[^ ]*, RAM of 64M$' "$work/log/out"
	qemu-img snapshot -d second base.savevm
	equals base.savevm.elf base.savevm 66846720

	t "a disk image without a guest"
	qemu-img snapshot -d first base.savevm
	run atwalk info base.savevm
	status 3
	no_out
	err_is 'atwalk: base.savevm: is a disk image without the state of a guest \(0 snapshots\)'
else
	t "snapshots"
	skip "there is no qemu-img"
fi
finish
