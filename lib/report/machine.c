/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.c - every frame of RAM by its type, so that the sum is MemTotal, next to the
 * kernel's own counters.
 *
 * MemTotal is the memory that the kernel manages: RAM without what was reserved at boot,
 * mainly its image and its struct pages, and without memory that was returned to a
 * hypervisor or taken offline. The remaining difference is a row of its own. Swap,
 * reserved large pages and committed memory have no frames; their rows follow.
 */
#include "base/num.h"
#include "report/looks.h"
#include "report/report.h"
#include "format/capture_fields.h"
#include "base/message.h"

enum {
	C_USE, C_NODE, C_PAGES, C_SIZE, C_SHARE, C_COUNTER, C_KERNEL, C_DIFFERENCE, C_COUNT,
};

static const struct atw_column columns[C_COUNT] = {
	[C_USE] = COLUMN("use", TEXT, 11, "what frames are used for, and sums"),
	[C_NODE] = COLUMN("node", COUNT, 4,
			"the NUMA node that they are of; of all, n/a"),
	[C_PAGES] = COLUMN("pages", COUNT, 10, "how many"),
	[C_SIZE] = COLUMN("size", BYTES, 10, "bytes"),
	[C_SHARE] = COLUMN("share", SECONDS, 6,
			"part of all RAM, or of its node's: 1 is all of it"),
	[C_COUNTER] = COLUMN("counter", TEXT, 20,
			"what of /proc/meminfo counts the same"),
	[C_KERNEL] = COLUMN("kernel", BYTES, 10, "its value"),
	[C_DIFFERENCE] = COLUMN("difference", CHANGE_BYTES, 10,
			"pages found, less that value"),
};
static const struct atw_schema schema = { "machine", columns, C_COUNT };

/* ---- counters of the kernel ---- */

enum meminfo {
	MEM_TOTAL, MEM_FREE, MEM_CACHED, MEM_BUFFERS, MEM_SHMEM, MEM_ANON, MEM_SLAB,
	MEM_TABLES, MEM_HUGETLB, MEM_CORRUPTED,
	MEM_WAITING,                     /* pages in per-CPU lists */
	MEM_SWAP, MEM_SWAP_FREE, MEM_HUGE_SIZE,
	MEM_HUGE, MEM_HUGE_FREE, MEM_HUGE_RESERVED,      /* pages of MEM_HUGE_SIZE */
	MEM_COMMITTED, MEM_COMMIT_LIMIT, MEM_SWAP_CACHED,
	MEM_COUNT,
};
static const char *const keys[MEM_COUNT] = {
	"MemTotal", "MemFree", "Cached", "Buffers", "Shmem", "AnonPages", "Slab",
	"PageTables", "Hugetlb", "HardwareCorrupted", "zoneinfo.count",
	"SwapTotal", "SwapFree", "Hugepagesize", "HugePages_Total", "HugePages_Free",
	"HugePages_Rsvd", "Committed_AS", "CommitLimit", "SwapCached",
};

/* Cached includes shared memory. KSM pages are anonymous pages in these counters. */
static const struct counter {
	const char *text;
	uint16_t uses, plus, minus;      /* bits: 1 << enum capture_use, enum meminfo */
} counters[CAPTURE_USES] = {
	[CAPTURE_FREE] = { "MemFree", 1 << CAPTURE_FREE, 1 << MEM_FREE, 0 },
	[CAPTURE_ANON] = { "AnonPages", 1 << CAPTURE_ANON | 1 << CAPTURE_KSM, 1 << MEM_ANON, 0 },
	[CAPTURE_FILE] = { "Cached+Buffers-Shmem", 1 << CAPTURE_FILE,
			   1 << MEM_CACHED | 1 << MEM_BUFFERS, 1 << MEM_SHMEM },
	[CAPTURE_SHMEM] = { "Shmem", 1 << CAPTURE_SHMEM, 1 << MEM_SHMEM, 0 },
	[CAPTURE_SLAB] = { "Slab", 1 << CAPTURE_SLAB, 1 << MEM_SLAB, 0 },
	[CAPTURE_PGTABLE] = { "PageTables", 1 << CAPTURE_PGTABLE, 1 << MEM_TABLES, 0 },
	[CAPTURE_HUGETLB] = { "Hugetlb", 1 << CAPTURE_HUGETLB, 1 << MEM_HUGETLB, 0 },
	[CAPTURE_HWPOISON] = { "HardwareCorrupted", 1 << CAPTURE_HWPOISON, 1 << MEM_CORRUPTED, 0 },
};

/*
 * Pages in the per-CPU lists are free according to struct pages, but MemFree does not
 * count them. /proc/kpageflags cannot distinguish them from pages that the kernel
 * uses.
 */
static const struct counter with_waiting = {
	"MemFree+waiting", 1 << CAPTURE_FREE, 1 << MEM_FREE | 1 << MEM_WAITING, 0,
};

/* Types that MemTotal does not include. */
static const uint32_t outside = 1u << CAPTURE_RESERVED | 1u << CAPTURE_OFFLINE;

/* ---- records ---- */

struct range {
	uint64_t first, end;             /* frames; end is not included */
	int64_t node;                    /* -1: not known */
};

struct machine_sums {
	int64_t node;
	uint64_t use[CAPTURE_USES];
	uint64_t ram;
};

struct machine_state {
	uint64_t page;
	struct range *ram;
	size_t nram, ram_cap, near;
	bool any_ram;
	uint64_t block, last;            /* start of adjacent ranges, and their last
					  * byte so far */
	uint64_t mem[MEM_COUNT];         /* KiB */
	uint32_t have;                   /* 1 << enum meminfo */
	uint64_t swap, swap_free;        /* pages of S: lines */
	bool any_swap;
	bool frames;                     /* F: lines were seen */
	bool proc;                       /* from /proc/kpageflags */
	bool unmarked;                   /* large blocks of kmalloc() have no page type */
	char why[160];                   /* why F: lines are missing or incomplete */
	struct machine_sums all, *node;
	size_t nnodes, nodes_cap;
};

/* Is a release, such as 6.12.1-amd64, before major.minor? */
static bool machine_is_older(struct atw_blob release, unsigned major, unsigned minor)
{
	unsigned a, b;
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)(release.len < 31 ? release.len : 31),
		 (const char *)release.data);
	return sscanf(text, "%u.%u", &a, &b) == 2 && (a < major || (a == major && b < minor));
}

static void machine_on_header(struct machine_state *m, const struct capture_header *h)
{
	uint64_t u;

	for (unsigned i = 0; i < MEM_COUNT; i++) {
		if (!blob_is(h->key, keys[i]) || !looks_number(h->value, &u) ||
		    u > UINT64_MAX / m->page / 4)
			continue;
		m->mem[i] = i == MEM_WAITING ? u * (m->page / 1024) : u;
		m->have |= 1u << i;
	}
	if (blob_is(h->key, "release"))
		m->unmarked = machine_is_older(h->value, 6, 14);
	if (blob_is(h->key, "way"))
		m->proc = blob_is(h->value, "pagemap");
}

/* 16 EiB have no more pages. */
#define SWAP_MAX ((uint64_t)1 << 52)

/* MAX_NUMNODES (include/linux/numa.h). Nodes with larger numbers get no rows. */
enum { NODES = 1024 };

static struct machine_sums *machine_node_of(struct machine_state *m, int64_t node,
					    struct atw_err *err)
{
	for (size_t i = 0; i < m->nnodes; i++)
		if (m->node[i].node == node)
			return &m->node[i];
	if (!ARRAY_ROOM(m->node, m->nnodes, m->nodes_cap)) {
		atw_err_nomem(err);
		return NULL;
	}
	m->node[m->nnodes] = (struct machine_sums){.node = node};
	return &m->node[m->nnodes++];
}

/* Adds frames that are completely in RAM, also of several ranges: F: has no others. */
static int machine_on_ram(struct machine_state *m, const struct census_event *ev,
			  struct atw_err *err)
{
	const struct capture_ram *r = ev->ram;
	uint64_t end = r->last / ev->page + (r->last % ev->page == ev->page - 1 ? 1 : 0), first;
	bool follows = m->any_ram && r->start == m->last + 1;
	struct machine_sums *node;

	if (!follows)
		m->block = r->start;
	first = m->block / ev->page + (m->block % ev->page ? 1 : 0);
	if (follows && first < r->start / ev->page)
		first = r->start / ev->page;
	m->any_ram = true;
	m->last = r->last;
	if (end <= first)
		return ATW_OK;
	if (!ARRAY_ROOM(m->ram, m->nram, m->ram_cap))
		return atw_err_nomem(err);
	m->ram[m->nram] = (struct range){ first, end, -1 };
	m->all.ram += end - first;
	if (ev->ram_has & CAPTURE_R_NODE && r->node < NODES) {
		node = machine_node_of(m, (int64_t)r->node, err);
		if (!node)
			return err ? err->status : ATW_E_NOMEM;
		m->ram[m->nram].node = node->node;
		node->ram += end - first;
	}
	m->nram++;
	return ATW_OK;
}

/* Runs and ranges are ascending, and either may be the longer one. */
static int machine_on_frames(struct machine_state *m, const struct capture_frames *f,
			     struct atw_err *err)
{
	uint64_t pfn = f->pa / m->page, end = pfn + f->pages;

	m->frames = true;
	m->all.use[f->use] += f->pages;
	if (!m->nnodes)
		return ATW_OK;
	while (m->near && m->ram[m->near].first > pfn)
		m->near--;
	while (m->near < m->nram && m->ram[m->near].end <= pfn)
		m->near++;
	for (size_t i = m->near; i < m->nram && m->ram[i].first < end; i++) {
		const struct range *r = &m->ram[i];
		uint64_t a = r->first > pfn ? r->first : pfn, b = r->end < end ? r->end : end;
		struct machine_sums *node =
			r->node < 0 ? NULL : machine_node_of(m, r->node, err);

		if (node)
			node->use[f->use] += b - a;
	}
	if (m->near == m->nram)
		m->near = 0;
	return ATW_OK;
}

/* A device that claims to use more than its size has nothing free. */
static void machine_on_swap(struct machine_state *m, const struct capture_swap *s)
{
	uint64_t left = s->pages > s->used ? s->pages - s->used : 0;

	if (s->pages > SWAP_MAX - m->swap)
		return;
	m->any_swap = true;
	m->swap += s->pages;
	m->swap_free += left;
}

static int machine_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct machine_state *m = state;

	m->page = ev->page;
	switch (ev->what) {
	case CENSUS_ON_HEADER:
		machine_on_header(m, ev->header);
		return ATW_OK;
	case CENSUS_ON_SWAP:
		machine_on_swap(m, ev->swap);
		return ATW_OK;
	case CENSUS_ON_RAM:
		return machine_on_ram(m, ev, err);
	case CENSUS_ON_LOST:
		if (!ev->lost->pid && blob_is(ev->lost->what, "frames"))
			snprintf(m->why, sizeof(m->why), ": %.*s", (int)ev->lost->why.len,
				 (const char *)ev->lost->why.data);
		return ATW_OK;
	case CENSUS_ON_FRAMES:
		return machine_on_frames(m, ev->frames, err);
	default:
		return ATW_OK;
	}
}

/* ---- rows ---- */

static void machine_amount(const struct machine_state *m, struct report_row *row,
			   uint64_t pages, uint64_t ram)
{
	row_u(row, C_PAGES, pages);
	row_u(row, C_SIZE, pages * m->page);
	if (ram)
		row_u(row, C_SHARE, (pages * 1000 + ram / 2) / ram);
}

static bool machine_counted(const struct machine_state *m, const struct counter *c,
			    uint64_t *ret)
{
	uint32_t all = (uint32_t)c->plus | c->minus;
	uint64_t plus = 0, minus = 0;

	if (!all || (m->have & all) != all)
		return false;
	for (unsigned i = 0; i < MEM_COUNT; i++) {
		plus += c->plus >> i & 1 ? m->mem[i] : 0;
		minus += c->minus >> i & 1 ? m->mem[i] : 0;
	}
	if (plus >= minus)
		*ret = (plus - minus) * 1024;
	return plus >= minus;
}

static void machine_compare(const struct machine_state *m, struct report_row *row,
			    unsigned use)
{
	bool waiting = use == CAPTURE_FREE && !m->proc && m->have >> MEM_WAITING & 1;
	const struct counter *c = waiting ? &with_waiting : &counters[use];
	uint64_t theirs, ours = 0;

	if (!machine_counted(m, c, &theirs))
		return;
	for (unsigned i = 0; i < CAPTURE_USES; i++)
		ours += c->uses >> i & 1 ? m->all.use[i] * m->page : 0;
	row_s(row, C_COUNTER, c->text);
	row_u(row, C_KERNEL, theirs);
	row_u(row, C_DIFFERENCE, ours - theirs);
}

static int machine_uses(const struct machine_state *m, const struct machine_sums *s,
			const struct census_out *out, struct atw_err *err)
{
	int r = ATW_OK;

	for (unsigned i = 0; i < CAPTURE_USES && m->frames && r == ATW_OK; i++) {
		struct report_row row = { .have = 0 };

		/* Memory without frames is on no node. */
		if (s->node >= 0 && !m->all.use[i])
			continue;
		row_s(&row, C_USE, capture_uses[i]);
		row_if(&row, s->node >= 0, C_NODE, (uint64_t)s->node);
		/* Only /proc marks the huge zero page: without it a count of 0 is n/a. */
		if (i != CAPTURE_ZEROES || m->proc || m->all.use[i])
			machine_amount(m, &row, s->use[i], s->ram);
		if (s->node < 0)
			machine_compare(m, &row, i);
		r = row_out(&row, out, err);
	}
	return r;
}

static int machine_sum(const struct machine_state *m, const struct machine_sums *s,
		       const char *use, bool known, uint64_t pages,
		       const struct census_out *out, struct atw_err *err)
{
	struct report_row row = { .have = 0 };

	row_s(&row, C_USE, use);
	row_if(&row, s->node >= 0, C_NODE, (uint64_t)s->node);
	if (known)
		machine_amount(m, &row, pages, s->ram);
	return row_out(&row, out, err);
}

/* RAM that no F: line describes. */
static void machine_complete(const struct machine_state *m, struct machine_sums *s)
{
	uint64_t known = 0;

	for (unsigned i = 0; i < CAPTURE_USES; i++)
		known += s->use[i];
	if (m->frames && s->ram > known)
		s->use[CAPTURE_UNKNOWN] += s->ram - known;
}

/* MemTotal = what it counts + unaccounted - beyond. */
static int machine_totals(const struct machine_state *m, const struct census_out *out,
			  struct atw_err *err)
{
	const struct machine_sums *s = &m->all;
	bool total = m->have >> MEM_TOTAL & 1;
	uint64_t mem = total ? m->mem[MEM_TOTAL] * 1024 / m->page : 0, in = 0, not = 0;
	int r;

	for (unsigned i = 0; i < CAPTURE_USES; i++)
		if (outside >> i & 1)
			not += s->use[i];
		else if (i != CAPTURE_UNKNOWN)
			in += s->use[i];
	r = machine_sum(m, s, "RAM", m->nram, s->ram, out, err) ?:
	    machine_sum(m, s, "outside", m->frames, not, out, err) ?:
	    machine_sum(m, s, "accounted", m->frames, in, out, err) ?:
	    machine_sum(m, s, "unaccounted", total && m->frames, mem > in ? mem - in : 0,
			out, err);
	if (r == ATW_OK && total && in > mem)
		r = machine_sum(m, s, "beyond", true, in - mem, out, err);
	return r ?: machine_sum(m, s, "MemTotal", total, mem, out, err);
}

/* The value of a counter in bytes; false: not known. */
static bool machine_bytes_of(const struct machine_state *m, unsigned i, uint64_t *ret)
{
	uint64_t unit = 1024;

	if (!(m->have >> i & 1))
		return false;
	if (i == MEM_HUGE || i == MEM_HUGE_FREE || i == MEM_HUGE_RESERVED) {
		if (!(m->have >> MEM_HUGE_SIZE & 1))
			return false;
		unit = m->mem[MEM_HUGE_SIZE] * 1024;
	}
	return !__builtin_mul_overflow(m->mem[i], unit, ret);
}

/* Rows without frames of their own, and per-CPU lists, as far as they are known. */
static int machine_beside(const struct machine_state *m, const struct census_out *out,
			  struct atw_err *err)
{
	static const struct { const char *use; uint8_t counter; } rows[] = {
		{ "waiting", MEM_WAITING }, { "swap", MEM_SWAP }, { "swap free", MEM_SWAP_FREE },
		{ "hugepages", MEM_HUGE }, { "hugepages free", MEM_HUGE_FREE },
		{ "hugepages reserved", MEM_HUGE_RESERVED }, { "committed", MEM_COMMITTED },
		{ "commit limit", MEM_COMMIT_LIMIT },
	};
	int r = ATW_OK;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == ATW_OK; i++) {
		bool ours = m->any_swap && (rows[i].counter == MEM_SWAP || rows[i].counter == MEM_SWAP_FREE);
		uint64_t pages = rows[i].counter == MEM_SWAP ? m->swap : m->swap_free, theirs = 0;
		struct report_row row = { .have = 0 };
		bool known = machine_bytes_of(m, rows[i].counter, &theirs);

		if (!ours && !known)
			continue;
		row_s(&row, C_USE, rows[i].use);
		if (ours)
			machine_amount(m, &row, pages, 0);
		if (known) {
			row_s(&row, C_COUNTER, keys[rows[i].counter]);
			row_u(&row, C_KERNEL, theirs);
		}
		row_if(&row, ours && known, C_DIFFERENCE, pages * m->page - theirs);
		r = row_out(&row, out, err);
	}
	return r;
}

static int machine_by_node(const void *a, const void *b)
{
	const struct machine_sums *x = a, *y = b;

	return ORDER(x->node, y->node);
}

/* PGTY_large_kmalloc came in 6.14; /proc/kpageflags does not show it. */
static void machine_note_slab(const struct machine_state *m, const struct census_out *out)
{
	uint64_t theirs, ours = m->all.use[CAPTURE_SLAB] * m->page;
	char size[16];

	if (!m->frames || !(m->proc || m->unmarked) ||
	    !machine_counted(m, &counters[CAPTURE_SLAB], &theirs) || theirs <= ours)
		return;
	num_human(theirs - ours, size);
	if (m->proc)
		out->note(out->arg, "Slab has %s more than slab: /proc/kpageflags does not mark large blocks of kmalloc(), which count as kernel",
			  size);
	else
		out->note(out->arg, "Slab has %s more than slab: before Linux 6.14 large blocks of kmalloc() are not marked, and count as kernel",
			  size);
}

/* NR_ANON_MAPPED has no page that only the swap cache keeps. */
static void machine_note_anon(const struct machine_state *m, const struct census_out *out)
{
	uint64_t theirs, cached, ours = (m->all.use[CAPTURE_ANON] + m->all.use[CAPTURE_KSM]) * m->page;
	char more[16], size[16];

	if (!m->frames || !machine_counted(m, &counters[CAPTURE_ANON], &theirs) || theirs >= ours ||
	    !machine_bytes_of(m, MEM_SWAP_CACHED, &cached) || !cached)
		return;
	out->note(out->arg, "anon has %s more than AnonPages, which counts mapped pages alone: the swap cache has %s, mapped or not",
		  num_human(ours - theirs, more), num_human(cached, size));
}

static int machine_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct machine_state *m = state;
	int r;

	m->all.node = -1;
	machine_complete(m, &m->all);
	r = machine_uses(m, &m->all, out, err) ?:
	    machine_totals(m, out, err) ?:
	    machine_beside(m, out, err);
	/* With one node, the sum is all of it. */
	if (m->nnodes > 1)
		qsort(m->node, m->nnodes, sizeof(*m->node), machine_by_node);
	for (size_t i = 0; i < m->nnodes && m->nnodes > 1 && r == ATW_OK; i++) {
		struct machine_sums *s = &m->node[i];

		machine_complete(m, s);
		r = machine_uses(m, s, out, err) ?:
		    machine_sum(m, s, "RAM", true, s->ram, out, err);
	}
	if (r != ATW_OK)
		return r;
	if (!m->frames)
		out->lacks(out->arg, "the use of frames is not recorded%s",
			  *m->why ? m->why : _(": there are no F: lines (frames were not collected)"));
	machine_note_slab(m, out);
	machine_note_anon(m, out);
	if (m->all.use[CAPTURE_UNKNOWN])
		out->note(out->arg, "of %" PRIu64 " page%s of RAM nothing is known%s; what MemTotal has of that is unaccounted",
			  m->all.use[CAPTURE_UNKNOWN],
			  m->all.use[CAPTURE_UNKNOWN] == 1 ? "" : "s", m->why);
	return ATW_OK;
}

static void machine_deinit(void *state)
{
	struct machine_state *m = state;

	free(m->ram);
	free(m->node);
}

const struct census_report report_machine = {
	.name = "machine",
	.title = "All memory by use",
	.help = "what every frame of RAM is used for; sums up to MemTotal",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(RAM) | CENSUS_ON(SWAP) | CENSUS_ON(FRAMES) |
	      CENSUS_ON(LOST),
	.schema = &schema,
	.state = sizeof(struct machine_state),
	.feed = machine_feed,
	.finish = machine_finish,
	.deinit = machine_deinit,
};
