/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - records of tasks, RAM, slab caches and swap devices. */
#include "target/info.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "host/nodes.h"

enum { SWAPS = 32 };             /* MAX_SWAPFILES is at most that */

int about_say(const struct about_to *to, struct atw_err *err, const char *key,
	      const char *fmt, ...)
{
	struct capture_record rec = { .letter = 'H' };
	char value[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	rec.h.key = blob_of(key);
	rec.h.value = blob_of(value);
	return to->tell(to->arg, &rec, err);
}

int about_cpus(const struct about_to *to, uint32_t node, uint64_t first, uint64_t last,
	       struct atw_err *err)
{
	char key[32];

	snprintf(key, sizeof(key), "nodecpus.%" PRIu32, node);
	return first == last ? about_say(to, err, key, "%" PRIu64, first)
			     : about_say(to, err, key, "%" PRIu64 "-%" PRIu64, first, last);
}

void about_nothing(struct task_about *a, uint32_t pid, const char *name, uint64_t mm)
{
	*a = (struct task_about){ .t = { .pid = pid, .mm = mm } };
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->t.name = blob_of(a->name);
}

int about_tell(const struct about_to *to, const struct task_about *a, struct atw_err *err)
{
	struct capture_record rec = { .letter = 'T', .has = a->has, .t = a->t };

	/* A task with memory is none of the kernel's. */
	if (a->t.mm)
		rec.has &= ~(uint32_t)CAPTURE_T_KTHREAD;
	return to->tell(to->arg, &rec, err);
}

static int target_info_ram(const struct about_to *to, uint64_t first, uint64_t last,
			   const struct about_place *p, struct atw_err *err)
{
	const struct capture_record rec = {
		.letter = 'R',
		.has = (p->has_node ? CAPTURE_R_NODE : 0) | (p->zone ? CAPTURE_R_ZONE : 0),
		.r = { first, last, blob_of("System RAM"), p->node,
		       p->zone ? blob_of(p->zone) : (struct atw_blob){ NULL, 0 } },
	};

	return to->tell(to->arg, &rec, err);
}

static bool target_info_same_place(const struct about_place *a, const struct about_place *b)
{
	return a->has_node == b->has_node && (!a->has_node || a->node == b->node) &&
	       !a->zone == !b->zone && (!a->zone || !strcmp(a->zone, b->zone));
}

int about_ram(const struct about_to *to, const struct extents *x,
	      void (*place)(void *arg, uint64_t pa, struct about_place *ret, uint64_t *last),
	      void *arg, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < x->n && r == ATW_OK; i++) {
		uint64_t at = x->v[i].start, end = at + (x->v[i].len - 1), last = end;
		struct about_place now = { 0 };

		place(arg, at, &now, &last);
		while (last < end && r == ATW_OK) {
			struct about_place next = { 0 };
			uint64_t border = last + 1;

			last = end;
			place(arg, border, &next, &last);
			if (target_info_same_place(&now, &next))
				continue;
			r = target_info_ram(to, at, border - 1, &now, err);
			at = border;
			now = next;
		}
		if (r == ATW_OK)
			r = target_info_ram(to, at, end, &now, err);
	}
	return r;
}

void about_zone(const struct zone_spans *z, unsigned page_shift, uint64_t pa,
		struct about_place *ret, uint64_t *last)
{
	const uint64_t page = ((uint64_t)1 << page_shift) - 1;
	uint64_t frame = *last >> page_shift;

	ret->zone = zone_spans_find(z, pa >> page_shift, ret->has_node ? &ret->node : NULL, &frame);
	if (frame < *last >> page_shift)
		*last = frame << page_shift | page;
}

int about_slab(const struct about_to *to, struct atw_blob name, const struct capture_slab *s,
	       struct atw_err *err)
{
	char key[96], value[CAPTURE_SLAB_TEXT];

	snprintf(key, sizeof(key), "slab.%.*s", name.len < 80 ? (int)name.len : 80,
		 (const char *)name.data);
	capture_slab_text(s, value);
	return about_say(to, err, key, "%s", value);
}

int about_swap(const struct about_to *to, int (*swap)(void *arg, unsigned type,
	       struct atw_swap *ret), void *arg, struct atw_err *err)
{
	struct atw_swap s;
	int r = ATW_OK;

	for (unsigned i = 0; i < SWAPS && r == ATW_OK; i++) {
		struct capture_record rec = { .letter = 'S' };

		if (swap(arg, i, &s) < 0)
			continue;
		rec.s = (struct capture_swap){i, s.pages, s.used, blob_of(s.name)};
		r = to->tell(to->arg, &rec, err);
	}
	return r;
}
