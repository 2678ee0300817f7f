// SPDX-License-Identifier: GPL-2.0-or-later
/* memory_frames.c - use of frames of RAM, from their struct pages. */
#include "target/memory_vmas.h"

#include "target/frame_use.h"

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
