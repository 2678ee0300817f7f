// SPDX-License-Identifier: GPL-2.0-or-later
/* guest_backing.c - pagemap, PAGEMAP_SCAN and /proc/kpageflags, a window at a time. */
#include "target/guest_backing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "format/pagemap.h"
#include "host/frame_words.h"
#include "host/nodes.h"
#include "linux/kpf.h"
#include "target/procfs.h"

enum { BACKING_WORDS = 32768 };

struct guest_backing {
	int pagemap, flags;      /* files; -1: not to be read */
	bool no_scan, ksm_broken, ksm_unused;
	bool have_nodes;
	struct sys_nodes nodes;
	uint64_t page;
	uint64_t base;           /* address of the first word */
	size_t n;                /* words that were read */
	uint64_t word[BACKING_WORDS], kpf[BACKING_WORDS];
	uint8_t host[BACKING_WORDS];     /* enum capture_host */
	struct frames frames;
};

enum capture_host guest_page_host(bool scanned, uint64_t categories, const uint64_t *flags)
{
	uint64_t f = flags ? *flags : 0;

	if (categories & PAGESCAN_PFNZERO || f & kpf(KPF_ZERO_PAGE))
		return CAPTURE_HOST_ZERO;
	if (categories & PAGESCAN_HUGE || f & kpf(KPF_HUGE))
		return CAPTURE_HOST_LARGE;
	if (f & kpf(KPF_KSM))
		return CAPTURE_HOST_KSM;
	/* A page of a large folio may be mapped by itself. */
	if (!scanned && (!flags || f & kpf(KPF_THP)))
		return CAPTURE_HOST_BACKED;
	return flags ? CAPTURE_HOST_UNMERGED : CAPTURE_HOST_SMALL;
}

/* ---- opening ---- */

struct guest_backing *guest_backing_open(uint32_t pid)
{
	struct guest_backing *g = calloc(1, sizeof(*g));
	char path[64];

	if (!g)
		return NULL;
	g->page = (uint64_t)sysconf(_SC_PAGESIZE);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", pid);
	g->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	/* Without frame numbers it is of no use. */
	g->flags = proc_hides_frames() ? -1 : open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (g->flags >= 0)
		g->ksm_broken = proc_ksm_is_broken(g->flags);
	g->ksm_unused = proc_ksm_is_unused();
	g->have_nodes = sys_nodes_read("", &g->nodes);
	return g;
}

void guest_backing_close(struct guest_backing *g)
{
	if (!g)
		return;
	if (g->pagemap >= 0)
		close(g->pagemap);
	if (g->flags >= 0)
		close(g->flags);
	sys_nodes_deinit(&g->nodes);
	free(g);
}

/* ---- a window ---- */

/* The categories of each word go to host[] for now. */
static bool backing_scan(struct guest_backing *g)
{
	struct pagescan_region v[PAGESCAN_REGIONS];
	uint64_t end = g->base + g->n * g->page, next = g->base;

	while (next < end && !g->no_scan) {
		struct pagescan_arg a = {
			.size = sizeof(a), .start = next, .end = end, .vec = (uintptr_t)v,
			.vec_len = PAGESCAN_REGIONS,
			.category_anyof_mask = PAGESCAN_HUGE | PAGESCAN_PFNZERO,
			.return_mask = PAGESCAN_HUGE | PAGESCAN_PFNZERO,
		};
		uint64_t at = next;
		size_t got;
		int n;

		memset(v, 0, sizeof(v));
		n = ioctl(g->pagemap, PAGESCAN_IOCTL, &a);
		if (n < 0 && errno == EINTR)
			continue;
		/* Older than 6.7, or the process has ended. */
		g->no_scan = n < 0;
		got = n < 0 ? 0 : pagescan_check(&a, v, (size_t)n, g->page, &next);
		for (size_t i = 0; i < got; i++)
			for (uint64_t va = v[i].start; va < v[i].end; va += g->page)
				g->host[(va - g->base) / g->page] = (uint8_t)v[i].categories;
		g->no_scan |= next <= at;
	}
	return !g->no_scan;
}

/* The words of kpageflags of all pages that are in memory. */
static bool backing_read_flags(struct guest_backing *g)
{
	size_t len;

	if (g->flags < 0)
		return false;
	frames_clear(&g->frames);
	for (size_t i = 0; i < g->n; i += len) {
		uint64_t pfn = g->word[i] & PAGEMAP_FRAME;

		len = 1;
		if (!(g->word[i] & PAGEMAP_PRESENT))
			continue;
		while (i + len < g->n && len < FRAMES_RUN && g->word[i + len] & PAGEMAP_PRESENT &&
		       (g->word[i + len] & PAGEMAP_FRAME) == pfn + len)
			len++;
		frames_add(&g->frames, pfn, i, len);
	}
	frames_sort(&g->frames);
	return frames_read(&g->frames, g->flags, "/proc/kpageflags", 0, g->kpf, NULL) == ATW_OK;
}

static void backing_load(struct guest_backing *g, uint64_t va)
{
	uint64_t whole = BACKING_WORDS * g->page;
	bool scanned, flagged;
	ssize_t got;

	g->base = va & ~(whole - 1);
	g->n = 0;
	got = g->pagemap < 0 ? -1
			     : pread(g->pagemap, g->word, sizeof(g->word),
				     (off_t)(g->base / g->page * sizeof(g->word[0])));
	if (got <= 0)
		return;
	g->n = (size_t)got / sizeof(g->word[0]);
	memset(g->host, 0, sizeof(g->host));
	scanned = backing_scan(g);
	flagged = backing_read_flags(g);
	for (size_t i = 0; i < g->n; i++) {
		uint64_t flags = flagged ? proc_true_flags(g->ksm_broken, g->ksm_unused, g->kpf[i]) : 0;

		g->host[i] = g->word[i] & PAGEMAP_PRESENT
				     ? guest_page_host(scanned, g->host[i], flagged ? &flags : NULL)
				     : CAPTURE_HOST_BACKED;
	}
}

/* ---- pages ---- */

static struct guest_page backing_page(const struct guest_backing *g, size_t i)
{
	uint64_t pfn = g->word[i] & PAGEMAP_FRAME;
	struct guest_page p = { .host = g->host[i] };

	if (g->have_nodes && pfn && g->word[i] & PAGEMAP_PRESENT && p.host != CAPTURE_HOST_ZERO &&
	    sys_nodes_find(&g->nodes, pfn * g->page, &p.node))
		p.has = CAPTURE_F_NODE;
	return p;
}

uint64_t guest_backing_look(struct guest_backing *g, uint64_t va, uint64_t len,
			    struct guest_page *ret)
{
	uint64_t at = va & ~(g->page - 1), up = g->page - (va - at);
	struct guest_page first = { .host = CAPTURE_HOST_BACKED }, p;
	size_t i;

	if (!g->n || at < g->base || at - g->base >= g->n * g->page)
		backing_load(g, at);
	i = (at - g->base) / g->page;
	if (i < g->n)
		first = backing_page(g, i);
	while (up < len && ++i < g->n) {
		p = backing_page(g, i);
		if (p.host != first.host || p.has != first.has || p.node != first.node)
			break;
		up += g->page;
	}
	*ret = first;
	return MIN(up, len);
}

/* ---- a guest's memory ---- */

void guest_memory_deinit(struct guest_memory *m)
{
	guest_backing_close(m->backing);
	m->backing = NULL;
}

/* As lib/source/qemu.c has them: what was never written, or is on swap. */
static enum capture_host guest_memory_host(const struct atw_extent *e)
{
	return e->kind == ATW_DATA       ? CAPTURE_HOST_BACKED
	       : e->kind == ATW_ZERO     ? CAPTURE_HOST_ABSENT
	       : e->kind == ATW_EXCLUDED ? CAPTURE_HOST_SWAPPED
					 : CAPTURE_HOST_UNKNOWN;
}

uint64_t guest_memory_look(struct guest_memory *m, atw_pa pa, uint64_t len,
			   struct guest_page *ret)
{
	struct atw_extent e;
	uint64_t va;
	uint32_t pid;

	*ret = (struct guest_page){ .host = CAPTURE_HOST_UNKNOWN };
	if (atw_extent_at(m->source, pa, &e) != ATW_OK)
		return len;
	len = MIN(len, e.len);
	ret->host = guest_memory_host(&e);
	if (ret->host != CAPTURE_HOST_BACKED ||
	    atw_source_outside(m->source, pa, &pid, &va) != ATW_OK)
		return len;
	if (!m->backing)
		m->backing = guest_backing_open(pid);
	return m->backing ? guest_backing_look(m->backing, va, len, ret) : len;
}
