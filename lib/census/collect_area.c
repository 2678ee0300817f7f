/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect_area.c - pages of a VMA as runs, and their sums. V: and P: precede the runs, so
 * runs are buffered until the VMA ends, or the buffer is full.
 */
#include "census/collect.h"
#include "linux/kpf.h"

enum { RUNS = 65536 };

/* ---- the VMA ---- */

static void area_begin_part(struct collect *c, uint64_t first)
{
	c->start = first;
	c->n = 0;
	c->unsummed = 0;
	c->resident = 0;
	c->sums = (struct capture_sums){ 0 };
	c->kinds = c->swaps = true;
	c->counted = c->uncounted = false;
}

void collect_area_begin(struct collect *c, const struct atw_area *a, uint64_t first)
{
	c->open = true;
	c->outside = !a;
	c->blind = false;
	/* Copies up to the end of its name, whose buffer is large. */
	if (a && a != &c->area)
		memcpy(&c->area, a, offsetof(struct atw_area, name) + strlen(a->name) + 1);
	area_begin_part(c, first);
}

static uint64_t area_flags(const struct collect *c)
{
	const struct atw_area *a = &c->area;

	return !c->p->area_rights ? a->flags :
	       (a->read ? VM_READ : 0u) | (a->write ? VM_WRITE : 0u) |
	       (a->exec ? VM_EXEC : 0u) | (a->shared ? VM_MAYSHARE : 0u);
}

static int area_emit(struct collect *c, uint64_t last, bool more, struct atw_err *err)
{
	const struct atw_area *a = &c->area;
	struct capture_record rec = { .letter = 'V', .has = more ? CAPTURE_V_MORE : 0 };

	rec.v = (struct capture_area){
		.start = c->start, .last = last, .size = last - c->start + 1,
		.resident = c->resident * c->page, .more = more,
	};
	if (!c->outside) {
		rec.has |= CAPTURE_V_FLAGS;
		rec.v.flags = area_flags(c);
		if (a->name[0])
			rec.v.name = (struct atw_blob){ a->name, strlen(a->name) };
		if (a->shared) {
			rec.has |= CAPTURE_V_SHARED;
			rec.v.shared = 1;
		}
		if (a->file && !a->unread) {
			rec.has |= CAPTURE_V_DEV | CAPTURE_V_INODE | CAPTURE_V_OFFSET;
			rec.v.dev = (struct capture_pair){ a->major, a->minor };
			rec.v.inode = a->inode;
			rec.v.offset = a->offset + (c->start - a->start.u);
		}
	}
	return c->to->record(c->to->arg, &rec, err);
}

static int area_emit_sums(struct collect *c, struct atw_err *err)
{
	const struct capture_record rec = {
		.letter = 'P', .p = c->sums,
		.has = CAPTURE_P_HUGE | (c->swaps ? CAPTURE_P_SWAP : 0) |
		       (c->kinds ? CAPTURE_P_ANON | CAPTURE_P_FILE : 0),
	};

	return c->to->record(c->to->arg, &rec, err);
}

/*
 * The sums of the LPMA format: mappings that were found, else the kernel's mapcounts.
 * Equal pages are added together: all pages not summed yet equal the last run's.
 */
static void area_sum(struct collect *c)
{
	const struct capture_run *run = c->n ? &c->run[c->n - 1] : NULL;
	uint64_t pages = c->unsummed;
	bool file = false, anon = false;

	if (!run)
		return;
	c->unsummed = 0;
	capture_add_found(run, pages, false, &c->sums);
	if (!(run->entry & CAPTURE_PRESENT))
		return;
	c->resident += pages;
	if (run->order)
		c->sums.huge += pages;
	if (run->state == CAPTURE_ZERO || run->state == CAPTURE_DEVICE)
		return;
	*(run->has & (CAPTURE_M_COUNT | CAPTURE_M_REFS) ? &c->counted : &c->uncounted) = true;
	if (run->has & CAPTURE_M_FLAGS)
		anon = run->flags & kpf(KPF_ANON), file = !anon;
	else if (run->has & CAPTURE_M_MAP)
		file = run->map & 1 << (61 - 55), anon = !file;
	else
		c->kinds = false;
	c->sums.anon += anon ? pages : 0;
	c->sums.file += file ? pages : 0;
}

/* Ends at `last`; if there is `more`, that becomes a part of its own. */
static int area_flush(struct collect *c, uint64_t last, bool more, struct atw_err *err)
{
	int r = collect_file(c, err);

	area_sum(c);
	if (r == ATW_OK)
		r = area_emit(c, last, more, err);
	/*
	 * Without known mapcounts, a sum of 0 pages that are mapped once would be wrong.
	 */
	if (r == ATW_OK && !c->blind && (c->counted || !c->uncounted))
		r = area_emit_sums(c, err);
	for (size_t i = 0; i < c->n && r == ATW_OK; i++)
		r = c->to->run(c->to->arg, &c->run[i], err);
	area_begin_part(c, last + 1);
	return r;
}

int collect_area_end(struct collect *c, uint64_t last, struct atw_err *err)
{
	c->open = false;
	return area_flush(c, last, false, err);
}

/* ---- runs ---- */

static uint64_t area_frame_of(const struct capture_run *r)
{
	return r->entry & ~(uint64_t)CAPTURE_ENTRY_BITS;
}

/* Do they agree except for their addresses? */
static bool area_alike(const struct capture_run *r, const struct capture_run *one)
{
	return (r->has & ~(uint32_t)CAPTURE_M_SAME) == one->has &&
	       !((r->entry ^ one->entry) & CAPTURE_ENTRY_BITS) &&
	       !((r->count ^ one->count) | (r->flags ^ one->flags) | (r->refs ^ one->refs) |
		 (r->order ^ one->order) | (r->folio ^ one->folio) | (r->state ^ one->state) |
		 (r->map ^ one->map) | (r->noframe ^ one->noframe));
}

/* Given that, are they contiguous? */
static bool area_joins(const struct collect *c, struct capture_run *r,
		       const struct capture_run *one)
{
	uint64_t bytes = r->pages * c->page;

	if (r->va + bytes != one->va)
		return false;
	if (r->has & CAPTURE_M_SWAP &&
	    (r->swap.a != one->swap.a || r->swap.b + r->pages != one->swap.b))
		return false;
	if (!(r->entry & CAPTURE_PRESENT) || r->noframe)
		return true;
	if (!r->same && area_frame_of(one) == area_frame_of(r) + bytes)
		return true;
	if (area_frame_of(one) != area_frame_of(r) || (r->pages > 1 && !r->same) ||
	    one->pages > 1)
		return false;
	r->same = 1;
	r->has |= CAPTURE_M_SAME;
	return true;
}

static int area_append(struct collect *c, const struct capture_run *one, struct atw_err *err)
{
	uint64_t most = c->o->area_runs ? c->o->area_runs : RUNS;
	int r = c->n >= most ? area_flush(c, one->va - 1, true, err) : ATW_OK;

	if (r != ATW_OK)
		return r;
	if ((!c->run || c->n == c->cap) && !ARRAY_ROOM(c->run, c->n, c->cap))
		return atw_err_nomem(err);
	c->run[c->n++] = *one;
	c->unsummed += one->pages;
	return ATW_OK;
}

/* It agrees with the last run except for addresses. */
static int area_add_like(struct collect *c, const struct capture_run *one, struct atw_err *err)
{
	struct capture_run *last = &c->run[c->n - 1];

	if (!area_joins(c, last, one))
		return area_append(c, one, err);
	last->pages += one->pages;
	c->unsummed += one->pages;
	return ATW_OK;
}

static int area_add(struct collect *c, const struct capture_run *one, struct atw_err *err)
{
	if (c->n && area_alike(&c->run[c->n - 1], one))
		return area_add_like(c, one, err);
	area_sum(c);
	return area_append(c, one, err);
}

/* ---- pages ---- */

/*
 * Flags that change while memory is idle would break runs, and those from 32 on are for
 * kernel developers.
 */
uint64_t collect_flags(const struct collect *c)
{
	const uint64_t coming = kpf(KPF_REFERENCED) | kpf(KPF_ACTIVE) | kpf(KPF_IDLE);

	return c->o->raw ? UINT64_MAX : ~coming & UINT32_MAX;
}

static void area_put_facts(struct collect *c, const struct page_run *r,
			   struct capture_run *one, const struct frame_facts *f)
{
	if (f->have & FACT_COUNT) {
		one->has |= CAPTURE_M_COUNT;
		one->count = f->page.count;
	}
	if (f->have & FACT_FLAGS) {
		one->has |= CAPTURE_M_FLAGS;
		one->flags = f->page.flags & collect_flags(c);
		if (f->page.flags & kpf(KPF_ZERO_PAGE))
			one->state = CAPTURE_ZERO;
		/* Software bits of the entry depend on the kernel's configuration. */
		if (r->guess && f->page.flags & kpf(KPF_HWPOISON))
			one->state = CAPTURE_POISON;
	}
	if (f->have & FACT_ORDER && f->page.order) {
		one->has |= CAPTURE_M_FOLIO;
		one->folio = f->page.order;
	}
}

/* Number of pages of RAM from pa on, at most `most`; 0: not RAM. */
static uint64_t area_ram_pages(struct collect *c, uint64_t pa, uint64_t most)
{
	const struct extent *e;
	uint64_t left;

	if (!c->ram.n)
		return most;
	e = extents_find(&c->ram, pa);
	left = e ? (e->len - (pa - e->start)) >> c->p->page_shift : 0;
	return left < most ? left : most;
}

/* Facts of a page, which also hold for the `more` pages behind it. */
struct area_known {
	struct capture_run page;
	uint32_t more;
	bool stale;
	bool refs;                   /* the facts have the number of mappings */
	struct atw_err why;
};

/* Looks up the page at `off` bytes from the start of slot i. */
static int area_look_up(struct collect *c, const struct page_run *r, uint32_t i,
			uint64_t off, const struct capture_run *one, struct area_known *k,
			struct atw_err *err)
{
	struct frame_facts f;
	int rc;

	f.have = 0;
	rc = page_cursor_facts(c->pages, r, i, off, off ? 0 : r->slot, &f, &k->why);
	k->page = *one;
	k->more = rc == ATW_OK ? f.alike : 0;
	k->refs = c->p->counted && f.have & FACT_MAPPED;
	if (k->refs)
		k->page.refs = f.mapped;
	k->stale = rc == ATW_OK && c->p->running && provider_is_stale(&f);
	if (rc == ATW_E_DAMAGED)
		return collect_lost(c, "struct pages", &k->why, err);
	if (rc == ATW_OK && !k->stale)
		area_put_facts(c, r, &k->page, &f);
	k->page.has |= k->page.state ? CAPTURE_M_STATE : 0;
	return ATW_OK;
}

static int area_mapped_page(struct collect *c, const struct page_run *r, uint32_t i,
			    uint64_t off, const struct capture_run *one,
			    struct area_known *k, struct atw_err *err)
{
	uint64_t pa = r->pa[i] + off;
	struct capture_run device, *page = &k->page;
	bool ram = area_ram_pages(c, pa, 1), alike = k->more;
	int rc = ATW_OK;

	k->more -= alike;
	if (!alike && ram)
		rc = area_look_up(c, r, i, off, one, k, err);
	if (rc != ATW_OK)
		return rc;
	if (!ram) {
		page = &device;
		device = *one;
		device.has |= CAPTURE_M_STATE;
		device.state = CAPTURE_DEVICE;
	}
	page->va = r->va + i * r->slot + off;
	page->entry = one->entry | pa;
	if (c->o->raw && r->word) {
		page->has |= CAPTURE_M_RAW;
		page->raw = r->word[i];
	}
	if (ram && c->p->counted) {
		page->has |= CAPTURE_M_REFS;
		if (!k->refs)
			page->refs = counts_get(&c->p->counts, pa >> c->p->page_shift);
		/* Mapped after mappings were counted. */
		page->refs += !page->refs;
	}
	c->missed.stale += ram && k->stale;
	return area_add(c, page, err);
}

/* A position in a run of pages. */
struct area_place {
	uint32_t i;
	uint32_t soon;               /* counts of the slots before it are fetched */
	uint64_t off;                /* from the start of slot i */
	uint64_t left;               /* pages */
};

static void area_place_pass(const struct collect *c, const struct page_run *r,
			    struct area_place *at, uint64_t pages)
{
	uint64_t off = at->off + (pages << c->p->page_shift);

	at->left -= pages;
	/* Slots are mostly a page each, and divisions slow. */
	if (r->slot == c->page) {
		at->i += (uint32_t)pages;
		return;
	}
	at->i += (uint32_t)(off / r->slot);
	at->off = off % r->slot;
}

/* Frames of a process are scattered: their counts are fetched some slots ahead. */
static void area_place_soon(const struct collect *c, const struct page_run *r,
			    struct area_place *at)
{
	const uint32_t end = r->count - at->i > COUNTS_SOON ? at->i + COUNTS_SOON : r->count;

	if (at->soon < at->i)
		at->soon = at->i;
	for (; at->soon < end; at->soon++)
		counts_soon(&c->p->counts, r->pa[at->soon] >> c->p->page_shift);
}

/* Number of pages from there on with contiguous frames, at most `most`. */
static uint64_t area_neighbours(const struct collect *c, const struct page_run *r,
				const struct area_place *at, uint64_t most)
{
	const uint64_t each = r->slot >> c->p->page_shift;
	uint64_t n = each - (at->off >> c->p->page_shift);

	for (uint32_t i = at->i; n < most && r->pa[i + 1] == r->pa[i] + r->slot; i++)
		n += each;
	return n < most ? n : most;
}

/*
 * Adds pages that have the facts of the previous page: contiguous frames with the same
 * number of mappings at once.
 */
static int area_mapped_alike(struct collect *c, const struct page_run *r,
			     struct area_place *at, struct area_known *k,
			     struct atw_err *err)
{
	uint64_t most = k->more < at->left ? k->more : at->left, pa, n;
	struct capture_run *page = &k->page;
	bool like = false;
	int rc = ATW_OK;

	for (; most && rc == ATW_OK; most -= n) {
		if (!k->refs)
			area_place_soon(c, r, at);
		pa = r->pa[at->i] + at->off;
		n = area_ram_pages(c, pa, area_neighbours(c, r, at, most));
		/* Repetitions of the same frame are a run of another kind. */
		if (!n || (c->n && area_frame_of(&c->run[c->n - 1]) == pa))
			break;
		page->va = r->va + at->i * r->slot + at->off;
		page->entry = (page->entry & CAPTURE_ENTRY_BITS) | pa;
		if (c->p->counted && !k->refs) {
			page->refs = counts_run(&c->p->counts, pa >> c->p->page_shift, n, &n);
			page->refs += !page->refs;
		}
		page->pages = n;
		rc = like ? area_add_like(c, page, err) : area_add(c, page, err);
		like = k->refs;
		k->more -= (uint32_t)n;
		area_place_pass(c, r, at, n);
	}
	page->pages = 1;
	return rc;
}

static int area_mapped(struct collect *c, const struct page_run *r,
		       struct capture_run one, uint64_t first, struct atw_err *err)
{
	struct area_known k;
	struct area_place at = { .left = one.pages };
	int rc = ATW_OK;

	if (first != r->va) {
		at.i = (uint32_t)((first - r->va) / r->slot);
		at.off = (first - r->va) % r->slot;
	}
	one.entry = CAPTURE_PRESENT;
	if (r->have & RUN_RIGHTS)
		one.entry |= (r->rights & (ATW_UR | ATW_UW | ATW_UX) ? CAPTURE_USER : 0u) |
			     (r->rights & ATW_UW ? CAPTURE_WRITE : 0u) |
			     (r->rights & ATW_UX ? CAPTURE_EXEC : 0u) |
			     ((r->rights & (ATW_UR | ATW_UX)) == ATW_UX ? CAPTURE_UNREADABLE : 0u);
	if (r->have & RUN_USED)
		one.entry |= (r->accessed ? CAPTURE_ACCESSED : 0u) |
			     (r->dirty ? CAPTURE_DIRTY : 0u);
	if (r->have & RUN_SIZE_HIDDEN)
		c->missed.unsized += one.pages;
	if (r->slot > c->page) {
		one.has |= CAPTURE_M_ORDER;
		one.order = (uint64_t)__builtin_ctzll(r->slot / c->page);
	}
	if (!r->pa) {
		one.has |= CAPTURE_M_NOFRAME;
		one.noframe = 1;
		return area_add(c, &one, err);
	}
	one.pages = 1;
	k.more = 0;
	k.refs = false;
	at.soon = c->p->counted ? at.i : UINT32_MAX;
	while (at.left && rc == ATW_OK) {
		if (!k.refs)
			area_place_soon(c, r, &at);
		rc = area_mapped_page(c, r, at.i, at.off, &one, &k, err);
		area_place_pass(c, r, &at, 1);
		if (rc == ATW_OK && k.more && !k.stale && !(c->o->raw && r->word))
			rc = area_mapped_alike(c, r, &at, &k, err);
	}
	return rc;
}

/* All slots have the same word, and therefore the same offset on swap. */
static int area_swapped(struct collect *c, const struct page_run *r,
			struct capture_run one, uint64_t first, uint64_t last,
			struct atw_err *err)
{
	int rc = ATW_OK;

	if (!(r->have & RUN_SWAP)) {
		c->swaps = false;
		return area_add(c, &one, err);
	}
	one.has |= CAPTURE_M_SWAP;
	for (uint64_t va = first; rc == ATW_OK && va <= last && va >= first;
	     va += one.pages * c->page) {
		uint64_t off = (va - r->va) % r->slot, left = (r->slot - off) / c->page;

		one.va = va;
		one.pages = (last - va) / c->page + 1 < left ? (last - va) / c->page + 1 : left;
		one.swap = (struct capture_pair){ r->swap_type, r->swap_offset + off / c->page };
		rc = area_add(c, &one, err);
	}
	return rc;
}

static const uint8_t states[] = {
	[PAGE_MIGRATION] = CAPTURE_MIGRATION, [PAGE_POISON] = CAPTURE_POISON,
	[PAGE_DEVICE] = CAPTURE_PRIVATE, [PAGE_MARKER] = CAPTURE_MARKER,
	[PAGE_GUARD] = CAPTURE_GUARD,
};

static const char *area_why_lost(unsigned state)
{
	return state == PAGE_LOST ? "the source does not have it" :
	       state == PAGE_EXCLUDED ? "it was excluded when the dump was made" :
	       state == PAGE_UNSTABLE ? "it changed whenever it was read" :
	       state == PAGE_BAD ? "reserved bits are set" : "it is damaged";
}

/* Neither mapped nor swapped. */
static int area_odd(struct collect *c, const struct page_run *r, struct capture_run *one,
		    struct atw_err *err)
{
	one->has |= CAPTURE_M_STATE;
	one->state = states[r->state];
	if (c->o->raw && r->word) {
		one->has |= CAPTURE_M_RAW;
		one->raw = r->word[0];
	}
	return area_add(c, one, err);
}

int collect_piece(struct collect *c, const struct page_run *r, uint64_t first, uint64_t last,
		  struct atw_err *err)
{
	struct capture_run one;

	c->last = last;
	c->blind |= r->state >= PAGE_LOST;
	if (r->state >= PAGE_LOST)
		return collect_lost_range(
			c, r->state == PAGE_BAD ? "page table entry" : "page table",
			r->why ? r->why->text : area_why_lost(r->state), first, last,
			err);
	/* Every other run is one of absent pages. */
	if (r->state == PAGE_ABSENT)
		return ATW_OK;
	one = (struct capture_run){
		.va = first, .pages = ((last - first) >> c->p->page_shift) + 1,
		.has = r->have & RUN_MAP ? CAPTURE_M_MAP : 0, .map = r->map,
	};
	if (r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE)
		return area_mapped(c, r, one, first, err);
	if (r->state == PAGE_SWAP)
		return area_swapped(c, r, one, first, last, err);
	return area_odd(c, r, &one, err);
}
