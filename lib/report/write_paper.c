/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_paper.c - writer of the LPMA format (Movall et al.).
 *
 * That format has less information than ours: the purpose of a VMA follows from its flags
 * and its name alone, as on the paper's kernel. So the text is made from the model's
 * classification, and each VMA is classified again as a reader of the text will do it. A
 * value that would be read back as another is refused, with the name of its field.
 */
#include "report/write_paper.h"

#include "base/pack.h"
#include "census/class.h"
#include "linux/vm_flags.h"
#include "report/report.h"
#include "report/sums.h"

enum {
	PIECE = 256 << 10,           /* text that is written at once */
	RUNS = 3,                    /* pages per line, as in the figure */
	PAGE = 4096,
};

struct paper_writer {
	struct census_model *model;
	struct pack *out;
	struct buf text;             /* lines that are not flushed yet */
	struct buf runs;             /* of the current VMA */
	struct capture_sums sums;
	uint64_t listed;             /* pages of the VMA that are in `runs` */
	uint64_t areas;              /* number in the process */
	bool any;                    /* there is a task */
	/* The classification that a reader will derive. */
	struct classifier class;
	struct units units;
	const struct census_report *report[1];
	void *state[1];
	char line[CAPTURE_LINE];
};

static int paper_flush(struct paper_writer *w, struct atw_err *err)
{
	size_t len = w->text.len;

	if (w->text.failed)
		return atw_err_nomem(err);
	w->text.len = 0;
	return len ? pack_write(w->out, w->text.data, len, err) : ATW_OK;
}

/* ---- values that do not fit ---- */

static int paper_misfit(enum capture_fit fit, char letter, const char *field,
			struct atw_err *err)
{
	switch (fit) {
	case CAPTURE_TOO_LARGE:
		return atw_err_set(err, ATW_E_UNSUPPORTED, "%c: %s needs more than 32 bits",
				   letter, field);
	case CAPTURE_UNKNOWN_FIELD:
		return atw_err_set(err, ATW_E_UNSUPPORTED, "%c: %s is unknown, and must have a value",
				   letter, field);
	default:
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "%c: %s has characters that would be read back as others",
				   letter, field);
	}
}

static int paper_of_task(const struct capture_task *t, struct atw_err *err)
{
	atw_err_wrap(err, "cannot write the form of 2005: process %" PRIu64 " (%.*s)", t->pid,
		     t->name.len < 64 ? (int)t->name.len : 64,
		     t->name.data ? (const char *)t->name.data : "");
	return err ? err->status : ATW_E_UNSUPPORTED;
}

static int paper_of_area(const struct census_area *a, struct atw_err *err)
{
	atw_err_wrap(err, "area %08" PRIX64, a->first);
	return paper_of_task(a->process->task, err);
}

/* ---- lines ---- */

static int paper_add_record(struct paper_writer *w,
			    const struct capture_record *rec, struct atw_err *err)
{
	const char *field = "";
	enum capture_fit fit = capture_paper_fit(rec, &field);
	size_t n = fit == CAPTURE_FITS ? capture_write_paper(rec, w->line, sizeof(w->line)) : 0;

	if (fit != CAPTURE_FITS)
		return paper_misfit(fit, rec->letter, field, err);
	if (!n)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "a line of more than %d bytes",
				   CAPTURE_LINE);
	buf_add(&w->text, w->line, n);
	return ATW_OK;
}

static int paper_on_task(struct paper_writer *w, const struct census_event *ev,
			 struct atw_err *err)
{
	const struct capture_record rec = { .letter = 'T', .has = ev->task_has, .t = *ev->task };
	int r;

	if (ev->page != PAGE)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "cannot write the form of 2005: pages have %" PRIu64
				   " bytes, and its own %d", ev->page, PAGE);
	r = paper_add_record(w, &rec, err);
	if (r != ATW_OK)
		return paper_of_task(ev->task, err);
	w->areas = 0;
	w->any = true;
	return w->text.len < PIECE ? ATW_OK : paper_flush(w, err);
}

static int paper_add_page(struct paper_writer *w, const struct capture_run *page,
			  struct atw_err *err)
{
	const char *field = "";
	enum capture_fit fit = capture_paper_run_fit(page, &field);
	char text[80];

	if (fit != CAPTURE_FITS)
		return paper_misfit(fit, 'M', field, err);
	buf_str(&w->runs, w->listed % RUNS ? " " : w->listed ? "\n" : "M: ");
	buf_add(&w->runs, text, capture_write_paper_run(page, text, sizeof(text)));
	w->listed++;
	capture_add(page, true, &w->sums);
	return w->runs.failed ? atw_err_nomem(err) : ATW_OK;
}

/* Pages that no figure of the paper counts have no form: zero pages, devices, markers. */
static int paper_on_pages(struct paper_writer *w, const struct census_pages *p,
			  struct atw_err *err)
{
	struct capture_run page = *p->run;
	int r = ATW_OK;

	if (p->swapped) {
		atw_err_set(err, ATW_E_UNSUPPORTED, "M: swap is no field there, and %" PRIu64
			    " pages are on it", p->pages);
		return paper_of_area(p->area, err);
	}
	if (!is_resident(p))
		return ATW_OK;
	if (!(p->known & CENSUS_PA)) {
		paper_misfit(CAPTURE_UNKNOWN_FIELD, 'M', "entry", err);
		return paper_of_area(p->area, err);
	}
	page.has &= ~(uint32_t)CAPTURE_M_COUNT;
	if (p->known & CENSUS_REFS) {
		page.has |= CAPTURE_M_COUNT;
		page.count = p->refs;
	}
	page.pages = 1;
	page.entry &= ~(uint64_t)CAPTURE_UNREADABLE;
	for (uint64_t i = 0; i < p->pages && r == ATW_OK; i++) {
		r = paper_add_page(w, &page, err);
		page.va += PAGE;
		page.entry += p->same ? 0 : PAGE;
	}
	return r == ATW_OK ? r : paper_of_area(p->area, err);
}

/* ---- an area ---- */

/* The end of the VMA is final when it has ended. */
static int paper_on_area(struct paper_writer *w, const struct census_area *a,
			 struct atw_err *err)
{
	w->areas++;
	w->runs.len = 0;
	w->listed = 0;
	w->sums = (struct capture_sums){ 0 };
	if (a->first <= UINT32_MAX)
		return ATW_OK;
	paper_misfit(CAPTURE_TOO_LARGE, 'V', "start", err);
	return paper_of_area(a, err);
}

/*
 * With the flags that the paper's kernel would have set. VM_IO makes all pages of an area
 * device memory, so only an area of which that is certain has it.
 */
static uint64_t paper_old_flags(const struct census_area *a)
{
	uint64_t flags = a->v_has & CAPTURE_V_FLAGS
				 ? a->v->flags & (VM_RIGHTS | VM_MAYRIGHTS)
				 : (a->read ? VM_READ : 0u) | (a->write ? VM_WRITE : 0u) |
					   (a->exec ? VM_EXEC : 0u);

	return flags | (a->shared ? VM_SHARED | VM_MAYSHARE : 0u) |
	       (a->class == CENSUS_STACK ? VM_GROWSDOWN : 0u) |
	       (a->own ? VM_EXECUTABLE : 0u) |
	       (census_is_device(a) ? VM_IO : 0u) |
	       (a->class == CENSUS_RELRO ? VM_ACCOUNT : 0u);
}

/*
 * protection_map[] of linux-2.4, asm-ppc/pgtable.h, 40x: private pages are not writable.
 */
static uint64_t paper_old_prot(uint64_t flags)
{
	return CAPTURE_PRESENT | CAPTURE_ACCESSED | (flags & VM_RIGHTS ? CAPTURE_USER : 0u) |
	       (flags & VM_SHARED && flags & VM_WRITE ? CAPTURE_WRITE : 0u);
}

/* A reader must derive the class that was derived here. */
static int paper_check_class(struct paper_writer *w, const struct census_area *a,
			     const struct capture_area *v, uint32_t has,
			     struct atw_err *err)
{
	const struct census_process process = { .paper = true };
	struct census_area got;
	struct unit *unit;
	char text[7];

	if (!units_of(&w->units, v, has, &unit))
		return atw_err_nomem(err);
	classify(&w->class, v, has, unit, &got);
	got.process = &process;
	got.name = a->name;
	if (sums_column(&got) == sums_column(a) && census_flags(&got) == census_flags(a))
		return ATW_OK;
	return atw_err_set(err, ATW_E_UNSUPPORTED, "V: flags cannot express its class: it is %s "
			   "and would be read as %s (%s)", census_class_names.name[a->class],
			   census_class_names.name[got.class],
			   census_flags_text(census_flags(&got), text));
}

static int write_area(struct paper_writer *w, const struct census_area *a, struct atw_err *err)
{
	uint64_t resident = w->listed + a->rest.user;
	struct capture_record v = { .letter = 'V', .has = CAPTURE_V_PROT | CAPTURE_V_FLAGS };
	struct capture_record p = { .letter = 'P', .p = w->sums };
	bool paper = a->process->paper;
	int r;

	if (a->incomplete && !a->rest.user)
		return paper_misfit(CAPTURE_UNKNOWN_FIELD, 'V', "resident", err);
	v.v = (struct capture_area){
		.start = a->first, .last = a->last, .size = a->last - a->first + 1,
		.resident = resident * PAGE, .name = a->v->name,
		.flags = paper ? a->v->flags : paper_old_flags(a),
	};
	v.v.prot = paper ? a->v->prot : paper_old_prot(v.v.flags);
	p.p.user += a->rest.user;
	p.p.exec += a->rest.exec;
	p.p.readonly += a->rest.readonly;
	p.p.single += a->rest.single;
	p.p.shared += a->rest.shared;
	r = paper ? ATW_OK : paper_check_class(w, a, &v.v, v.has, err);
	if (r == ATW_OK)
		r = paper_add_record(w, &v, err) ?:
		    paper_add_record(w, &p, err);
	if (r != ATW_OK)
		return r;
	buf_add(&w->text, w->runs.data, w->runs.len);
	if (w->runs.len)
		buf_char(&w->text, '\n');
	return ATW_OK;
}

static int paper_on_area_end(struct paper_writer *w, const struct census_area *a,
			     struct atw_err *err)
{
	int r = write_area(w, a, err);

	return r == ATW_OK ? paper_flush(w, err) : paper_of_area(a, err);
}

static int paper_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct paper_writer *w = state;

	switch (ev->what) {
	case CENSUS_ON_TASK:
		return paper_on_task(w, ev, err);
	case CENSUS_ON_PROCESS:
		classifier_begin(&w->class, ev->process->task, 0, ev->process->number + 1, true,
				 PAGE);
		return ATW_OK;
	case CENSUS_ON_AREA:
		return paper_on_area(w, ev->area, err);
	case CENSUS_ON_PAGES:
		return paper_on_pages(w, ev->pages, err);
	case CENSUS_ON_AREA_END:
		return paper_on_area_end(w, ev->area, err);
	default:
		/* A reader assumes that the list of VMAs is complete. */
		if (!ev->process->incomplete || !w->areas)
			return ATW_OK;
		atw_err_set(err, ATW_E_UNSUPPORTED, "not all of its areas are known");
		return paper_of_task(ev->process->task, err);
	}
}

static const struct census_report writer_report = {
	.name = "paper",
	.on = CENSUS_ON(TASK) | CENSUS_ON(PROCESS) | CENSUS_ON(AREA) | CENSUS_ON(PAGES) |
	      CENSUS_ON(AREA_END) | CENSUS_ON(PROCESS_END),
	.feed = paper_feed,
};

int paper_writer_open(int fd, int level, struct paper_writer **ret, struct atw_err *err)
{
	struct paper_writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return atw_err_nomem(err);
	w->report[0] = &writer_report;
	w->state[0] = w;
	r = pack_open(fd, level, &w->out, err) ?:
	    census_model_open(w->report, w->state, 1, &w->model, err);
	if (r != ATW_OK) {
		paper_writer_close(w);
		return r;
	}
	*ret = w;
	return ATW_OK;
}

struct census_sink paper_writer_sink(struct paper_writer *w)
{
	return census_model_sink(w->model);
}

int paper_writer_end(struct paper_writer *w, struct atw_err *err)
{
	int r = census_model_end(w->model, err);

	if (r == ATW_OK && !w->any)
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"cannot write the form of 2005: there is no task, which it begins with");
	if (r == ATW_OK)
		r = paper_flush(w, err);
	return r == ATW_OK ? pack_end(w->out, err) : r;
}

void paper_writer_close(struct paper_writer *w)
{
	if (!w)
		return;
	census_model_close(w->model);
	pack_close(w->out);
	units_deinit(&w->units);
	buf_deinit(&w->text);
	buf_deinit(&w->runs);
	free(w);
}
