// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory_frames.c - use of frames of RAM, from their struct pages; and what files the page
 * cache holds in them.
 */
#include "target/memory_vmas.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "target/frame_use.h"
#include "target/guest_backing.h"

/* Reads of a page that is put into a list or taken from one meanwhile. */
enum { AGAIN = 3 };

/* Runs on their way to the receiver, split by what the host has of them. */
struct frames_of_guest {
	struct guest_memory memory;
	unsigned page_shift;
	provider_frames_fn *tell;
	void *arg;
};

static int frames_split(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	struct frames_of_guest *g = arg;
	struct capture_frames part = *run;
	uint64_t left = run->pages, n;
	int r = ATW_OK;

	for (part.pages = 0; left && r == ATW_OK; left -= n) {
		uint64_t pa = run->pa + ((run->pages - left) << g->page_shift);
		struct guest_page p;

		n = guest_memory_look(&g->memory, ATW_PA(pa), left << g->page_shift, &p) >>
		    g->page_shift;
		n = n ? n : 1;
		if (part.pages && (part.host != p.host || part.node != p.node ||
				   (part.has & CAPTURE_F_NODE) != p.has)) {
			r = g->tell(g->arg, &part, err);
			part.pa = pa;
			part.pages = 0;
		}
		part.host = p.host;
		part.has = (run->has & ~(uint32_t)CAPTURE_F_NODE) | p.has;
		part.node = p.node;
		part.pages += n;
	}
	return r == ATW_OK ? g->tell(g->arg, &part, err) : r;
}

/* Free pages of a running machine move from list to list. */
static int frames_kind(struct atw_memmap *map, uint64_t pfn, struct lnx_page_kind *ret)
{
	int r = atw_memmap_kind(map, pfn, ret, NULL);

	for (unsigned again = 0; again < AGAIN && r == ATW_OK && ret->unsure; again++)
		r = atw_memmap_kind(map, pfn, ret, NULL);
	return r;
}

static int frames_to(const struct ram_frames *of, struct use_runs *u, uint64_t first,
		     uint64_t last, struct atw_err *err)
{
	uint64_t pfn, end;
	int r = ATW_OK;

	use_whole(first, last, u->page_shift, &pfn, &end);
	while (pfn < end && r == ATW_OK) {
		struct lnx_page_kind k = { .same = 1 };
		int known = frames_kind(of->map, pfn, &k);
		uint64_t n = k.same < end - pfn ? k.same : end - pfn;
		enum capture_use use;

		if (known == ATW_E_NOMEM)
			return atw_err_set(err, known, "out of memory");
		u->clean = !(k.flags & (kpf(KPF_DIRTY) | kpf(KPF_WRITEBACK)));
		if (k.unmade && of->unmade)
			*of->unmade += n;
		use = known < 0 || k.unsure ? CAPTURE_UNKNOWN : k.waits ? CAPTURE_FREE :
		      k.kmalloc ? CAPTURE_SLAB : frame_use(k.flags);
		/* Shared memory has no other place that it could be written to. */
		if (of->cached && (use == CAPTURE_FILE || use == CAPTURE_SHMEM))
			r = cached_add(of->cached, of->map, pfn, n,
				       use == CAPTURE_FILE && k.flags & kpf(KPF_DIRTY), err);
		if (r == ATW_OK)
			r = use_runs_add(u, pfn, n, use, err);
		pfn += n;
	}
	return r == ATW_OK ? use_runs_end(u, err) : r;
}

int walk_ram_frames(const struct ram_frames *of, uint64_t first, uint64_t last,
		    struct atw_err *err)
{
	struct frames_of_guest g = {
		.memory.source = of->mem, .page_shift = of->page_shift,
		.tell = of->tell, .arg = of->arg,
	};
	struct use_runs u = { .tell = of->tell, .arg = of->arg, .page_shift = of->page_shift };
	uint64_t va;
	uint32_t pid;
	int r;

	if (!of->mem || atw_source_outside(of->mem, ATW_PA(first), &pid, &va) == ATW_E_UNSUPPORTED)
		return frames_to(of, &u, first, last, err);
	u.tell = frames_split;
	u.arg = &g;
	u.have_clean = true;
	r = frames_to(of, &u, first, last, err);
	guest_memory_deinit(&g.memory);
	return r;
}

/* ---- files ---- */

static int frames_on_file(void *arg, const struct cached_file *f, struct atw_err *err)
{
	const struct about_to *to = arg;
	const struct capture_record rec = {
		.letter = 'C',
		.has = (f->has_node ? CAPTURE_C_NODE : 0) | (f->cgroup ? CAPTURE_C_CGROUP : 0),
		.c = { { f->major, f->minor }, f->inode, f->pages, f->dirty,
		       f->name ? blob_of(f->name) : (struct atw_blob){ NULL, 0 }, f->node,
		       f->cgroup ? blob_of(f->cgroup) : (struct atw_blob){ NULL, 0 } },
	};

	return to->tell(to->arg, &rec, err);
}

int walk_cached(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	struct atw_err why = { 0 };
	struct about_to copy = *to;
	uint64_t lost = 0;
	int r = w->cached ? cached_each(w->cached, w->memmap, frames_on_file, &copy, &lost, err)
			  : ATW_OK;

	cached_destroy(w->cached);
	w->cached = NULL;
	/* Of a running machine: files that were evicted meanwhile. */
	if (r == ATW_OK && lost && !w->running) {
		atw_err_set(&why, ATW_E_MISSING, "the file of %" PRIu64 " pages cannot be read", lost);
		provider_cannot(p, "cached", &why);
	}
	return r;
}
