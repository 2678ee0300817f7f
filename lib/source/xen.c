// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xen.c - source of `xl dump-core`: an ELF core without program headers; the section
 * .xen_pages has the pages and .xen_pfn their numbers. Xen: docs/misc/dump-core-format.txt.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "format/elfsec.h"
#include "source/mapped.h"

enum {
	XEN_PAGE = 4096,
	ELF_TYPE = 16, ELF_CORE = 4, ELF_PHNUM = 56, ELF_SHNUM = 60,
};
#define XEN_NO_PAGE UINT64_MAX

/* Other cores have program headers. */
static int xen_probe(struct atw_blob head, const char *path)
{
	const char *p = blob_at(head, 0, 64);

	return p && !memcmp(p, "\177ELF\2\1", 6) && get_le16(p + ELF_TYPE) == ELF_CORE &&
		       !get_le16(p + ELF_PHNUM) && get_le16(p + ELF_SHNUM) ? 100 : 0;
}

static int xen_add_pages(struct mapped *m, const struct elfsec_section *pages,
			 struct atw_blob numbers, struct atw_err *err)
{
	uint64_t missing = 0, n = numbers.len / 8, count = 0;
	int r = ATW_OK;

	if (!n || numbers.len % 8 || pages->size % XEN_PAGE || pages->size / XEN_PAGE != n)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "%zu bytes of page numbers (.xen_pfn) for 0x%" PRIx64 " bytes of pages (.xen_pages)",
				   numbers.len, pages->size);
	for (uint64_t i = 0; i < n && r == ATW_OK; i++) {
		uint64_t pfn = get_le64((const char *)numbers.data + i * 8), at;

		if (pfn == XEN_NO_PAGE)
			continue;
		if (!mul_u64(pfn, XEN_PAGE, &at))
			return atw_err_set(err, ATW_E_DAMAGED,
					   "page number 0x%" PRIx64 " is beyond 64 bits of address", pfn);
		r = mapped_add(m, at, XEN_PAGE, pages->offset + i * XEN_PAGE, &missing, err);
		count++;
	}
	if (r < 0)
		return r;
	mapped_truncated(m, missing);
	snprintf(m->what, sizeof(m->what), "Xen core, %" PRIu64 " pages", count);
	return extents_build(&m->map, err);
}

static int xen_open(struct atw_source *s, const struct atw_source_spec *spec,
		    struct atw_err *err)
{
	struct elfsec_section pages, numbers;
	struct atw_blob list;
	struct elfsec e;
	struct mapped *m;
	int r = mapped_open(s, spec, sizeof(*m), err);

	if (r < 0)
		return r;
	m = s->impl;
	r = elfsec_parse(m->file.map, &e, err);
	if (r < 0)
		return r;
	if (elfsec_find(&e, ".xen_p2m", &numbers) == ATW_OK)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "is of a paravirtual guest of Xen, whose page tables have the host's addresses");
	if (elfsec_find(&e, ".xen_pages", &pages) < 0 ||
	    elfsec_find(&e, ".xen_pfn", &numbers) < 0)
		return atw_err_set(err, ATW_E_FORMAT,
				   "is an ELF core without program headers and without pages of Xen");
	r = elfsec_bytes(&e, &numbers, &list, err);
	return r < 0 ? r : xen_add_pages(m, &pages, list, err);
}

const struct atw_source_ops source_xen = {
	.name = "xen",
	.help = "xl dump-core of a guest of Xen (by specification)",
	.probe = xen_probe,
	.open = xen_open,
	MAPPED_ONLY_OPS,
};
