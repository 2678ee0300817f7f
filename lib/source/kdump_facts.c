/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kdump_facts.c - metadata of a kdump-compressed dump. */
#include "source/kdump_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/vmcoreinfo.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "format/elf.h"

/* A set that lacks a part answers only for the frames of the others. */
static bool facts_lacks_parts(const struct kdump_set *s)
{
	for (size_t i = 0; i < s->nspans; i++)
		if (!s->spans[i].file)
			return true;
	return false;
}

/* What can be said about a file that holds less than it promises. */
static void facts_note_truncation(struct kdump_facts *facts, const struct kdump_set *s)
{
	char *buf = facts->truncated;
	size_t len = sizeof(facts->truncated);

	for (size_t i = 0; i < s->nfiles && !*facts->truncated; i++) {
		const struct kdump_file *f = &s->files[i];
		uint64_t missing = kdump_file_short(f);
		bool unended = view_flattened(&f->view) && f->view.unfinished;
		int n = 0;

		if (!missing && !unended && !(f->h.status & KDUMP_INCOMPLETE))
			continue;
		if (s->nfiles > 1)
			n = snprintf(buf, len / 2, "%s: ", f->file.path);
		if (n < 0 || (size_t)n >= len / 2)
			n = 0;
		buf += n;
		len -= (size_t)n;
		if (missing)
			snprintf(buf, len, _("ends %" PRIu64
				 " bytes short; is it still being written?"), missing);
		else if (unended)
			snprintf(buf, len,
				 _("lacks its end record; is it still being written?"));
		else
			snprintf(buf, len,
				 _("is marked incomplete: its writer ran out of space"));
	}
	if (!*facts->truncated && facts_lacks_parts(s))
		snprintf(facts->truncated, sizeof(facts->truncated),
			 _("is one part of a split dump, and others are missing: give them with -S"));
}

static int facts_take_notes(struct kdump_facts *f)
{
	struct elf_notes it = { .seg = f->notes };
	struct elf_note n;

	while (elf_notes_next(&it, &n, NULL) == ATW_OK) {
		if (cpu_notes_take(&f->cpus, &n) < 0)
			return ATW_E_NOMEM;
		if (!f->vmcoreinfo.len && elf_note_is(&n, "VMCOREINFO", 0))
			f->vmcoreinfo = n.desc;
	}
	f->ncpus = f->cpus.nprstatus;
	if (!f->ncpus && f->h->nr_cpus <= CPUS_MAX)
		f->ncpus = f->h->nr_cpus;
	return ATW_OK;
}

int kdump_facts_init(struct kdump_facts *f, const struct kdump_set *s,
		     struct atw_err *err)
{
	const struct view *v = &s->files[0].view;
	const struct kdump_header *h = &s->files[0].h;

	*f = (struct kdump_facts){ .h = h };
	for (size_t i = 0; i < s->nfiles; i++)
		f->stored += s->files[i].file.map.len;
	/* Notes that are cut off cost their facts, not the dump. */
	if (view_blob(v, h->notes.off, h->notes.len, &f->owned[0], &f->notes) ==
		    ATW_E_NOMEM ||
	    view_blob(v, h->vmcoreinfo.off, h->vmcoreinfo.len, &f->owned[1],
		      &f->vmcoreinfo) == ATW_E_NOMEM ||
	    facts_take_notes(f) < 0)
		return atw_err_nomem(err);
	if (f->vmcoreinfo.len)
		f->vmcoreinfo.len = atw_vmcoreinfo_probe(f->vmcoreinfo.data,
							 f->vmcoreinfo.len);
	facts_note_truncation(f, s);
	return ATW_OK;
}

void kdump_facts_deinit(struct kdump_facts *f)
{
	cpu_notes_deinit(&f->cpus);
	free(f->owned[0]);
	free(f->owned[1]);
	*f = (struct kdump_facts){ 0 };
}

/*
 * QEMU leaves utsname empty, and for many targets names the machine "Unknown"; then the
 * machine is determined from the size of a CPU's registers.
 */
static const char *facts_machine(const struct kdump_facts *f)
{
	static const struct { size_t prstatus; const char *name; } sizes[] = {
		{ 336, "x86_64" }, { 392, "aarch64" }, { 376, "riscv64" },
	};
	const char *name = f->h->machine;

	if (*name && strcmp(name, "Unknown"))
		return name;
	if (!f->cpus.n)
		return "";
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i].prstatus == f->cpus.cpu[0].prstatus.desc.len)
			return sizes[i].name;
	return "";
}

int kdump_facts_get(const struct kdump_facts *f, const char *key, struct atw_blob *ret)
{
	const char *machine = facts_machine(f), *release = f->h->release;
	const struct atw_vmcoreinfo vi = { f->vmcoreinfo.data, f->vmcoreinfo.len };
	const struct source_fact facts[] = {
		{ "vmcoreinfo", vi.text, vi.len },
		{ "stored", &f->stored, sizeof(f->stored) },
		{ "cpus", &f->ncpus, f->ncpus ? sizeof(f->ncpus) : 0 },
		{ "release", release, strlen(release) },
		{ "machine", machine, strlen(machine) },
		{ "truncated", f->truncated, strlen(f->truncated) },
	};

	if (!strcmp(key, "release") && !*release && vi.len)
		return atw_vmcoreinfo_text(&vi, "OSRELEASE", ret);
	return source_fact_of(facts, ARRAY_SIZE(facts), key, ret) == ATW_OK ?
		ATW_OK : cpu_notes_fact(&f->cpus, key, ret);
}

/*
 * makedumpfile sets the compression in the header, but the pages decide: go by
 * the first compressed one where the header is silent.
 */
static const char *facts_compression(const struct kdump_file *f)
{
	uint32_t bits = f->h.status & KDUMP_COMPRESSED;
	char d[KDUMP_DESC_SIZE];

	for (uint64_t i = 0; !bits && i < f->ndescs && i < 1024; i++)
		if (view_read(&f->view, f->h.descs + i * KDUMP_DESC_SIZE, d, sizeof(d)))
			bits = get_le32(d + 12) & KDUMP_COMPRESSED;
	return bits & KDUMP_ZSTD ? "zstd" : bits & KDUMP_SNAPPY ? "snappy" :
	       bits & KDUMP_LZO ? "lzo" : bits & KDUMP_ZLIB ? "zlib" : "uncompressed";
}

void kdump_set_describe(const struct kdump_set *s, char *buf, size_t len)
{
	const struct kdump_file *f = &s->files[0];
	int n;

	n = snprintf(buf, len, "%s v%u, %s%s",
		     f->h.diskdump ? "diskdump" : "kdump-compressed", f->h.version,
		     facts_compression(f), view_flattened(&f->view) ? ", flattened" : "");
	if (n < 0 || (size_t)n >= len || !f->h.split)
		return;
	if (!facts_lacks_parts(s))
		snprintf(buf + n, len - (size_t)n, ", split, all %zu parts", s->nfiles);
	else
		snprintf(buf + n, len - (size_t)n, ", split, %zu part%s given, others missing",
			 s->nfiles, s->nfiles == 1 ? "" : "s");
}
