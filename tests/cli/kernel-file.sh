#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --kernel FILE adds symbols and types to the small dumps, which hold page tables only. The
# files are generated here; the VMCOREINFO of each dump has the address of its kernel.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

mkvmlinux() { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$O/tests/tools/mkvmlinux" "$@"; }

# Link addresses: 0x10400000 below those of the running kernel of x86.elf.
cat >System.map <<'E'
0000000000000000 D __per_cpu_start
000000000001f000 d runqueues
0000000001000000 A phys_startup_64
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81200040 t static_function
ffffffff81200080 T next_function
ffffffff82a10000 D init_top_pgt
ffffffff82a1a000 D init_task
ffffffff82bfb000 D init_uts_ns
ffffffff82c3df40 D node_online_map
ffffffff83830000 B _end
E
x86_id=eb4fbcd037e7253717950bf2b93bd5566f47c56f
# int, and struct task_struct { int tasks; int pid at 4 }
{
	printf '\237\353\1\0\30\0\0\0\0\0\0\0\64\0\0\0\64\0\0\0\33\0\0\0'
	printf '\1\0\0\0\0\0\0\1\4\0\0\0\40\0\0\1'
	printf '\5\0\0\0\2\0\0\4\10\0\0\0'
	printf '\21\0\0\0\1\0\0\0\0\0\0\0\27\0\0\0\1\0\0\0\40\0\0\0'
	printf '\0int\0task_struct\0tasks\0pid\0'
} >btf

# ---- symbols ----

t "System.map: symbols where KASLR put the kernel"
run atwalk x86.elf ffffffff92e1a000 ffffffff91600080 ffffffff91600080
cp "$work/log/out" want
run atwalk --kernel System.map x86.elf init_task static_function+40 next_function
same "$work/log/out" want

t "vmlinux, and the debug file split off it: the same"
mkvmlinux vmlinux --symbols System.map --build-id $x86_id --btf btf
mkvmlinux vmlinux.debug --symbols System.map --build-id $x86_id --btf btf --debug
for f in vmlinux vmlinux.debug; do
	run atwalk --kernel $f x86.elf init_task static_function+40 next_function
	same "$work/log/out" want
done

t "all symbols, listed: of the file alone, and what it has beside the kernel's own"
run atwalk info --symbols --kernel System.map x86.elf --format csv --columns type,symbol
sed 1d "$work/log/out" | LC_ALL=C sort >got
sed -E 's/^[0-9a-f]+ (.) (.*)/\1,\2/' System.map | LC_ALL=C sort >want
same got want
run atwalk info --symbols --kernel System.map x86.elf --filter 'symbol=init_task' --columns address --format csv
out <<<"address
0xffffffff92e1a000"
run atwalk info --symbols --kernel vmlinux x86.elf --filter 'symbol=init_task' --columns address --format csv
out <<<"address
0xffffffff92e1a000"
own=$(atwalk info -q tasks.kdump --filter 'fact=symbols' --format csv | sed -nE 's/^symbols,"?([0-9]+) .*/\1/p')
run atwalk info --symbols tasks.kdump --format csv
yes [ "$(sed 1d "$work/log/out" | wc -l)" = "$own" ]
at=$(sed -nE 's/^0x([0-9a-f]{16}),[0-9]+,D,init_task$/\1/p' "$work/log/out")
cp "$work/log/out" own.csv
run atwalk walk tasks.kdump init_task --columns address --format csv
out <<<"address
0x$at"
# A copy of the kernel's own list, and one more.
sed -nE 's/^0x([0-9a-f]{16}),[^,]*,(.),(.*)/\1 \2 \3/p' own.csv >own.map
stext=$(sed -nE 's/^([0-9a-f]{16}) T _stext$/\1/p' own.map)
printf '%x t atwalk_added\n' $((0x$stext + 0x123)) >>own.map
run atwalk info --symbols tasks.kdump --kernel own.map --format csv
said_err=1
yes [ "$(sed 1d "$work/log/out" | wc -l)" = $((own + 1)) ]
yes grep -q ',t,atwalk_added$' "$work/log/out"
run atwalk info --symbols --log 3 tasks.kdump
status 2
err_has "--symbols and --log cannot be used together"
ln -sf "$data/captures/server.cap" .
run atwalk info --symbols server.cap
status 3
err_has "server.cap: is a capture"

t "arm64 and RISC-V as well"
cat >arm64.map <<'E'
ffff800080000000 T _text
ffff800080010000 T _stext
ffff800081d16000 D swapper_pg_dir
ffff800082388368 D init_uts_ns
ffff800082400000 D wanted
E
run atwalk arm64.elf ffff932df6000000
cp "$work/log/out" want
run atwalk --kernel arm64.map arm64.elf wanted
same "$work/log/out" want
# This kernel is not relocatable, which only _stext shows.
cat >riscv.map <<'E'
ffffffff80000000 T _start
ffffffff80002000 T _stext
ffffffff81d69658 D init_uts_ns
ffffffff81d69700 D wanted
E
run atwalk riscv.elf ffffffff81d69700
cp "$work/log/out" want
run atwalk --kernel riscv.map riscv.elf wanted
same "$work/log/out" want

t "symbols that are in neither source nor file"
run atwalk --kernel System.map x86.elf nonesuch
status 2
err_is "atwalk: 'nonesuch' is neither a hexadecimal address nor a symbol of x86.elf"

t "info: the origin of symbols and types, and the evidence for it"
run atwalk info --filter 'fact=symbols or fact=types' --kernel vmlinux x86.elf
out <<'E'
FACT            VALUE
symbols         12 from vmlinux (its build ID is the kernel's)
types           2 from BTF in vmlinux
E
run atwalk info --filter 'fact=symbols' --kernel System.map x86.elf
out <<'E'
FACT            VALUE
symbols         12 from System.map (3 symbols are as far from _stext as the kernel's)
E
run atwalk info -q --filter 'fact=types' --kernel btf x86.elf
out <<'E'
FACT            VALUE
types           2 from BTF in btf; not verified to match this kernel
E

# ---- refused, with status 3 ----

refused() {
	run atwalk --kernel "$1" x86.elf init_uts_ns
	status 3
	no_out
}

t "a vmlinux of another build"
mkvmlinux other --symbols System.map --build-id c66a94177884b9da116f28e4c097f1cf0827500d
sed 's/82bfb000/82bfb040/' System.map >other.map
mkvmlinux both --symbols other.map --build-id c66a94177884b9da116f28e4c097f1cf0827500d
refused both
err <<E
atwalk: --kernel: both: is of another kernel: its build ID is c66a94177884b9da116f28e4c097f1cf0827500d, that of the source's kernel $x86_id
E

t "6.1.0 may lack a valid build ID in VMCOREINFO: distances of symbols decide"
run atwalk info --filter 'fact=symbols' --kernel other x86.elf
out <<'E'
FACT            VALUE
symbols         12 from other (3 symbols are as far from _stext as the kernel's)
E

t "a System.map of another build"
refused other.map
err <<'E'
atwalk: --kernel: other.map: is of another kernel: init_uts_ns lies 0x1bfb040 behind _stext in it, and 0x1bfb000 in the source
E

t "BTF of another build, by a size that VMCOREINFO has"
sed 's/task_struct/zone\x00xxxxxx/' btf >other.btf
refused other.btf
err <<'E'
atwalk: --kernel: other.btf: has types of another kernel: SIZE(zone) is 8 there, and 1536 in VMCOREINFO
E

t "a vmlinux of another machine"
mkvmlinux arm64.vmlinux --symbols arm64.map --machine 183
refused arm64.vmlinux
err <<'E'
atwalk: --kernel: arm64.vmlinux: is for aarch64, and the source is of x86_64
E

t "the stub System.map of Debian"
echo "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package" >stub
refused stub
err <<'E'
atwalk: --kernel: stub: is a stub without symbols: "The real System.map is in the linux-image-<version>-dbg package"
        that package has usr/lib/debug/boot/System.map-<version> and vmlinux-<version>
E

t "files of other kinds"
refused nonesuch
err_is "atwalk: --kernel: nonesuch: No such file or directory"
refused .
err_is "atwalk: --kernel: .: is a directory"
refused x86.elf
err_is "atwalk: --kernel: x86.elf: is a core dump, not a kernel's vmlinux"
refused "$data/README"
err_is "atwalk: --kernel: */README: is neither vmlinux (ELF), System.map nor BTF"
head -c 512 /dev/zero >vmlinuz
printf '\0\0HdrS' >>vmlinuz
refused vmlinuz
err_has "is a kernel image to boot from"
sed 's/^[0-9a-f]*/0000000000000000/' System.map >zeroes
refused zeroes
err_has "has no addresses"

t "a truncated or damaged vmlinux gives an error"
size=$(stat -c %s vmlinux)
for n in 10 64 500 $((size / 2)) $((size - 1)); do
	head -c "$n" vmlinux >cut.elf
	refused cut.elf
	err_has "atwalk: --kernel: cut.elf: "
done

# ---- DWARF ----

t "types from DWARF without BTF"
cat >kernel.c <<'E'
struct list_head { struct list_head *next, *prev; };
struct mm_struct { long a; struct { long b; void *pgd; }; };
struct task_struct { int pid, tgid; struct list_head tasks; struct mm_struct *mm; };
enum maple_type { maple_dense, maple_leaf_64, maple_range_64 };
struct task_struct init_task; enum maple_type type;
void _stext(void); void _stext(void) { }
E
if ! cc -g -fno-pic -no-pie -nostdlib -static -Wl,-e,_stext -Wl,--build-id=0x$x86_id \
	-o dwarf kernel.c 2>/dev/null || [ "$(uname -m)" != x86_64 ]; then
	skip "no compiler for x86_64"
elif grep -q '^  found:.* libdw' "$built/found.txt"; then
	run atwalk info --filter 'fact=types' --kernel dwarf x86.elf
	out <<'E'
FACT            VALUE
types           2 from DWARF in dwarf
E
	run atwalk info --filter 'fact=missing and value ~ task_struct.tasks' --kernel dwarf x86.elf
	yes [ "$(wc -l <"$work/log/out")" = 1 ]
	objcopy --only-keep-debug dwarf dwarf.debug
	run atwalk info --filter 'fact=types' --kernel dwarf.debug x86.elf
	yes grep -q '^types  *2 from DWARF in dwarf.debug$' "$work/log/out"
else
	run atwalk info --filter 'fact=types' --kernel dwarf x86.elf
	yes grep -q 'none: dwarf: has its types as DWARF only, and this build of atwalk lacks libdw' "$work/log/out"
fi

finish
