/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages_rows.c - rows of `atwalk pages`, one for each translation. */
#include "base/message.h"
#include "linux/kpf.h"
#include "pages.h"

static const struct atw_column own[P_COLS] = {
	[P_COUNT] = COLUMN("count", COUNT, 5, "times that all processes together map it"),
	[P_KCOUNT] = COLUMN("kcount", COUNT, 6,
			    "the kernel's own number, as /proc/kpagecount has it"),
	[P_PAGEFLAGS] = COLUMN("pageflags", FLAGS, 0,
			       "what the kernel says of the (first) page, as /proc/kpageflags"),
	[P_SWAP] = COLUMN("swap", TEXT, 4, "where on swap: DEVICE:OFFSET, in pages"),
	[P_ORDER] = COLUMN("order", COUNT, 5, "log2 of the pages of its folio"),
	[P_REFS] = COLUMN("refs", COUNT, 4, "references to its folio"),
	[P_HEAD] = COLUMN("head", PA, 0, "first page of its folio"),
	[P_CGROUP] = COLUMN("cgroup", COUNT, 6,
			    "inode of the memory cgroup that pays for it"),
#define SUM(column, name, text) \
	[column] = { .key = name, .type = ATW_T_BYTES, .width = sizeof(name) - 1 < 6 ? 6 : \
		     sizeof(name) - 1, .help = "--areas-only: " text }
	SUM(P_MAPPED, "mapped", "bytes of the area that page tables map, whatever it is"),
	SUM(P_RSS, "rss", "memory it has there, as smaps_rollup counts: no hugetlb, no zero pages, no devices"),
	SUM(P_PSS, "pss", "of rss, each page divided by how often it is mapped"),
	SUM(P_USS, "uss", "of rss, what is mapped once by our own count, and no more by the kernel's"),
	SUM(P_PRIVATE, "private", "the same as uss"),
	SUM(P_SHARED, "shared", "of rss, what is mapped more than once"),
	SUM(P_SWAPPED, "swapped", "bytes of the area that are on swap"),
	SUM(P_HUGE, "huge", "of rss, what is mapped by large pages"),
	SUM(P_THP_ANON, "thp_anon", "of huge, memory of no file: AnonHugePages"),
	SUM(P_THP_SHMEM, "thp_shmem", "of huge, shared memory: ShmemPmdMapped"),
	SUM(P_THP_FILE, "thp_file", "of huge, of files: FilePmdMapped"),
	SUM(P_HUGETLB, "hugetlb", "pages of hugetlbfs, which no other sum has"),
};

/* Those that other listings have as well. */
static const struct { uint8_t own, theirs; } shared[] = {
	{ P_ADDRESS, C_ADDRESS }, { P_END, C_END }, { P_SIZE, C_SIZE },
	{ P_PHYSICAL, C_PHYSICAL }, { P_PFN, C_PFN }, { P_LEVEL, C_LEVEL },
	{ P_RIGHTS, C_RIGHTS }, { P_STATE, C_STATE }, { P_FLAGS, C_FLAGS },
	{ P_PROPERTIES, C_PROPERTIES }, { P_ENTRY, C_ENTRY },
	{ P_NODE, C_NODE }, { P_PID, C_PID }, { P_TASK, C_TASK }, { P_AREA, C_AREA },
};

void pages_columns(struct pages *p)
{
	uint64_t shown = p->areas_only
		? COL(P_ADDRESS) | COL(P_END) | COL(P_SIZE) | COL(P_RSS) |
		  COL(P_SWAPPED) | COL(P_HUGETLB) | COL(P_RIGHTS) | COL(P_PID) | COL(P_TASK) | COL(P_AREA)
		: COL(P_ADDRESS) | COL(P_SIZE) | COL(P_PHYSICAL) | COL(P_STATE) |
		  COL(P_COUNT) | COL(P_KCOUNT) | COL(P_PAGEFLAGS) | COL(P_SWAP);

	if (p->totals)
		shown = COL(P_SIZE) | COL(P_RSS) | COL(P_PSS) | COL(P_USS) |
			COL(P_SHARED) | COL(P_SWAPPED) | COL(P_HUGE) | COL(P_HUGETLB) |
			COL(P_PID) | COL(P_TASK);
	/* Without headings above the rows, pid, task and area are columns. */
	if (!p->headings && !p->totals)
		shown |= COL(P_PID) | COL(P_TASK) | COL(P_AREA);
	memcpy(p->col, own, sizeof(own));
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		p->col[shared[i].own] = p->list.col[shared[i].theirs];
	p->col[P_FLAGS].unknown = p->prov ? p->prov->unknown : 0;
	if (p->prov)
		p->col[P_PROPERTIES].unknown = ~(uint64_t)known_properties(p->prov);
	if (p->prov && p->prov->flags)
		p->col[P_FLAGS].names = p->prov->flags;
	for (unsigned i = 0; i < P_COLS; i++)
		p->col[i].hidden = !(shown & COL(i));
	p->flags = (struct atw_names){ 64, p->flag, NULL };
	for (unsigned i = 0; i < 64; i++)
		p->flag[i] = lnx_page_flag_name(i);
	p->col[P_PAGEFLAGS].names = &p->flags;
	p->schema = (struct atw_schema){ "pages", p->col, P_COLS };
}

/* ---- swap ---- */

void pages_no_swap(struct pages *p, unsigned type, const struct atw_err *why)
{
	struct swap_name *s = &p->swap[type % 32];

	if (p->thread)
		pages_jobs_no_swap(p->thread, type, why);
	else if (!s->missed)
		pages_cannot(p, "swapped pages", why);
	s->missed = true;
}

/* DEVICE:OFFSET; swapN if the name of the device is not known. */
static const char *pages_rows_swap_place(struct pages *p, unsigned type, uint64_t offset)
{
	struct swap_name *s = &p->swap[type % 32];
	struct atw_err why = { 0 };
	struct atw_swap dev;
	int r;

	if (!s->tried) {
		s->tried = true;
		r = p->prov->ops->swap(p->prov, type, &dev, &why);
		if (r == ATW_OK)
			memcpy(s->name, dev.name, sizeof(s->name));
		else
			snprintf(s->name, sizeof(s->name), "swap%u", type);
		/* Without symbols swap devices have no names, which is not an error. */
		if (r < 0 && r != ATW_E_UNSUPPORTED)
			pages_no_swap(p, type, &why);
	}
	snprintf(p->swap_text, sizeof(p->swap_text), "%s:%" PRIu64, s->name, offset);
	return p->swap_text;
}

/* ---- one translation ---- */

/* The facts of a frame; damage is reported. */
static int pages_rows_query(struct pages *p, const struct page_run *run, uint32_t i,
			    uint64_t off, uint64_t mapped, struct frame_facts *ret)
{
	struct atw_err why = { 0 };
	int r = page_cursor_facts(p->pages, run, i, off, mapped, ret, &why);

	if (r == ATW_E_DAMAGED)
		provider_cannot(p->prov, "struct pages", &why);
	if (r == ATW_OK && p->live && provider_is_stale(ret)) {
		p->stale++;
		ret->have = 0;
	}
	return r;
}

static void pages_rows_physical(const struct pages *p, struct row *r, uint64_t pa)
{
	row_set(r, P_PHYSICAL, pa);
	row_set(r, P_PFN, pa >> p->prov->page_shift);
}

/* Of what lies `off` bytes behind where slot i leads. */
static void pages_rows_page_facts(struct pages *p, struct row *r,
				  const struct page_run *run, uint32_t i, uint64_t off,
				  uint64_t mapped)
{
	unsigned shift = p->prov->page_shift;
	uint64_t pa = run->pa[i] + off;
	struct frame_facts f;

	pages_rows_physical(p, r, pa);
	if (p->prov->counted)
		row_set(r, P_COUNT, counts_get(&p->prov->counts, pa >> shift));
	switch (pages_rows_query(p, run, i, off, mapped, &f)) {
	case ATW_OK:
		break;
	case ATW_E_MISSING:
		p->pageless++;
		return;
	default:
		return;
	}
	row_set_if(r, f.have & FACT_MAPPED, P_COUNT, f.mapped);
	row_set_if(r, f.have & FACT_COUNT, P_KCOUNT, f.page.count);
	row_set_if(r, f.have & FACT_FLAGS, P_PAGEFLAGS, f.page.flags);
	row_set_if(r, f.have & FACT_REFS, P_REFS, (uint64_t)f.page.refcount);
	if (f.have & FACT_MARKS && run->have & RUN_FLAGS)
		row_set(r, P_FLAGS, run->flags | f.marks);
	row_set_if(r, f.have & FACT_HEAD, P_HEAD, f.page.head << shift);
	/* The meaning of the entry depends on the configuration of the kernel. */
	if (run->guess && f.have & FACT_FLAGS && f.page.flags & kpf(KPF_HWPOISON))
		row_set(r, P_STATE, STATE_POISON);
	row_set_if(r, f.have & FACT_NODE, P_NODE, f.page.node);
	row_set_if(r, f.have & FACT_CGROUP, P_CGROUP, f.cgroup);
	row_set_if(r, f.have & FACT_ORDER, P_ORDER, f.page.order);
}

static int pages_rows_flush_absent(struct pages *p, struct page_area *a,
				   struct atw_err *err)
{
	struct row r = a->row;

	if (!a->absent_len)
		return ATW_OK;
	row_set(&r, P_ADDRESS, a->absent);
	row_set(&r, P_END, a->absent + a->absent_len);
	row_set(&r, P_SIZE, a->absent_len);
	row_set(&r, P_STATE, STATE_ABSENT);
	p->absent += a->absent_len;
	a->absent_len = 0;
	return p->areas_only ? ATW_OK : row_put(&r, p->out, err);
}

static void pages_rows_add_absent(struct page_area *a, uint64_t first, uint64_t last)
{
	if (!a->absent_len)
		a->absent = first;
	a->absent_len += last - first + 1;
}

/*
 * Limits of --all, for one large page and for all: no CPU maps more by one entry, and
 * damaged tables may claim any amount of memory.
 */
enum { SPLIT_ONE = 1 << 20, SPLIT_ALL = 1 << 28 };

/* Size of the pages in which `len` bytes of a slot are listed. */
static uint64_t pages_rows_step_of(struct pages *p, uint64_t len)
{
	uint64_t n = len >> p->prov->page_shift;

	if (!p->each || n <= 1)
		return len;
	if (n > SPLIT_ONE || p->split + n > SPLIT_ALL) {
		p->unsplit++;
		return len;
	}
	p->split += n;
	return (uint64_t)1 << p->prov->page_shift;
}

/* What of slot i is listed: a page, or with --all each smallest page of it. */
static int pages_rows_put_slot(struct pages *p, struct row *r,
			       const struct page_run *run, uint32_t i, uint64_t first,
			       uint64_t len, struct atw_err *err)
{
	uint64_t slot = run->va + i * run->slot, step = pages_rows_step_of(p, len);
	int rc = ATW_OK;

	if (run->word)
		row_set(r, P_ENTRY, run->word[i]);
	for (uint64_t off = 0; off < len && rc == ATW_OK; off += step) {
		row_set(r, P_ADDRESS, first + off);
		row_set(r, P_END, first + off + step);
		row_set(r, P_SIZE, step);
		pages_rows_page_facts(p, r, run, i, first + off - slot,
				      off ? 0 : run->slot);
		rc = row_put(r, p->out, err);
		r->v[P_FLAGS].u = run->flags;
		r->have &= ~(COL(P_COUNT) | COL(P_KCOUNT) | COL(P_PAGEFLAGS) | COL(P_REFS) |
			     COL(P_HEAD) | COL(P_NODE) | COL(P_ORDER) | COL(P_CGROUP));
	}
	return rc;
}

/* The same of a slot of swap, or of all there is if it leads nowhere. */
static int pages_rows_put_placeless(struct pages *p, struct row *r,
				    const struct page_run *run, uint64_t first,
				    uint64_t len, struct atw_err *err)
{
	if (run->word)
		row_set(r, P_ENTRY, run->word[0]);
	if (run->state == PAGE_SWAP && run->have & RUN_SWAP)
		row_text(r, P_SWAP,
			 pages_rows_swap_place(p, run->swap_type,
					       run->swap_offset +
						       ((first - run->va) % run->slot >>
							p->prov->page_shift)));
	row_set(r, P_ADDRESS, first);
	row_set(r, P_END, first + len);
	row_set(r, P_SIZE, len);
	return row_put(r, p->out, err);
}

/* Hidden frames: with --all they are single pages all the same. */
static int pages_rows_put_hidden(struct pages *p, struct row *r,
				 const struct page_run *run, uint64_t first, uint64_t len,
				 struct atw_err *err)
{
	uint64_t step = pages_rows_step_of(p, len);
	int rc = ATW_OK;

	for (uint64_t off = 0; off < len && rc == ATW_OK; off += step)
		rc = pages_rows_put_placeless(p, r, run, first + off, step, err);
	return rc;
}

static int pages_rows_slots(struct pages *p, struct page_area *a,
			    const struct page_run *run, uint64_t first, uint64_t last,
			    struct atw_err *err)
{
	bool swap = run->state == PAGE_SWAP && !(run->have & RUN_STATE_HIDDEN);
	bool mapped = run->state == PAGE_PRESENT || run->state == PAGE_PROTNONE;
	struct row r = a->row;
	uint64_t i = (first - run->va) / run->slot;
	unsigned properties;
	int rc = ATW_OK;

	pages_sum(p, a, run, first, last);
	if (p->areas_only)
		return ATW_OK;
	if (run->have & RUN_RIGHTS) {
		struct row letters = { 0 };

		row_rights(&letters, STATE_PRESENT, run->rights);
		row_set(&r, P_RIGHTS, letters.v[C_RIGHTS].u);
	}
	row_set_if(&r, !(run->have & RUN_STATE_HIDDEN), P_STATE, state_shown(run->state));
	row_set_if(&r, run->have & RUN_LEVEL, P_LEVEL, run->level);
	row_set_if(&r, run->have & RUN_FLAGS, P_FLAGS, run->flags);
	if (run_properties(p->prov, run, &properties))
		row_set(&r, P_PROPERTIES, properties);
	if (!run->pa && !swap && !mapped)
		return pages_rows_put_placeless(p, &r, run, first, last - first + 1, err);
	for (; rc == ATW_OK && i < run->count; i++) {
		uint64_t va = run->va + i * run->slot, skip = va < first ? first - va : 0;
		uint64_t end = last - va < run->slot - 1 ? last - va + 1 : run->slot;

		if (va > last)
			break;
		rc = run->pa  ? pages_rows_put_slot(p, &r, run, (uint32_t)i, va + skip,
						    end - skip, err)
		     : mapped ? pages_rows_put_hidden(p, &r, run, va + skip, end - skip,
						      err)
			      : pages_rows_put_placeless(p, &r, run, va + skip,
							 end - skip, err);
	}
	return rc;
}

/* How many entries of the run translate some of these addresses. */
static uint64_t pages_rows_entries(const struct page_run *run, uint64_t first, uint64_t last)
{
	return (last - run->va) / run->slot - (first - run->va) / run->slot + 1;
}

/* Missing page tables, and invalid entries. */
static int pages_rows_no_answer(struct pages *p, struct page_area *a,
				const struct page_run *run, uint64_t first, uint64_t last,
				struct atw_err *err)
{
	struct row r = a->row;

	*(run->state == PAGE_EXCLUDED ? &p->excluded : run->state == PAGE_DAMAGED ? &p->damaged :
	  run->state == PAGE_UNSTABLE ? &p->unstable : run->state == PAGE_LOST ? &p->lost :
	  &p->bad) +=
		run->state == PAGE_BAD ? pages_rows_entries(run, first, last) : 1;
	row_set(&r, P_STATE, state_shown(run->state));
	row_set_if(&r, run->have & RUN_LEVEL, P_LEVEL, run->level);
	if (run->state == PAGE_BAD)
		row_set(&r, P_ENTRY, run->word[0]);
	else if (run->have & RUN_TABLE)
		pages_rows_physical(p, &r, run->table.u);
	row_set(&r, P_ADDRESS, first);
	row_set(&r, P_END, last + 1);
	row_set(&r, P_SIZE, last - first + 1);
	return p->areas_only ? ATW_OK : row_put(&r, p->out, err);
}

bool pages_are_absent(const struct page_run *run)
{
	return run->state == PAGE_ABSENT && !run->word && !(run->have & RUN_STATE_HIDDEN);
}

int area_piece(struct pages *p, struct page_area *a, const struct page_run *run,
	       uint64_t first, uint64_t last, struct atw_err *err)
{
	int rc;

	if (pages_are_absent(run)) {
		pages_rows_add_absent(a, first, last);
		return ATW_OK;
	}
	rc = pages_rows_flush_absent(p, a, err);
	if (rc < 0)
		return rc;
	return run->state >= PAGE_LOST ? pages_rows_no_answer(p, a, run, first, last, err)
				       : pages_rows_slots(p, a, run, first, last, err);
}

/* ---- areas ---- */

/* "123 nginx: [heap] 0x...-0x... 132K rw-p" */
static int pages_rows_heading(struct pages *p, const struct page_area *a,
			      struct atw_err *err)
{
	const struct atw_area *v = a->area;
	char size[16], no = v && v->rights_unknown ? '?' : '-', *text;
	int rc;

	/* Where an area begins, it has its heading. */
	if (!p->headings || (v && v->start.u < p->part.from))
		return ATW_OK;
	if (!v)
		rc = asprintf(&text, _("%" PRIu32 " %s: outside of every area"), a->task->pid,
			      a->task->name);
	else
		rc = asprintf(&text, "%" PRIu32 " %s: %s 0x%016" PRIx64 "-0x%016" PRIx64
			      " %s %c%c%c%c", a->task->pid, a->task->name,
			      v->name[0] ? v->name : "anonymous", v->start.u, v->end.u,
			      num_human(v->end.u - v->start.u, size),
			      v->read ? 'r' : no, v->write ? 'w' : no,
			      v->exec ? 'x' : no, v->shared ? 's' : no == '-' ? 'p' : no);
	if (rc < 0)
		return atw_err_nomem(err);
	if (p->thread) {
		pages_jobs_heading(p->thread, text);
		return ATW_OK;
	}
	rc = atw_output_heading(p->out, "%s", text);
	free(text);
	return rc < 0 ? atw_err_set(err, rc, "not enough memory for the output") : ATW_OK;
}

int area_begin(struct pages *p, struct page_area *a, const struct page_task *task,
	       const struct atw_area *area, uint64_t first, uint64_t last,
	       struct atw_err *err)
{
	*a = (struct page_area){
		.task = task, .area = area, .first = first, .last = last, .open = true,
	};
	row_set(&a->row, P_PID, task->pid);
	row_text(&a->row, P_TASK, task->name);
	p->look.p = p->prov;
	p->look.shares = p->shares;
	smaps_look_area(&p->look, area);
	if (area)
		row_text(&a->row, P_AREA, area->name);
	return pages_rows_heading(p, a, err);
}

int area_end(struct pages *p, struct page_area *a, struct atw_err *err)
{
	struct row r = a->row;
	int rc = pages_rows_flush_absent(p, a, err);

	a->open = false;
	if (rc < 0 || !p->areas_only)
		return rc;
	a->sum.size = a->last - a->first + 1;
	smaps_join(&p->listed, &a->sum.of);
	if (p->totals) {
		pages_join_sums(&p->total, &a->sum);
		return ATW_OK;
	}
	row_set(&r, P_ADDRESS, a->first);
	row_set(&r, P_END, a->last + 1);
	pages_set_sums(p, &r, &a->sum);
	if (a->area && !a->area->rights_unknown)
		row_set(&r, P_RIGHTS, (a->area->read ? 1u : 0) | (a->area->write ? 2u : 0) |
			(a->area->exec ? 4u : 0) | 8u);
	return row_put(&r, p->out, err);
}

int process_end(struct pages *p, const struct page_task *task, struct atw_err *err)
{
	struct row r = { .have = 0 };

	if (!p->totals)
		return ATW_OK;
	row_set(&r, P_PID, task->pid);
	row_text(&r, P_TASK, task->name);
	pages_set_sums(p, &r, &p->total);
	p->total = (struct page_sum){ 0 };
	return p->taken ? p->taken(p->taker, &r, err) : row_put(&r, p->out, err);
}
