// SPDX-License-Identifier: GPL-2.0-or-later
/* vmfile.c - reader of the file given with --kernel. */
#include "linux/vmfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/message.h"
#include "format/elf.h"
#include "host/host_file.h"

enum { ET_REL = 1, TEXT_LOOK = 4096, COPY_MAX = 256 * 1024 * 1024 };
/* Limit of the size of an image (x86: KERNEL_IMAGE_SIZE). */
#define IMAGE_MAX (UINT64_C(1) << 30)

/* ---- detection of the format ---- */

static bool vmfile_has(struct atw_blob b, uint64_t off, const char *magic, size_t len)
{
	const void *p = blob_at(b, off, len);

	return p && !memcmp(p, magic, len);
}

/* Boot images: they contain the kernel in compressed form. */
static bool vmfile_is_packed(struct atw_blob b)
{
	return vmfile_has(b, 0x202, "HdrS", 4) || vmfile_has(b, 0x38, "ARM\x64", 4) ||
	       vmfile_has(b, 0x38, "RSC\x05", 4) || vmfile_has(b, 0, "\x1f\x8b", 2) ||
	       vmfile_has(b, 0, "\xfd" "7zXZ", 5) ||
	       vmfile_has(b, 0, "\x28\xb5\x2f\xfd", 4);
}

static int vmfile_refuse_packed(struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "is a kernel image to boot from, or compressed; it takes the vmlinux that is in it");
	atw_err_hint(err, "scripts/extract-vmlinux of the kernel's source unpacks one; vmlinux with symbols comes in the distribution's debug package");
	return ATW_E_UNSUPPORTED;
}

/*
 * Debian's /boot/System.map is one line that looks like a symbol: ffffffffffffffff B The
 * real System.map is in the linux-image-<version>-dbg package
 */
static bool vmfile_is_stub(struct atw_blob b)
{
	static const char words[] = "The real System.map is in the ";

	return b.len < TEXT_LOOK && memmem(b.data, b.len, words, sizeof(words) - 1);
}

static int vmfile_refuse_stub(struct atw_err *err)
{
	atw_err_set(err, ATW_E_MISSING,
		    "is a stub without symbols: \"The real System.map is in the linux-image-<version>-dbg package\"");
	atw_err_hint(err, "that package has usr/lib/debug/boot/System.map-<version> and vmlinux-<version>");
	return ATW_E_MISSING;
}

/* ---- contents ---- */

static int vmfile_open_elf(struct vmfile *f, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct elfsec_section s;
	int r = elfsec_parse(f->bytes, &f->elf, err);

	if (r < 0)
		return r;
	if (f->elf.type == ELF_ET_CORE || f->elf.type == ET_REL)
		return atw_err_set(err, ATW_E_FORMAT, "is %s, not a kernel's vmlinux",
				   f->elf.type == ET_REL ? _("an object file or a module")
							 : _("a core dump"));
	f->kind = VMFILE_ELF;
	elfsec_build_id(&f->elf, &f->build_id);
	r = elfsyms_init(&f->elfsyms, &f->elf, &why);
	f->symbols = r == ATW_OK;
	if (r < 0 && r != ATW_E_MISSING)
		return atw_err_set(err, r, "%s", why.text);
	/* A debug file lists .BTF without its contents. */
	if (elfsec_find(&f->elf, ".BTF", &s) == ATW_OK) {
		r = elfsec_bytes(&f->elf, &s, &f->btf, &why);
		if (r < 0 && r != ATW_E_MISSING)
			return atw_err_set(err, r, "%s", why.text);
	}
	if (elfsec_find(&f->elf, ".debug_info", &s) == ATW_OK ||
	    elfsec_find(&f->elf, ".zdebug_info", &s) == ATW_OK)
		f->dwarf = s.type != ELFSEC_NOBITS;
	if (!f->symbols && !f->btf.len && !f->dwarf)
		return atw_err_set(err, ATW_E_MISSING,
				   "is an ELF file without symbols, BTF or DWARF: nothing in it adds to the dump");
	return ATW_OK;
}

static int vmfile_recognise(struct vmfile *f, struct atw_err *err)
{
	struct atw_blob map = f->bytes;
	int r;

	if (elf_magic(map))
		return vmfile_open_elf(f, err);
	if (btf_length(map)) {
		f->kind = VMFILE_BTF;
		f->btf = map;
		return ATW_OK;
	}
	if (vmfile_is_packed(map))
		return vmfile_refuse_packed(err);
	if (vmfile_is_stub(map))
		return vmfile_refuse_stub(err);
	f->kind = VMFILE_TEXT;
	r = symtext_init(&f->text, map, err);
	f->symbols = r == ATW_OK;
	if (r == ATW_E_FORMAT)
		atw_err_set(err, r, "is neither vmlinux (ELF), System.map nor BTF");
	return r;
}

/*
 * From _text, which kallsyms of some releases lacks, to the maximum length of an image:
 * x86 has symbols behind _end.
 */
static void vmfile_find_image(struct vmfile *f)
{
	static const char *const names[] = { "_text", "_stext" };
	uint64_t at[2];
	bool have[2];

	vmfile_find_many(f, names, at, have, 2);
	f->first = !have[0] ? UINT64_MAX : at[0];
	if (have[1] && at[1] < f->first)
		f->first = at[1];
	if (!add_u64(f->first, IMAGE_MAX - 1, &f->last))
		f->last = UINT64_MAX;
}

/* /proc/kallsyms and /sys/kernel/btf/vmlinux can be read, but not mapped. */
static int vmfile_take_bytes(struct vmfile *f, const char *path, struct atw_err *err)
{
	bool pseudo = !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5);
	int r;

	if (pseudo && host_file_all(path, COPY_MAX, &f->copy, NULL) == ATW_OK &&
	    f->copy.len) {
		f->bytes = (struct atw_blob){ f->copy.data, f->copy.len };
		return ATW_OK;
	}
	r = file_open(path, &f->file, err);
	f->bytes = f->file.map;
	return r;
}

int vmfile_open(const char *path, struct vmfile **ret, struct atw_err *err)
{
	struct vmfile *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return atw_err_nomem(err);
	r = vmfile_take_bytes(f, path, err);
	if (r == ATW_OK) {
		r = vmfile_recognise(f, err);
		if (r < 0)
			atw_err_wrap(err, "%s", path);
	}
	if (r < 0) {
		vmfile_close(f);
		return r;
	}
	vmfile_find_image(f);
	*ret = f;
	return ATW_OK;
}

void vmfile_close(struct vmfile *f)
{
	if (!f)
		return;
	elfsyms_deinit(&f->elfsyms);
	symtext_deinit(&f->text);
	buf_deinit(&f->copy);
	file_close(&f->file);
	free(f);
}

/* ---- symbols ---- */

size_t vmfile_find_many(const struct vmfile *f, const char *const *names,
			uint64_t *addr, bool *have, size_t n)
{
	memset(have, 0, n * sizeof(*have));
	if (!f->symbols)
		return 0;
	return f->kind == VMFILE_ELF ?
		elfsyms_find_many(&f->elfsyms, names, addr, have, n) :
		symtext_find_many(&f->text, names, addr, have, n);
}

uint32_t vmfile_count(const struct vmfile *f)
{
	return !f->symbols ? 0 : f->kind == VMFILE_ELF ? f->elfsyms.n : f->text.n;
}

static bool vmfile_in_image(const struct vmfile *f, uint64_t address)
{
	return address >= f->first && address <= f->last;
}

/* From an address of the file to that in memory. */
static uint64_t vmfile_moved(const struct vmfile *f, uint64_t address)
{
	return address + (vmfile_in_image(f, address) ? f->shift : 0);
}

static int vmfile_give(const char *name, uint64_t address, uint64_t size, char type,
		       struct lnx_symbol *ret)
{
	*ret = (struct lnx_symbol){ .address = address, .size = size, .type = type };
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return ATW_OK;
}

int vmfile_symbol(const struct vmfile *f, const char *name, uint64_t *ret)
{
	bool have;

	vmfile_symbols_many(f, &name, ret, &have, 1);
	return have ? ATW_OK : ATW_E_MISSING;
}

void vmfile_symbols_many(const struct vmfile *f, const char *const *names,
			 uint64_t *addr, bool *have, size_t n)
{
	memset(have, 0, n * sizeof(*have));
	if (!f->placed)
		return;
	vmfile_find_many(f, names, addr, have, n);
	for (size_t i = 0; i < n; i++)
		if (have[i])
			addr[i] = vmfile_moved(f, addr[i]);
}

int vmfile_next(const struct vmfile *f, uint32_t *it, struct lnx_symbol *ret)
{
	struct symtext_symbol t;
	struct elfsyms_symbol e;

	if (!f->symbols || !f->placed)
		return ATW_END;
	if (f->kind == VMFILE_ELF) {
		if (elfsyms_next(&f->elfsyms, it, &e) != ATW_OK)
			return ATW_END;
		return vmfile_give(e.name, vmfile_moved(f, e.address), e.size, e.type,
				   ret);
	}
	if (symtext_next(&f->text, it, &t) != ATW_OK)
		return ATW_END;
	return vmfile_give(t.name, vmfile_moved(f, t.address), t.size, t.type, ret);
}

int vmfile_near(const struct vmfile *f, uint64_t address, struct lnx_symbol *ret)
{
	uint64_t shift = vmfile_in_image(f, address - f->shift) ? f->shift : 0;
	struct symtext_symbol t;
	struct elfsyms_symbol e;

	/* A copy of /proc/kallsyms has modules outside of the image. */
	if (!f->symbols || !f->placed || (!shift && f->shift))
		return ATW_E_MISSING;
	if (f->kind == VMFILE_ELF) {
		if (elfsyms_near(&f->elfsyms, address - shift, &e) < 0)
			return ATW_E_MISSING;
		return vmfile_give(e.name, e.address + shift, e.size, e.type, ret);
	}
	if (symtext_near(&f->text, address - shift, &t) < 0)
		return ATW_E_MISSING;
	return vmfile_give(t.name, t.address + shift, t.size, t.type, ret);
}
