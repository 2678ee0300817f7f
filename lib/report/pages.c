/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.c - every resident page of all processes, by physical address, with its owner:
 * Figure 9 of Movall et al. Adjacent pages that are equal in all columns are one row, so
 * there are no more rows than runs in the input.
 *
 * The owner is the file that the page belongs to, also for .bss and heap; an anonymous
 * page belongs to its process. If several VMAs map a page, the first one in the input
 * counts.
 */
#include "report/page_sort.h"
#include "report/report.h"

enum {
	P_PHYSICAL, P_PAGES, P_PTE, P_VMA, P_SYM, P_FLAGS, P_COUNT, P_KCOUNT, P_OWNER, P_PID, P_CLASS,
	P_COUNTED, P_COLUMNS,
};

static const struct atw_column columns[P_COLUMNS] = {
	[P_PHYSICAL] = COLUMN("physical", PA, 0, "address of the first page"),
	[P_PAGES] = COLUMN("pages", COUNT, 6,
			"how many lie there one behind the other, alike in all of this"),
	[P_PTE] = COLUMN("pte_flag", HEX, 0,
			"how the owner maps it: the bits of atwalk-capture(5)"),
	[P_VMA] = COLUMN("vma_flag", HEX, 0, "the kernel's flags of the owner's area"),
	[P_SYM] = COLUMN("vma_sym", LETTERS, 0,
			"S stack, X the program's own, r w x rights, B heap or .bss",
			.names = &census_flag_names),
	[P_FLAGS] = COLUMN("page_flags", HEX, 0, "the kernel's, of the page"),
	[P_COUNT] = COLUMN("count", COUNT, 6, "how often it is mapped"),
	[P_KCOUNT] = COLUMN("kcount", COUNT, 6, "the kernel's mapcount"),
	[P_OWNER] = COLUMN("owner", TEXT, 0, "the file it is of, or the process"),
	[P_PID] = COLUMN("pid", COUNT, 7, "of the process that maps it", .hidden = true),
	[P_CLASS] = COLUMN("class", ENUM, 0,
			"what the area is for",
			.names = &census_class_names, .hidden = true),
	[P_COUNTED] = COLUMN("counted", ENUM, 0,
			"origin of the count: atwalk (seen) or the kernel",
			.hidden = true, .names = &census_count_names),
};
static const struct atw_schema schema = { "pages", columns, P_COLUMNS };

struct report_pages_area {
	const char *owner;
	const struct census_unit *unit;  /* NULL: the process is the owner */
	uint64_t pid, vm_flags;
	uint8_t flags, class;
	bool has_flags;
};

/* Bits of page_rec.known. */
enum { HAS_FLAGS = 1, HAS_COUNT = 2, SEEN = 4, HAS_KCOUNT = 8 };

struct pages_report {
	struct page_sort sort;
	struct report_pages_area *area;
	size_t n, cap;
	struct intern names;
	struct buf text;                 /* of a row */
	uint64_t page;
	uint64_t unknown;                /* pages of frames that are not recorded */
	uint64_t lines;                  /* remaining lines of the LPMA layout for
					  * pages */
	bool used;                       /* the last VMA has pages: it must be kept */
};

static int pages_on_area(struct pages_report *s, const struct census_area *a,
			 struct atw_err *err)
{
	/*
	 * The heap belongs to the program, as in the figure; a stack belongs to the
	 * process.
	 */
	const struct census_unit *unit = a->unit || !a->own ? a->unit : a->process->exe;
	const char *name = report_text(&s->names, unit ? blob_of(unit->name)
						       : a->process->task->name);

	/* VMAs without pages are not listed. */
	if (s->n && !s->used)
		s->n--;
	s->used = false;
	if (!name || s->n == UINT32_MAX || !ARRAY_ROOM(s->area, s->n, s->cap))
		return atw_err_nomem(err);
	s->area[s->n++] = (struct report_pages_area){
		.owner = name, .unit = unit, .pid = a->process->pid,
		.vm_flags = a->v->flags, .flags = (uint8_t)census_flags(a),
		.class = a->class,
		.has_flags = a->v_has & CAPTURE_V_FLAGS,
	};
	return ATW_OK;
}

static int pages_on(struct pages_report *s, const struct census_pages *p,
		    uint64_t page, struct atw_err *err)
{
	/* Shown as recorded, without interpretation. */
	bool flags = p->run->has & CAPTURE_M_FLAGS;
	struct page_rec rec = {
		.pa = p->pa, .pages = p->same ? 1 : p->pages, .flags = flags ? p->run->flags : 0,
		.count = p->refs, .kcount = p->count, .area = (uint32_t)(s->n - 1),
		.entry = p->run->entry & CAPTURE_ENTRY_BITS,
		.known = (flags ? HAS_FLAGS : 0) |
			 (p->known & CENSUS_REFS ? HAS_COUNT : 0) | (p->counted ? SEEN : 0) |
			 (p->known & CENSUS_COUNT ? HAS_KCOUNT : 0),
	};

	s->page = page;
	if (!is_resident(p))
		return ATW_OK;
	if (!(p->known & CENSUS_PA)) {
		s->unknown += p->pages;
		return ATW_OK;
	}
	s->used = true;
	return page_sort_add(&s->sort, &rec, err);
}

static int pages_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct pages_report *s = state;

	if (ev->what == CENSUS_ON_AREA_END) {
		s->unknown += ev->area->rest.user;
		return ATW_OK;
	}
	return ev->what == CENSUS_ON_AREA
		       ? pages_on_area(state, ev->area, err)
		       : pages_on(state, ev->pages, ev->page, err);
}

/* ---- output ---- */

static bool pages_is_gone(const struct report_pages_area *a)
{
	return a->unit && a->unit->deleted;
}

static int pages_row(struct pages_report *s, const struct page_rec *p,
		     const struct census_out *out, struct atw_err *err)
{
	const struct report_pages_area *a = &s->area[p->area];
	struct report_row row = { .have = 0 };

	row_u(&row, P_PHYSICAL, p->pa);
	row_u(&row, P_PAGES, p->pages);
	row_u(&row, P_PTE, p->entry);
	row_if(&row, a->has_flags, P_VMA, a->vm_flags);
	row_u(&row, P_SYM, a->flags);
	row_if(&row, p->known & HAS_FLAGS, P_FLAGS, p->flags);
	if (p->known & HAS_COUNT) {
		row_u(&row, P_COUNT, p->count);
		row_u(&row, P_COUNTED, !(p->known & SEEN));
	}
	row_if(&row, p->known & HAS_KCOUNT, P_KCOUNT, p->kcount);
	s->text.len = 0;
	buf_str(&s->text, a->owner);
	if (pages_is_gone(a))
		buf_str(&s->text, CENSUS_DELETED);
	if (s->text.failed)
		return atw_err_nomem(err);
	row_s(&row, P_OWNER, s->text.data);
	row_u(&row, P_PID, a->pid);
	row_u(&row, P_CLASS, a->class);
	return row_out(&row, out, err);
}

static void pages_paper(const struct report_pages_area *a, const struct page_rec *p,
			uint64_t pa, const struct census_out *out)
{
	char sym[7], count[24] = "n/a", vma[24] = "n/a", flags[24] = "n/a";

	if (p->known & HAS_COUNT)
		snprintf(count, sizeof(count), "%" PRIu64, p->count);
	if (a->has_flags)
		snprintf(vma, sizeof(vma), "0X%08" PRIX64, a->vm_flags);
	if (p->known & HAS_FLAGS)
		snprintf(flags, sizeof(flags), "0X%08" PRIX64, p->flags);
	out->text(out->arg, "0X%08" PRIX64 "\t0X%08X\t%s\t%s\t%s\t%s\t%s\n", pa, p->entry, vma,
		  census_flags_text(a->flags, sym), flags, count, a->owner);
}

/*
 * The LPMA layout has a line per page. The number of runs is limited by the size of the
 * capture, but pages are only claimed: so the total is limited, with an allowance per
 * run.
 */
enum { PAPER_LINES = 1 << 20, PAPER_EACH = 16 };

static void pages_paper_pages(struct pages_report *s, const struct page_rec *p,
			      const struct census_out *out)
{
	const struct report_pages_area *a = &s->area[p->area];
	uint64_t n = p->pages;

	if (n > s->lines)
		n = 1;
	for (uint64_t i = 0; i < n; i++)
		pages_paper(a, p, p->pa + i * s->page, out);
	s->lines -= n < s->lines ? n : s->lines;
	if (n < p->pages)
		out->text(out->arg, "[... %" PRIu64 " more pages like this one, up to 0X%08" PRIX64
			  "]\n", p->pages - n, p->pa + (p->pages - 1) * s->page);
}

static bool pages_alike(const struct pages_report *s, const struct page_rec *x,
			const struct page_rec *y)
{
	const struct report_pages_area *a = &s->area[x->area], *b = &s->area[y->area];

	return x->entry == y->entry && x->known == y->known && x->flags == y->flags &&
	       x->count == y->count && x->kcount == y->kcount && a->owner == b->owner &&
	       a->pid == b->pid && a->vm_flags == b->vm_flags &&
	       a->has_flags == b->has_flags && a->flags == b->flags &&
	       a->class == b->class && pages_is_gone(a) == pages_is_gone(b);
}

static int pages_put(struct pages_report *s, const struct page_rec *p,
		     const struct census_out *out, struct atw_err *err)
{
	if (!p->pages)
		return ATW_OK;
	if (!out->paper)
		return pages_row(s, p, out, err);
	pages_paper_pages(s, p, out);
	return ATW_OK;
}

static int pages_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct pages_report *s = state;
	uint64_t next = 0;               /* pages below it have been emitted, or are in
					  * `wait` */
	struct page_rec p, wait = { .pages = 0 };
	int r = page_sort_finish(&s->sort, err);

	s->lines = PAPER_LINES;
	if (out->paper)
		out->text(out->arg, "Address\t\tPTE Flag\t\tVMA Flag\t\tVMA Sym \tPage Flags\t"
			  "Count   \tOwner   \t        \n");
	while (r == ATW_OK && (r = page_sort_next(&s->sort, &p, err)) == ATW_OK) {
		uint64_t listed = next > p.pa ? (next - p.pa) / s->page : 0;

		s->lines += PAPER_EACH;
		/* Lines of the LPMA layout have one count. */
		if (out->paper) {
			p.kcount = 0;
			p.known &= HAS_FLAGS | HAS_COUNT | SEEN;
		}
		if (listed >= p.pages)
			continue;
		p.pa += listed * s->page;
		p.pages -= listed;
		if (wait.pages && p.pa == next && pages_alike(s, &wait, &p)) {
			wait.pages += p.pages;
		} else {
			r = pages_put(s, &wait, out, err);
			wait = p;
		}
		next = p.pa + p.pages * s->page;
	}
	if (r != ATW_END)
		return r;
	r = pages_put(s, &wait, out, err);
	if (r == ATW_OK && s->unknown)
		out->note(out->arg, "of %" PRIu64 " pages it is not known which frames they "
			  "are: they are not listed", s->unknown);
	return r;
}

static void pages_deinit(void *state)
{
	struct pages_report *s = state;

	page_sort_deinit(&s->sort);
	free(s->area);
	intern_deinit(&s->names);
	buf_deinit(&s->text);
}

const struct census_report report_pages = {
	.name = "pages",
	.title = "Pages",
	.help = "every page that a process has, by physical address, with its flags and "
		"owner",
	.on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
	.schema = &schema,
	.paper = true,
	.state = sizeof(struct pages_report),
	.feed = pages_feed,
	.finish = pages_finish,
	.deinit = pages_deinit,
};
