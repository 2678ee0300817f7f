// SPDX-License-Identifier: GPL-2.0-or-later
/* memory_frames.c - use of frames of RAM, from their struct pages. */
#include "target/memory_vmas.h"

#include "target/frame_use.h"

/* Runs on their way to the receiver, split by what the host has of them. */
struct frames_of_guest {
	struct atw_source *mem;
	unsigned page_shift;
	provider_frames_fn *tell;
	void *arg;
};

static enum capture_host frames_host(const struct atw_extent *e)
{
	/* As lib/source/qemu.c has them: what was never written, or is on swap. */
	return e->kind == ATW_DATA       ? CAPTURE_HOST_BACKED
	       : e->kind == ATW_ZERO     ? CAPTURE_HOST_ABSENT
	       : e->kind == ATW_EXCLUDED ? CAPTURE_HOST_SWAPPED
					 : CAPTURE_HOST_UNKNOWN;
}

static int frames_split(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	const struct frames_of_guest *g = arg;
	struct capture_frames part = { run->pa, 0, run->use, CAPTURE_HOST_UNKNOWN };
	uint64_t left = run->pages, n;
	int r = ATW_OK;

	for (; left && r == ATW_OK; left -= n) {
		uint64_t pa = run->pa + ((run->pages - left) << g->page_shift);
		enum capture_host host = CAPTURE_HOST_UNKNOWN;
		struct atw_extent e;

		n = left;
		if (atw_extent_at(g->mem, ATW_PA(pa), &e) == ATW_OK) {
			host = frames_host(&e);
			n = e.len >> g->page_shift ? e.len >> g->page_shift : 1;
			n = n < left ? n : left;
		}
		if (part.pages && part.host != host) {
			r = g->tell(g->arg, &part, err);
			part.pa = pa;
			part.pages = 0;
		}
		part.host = host;
		part.pages += n;
	}
	return r == ATW_OK ? g->tell(g->arg, &part, err) : r;
}

int walk_guest_frames(struct atw_memmap *map, struct atw_source *mem, unsigned page_shift,
		      uint64_t first, uint64_t last, provider_frames_fn *tell, void *arg,
		      struct atw_err *err)
{
	struct frames_of_guest g = { mem, page_shift, tell, arg };
	uint64_t va;
	uint32_t pid;

	if (atw_source_outside(mem, ATW_PA(first), &pid, &va) == ATW_E_UNSUPPORTED)
		return walk_ram_frames(map, page_shift, first, last, tell, arg, err);
	return walk_ram_frames(map, page_shift, first, last, frames_split, &g, err);
}

int walk_ram_frames(struct atw_memmap *map, unsigned page_shift, uint64_t first,
		    uint64_t last, provider_frames_fn *tell, void *arg,
		    struct atw_err *err)
{
	struct use_runs u = { .tell = tell, .arg = arg, .page_shift = page_shift };
	uint64_t pfn, end;
	int r = ATW_OK;

	use_whole(first, last, page_shift, &pfn, &end);
	while (pfn < end && r == ATW_OK) {
		struct lnx_page_kind k = { .same = 1 };
		int known = atw_memmap_kind(map, pfn, &k, NULL);
		uint64_t n = k.same < end - pfn ? k.same : end - pfn;

		if (known == ATW_E_NOMEM)
			return atw_err_set(err, known, "out of memory");
		r = use_runs_add(&u, pfn, n, known < 0 ? CAPTURE_UNKNOWN :
				 k.waits ? CAPTURE_FREE : k.kmalloc ? CAPTURE_SLAB :
				 frame_use(k.flags), err);
		pfn += n;
	}
	return r == ATW_OK ? use_runs_end(&u, err) : r;
}
