// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elf.c - source of ELF cores: QEMU's dump-guest-memory, /proc/vmcore, makedumpfile -E,
 * also in its flattened form.
 *
 * Where p_memsz is larger than p_filesz, the rest is memory the file does not
 * hold: zero or filtered out, and the format cannot say which. It is called
 * excluded, because taking it for zeroes would turn pages that were left out
 * into an answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/vmcoreinfo.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "format/elf.h"
#include "format/view.h"
#include "source/cpu_notes.h"
#include "source/source.h"
#include "source/mapped.h"

struct elf_source {
	struct mapped m;
	struct cpu_notes cpus;
	struct atw_vmcoreinfo vmcoreinfo;
	const char *machine;     /* NULL: not one we know */
	void *head;              /* flattened: a copy of headers and notes */
	bool extract;            /* made by `atwalk extract` */
	struct atw_vmcoreinfo opening;   /* what that found: root, mode, first task */
	uint64_t number[5];              /* of these, those that are numbers: see
					    elf_opening_fact() */
	char damaged[256];       /* the fact "damaged", or empty */
};

static int elf_probe(struct atw_blob head, const char *path)
{
	struct atw_blob in = { 0 };
	struct view v;

	if (flattened_probe(head) && flattened_open(head, &v, NULL) == ATW_OK) {
		in.len = (size_t)view_run(&v, 0, &in.data);
		view_deinit(&v);
		return in.len && elf_magic(in) ? 90 : 0;
	}
	if (!elf_magic(head))
		return 0;
	/* Any other ELF file is ours to refuse, in words that help. Xen's have no segments. */
	if (head.len >= 64 && !get_le16((const char *)head.data + 56))
		return 50;
	return head.len >= 18 && get_le16((const char *)head.data + 16) == ELF_ET_CORE
		? 100 : 50;
}

static int elf_take_note(struct elf_source *es, const struct elf_note *n)
{
	es->extract |= elf_note_is(n, "atwalk", ELF_NT_EXTRACT);
	if (elf_note_is(n, "atwalk", ELF_NT_OPENING))
		es->opening = (struct atw_vmcoreinfo){ n->desc.data, n->desc.len };
	if (!elf_note_is(n, "VMCOREINFO", 0))
		return cpu_notes_take(&es->cpus, n);
	if (!es->vmcoreinfo.len) {
		es->vmcoreinfo.text = n->desc.data;
		es->vmcoreinfo.len = atw_vmcoreinfo_probe(n->desc.data, n->desc.len);
	}
	return ATW_OK;
}

/*
 * Memory is worth reading without notes, so a damaged one is a fact to tell
 * and not the end.
 */
static int elf_take_notes(struct elf_source *es, const struct elf *e,
			  const struct elf_phdr *ph, uint64_t *note_bytes,
			  uint64_t *missing, struct atw_err *err)
{
	struct elf_notes it = elf_notes(e, ph);
	struct atw_err why = { 0 };
	struct elf_note n;
	uint64_t end;
	int r;

	if (!add_u64(ph->offset, ph->filesz, &end))
		return atw_err_set(err, ATW_E_DAMAGED,
			"offset 0x%" PRIx64 " + size 0x%" PRIx64 " does not fit 64 bits",
			ph->offset, ph->filesz);
	if (end > es->m.view.size && end - es->m.view.size > *missing)
		*missing = end - es->m.view.size;
	/* Segments that lie on each other could make any number of notes. */
	*note_bytes += it.seg.len;
	if (*note_bytes > e->file.len)
		return atw_err_set(err, ATW_E_DAMAGED,
			"the note segments up to here are larger than the file (0x%zx bytes)",
			e->file.len);
	while ((r = elf_notes_next(&it, &n, &why)) == ATW_OK)
		if (elf_take_note(es, &n) < 0)
			return atw_err_nomem(err);
	if (r < 0 && !es->damaged[0])
		snprintf(es->damaged, sizeof(es->damaged),
			 _("%.180s; CPU registers and VMCOREINFO may be lost"),
			 why.text);
	return ATW_OK;
}

static int elf_take_load(struct elf_source *es, const struct elf *e,
			 const struct elf_phdr *ph, uint64_t *missing,
			 struct atw_err *err)
{
	uint64_t nowhere = e->is64 ? UINT64_MAX : UINT32_MAX;
	uint64_t rest = ph->memsz > ph->filesz ? ph->memsz - ph->filesz : 0;
	int r;

	/* /proc/kcore says so of what has no place in physical memory. */
	if (ph->paddr == nowhere)
		return ATW_OK;
	if (ph->filesz) {
		r = mapped_add(&es->m, ph->paddr, ph->filesz, ph->offset, missing, err);
		if (r < 0)
			return r;
	}
	if (!rest)
		return ATW_OK;
	if (!add_u64(ph->paddr, ph->memsz, &(uint64_t){ 0 }))
		return atw_err_set(err, ATW_E_DAMAGED,
			"address 0x%" PRIx64 " + size 0x%" PRIx64 " does not fit 64 bits",
			ph->paddr, ph->memsz);
	return extents_add(&es->m.map, ph->paddr + ph->filesz, rest, 0,
			   ATW_EXCLUDED, err);
}

static int elf_take_segments(struct elf_source *es, const struct elf *e,
			     struct atw_err *err)
{
	uint64_t missing = 0, note_bytes = 0;
	uint32_t loads = 0, first = 0;
	int r = ATW_OK;

	for (uint32_t i = 0; i < e->phnum; i++) {
		struct elf_phdr ph = elf_phdr(e, i);

		if (ph.type == ELF_PT_LOAD) {
			if (!loads++)
				first = i;
			r = elf_take_load(es, e, &ph, &missing, err);
		} else if (ph.type == ELF_PT_NOTE) {
			r = elf_take_notes(es, e, &ph, &note_bytes, &missing, err);
		}
		if (r < 0) {
			atw_err_wrap(err, "program header %u at 0x%" PRIx64, i, ph.at);
			return r;
		}
	}
	if (!loads)
		return atw_err_set(err, ATW_E_DAMAGED,
			"has %u program headers and none of them is memory (PT_LOAD)",
			e->phnum);
	r = extents_build(&es->m.map, err);
	if (r < 0)
		return r;
	if (!extents_total(&es->m.map, ATW_DATA) && !extents_total(&es->m.map, ATW_ZERO)) {
		struct elf_phdr ph = elf_phdr(e, first);

		if (!missing)
			return atw_err_set(err, ATW_E_DAMAGED,
				"has %u memory segments and no byte of any", loads);
		return atw_err_set(err, ATW_E_DAMAGED,
			"program header %u at 0x%" PRIx64 ": offset 0x%" PRIx64 " + size 0x%" PRIx64 " is past the end of the file (0x%zx bytes)",
			first, ph.at, ph.offset, ph.filesz, (size_t)es->m.view.size);
	}
	mapped_truncated(&es->m, missing);
	es->machine = elf_machine_name(e);
	snprintf(es->m.what, sizeof(es->m.what), "ELF%d core, %s%s, %u memory segment%s%s",
		 e->is64 ? 64 : 32, view_flattened(&es->m.view) ? "flattened, " : "",
		 es->machine ? es->machine : "unknown machine",
		 loads, loads == 1 ? "" : "s",
		 es->extract ? ", an extract: what is no table or fact is zero" : "");
	return ATW_OK;
}

/*
 * What lies before the memory, in one piece: the file itself, or a copy of
 * the beginning of what was flattened.
 */
enum { HEADERS_MAX = 16 * 1024 * 1024 };

static int elf_headers(struct elf_source *es, struct atw_blob *ret, struct atw_err *err)
{
	uint64_t len = es->m.view.size;

	if (!view_flattened(&es->m.view)) {
		*ret = es->m.file.map;
		return ATW_OK;
	}
	len = MIN(len, es->m.file.map.len);
	len = MIN(len, HEADERS_MAX);
	return view_blob(&es->m.view, 0, len, &es->head, ret) < 0
		? atw_err_set(err, ATW_E_DAMAGED, "its beginning is not in the flattened file")
		: ATW_OK;
}

static int elf_open(struct atw_source *s, const struct atw_source_spec *spec,
		    struct atw_err *err)
{
	struct elf_source *es;
	struct atw_blob head;
	struct elf e;
	int r = mapped_open(s, spec, sizeof(*es), err);

	if (r < 0)
		return r;
	es = s->impl;
	r = mapped_unflatten(&es->m, err) ?:
	    elf_headers(es, &head, err) ?:
	    elf_parse(head, &e, err);
	if (r != ATW_OK)
		return r;
	if (e.type != ELF_ET_CORE) {
		atw_err_set(err, ATW_E_FORMAT,
			"is an ELF file, but not a core dump (e_type is %u)", e.type);
		atw_err_hint(err, "the source is a dump of memory, not the program that ran in it");
		return ATW_E_FORMAT;
	}
	return elf_take_segments(es, &e, err);
}

static void elf_close(struct atw_source *s)
{
	struct elf_source *es = s->impl;

	if (es) {
		cpu_notes_deinit(&es->cpus);
		free(es->head);
	}
	mapped_close(s);
}

/* Of an extract: the numbers "init_task", "root", "ignore", "cpus", "isolated", and "paging". */
static int elf_opening_fact(struct elf_source *es, const char *key, struct atw_blob *ret)
{
	static const struct { const char *fact, *line; } number[] = {
		{ "init_task", "SYMBOL(init_task)" }, { "root", "NUMBER(root)" },
		{ "ignore", "NUMBER(ignore)" }, { "cpus", "NUMBER(cpus)" },
		{ "isolated", "NUMBER(isolated)" },
	};

	if (!strcmp(key, "paging"))
		return atw_vmcoreinfo_text(&es->opening, "PAGING", ret);
	for (size_t i = 0; i < ARRAY_SIZE(number); i++)
		if (!strcmp(key, number[i].fact) &&
		    atw_vmcoreinfo_u64(&es->opening, number[i].line, &es->number[i]) == ATW_OK) {
			*ret = (struct atw_blob){ &es->number[i], sizeof(es->number[i]) };
			return ATW_OK;
		}
	return ATW_E_MISSING;
}

/*
 * "vmcoreinfo", "release", "machine" (as uname -m), "cpus", "cpuN.prstatus",
 * "cpuN.cr0" .cr2 .cr3 .cr4 (x86 under QEMU), "truncated", "damaged"; of an
 * extract also "extract" and what elf_opening_fact() has.
 */
static int elf_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct elf_source *es = s->impl;

	const struct source_fact facts[] = {
		{ "vmcoreinfo", es->vmcoreinfo.text, es->vmcoreinfo.len },
		{ "machine", es->machine, es->machine ? strlen(es->machine) : 0 },
		{ "cpus", &es->cpus.n, es->cpus.n ? sizeof(es->cpus.n) : 0 },
		{ "damaged", es->damaged, strlen(es->damaged) },
		{ "extract", "1", es->extract },
	};

	if (!strcmp(key, "release") && es->vmcoreinfo.len)
		return atw_vmcoreinfo_text(&es->vmcoreinfo, "OSRELEASE", ret);
	if (cpu_notes_fact(&es->cpus, key, ret) == ATW_OK ||
	    source_fact_of(facts, ARRAY_SIZE(facts), key, ret) == ATW_OK ||
	    (es->opening.len && elf_opening_fact(es, key, ret) == ATW_OK))
		return ATW_OK;
	return mapped_fact(s, key, ret);
}

const struct atw_source_ops source_elf = {
	.name = "elf",
	.help = "ELF core: QEMU, /proc/vmcore, makedumpfile -E",
	.probe = elf_probe,
	.open = elf_open,
	.close = elf_close,
	MAPPED_OPS,
	.fact = elf_fact,
};
