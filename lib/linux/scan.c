/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scan.c - search for VMCOREINFO texts in memory. */
#include "linux/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * The kernel builds the text in a page of its own and copies it into a page that begins
 * with an ELF note header (vmcore_info.c, vmcoreinfo_append_str and
 * update_vmcoreinfo_note): 12 bytes, the name "VMCOREINFO" padded to 12. So two places
 * per page suffice, and most pages cost one cache line.
 */
enum { PAGE = 4096 };

/* Real memory has a handful of texts; more are assumed to be an attack. */
enum { CANDIDATES_MAX = 1000 };

/* Interval of progress reports. */
enum { METER_PAGES = 256 };

static const char first_key[] = "OSRELEASE=";

_Static_assert(SCAN_HEAD == SCAN_NOTE + sizeof(first_key) - 1, "as search.h has it");

int scan_offer(struct atw_source *mem, uint64_t at, char *text, scan_fn *fn, void *arg)
{
	ssize_t got = atw_read(mem, ATW_PA(at), text, SCAN_TEXT_MAX, NULL);
	struct atw_vmcoreinfo vi = { .text = text };

	if (got <= 0)
		return 0;
	vi.len = atw_vmcoreinfo_probe(text, (size_t)got);
	return vi.len ? fn(arg, &vi, ATW_PA(at)) : 0;
}

bool scan_text_place(const char *head, unsigned *ret)
{
	static const unsigned places[] = { 0, SCAN_NOTE };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!memcmp(head + places[i], first_key, sizeof(first_key) - 1)) {
			*ret = places[i];
			return true;
		}
	return false;
}

static int scan_memory(struct atw_source *mem, struct meter *meter, char *text,
		       scan_fn *fn, void *arg, uint64_t *unreadable)
{
	struct atw_extent e;
	unsigned candidates = 0, place;
	uint64_t at = 0, pages = 0;
	int r = 0;

	while (!r && atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK) {
		uint64_t end = e.start.u + e.len;

		if (e.kind == ATW_DATA) {
			uint64_t p = (e.start.u + PAGE - 1) & ~(uint64_t)(PAGE - 1);

			/* In the very last page, rounding up wraps. */
			for (; !r && p >= e.start.u && p < end && end - p >= PAGE; p += PAGE) {
				char head[SCAN_HEAD];
				ssize_t got = atw_read(mem, ATW_PA(p), head,
						       sizeof(head), NULL);

				if (!(++pages % METER_PAGES))
					meter_add(meter, METER_PAGES * PAGE);
				*unreadable += got < 0;
				if (got != (ssize_t)sizeof(head) ||
				    !scan_text_place(head, &place))
					continue;
				if (candidates++ == CANDIDATES_MAX)
					return 0;
				r = scan_offer(mem, p + place, text, fn, arg);
			}
		}
		if (end <= at)
			break;           /* end of the address space */
		at = end;
	}
	return r;
}

int scan_vmcoreinfo(struct atw_source *mem, struct meter *meter, scan_fn *fn, void *arg,
		    uint64_t *unreadable)
{
	_auto_free char *text = malloc(SCAN_TEXT_MAX);
	int r;

	if (!text)
		return ATW_E_NOMEM;
	meter_begin(meter, mem);
	r = scan_memory(mem, meter, text, fn, arg, unreadable);
	meter_end(meter);
	return r;
}
