/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backing.c - the memory of a guest by its use, and what of it the host has: memory that is
 * free in the guest and backed by the host is what the guest would give back. Where guest or
 * host have several NUMA nodes, rows for each pair of them follow.
 */
#include "format/capture_fields.h"
#include "report/report.h"
#include "base/num.h"

enum {
	B_USE, B_NODE, B_HOST_NODE, B_SIZE, B_BACKED, B_LARGE, B_KSM, B_SWAPPED, B_ZERO,
	B_ABSENT, B_CLEAN, B_UNUSED, B_COUNT,
};

static const struct atw_column columns[B_COUNT] = {
	[B_USE] = COLUMN("use", TEXT, 8, "what the guest uses its frames for; all: the sum, and that of each pair of nodes"),
	[B_NODE] = COLUMN("node", COUNT, 4, "the guest's NUMA node that they are of; of all, n/a"),
	[B_HOST_NODE] = COLUMN("host_node", COUNT, 9, "the host's node that has them; of all, n/a"),
	[B_SIZE] = COLUMN("size", BYTES, 6, "bytes of them"),
	[B_BACKED] = COLUMN("backed", BYTES, 6, "of these, in the host's memory"),
	[B_LARGE] = COLUMN("large", BYTES, 6, "of backed, by large pages of the host"),
	[B_KSM] = COLUMN("ksm", BYTES, 6, "of backed, merged with equal pages by the host"),
	[B_SWAPPED] = COLUMN("swapped", BYTES, 7, "of size, on the host's swap"),
	[B_ZERO] = COLUMN("zero", BYTES, 6, "of size, zero pages: read, and never written"),
	[B_ABSENT] = COLUMN("absent", BYTES, 6,
			    "of size, without memory of the host: never touched, or returned"),
	[B_CLEAN] = COLUMN("clean", BYTES, 6, "of backed, page cache that the guest can drop"),
	[B_UNUSED] = COLUMN("unused", BYTES, 6,
			    "of backed and swapped, what the guest would give back: it has them "
			    "free or in its balloon"),
};
static const struct atw_schema schema = { "backing", columns, B_COUNT };

enum { BACKING_NODES = 1024, BACKING_RAMS = 4096 };

/* Pages, by what the host has. */
struct backing_sum {
	uint64_t host[CAPTURE_HOSTS];
	uint64_t clean, file_unknown;    /* backed pages of files */
};

struct backing_pair {
	int64_t node, host_node;         /* -1: not known */
	struct backing_sum sum, unused;
};

struct backing_range {
	uint64_t start, last;
	int64_t node;
};

struct backing_state {
	uint64_t page;
	struct backing_sum use[CAPTURE_USES];
	struct backing_pair *pair;
	size_t npairs, pairs_cap;
	struct backing_range *ram;
	size_t nram, ram_cap;
	uint64_t swap;                   /* pages that the guest has on its own swap */
	bool frames, host;
};

/* ---- sums ---- */

static bool backing_is_backed(unsigned host)
{
	return host == CAPTURE_HOST_BACKED || host == CAPTURE_HOST_LARGE ||
	       host == CAPTURE_HOST_SMALL || host == CAPTURE_HOST_UNMERGED ||
	       host == CAPTURE_HOST_KSM;
}

static uint64_t backing_backed(const struct backing_sum *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < CAPTURE_HOSTS; i++)
		n += backing_is_backed(i) ? s->host[i] : 0;
	return n;
}

static void backing_sum_add(struct backing_sum *s, const struct capture_frames *f, uint64_t pages)
{
	s->host[f->host] += pages;
	if (f->use != CAPTURE_FILE || !backing_is_backed(f->host))
		return;
	if (f->has & CAPTURE_F_CLEAN)
		s->clean += f->clean ? pages : 0;
	else
		s->file_unknown += pages;
}

/* A merged page stays with others. */
static uint64_t backing_unused(const struct backing_sum *s)
{
	return backing_backed(s) - s->host[CAPTURE_HOST_KSM] + s->host[CAPTURE_HOST_SWAPPED];
}

static bool backing_is_unused(unsigned use)
{
	return use == CAPTURE_FREE || use == CAPTURE_OFFLINE;
}

/* ---- records ---- */

static int backing_on_ram(struct backing_state *b, const struct census_event *ev,
			  struct atw_err *err)
{
	const struct capture_ram *r = ev->ram;
	bool known = ev->ram_has & CAPTURE_R_NODE && r->node < BACKING_NODES;

	if (b->nram == BACKING_RAMS)
		return ATW_OK;
	if (!ARRAY_ROOM(b->ram, b->nram, b->ram_cap))
		return atw_err_nomem(err);
	b->ram[b->nram++] = (struct backing_range){ r->start, r->last,
						    known ? (int64_t)r->node : -1 };
	return ATW_OK;
}

static int backing_add_pair(struct backing_state *b, int64_t node, const struct capture_frames *f,
			    uint64_t pages, struct atw_err *err)
{
	bool known = f->has & CAPTURE_F_NODE && f->node < BACKING_NODES;
	int64_t host_node = known ? (int64_t)f->node : -1;
	struct backing_pair *p = NULL;

	for (size_t i = 0; i < b->npairs && !p; i++)
		if (b->pair[i].node == node && b->pair[i].host_node == host_node)
			p = &b->pair[i];
	if (!p) {
		if (!ARRAY_ROOM(b->pair, b->npairs, b->pairs_cap))
			return atw_err_nomem(err);
		p = &b->pair[b->npairs++];
		*p = (struct backing_pair){ .node = node, .host_node = host_node };
	}
	backing_sum_add(&p->sum, f, pages);
	if (backing_is_unused(f->use))
		backing_sum_add(&p->unused, f, pages);
	return ATW_OK;
}

/* The parts of a run that ranges of RAM have; they are ascending. */
static int backing_add_pairs(struct backing_state *b, const struct capture_frames *f,
			     struct atw_err *err)
{
	uint64_t first = f->pa / b->page, end = first + f->pages, at = first;
	int r = ATW_OK;

	for (size_t i = 0; i < b->nram && at < end && r == ATW_OK; i++) {
		uint64_t from = b->ram[i].start / b->page, upto = b->ram[i].last / b->page + 1;

		if (upto <= at || from >= end)
			continue;
		if (from > at)
			r = backing_add_pair(b, -1, f, from - at, err);
		at = MAX(at, from);
		upto = MIN(upto, end);
		if (r == ATW_OK)
			r = backing_add_pair(b, b->ram[i].node, f, upto - at, err);
		at = upto;
	}
	return r == ATW_OK && at < end ? backing_add_pair(b, -1, f, end - at, err) : r;
}

static int backing_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct backing_state *b = state;

	b->page = ev->page;
	switch (ev->what) {
	case CENSUS_ON_RAM:
		return backing_on_ram(b, ev, err);
	case CENSUS_ON_SWAP:
		b->swap += MIN(ev->swap->used, ev->swap->pages);
		return ATW_OK;
	case CENSUS_ON_FRAMES:
		b->frames = true;
		b->host |= ev->frames->host != CAPTURE_HOST_UNKNOWN;
		backing_sum_add(&b->use[ev->frames->use], ev->frames, ev->frames->pages);
		return backing_add_pairs(b, ev->frames, err);
	default:
		return ATW_OK;
	}
}

static void backing_deinit(void *state)
{
	struct backing_state *b = state;

	free(b->pair);
	free(b->ram);
}

/* ---- rows ---- */

/* Only what is known of all pages is shown. `unused`: those that are free. */
static int backing_row(const struct backing_state *b, struct report_row *row,
		       const struct backing_sum *s, const struct backing_sum *unused,
		       const struct census_out *out, struct atw_err *err)
{
	bool known = !s->host[CAPTURE_HOST_UNKNOWN];
	bool sized = known && !s->host[CAPTURE_HOST_BACKED];
	bool merged = sized && !s->host[CAPTURE_HOST_SMALL];
	uint64_t all = 0;

	for (unsigned i = 0; i < CAPTURE_HOSTS; i++)
		all += s->host[i];
	if (!all)
		return ATW_OK;
	row_u(row, B_SIZE, all * b->page);
	row_if(row, known, B_BACKED, backing_backed(s) * b->page);
	row_if(row, sized, B_LARGE, s->host[CAPTURE_HOST_LARGE] * b->page);
	row_if(row, merged, B_KSM, s->host[CAPTURE_HOST_KSM] * b->page);
	row_if(row, known, B_SWAPPED, s->host[CAPTURE_HOST_SWAPPED] * b->page);
	row_if(row, sized, B_ZERO, s->host[CAPTURE_HOST_ZERO] * b->page);
	row_if(row, known, B_ABSENT, s->host[CAPTURE_HOST_ABSENT] * b->page);
	row_if(row, known && !s->file_unknown, B_CLEAN, s->clean * b->page);
	row_if(row, !unused->host[CAPTURE_HOST_UNKNOWN], B_UNUSED, backing_unused(unused) * b->page);
	return row_out(row, out, err);
}

static void backing_sum_join(struct backing_sum *to, const struct backing_sum *s)
{
	for (unsigned i = 0; i < CAPTURE_HOSTS; i++)
		to->host[i] += s->host[i];
	to->clean += s->clean;
	to->file_unknown += s->file_unknown;
}

static int backing_use_rows(const struct backing_state *b, struct backing_sum *unused,
			    const struct census_out *out, struct atw_err *err)
{
	static const struct backing_sum nothing;
	struct report_row total = { .have = 0 };
	struct backing_sum all = { .clean = 0 };
	int r = ATW_OK;

	for (unsigned i = 0; i < CAPTURE_USES && r == ATW_OK; i++) {
		const struct backing_sum *s = &b->use[i];
		struct report_row row = { .have = 0 };

		backing_sum_join(&all, s);
		if (backing_is_unused(i))
			backing_sum_join(unused, s);
		row_s(&row, B_USE, capture_uses[i]);
		r = backing_row(b, &row, s, backing_is_unused(i) ? s : &nothing, out, err);
	}
	row_s(&total, B_USE, "all");
	return r == ATW_OK ? backing_row(b, &total, &all, unused, out, err) : r;
}

static int backing_compare_pairs(const void *a, const void *b)
{
	const struct backing_pair *x = a, *y = b;

	return ORDER(x->node, y->node) ?: ORDER(x->host_node, y->host_node);
}

static bool backing_has_nodes(const struct backing_state *b)
{
	int64_t node = -1, host = -1;

	for (size_t i = 0; i < b->npairs; i++) {
		const struct backing_pair *p = &b->pair[i];

		if ((p->node >= 0 && node >= 0 && p->node != node) ||
		    (p->host_node >= 0 && host >= 0 && p->host_node != host))
			return true;
		node = p->node >= 0 ? p->node : node;
		host = p->host_node >= 0 ? p->host_node : host;
	}
	return false;
}

static int backing_pair_rows(struct backing_state *b, const struct census_out *out,
			     struct atw_err *err)
{
	int r = ATW_OK;

	if (!backing_has_nodes(b))
		return ATW_OK;
	SORT(b->pair, b->npairs, backing_compare_pairs);
	for (size_t i = 0; i < b->npairs && r == ATW_OK; i++) {
		const struct backing_pair *p = &b->pair[i];
		struct report_row row = { .have = 0 };

		row_s(&row, B_USE, "all");
		row_if(&row, p->node >= 0, B_NODE, (uint64_t)p->node);
		row_if(&row, p->host_node >= 0, B_HOST_NODE, (uint64_t)p->host_node);
		r = backing_row(b, &row, &p->sum, &p->unused, out, err);
	}
	return r;
}

static void backing_notes(const struct backing_state *b, const struct backing_sum *unused,
			  const struct census_out *out)
{
	char all[16], memory[16], swap[16], inner[16];
	uint64_t swapped = 0;

	for (unsigned i = 0; i < CAPTURE_USES; i++)
		swapped += b->use[i].host[CAPTURE_HOST_SWAPPED];
	out->note(out->arg,
		  /* Of older kernels zero pages are among them. */
		  unused->host[CAPTURE_HOST_BACKED]
			  ? "the guest would give back at most %s: free in it and in the host's memory %s, on the host's swap %s"
			  : "the guest would give back %s: free in it and in the host's memory %s, on the host's swap %s",
		  num_human(backing_unused(unused) * b->page, all),
		  num_human((backing_backed(unused) - unused->host[CAPTURE_HOST_KSM]) * b->page,
			    memory),
		  num_human(unused->host[CAPTURE_HOST_SWAPPED] * b->page, swap));
	if (b->swap && swapped)
		out->note(out->arg,
			  "double paging: the guest has %s on its swap, and the host %s of the guest on its own",
			  num_human(b->swap * b->page, inner), num_human(swapped * b->page, swap));
}

static int backing_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct backing_sum unused = { .clean = 0 };
	struct backing_state *b = state;
	int r;

	if (!b->host) {
		out->lacks(out->arg, b->frames ? "what the host has of this machine's memory is not recorded: it is known of running guests (qemu:PID, kvm:PID)"
					       : "the use of frames is not recorded");
		return ATW_OK;
	}
	r = backing_use_rows(b, &unused, out, err);
	if (r == ATW_OK)
		r = backing_pair_rows(b, out, err);
	backing_notes(b, &unused, out);
	return r;
}

const struct census_report report_backing = {
	.name = "backing",
	.title = "Memory of a guest, and what of it the host has",
	.help = "what a running guest uses its memory for, and what of it the host has",
	.on = CENSUS_ON(RAM) | CENSUS_ON(SWAP) | CENSUS_ON(FRAMES),
	.schema = &schema,
	.state = sizeof(struct backing_state),
	.feed = backing_feed,
	.finish = backing_finish,
	.deinit = backing_deinit,
};
