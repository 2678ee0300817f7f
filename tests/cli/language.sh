#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Messages are in the language of the reader, and what programs read is in none.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

# in_language LANGUAGE COMMAND...
in_language() {
	local -x LC_ALL=$utf8 LANGUAGE=$1
	shift
	run "$@"
}

[ -d "$built/locale" ] || {
	t "messages in other languages"
	skip "this build has no catalogues: gettext is not installed"
	finish
}
# Any locale of UTF-8 will do: LANGUAGE selects the catalogue.
utf8=
for each in C.UTF-8 $(locale -a | grep -i 'utf-*8'); do
	if LC_ALL=$each LANGUAGE=de atwalk --help | grep -q '^Befehle:$'; then
		utf8=$each
		break
	fi
done
[ "$utf8" ] || {
	t "messages in other languages"
	skip "no locale of UTF-8 is installed"
	finish
}

t "a usage error and its hint"
in_language de atwalk map --nix x86.elf
status 2
err <<'E'
atwalk: unbekannte Option --nix
        siehe: atwalk map --help
E
in_language zh_CN atwalk map --nix x86.elf
status 2
err <<'E'
atwalk: 未知选项 --nix
        参见：atwalk map --help
E
in_language C atwalk map --nix x86.elf
status 2
err <<'E'
atwalk: unknown option --nix
        see: atwalk map --help
E

t "sums are sentences, and not words put together"
in_language de atwalk map x86.elf
yes grep -qE ': [0-9.]+[KMG] in Seiten von 4K: [0-9]+' "$work/log/out"
in_language zh_CN atwalk map x86.elf
yes grep -qE '：[0-9.]+[KMG] 位于 [0-9]+ 个 4K 页' "$work/log/out"

t "a file that is none, with the hint of the library"
echo text >file.txt
in_language de atwalk info file.txt
status 3
err <<'E'
atwalk: file.txt: kein bekanntes Format eines Speicherabbilds (elf, kdump, lime, avml, qemu-stream, libvirt, qcow2, firecracker, cloud-hypervisor, vmware, xen, capture)
        für ein einfaches Abbild des RAM raw:file.txt@ADDRESS angeben
E
in_language zh_CN atwalk info file.txt
status 3
err <<'E'
atwalk: file.txt：不是已知的转储格式（elf, kdump, lime, avml, qemu-stream, libvirt, qcow2, firecracker, cloud-hypervisor, vmware, xen, capture）
        对普通的内存映像，请写 raw:file.txt@ADDRESS
E

t "a help page: options and their arguments stay, columns of the page line up"
for language in de zh_CN C; do
	in_language $language atwalk rd --help
	cp "$work/log/out" "help.$language"
done
yes grep -qx '      --length BYTES         BYTES ab jeder ADDRESS lesen, die kein Bereich ist (Voreinstellung: 64)' help.de
yes grep -qx '      --length BYTES         从每个不是范围的 ADDRESS 读取 BYTES 字节（默认：64）' help.zh_CN
for language in de zh_CN; do
	cut -c1-28 "help.$language" | grep -ao '^ .*--[a-z-]*' >named
	cut -c1-28 help.C | grep -o '^ .*--[a-z-]*' >want
	yes same named want
done

t "notes below a table; the table itself is the same"
in_language de atwalk map x86.elf
grep -v '^$' "$work/log/out" >map.de
run atwalk map x86.elf
grep -v '^$' "$work/log/out" >map.C
yes same <(head -n 20 map.de) <(head -n 20 map.C)
yes grep -q '^Bereiche: [0-9]*, abgebildet: ' map.de

t "wide characters in a table"
in_language zh_CN atwalk probe --pid 4194305 --columns why,allowed --filter 'capability="all processes"'
# Each of the 4 characters takes two columns.
out <<'E'
WHY                                       ALLOWED
没有进程 4194305                          no
E

t "what programs read is the same in every language"
alike() {
	for language in C de zh_CN; do
		LC_ALL="$utf8" LANGUAGE=$language atwalk "$@" >"data.$language" 2>log
		echo "status $?" >>"data.$language"
	done
	yes same data.C data.de
	yes same data.C data.zh_CN
	yes [ "$(wc -l <data.C)" -gt 1 ]
}
alike map x86.elf --format csv
alike map x86.elf --format json
alike map x86.elf --format html
alike ps tasks.kdump --format jsonl
alike info tasks.kdump --format json
alike info --paging-modes --format csv
alike probe --pid 4194305 --format json --columns capability,why,gives --filter 'capability="all processes"'
alike plugins --format json
alike audit tasks.kdump --format csv
alike sql tasks.kdump 'select * from facts' --format json
alike report use tasks.kdump --format csv

t "a capture has reasons in English"
LC_ALL="$utf8" LANGUAGE=de atwalk collect tasks.kdump -o de.capture 2>log
atwalk collect tasks.kdump -o en.capture 2>log
yes same <(grep '^L:' de.capture) <(grep '^L:' en.capture)

t "numbers stay, and so does a locale that is none"
run env LC_ALL=C LANGUAGE=de "$O/atwalk" map --nix x86.elf
status 2
err <<'E'
atwalk: unknown option --nix
        see: atwalk map --help
E
run env LC_ALL=nowhere.UTF-8 LANGUAGE=de "$O/atwalk" map --nix x86.elf
status 2
err <<'E'
atwalk: unknown option --nix
        see: atwalk map --help
E

t "a locale of another character set: English, and not a byte beyond ASCII"
mkdir locales
if localedef -c -i de_DE -f ISO-8859-1 locales/de_DE.ISO-8859-1 >log 2>&1; then
	run env LOCPATH="$PWD/locales" LC_ALL=de_DE.ISO-8859-1 "$O/atwalk" map nowhere/x86.elf
	status 3
	err <<'E'
atwalk: nowhere/x86.elf: No such file or directory
E
else
	echo "note - localedef makes no locale of ISO-8859-1: $(head -n 1 log)"
fi

t "no file is opened for messages in the locale C"
if grep -qE -- '-fsanitize' "$built/flags"; then
	skip "sanitizers open files of their own"
elif command -v strace >/dev/null && strace -o log true 2>/dev/null; then
	strace -f -e trace=file -o log env LC_ALL=C LANGUAGE=de "$built/atwalk" --version >version
	yes [ "$(grep -c 'locale\|/proc/self/exe' log)" = 0 ]
else
	skip "strace cannot be run"
fi

t "more rights than the caller: a catalogue in a folder that others may write is not read"
own=$(mktemp -d) && chmod 755 "$own" && mkdir "$own/bin" "$own/locale"
cp "$built/atwalk" "$own/bin/atwalk"
cp -r "$built/locale/de" "$own/locale/de" && mkdir "$own/share" && mv "$own/locale" "$own/share/locale"
chmod -R a+rX "$own"
plain=$(LC_ALL="$utf8" LANGUAGE=de "$own/bin/atwalk" map --nix x86.elf 2>&1)
yes [ "${plain%%$'\n'*}" = "atwalk: unbekannte Option --nix" ]
if [ "$(id -u)" = 0 ] && setcap cap_sys_ptrace=ep "$own/bin/atwalk" 2>log &&
	secure=$(cd / && LC_ALL="$utf8" LANGUAGE=de setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$own/bin/atwalk" map --nix --no-config x86.elf 2>&1); [ "${secure:-}" ]; then
	yes [ "${secure%%$'\n'*}" = "atwalk: unknown option --nix" ]
else
	skip "no program with capabilities can be run as another user"
fi
rm -r "$own"

t "msgfmt, as make calls it, refuses a translation with a format that does not fit"
sed 's/^msgstr "unbekannte Option --%\.\*s%s"$/msgstr "unbekannte Option --%d%n"/' "$top/po/de.po" >bad.po
yes [ "$(diff bad.po "$top/po/de.po" | grep -c '^<')" = 1 ]
yes grep -q "msgfmt --check" "$top/Makefile"
run msgfmt --check -o bad.mo bad.po
status 1
err_has "format specifications"

finish
