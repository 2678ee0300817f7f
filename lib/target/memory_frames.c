// SPDX-License-Identifier: GPL-2.0-or-later
/* memory_frames.c - use of frames of RAM, from their struct pages. */
#include "target/memory_vmas.h"

#include "base/cleanup.h"
#include "target/frame_use.h"
#include "target/guest_backing.h"

/* Runs on their way to the receiver, split by what the host has of them. */
struct frames_of_guest {
	struct atw_source *mem;
	struct guest_backing *backing;   /* opened when it is needed */
	unsigned page_shift;
	provider_frames_fn *tell;
	void *arg;
};

/* As lib/source/qemu.c has them: what was never written, or is on swap. */
static enum capture_host frames_host(const struct atw_extent *e)
{
	return e->kind == ATW_DATA       ? CAPTURE_HOST_BACKED
	       : e->kind == ATW_ZERO     ? CAPTURE_HOST_ABSENT
	       : e->kind == ATW_EXCLUDED ? CAPTURE_HOST_SWAPPED
					 : CAPTURE_HOST_UNKNOWN;
}

/* More about bytes that are in memory; returns for how many of `len` it holds. */
static uint64_t frames_in_memory(struct frames_of_guest *g, atw_pa pa, uint64_t len,
				 struct guest_page *ret)
{
	uint64_t va;
	uint32_t pid;

	if (atw_source_outside(g->mem, pa, &pid, &va) != ATW_OK)
		return len;
	if (!g->backing)
		g->backing = guest_backing_open(pid);
	return g->backing ? guest_backing_look(g->backing, va, len, ret) : len;
}

/* The page at `pa`, and for how many of `left` pages it is the same. */
static uint64_t frames_look(struct frames_of_guest *g, atw_pa pa, uint64_t left,
			    struct guest_page *ret)
{
	struct atw_extent e;
	uint64_t n;

	*ret = (struct guest_page){ .host = CAPTURE_HOST_UNKNOWN };
	if (atw_extent_at(g->mem, pa, &e) != ATW_OK)
		return left;
	ret->host = frames_host(&e);
	if (ret->host == CAPTURE_HOST_BACKED)
		e.len = frames_in_memory(g, pa, MIN(e.len, left << g->page_shift), ret);
	n = e.len >> g->page_shift;
	return n ? MIN(n, left) : 1;
}

static int frames_split(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	struct frames_of_guest *g = arg;
	struct capture_frames part = *run;
	uint64_t left = run->pages, n;
	int r = ATW_OK;

	for (part.pages = 0; left && r == ATW_OK; left -= n) {
		uint64_t pa = run->pa + ((run->pages - left) << g->page_shift);
		struct guest_page p;

		n = frames_look(g, ATW_PA(pa), left, &p);
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

static int frames_of_ram(struct atw_memmap *map, struct use_runs *u, uint64_t first, uint64_t last,
			 struct atw_err *err)
{
	uint64_t pfn, end;
	int r = ATW_OK;

	use_whole(first, last, u->page_shift, &pfn, &end);
	while (pfn < end && r == ATW_OK) {
		struct lnx_page_kind k = { .same = 1 };
		int known = atw_memmap_kind(map, pfn, &k, NULL);
		uint64_t n = k.same < end - pfn ? k.same : end - pfn;

		if (known == ATW_E_NOMEM)
			return atw_err_set(err, known, "out of memory");
		u->clean = !(k.flags & (kpf(KPF_DIRTY) | kpf(KPF_WRITEBACK)));
		r = use_runs_add(u, pfn, n, known < 0 ? CAPTURE_UNKNOWN :
				 k.waits ? CAPTURE_FREE : k.kmalloc ? CAPTURE_SLAB :
				 frame_use(k.flags), err);
		pfn += n;
	}
	return r == ATW_OK ? use_runs_end(u, err) : r;
}

int walk_guest_frames(struct atw_memmap *map, struct atw_source *mem, unsigned page_shift,
		      uint64_t first, uint64_t last, provider_frames_fn *tell, void *arg,
		      struct atw_err *err)
{
	struct frames_of_guest g = { .mem = mem, .page_shift = page_shift, .tell = tell, .arg = arg };
	struct use_runs u = { .tell = frames_split, .arg = &g, .page_shift = page_shift,
			      .have_clean = true };
	uint64_t va;
	uint32_t pid;
	int r;

	if (atw_source_outside(mem, ATW_PA(first), &pid, &va) == ATW_E_UNSUPPORTED)
		return walk_ram_frames(map, page_shift, first, last, tell, arg, err);
	r = frames_of_ram(map, &u, first, last, err);
	guest_backing_close(g.backing);
	return r;
}

int walk_ram_frames(struct atw_memmap *map, unsigned page_shift, uint64_t first,
		    uint64_t last, provider_frames_fn *tell, void *arg,
		    struct atw_err *err)
{
	struct use_runs u = { .tell = tell, .arg = arg, .page_shift = page_shift };

	return frames_of_ram(map, &u, first, last, err);
}
