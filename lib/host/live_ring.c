/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/live_ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int live_ring_open(struct live_ring *r, int fd, unsigned pages, struct atw_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = MAP_FAILED;

	/* Without privileges, perf_event_mlock_kb limits it. */
	for (pages *= 2; p == MAP_FAILED && pages > 1; ) {
		pages /= 2;
		p = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (p == MAP_FAILED)
		return atw_err_set(err, ATW_E_NOMEM, "cannot map a ring buffer of perf_event_open(2): %s",
				   strerror(errno));
	*r = (struct live_ring){ p, pages * page };
	return ATW_OK;
}

void live_ring_close(struct live_ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	*r = (struct live_ring){ 0 };
}

static void live_ring_copy(const struct live_ring *r, uint64_t at, void *buf, size_t len)
{
	const uint8_t *data = (const uint8_t *)r->page + r->page->data_offset;
	size_t off = at & (r->size - 1), first = len < r->size - off ? len : r->size - off;

	memcpy(buf, data + off, first);
	memcpy((uint8_t *)buf + first, data, len - first);
}

bool live_ring_next(struct live_ring *r, void *buf, size_t len)
{
	uint64_t at = r->page->data_tail;
	uint64_t head = atomic_load_explicit((_Atomic uint64_t *)&r->page->data_head,
					     memory_order_acquire);
	struct perf_event_header h;

	if (at >= head)
		return false;
	live_ring_copy(r, at, &h, sizeof(h));
	memset(buf, 0, len);
	live_ring_copy(r, at, buf, h.size < len ? h.size : len);
	atomic_store_explicit((_Atomic uint64_t *)&r->page->data_tail,
			      h.size ? at + h.size : head, memory_order_release);
	return true;
}
