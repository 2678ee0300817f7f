/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages_rows.c - the rows of `atwalk pages`: a translation each, in its area. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "kernel/kpf.h"
#include "pages.h"

static const struct atw_column own[P_COLS] = {
	[P_COUNT] = { .key = "count", .type = ATW_T_COUNT, .width = 5,
		      .help = "times that all processes together map it" },
	[P_KCOUNT] = { .key = "kcount", .type = ATW_T_COUNT, .width = 6,
		       .help = "the kernel's own number, as /proc/kpagecount has it" },
	[P_PAGEFLAGS] = { .key = "pageflags", .type = ATW_T_FLAGS,
			  .help = "what the kernel says of the (first) page, as /proc/kpageflags" },
	[P_SWAP] = { .key = "swap", .type = ATW_T_TEXT, .width = 4,
		     .help = "where on swap: DEVICE:OFFSET, in pages" },
	[P_ORDER] = { .key = "order", .type = ATW_T_COUNT, .width = 5,
		      .help = "log2 of the pages of its folio" },
	[P_REFS] = { .key = "refs", .type = ATW_T_COUNT, .width = 4,
		     .help = "references to its folio" },
	[P_HEAD] = { .key = "head", .type = ATW_T_PA,
		     .help = "first page of its folio" },
	[P_MAPPED] = { .key = "mapped", .type = ATW_T_BYTES, .width = 6,
		       .help = "--quiet: bytes of the area that are mapped" },
	[P_SWAPPED] = { .key = "swapped", .type = ATW_T_BYTES, .width = 7,
			.help = "--quiet: bytes of the area that are on swap" },
};

/* Those that other listings have as well. */
static const struct { uint8_t own, theirs; } shared[] = {
	{ P_ADDRESS, C_ADDRESS }, { P_END, C_END }, { P_SIZE, C_SIZE },
	{ P_PHYSICAL, C_PHYSICAL }, { P_LEVEL, C_LEVEL }, { P_RIGHTS, C_RIGHTS },
	{ P_STATE, C_STATE }, { P_FLAGS, C_FLAGS }, { P_ENTRY, C_ENTRY },
	{ P_NODE, C_NODE }, { P_PID, C_PID }, { P_TASK, C_TASK }, { P_AREA, C_AREA },
};

void pages_columns(struct pages *p)
{
	uint64_t shown = p->quiet
		? PCOL(P_ADDRESS) | PCOL(P_END) | PCOL(P_SIZE) | PCOL(P_MAPPED) |
		  PCOL(P_SWAPPED) | PCOL(P_RIGHTS) | PCOL(P_PID) | PCOL(P_TASK) | PCOL(P_AREA)
		: PCOL(P_ADDRESS) | PCOL(P_SIZE) | PCOL(P_PHYSICAL) | PCOL(P_STATE) |
		  PCOL(P_COUNT) | PCOL(P_KCOUNT) | PCOL(P_PAGEFLAGS) | PCOL(P_SWAP);

	/* Where nothing stands above the rows, it stands in them. */
	if (!p->headings)
		shown |= PCOL(P_PID) | PCOL(P_TASK) | PCOL(P_AREA);
	memcpy(p->col, own, sizeof(own));
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		p->col[shared[i].own] = p->list.col[shared[i].theirs];
	for (unsigned i = 0; i < P_COLS; i++)
		p->col[i].hidden = !(shown & PCOL(i));
	p->flags = (struct atw_names){ 64, p->flag, NULL };
	for (unsigned i = 0; i < 64; i++)
		p->flag[i] = atw_page_flag_name(i);
	p->col[P_PAGEFLAGS].names = &p->flags;
	p->schema = (struct atw_schema){ "pages", p->col, P_COLS };
}

static int put(struct pages *p, const struct page_row *r, struct atw_err *err)
{
	const struct atw_row row = { r->v, r->have };

	return atw_output_row(p->out, &row, err);
}

/* ---- swap ---- */

/* DEVICE:OFFSET; a device whose name is not known is swapN. */
static const char *swap_place(struct pages *p, unsigned type, uint64_t offset)
{
	struct swap_name *s = &p->swap[type % 32];
	struct atw_err why = { 0 };
	struct atw_swap dev;
	int r;

	if (!s->tried) {
		s->tried = true;
		r = atw_swap_device(p->src->kernel, type, &dev, &why);
		if (r == ATW_OK)
			memcpy(s->name, dev.name, sizeof(s->name));
		else
			snprintf(s->name, sizeof(s->name), "swap%u", type);
		/* Without symbols none has a name, and nothing is wrong with that. */
		if (r < 0 && r != ATW_E_UNSUPPORTED)
			pages_cannot(p, "swapped pages", &why);
	}
	snprintf(p->swap_text, sizeof(p->swap_text), "%s:%" PRIu64, s->name, offset);
	return p->swap_text;
}

/* ---- one translation ---- */

/* `guess`: what the entry is depends on the kernel's configuration. */
static void page_facts(struct pages *p, struct page_row *r, atw_pa pa, uint64_t len,
		       bool guess)
{
	unsigned shift = p->list.space->paging.page_shift;
	struct atw_err why = { 0 };
	struct atw_page page;
	int rc;

	page_set(r, P_PHYSICAL, pa.u);
	if (p->counted)
		page_set(r, P_COUNT, counts_get(&p->counts, pa.u >> shift));
	if (!p->memmap)
		return;
	atw_memmap_mapped(p->memmap, pa.u >> shift, len >> shift);
	rc = atw_memmap_page(p->memmap, pa.u >> shift, &page, NULL);
	if (rc == ATW_E_DAMAGED) {
		atw_memmap_page(p->memmap, pa.u >> shift, &page, &why);
		pages_cannot(p, "struct pages", &why);
		return;
	}
	if (rc < 0) {
		p->pageless++;
		return;
	}
	page_set(r, P_KCOUNT, page.count);
	page_set(r, P_PAGEFLAGS, page.flags);
	if (page.refcount >= 0)
		page_set(r, P_REFS, (uint64_t)page.refcount);
	page_set(r, P_HEAD, page.head << shift);
	if (guess && page.flags & kpf(KPF_HWPOISON))
		page_set(r, P_STATE, STATE_POISON);
	if (page.have_node)
		page_set(r, P_NODE, page.node);
	if (page.have_order)
		page_set(r, P_ORDER, page.order);
}

static int flush_absent(struct pages *p, struct page_area *a, struct atw_err *err)
{
	struct page_row r = a->row;

	if (!a->absent_len)
		return ATW_OK;
	page_set(&r, P_ADDRESS, a->absent);
	page_set(&r, P_END, a->absent + a->absent_len);
	page_set(&r, P_SIZE, a->absent_len);
	page_set(&r, P_STATE, STATE_ABSENT);
	p->absent += a->absent_len;
	a->absent_len = 0;
	return p->quiet ? ATW_OK : put(p, &r, err);
}

static void add_absent(struct page_area *a, uint64_t first, uint64_t last)
{
	if (!a->absent_len)
		a->absent = first;
	a->absent_len += last - first + 1;
}

/* A page, or with --all each smallest page of a larger one. */
static int put_pages(struct pages *p, struct page_row *r, uint64_t va, uint64_t len,
		     atw_pa pa, uint64_t whole, bool guess, struct atw_err *err)
{
	uint64_t step = p->each ? (uint64_t)1 << p->list.space->paging.page_shift : len;
	int rc = ATW_OK;

	for (uint64_t off = 0; off < len && rc == ATW_OK; off += step) {
		page_set(r, P_ADDRESS, va + off);
		page_set(r, P_END, va + off + step);
		page_set(r, P_SIZE, step);
		page_facts(p, r, ATW_PA(pa.u + off), off ? 0 : whole, guess);
		rc = put(p, r, err);
		r->have &= ~(PCOL(P_KCOUNT) | PCOL(P_PAGEFLAGS) | PCOL(P_REFS) |
			     PCOL(P_HEAD) | PCOL(P_NODE) | PCOL(P_ORDER));
	}
	return rc;
}

/* Struct pages lie anywhere: so many of them are under way at once. */
enum { AHEAD = 8 };

static atw_pa look_ahead(struct pages *p, const struct atw_space *sp,
			 const struct atw_seen *s, uint32_t i)
{
	atw_pa pa = atw_seen_pa(sp, s, i);

	if (p->memmap)
		atw_memmap_soon(p->memmap, pa.u >> sp->paging.page_shift);
	return pa;
}

static int leaves(struct pages *p, struct page_area *a, const struct atw_seen *s,
		  const struct atw_space *sp, uint64_t first, uint64_t last,
		  struct atw_err *err)
{
	uint64_t slot = s->size / s->count, i = (first - s->va.u) / slot;
	struct page_row r = a->row;
	atw_pa ahead[AHEAD] = { 0 };
	struct row letters = { 0 };
	int rc = ATW_OK;

	a->mapped += last - first + 1;
	p->mapped += last - first + 1;
	if (p->quiet)
		return ATW_OK;
	row_rights(&letters, STATE_PRESENT, s->rights);
	page_set(&r, P_RIGHTS, letters.v[C_RIGHTS].u);
	page_set(&r, P_STATE, STATE_PRESENT);
	page_set(&r, P_LEVEL, s->level);
	/* Leaves of one piece agree in all but where they point. */
	page_set(&r, P_FLAGS, atw_entry_flags(&sp->paging, s->level, ATW_LEAF,
					      s->path[s->depth - 1].word));
	for (uint64_t n = i; n < s->count && n < i + AHEAD; n++)
		ahead[n % AHEAD] = look_ahead(p, sp, s, (uint32_t)n);
	for (; rc == ATW_OK && i < s->count; i++) {
		uint64_t va = s->va.u + i * slot, skip = va < first ? first - va : 0;
		uint64_t end = last - va < slot - 1 ? last - va + 1 : slot;
		atw_pa pa = ahead[i % AHEAD];

		if (va > last)
			break;
		if (i + AHEAD < s->count)
			ahead[i % AHEAD] = look_ahead(p, sp, s, (uint32_t)i + AHEAD);
		page_set(&r, P_ENTRY, atw_seen_word(sp, s, (uint32_t)i));
		rc = put_pages(p, &r, va + skip, end - skip, ATW_PA(pa.u + skip), slot, false,
			       err);
	}
	return rc;
}

/* Words the CPU ignores; those that are no place of a page are one row. */
static int soft_words(struct pages *p, struct page_area *a, const struct atw_seen *s,
		      uint64_t first, uint64_t last, struct atw_err *err)
{
	const struct atw_paging *pg = &p->list.space->paging;
	uint64_t entry = s->path[s->depth - 1].word, slot = s->size / s->count, skip;
	struct atw_soft_word w = atw_soft_decode(soft_of(p->src), pg, s->level, entry);
	struct page_row r = a->row;
	struct row state = { 0 };
	int rc = ATW_OK;

	*(w.what == ATW_SOFT_SWAP ? &a->swapped : &a->mapped) +=
		w.what == ATW_SOFT_SWAP || w.what == ATW_SOFT_PROTNONE ? last - first + 1 : 0;
	*(w.what == ATW_SOFT_SWAP ? &p->swapped : w.what == ATW_SOFT_PROTNONE ? &p->mapped
							: &p->other) += last - first + 1;
	if (p->quiet)
		return ATW_OK;
	page_set(&r, P_STATE, row_state(&p->list, &state, s->level, s->kind, 0, entry, 0));
	page_set(&r, P_LEVEL, s->level);
	page_set(&r, P_ENTRY, entry);
	if (!w.pa.u && w.what != ATW_SOFT_SWAP)
		slot = last - first + 1;
	for (uint64_t va = first; rc == ATW_OK && va <= last && va >= first; va += slot - skip) {
		uint64_t len;

		skip = w.pa.u || w.what == ATW_SOFT_SWAP ? (va - s->va.u) % slot : 0;
		len = slot - skip < last - va + 1 ? slot - skip : last - va + 1;
		if (w.what == ATW_SOFT_SWAP)
			page_text(&r, P_SWAP, swap_place(p, w.type,
							 w.offset + (skip >> pg->page_shift)));
		if (w.pa.u) {
			rc = put_pages(p, &r, va, len, ATW_PA(w.pa.u + skip), slot, w.guess,
			       err);
			continue;
		}
		page_set(&r, P_ADDRESS, va);
		page_set(&r, P_END, va + len);
		page_set(&r, P_SIZE, len);
		rc = put(p, &r, err);
	}
	return rc;
}

/* Tables that are not to be had, and words that no CPU accepts. */
static int no_answer(struct pages *p, struct page_area *a, const struct atw_seen *s,
		     uint64_t first, uint64_t last, struct atw_err *err)
{
	struct page_row r = a->row;
	struct row state = { 0 };

	if (s->loss)
		*(s->loss == ATW_LOST_EXCLUDED ? &p->excluded :
		  s->loss == ATW_LOST_DAMAGED ? &p->damaged : &p->lost) += 1;
	else
		p->bad += s->count;
	page_set(&r, P_STATE, row_state(&p->list, &state, s->level, s->kind, s->loss,
					s->depth ? s->path[s->depth - 1].word : 0, 0));
	page_set(&r, P_LEVEL, s->level);
	if (!s->loss)
		page_set(&r, P_ENTRY, s->path[s->depth - 1].word);
	else
		page_set(&r, P_PHYSICAL, s->pa.u);
	page_set(&r, P_ADDRESS, first);
	page_set(&r, P_END, last + 1);
	page_set(&r, P_SIZE, last - first + 1);
	return p->quiet ? ATW_OK : put(p, &r, err);
}

int area_piece(struct pages *p, struct page_area *a, const struct atw_seen *s,
	       uint64_t first, uint64_t last, struct atw_err *err)
{
	const struct atw_space *sp = &a->task->mm.space;
	bool nothing = !s->loss && s->kind == ATW_ABSENT &&
		       (!s->depth || !s->path[s->depth - 1].word);
	int rc;

	if (nothing) {
		add_absent(a, first, last);
		return ATW_OK;
	}
	rc = flush_absent(p, a, err);
	if (rc < 0)
		return rc;
	if (s->loss || s->kind == ATW_BAD)
		return no_answer(p, a, s, first, last, err);
	return s->kind == ATW_LEAF ? leaves(p, a, s, sp, first, last, err)
				   : soft_words(p, a, s, first, last, err);
}

/* ---- areas ---- */

/* "123 nginx: [heap] 0x...-0x... 132K rw-p" */
static int heading(struct pages *p, const struct page_area *a, struct atw_err *err)
{
	const struct atw_area *v = a->area;
	char size[16];
	int rc;

	if (!p->headings)
		return ATW_OK;
	if (!v)
		rc = atw_output_heading(p->out, "%" PRIu32 " %s: outside of every area",
					a->task->pid, a->task->name);
	else
		rc = atw_output_heading(p->out, "%" PRIu32 " %s: %s 0x%016" PRIx64 "-0x%016" PRIx64
					" %s %c%c%c%c", a->task->pid, a->task->name,
					v->name[0] ? v->name : "anonymous", v->start.u, v->end.u,
					num_human(v->end.u - v->start.u, size),
					v->read ? 'r' : '-', v->write ? 'w' : '-',
					v->exec ? 'x' : '-', v->shared ? 's' : 'p');
	return rc < 0 ? atw_err_set(err, rc, "not enough memory for the output") : ATW_OK;
}

int area_begin(struct pages *p, struct page_area *a, const struct page_task *task,
	       const struct atw_area *area, uint64_t first, uint64_t last,
	       struct atw_err *err)
{
	*a = (struct page_area){
		.task = task, .area = area, .first = first, .last = last, .open = true,
	};
	page_set(&a->row, P_PID, task->pid);
	page_text(&a->row, P_TASK, task->name);
	if (area)
		page_text(&a->row, P_AREA, area->name);
	return heading(p, a, err);
}

int area_end(struct pages *p, struct page_area *a, struct atw_err *err)
{
	struct page_row r = a->row;
	int rc = flush_absent(p, a, err);

	a->open = false;
	if (rc < 0 || !p->quiet)
		return rc;
	page_set(&r, P_ADDRESS, a->first);
	page_set(&r, P_END, a->last + 1);
	page_set(&r, P_SIZE, a->last - a->first + 1);
	page_set(&r, P_MAPPED, a->mapped);
	page_set(&r, P_SWAPPED, a->swapped);
	if (a->area)
		page_set(&r, P_RIGHTS, (a->area->read ? 1u : 0) | (a->area->write ? 2u : 0) |
			 (a->area->exec ? 4u : 0) | 8u);
	return put(p, &r, err);
}
