/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.c - memory of the kernel by slab cache, which Movall et al. took from
 * /proc/slabinfo.
 */
#include "base/num.h"
#include "report/looks.h"
#include "report/report.h"

enum { C_CACHE, C_SIZE, C_OBJECTS, C_ACTIVE, C_SLABS, C_PAGES, C_COUNT };

static const struct atw_column columns[C_COUNT] = {
	[C_CACHE] = COLUMN("cache", TEXT, 24, "its name"),
	[C_SIZE] = COLUMN("size", BYTES, 6,
			"of an object, with what the cache puts beside it"),
	[C_OBJECTS] = COLUMN("objects", COUNT, 8,
			"that its slabs have room for", .sum = true),
	[C_ACTIVE] = COLUMN("active", COUNT, 8,
			"those in use, or kept for a CPU", .sum = true),
	[C_SLABS] = COLUMN("slabs", COUNT, 7, "blocks of pages that it has", .sum = true),
	[C_PAGES] = COLUMN("pages", PAGES, 8,
			"pages of memory in these, as slabs of its usual size have them",
			.sum = true),
};
static const struct atw_schema schema = { "kernel", columns, C_COUNT };

struct kernel_cache {
	const char *name;
	struct capture_slab s;
};

struct kernel {
	struct kernel_cache *v;
	size_t n, cap;
	struct intern names;
	uint64_t pages, slab, page;      /* of all; Slab of /proc/meminfo, in KiB */
};

static int kernel_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	const size_t n = strlen("slab.");
	const struct capture_header *h = ev->header;
	struct kernel *k = state;
	struct kernel_cache c;

	k->page = ev->page;
	if (blob_is(h->key, "Slab"))
		looks_number(h->value, &k->slab);
	if (!blob_begins(h->key, "slab.") || h->key.len == n || !capture_slab(h->value, &c.s))
		return ATW_OK;
	c.name = intern_text(&k->names, (const char *)h->key.data + n, h->key.len - n);
	if (!c.name || !ARRAY_ROOM(k->v, k->n, k->cap))
		return atw_err_nomem(err);
	k->v[k->n++] = c;
	k->pages += c.s.pages;
	return ATW_OK;
}

static int kernel_by_pages(const void *a, const void *b)
{
	const struct kernel_cache *x = a, *y = b;

	return ORDER(y->s.pages, x->s.pages) ?: strcmp(x->name, y->name);
}

/* mm/slub.c, ___kmalloc_large_node(): large blocks are counted in Slab and in no cache. */
static void kernel_note_rest(const struct kernel *k, const struct census_out *out)
{
	uint64_t slab = k->page ? k->slab * 1024 / k->page : 0;
	char size[16];

	if (k->n && slab > k->pages)
		out->note(out->arg, "Slab of /proc/meminfo has %s more: large blocks of kmalloc(), which are in no cache",
			  num_human((slab - k->pages) * k->page, size));
}

static int kernel_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct kernel *k = state;
	int r = ATW_OK;

	SORT(k->v, k->n, kernel_by_pages);
	for (size_t i = 0; i < k->n && r == ATW_OK; i++) {
		const struct capture_slab *s = &k->v[i].s;
		struct report_row row = { .have = 0 };

		row_s(&row, C_CACHE, k->v[i].name);
		row_u(&row, C_SIZE, s->size);
		row_u(&row, C_OBJECTS, s->objects);
		row_if(&row, s->has_active, C_ACTIVE, s->active);
		row_u(&row, C_SLABS, s->slabs);
		row_u(&row, C_PAGES, s->pages);
		r = row_out(&row, out, err);
	}
	if (r == ATW_OK)
		kernel_note_rest(k, out);
	if (r == ATW_OK && !k->n)
		out->lacks(out->arg, "slab caches are not recorded: on a running system /proc/slabinfo requires root, in a dump the kernel must count its slabs (CONFIG_SLUB_DEBUG)");
	return r;
}

static void kernel_deinit(void *state)
{
	struct kernel *k = state;

	free(k->v);
	intern_deinit(&k->names);
}

const struct census_report report_kernel = {
	.name = "kernel",
	.title = "Memory of the kernel by slab cache",
	.help = "objects and pages of each slab cache of the kernel",
	.slabs = true,
	.on = CENSUS_ON(HEADER),
	.schema = &schema,
	.state = sizeof(struct kernel),
	.feed = kernel_feed,
	.finish = kernel_finish,
	.deinit = kernel_deinit,
};
