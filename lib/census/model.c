/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model.c - conversion of records to events; each address space once. */
#include <inttypes.h>

#include "base/num.h"
#include "census/class.h"
#include "census/model_pages.h"
#include "linux/kpf.h"
#include "linux/vm_flags.h"

enum { LOST = 256 };             /* ranges; if there are more, gaps between them are
				  * merged and count as lost */

struct census_model {
	const struct census_report *const *report;
	void *const *state;
	size_t n;
	uint32_t wanted;                 /* CENSUS_ON() of all of them */

	uint64_t page;
	struct model_lacks lacks;
	bool ours;                       /* an H: line was seen: not the LPMA format */
	bool was_paper;                  /* but converted from it */
	struct units units;
	struct classifier class;

	struct table mms;                /* address spaces that were met */

	struct capture_task task;        /* of the process; its texts are in `words` */
	uint32_t task_has, processes;
	struct buf words;
	struct census_process process;
	enum { NO_TASK, PROCESS, NO_PROCESS, AGAIN } now;

	struct capture_area v;
	struct buf area_name;
	struct unit *unit;
	struct census_area area;
	bool in_area, goes_on;           /* goes_on: the next V: continues it */
	/* Sums of the VMA: claimed by its V: and P: lines, listed by its runs. */
	uint64_t resident, listed_resident;
	struct capture_sums sums, listed;
	bool any_area;                   /* the process has a VMA */
	/* Address ranges of the process with unknown content. */
	uint64_t lost[LOST][2];
	size_t nlost;
	bool held;                       /* its event is not emitted yet */
	uint32_t v_has;
	struct census_pages pages;
	bool alike;                      /* as `like` of the next run means it */
};

/* ---- events ---- */

static int model_emit(struct census_model *m, struct census_event *ev,
		      struct atw_err *err)
{
	uint32_t bit = 1u << ev->what;
	struct atw_err why;
	int result = ATW_OK;

	if (!(m->wanted & bit))
		return ATW_OK;
	ev->page = m->page;
	/* ATW_E_LIMIT of one report does not affect the others. */
	for (size_t i = 0; i < m->n && (result == ATW_OK || result == ATW_E_LIMIT); i++) {
		int r = m->report[i]->on & bit ? m->report[i]->feed(m->state[i], ev, &why)
					       : ATW_OK;

		if (r == ATW_OK || r == result)
			continue;
		result = r;
		if (err)
			*err = why;
	}
	return result;
}

/* The event is delayed until the first page, which may show that the file is a copy. */
static int model_emit_area(struct census_model *m, struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_AREA, .area = &m->area };

	if (!m->held)
		return ATW_OK;
	m->held = false;
	if (m->unit)
		m->area.unit = &unit_root(m->unit)->u;
	m->process.exe = m->class.exe ? &unit_root(m->class.exe)->u : NULL;
	return model_emit(m, &ev, err);
}

static bool model_is_incomplete(const struct census_model *m, uint64_t first,
				uint64_t last)
{
	for (size_t i = 0; i < m->nlost; i++)
		if (m->lost[i][0] <= last && m->lost[i][1] >= first)
			return true;
	return false;
}

/* A P: line counts pages that no M: line lists, as in Figure 1 of Movall et al. */
static void model_find_rest(struct census_model *m)
{
	const struct capture_sums *p = &m->sums, *runs = &m->listed;
	uint64_t resident = m->resident / m->page, pages = p->user - runs->user;
	uint64_t single = p->single - runs->single, shared = p->shared - runs->shared;

	if (p->user <= runs->user || p->single < runs->single || p->shared < runs->shared ||
	    p->exec < runs->exec || p->readonly < runs->readonly ||
	    resident < m->listed_resident || resident - m->listed_resident != pages ||
	    single > pages || shared > pages - single)
		return;
	m->area.rest = (struct capture_sums){
		.user = pages, .exec = p->exec - runs->exec,
		.readonly = p->readonly - runs->readonly, .single = single, .shared = shared,
	};
}

static int model_end_area(struct census_model *m, struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_AREA_END, .area = &m->area };
	int r;

	if (!m->in_area)
		return ATW_OK;
	model_find_rest(m);
	m->area.incomplete = model_is_incomplete(m, m->area.first, m->area.last);
	r = model_emit_area(m, err);
	m->in_area = m->goes_on = false;
	return r == ATW_OK ? model_emit(m, &ev, err) : r;
}

static int model_end_process(struct census_model *m, struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_PROCESS_END, .process = &m->process };
	int r = model_end_area(m, err);
	bool any = m->now == PROCESS;

	m->now = NO_TASK;
	m->process.incomplete |= !m->any_area;
	return r == ATW_OK && any ? model_emit(m, &ev, err) : r;
}

/* ---- tasks ---- */

/* Adds an address space: *ret is true if it is new. false: no memory. */
static bool model_add_mm(struct census_model *m, uint64_t mm, bool *ret)
{
	struct table_slot *s = table_get(&m->mms, mm);

	if (!s)
		return false;
	*ret = !s->value;
	table_set(&m->mms, s, 1);
	return true;
}

static int model_begin_process(struct census_model *m, struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_PROCESS, .process = &m->process };

	m->process = (struct census_process){
		.number = m->processes++, .paper = !m->ours, .task = &m->task,
		.task_has = m->task_has,
		.name = m->task.name.data ? m->task.name.data : "", .pid = m->task.pid,
	};
	if (m->task_has & CAPTURE_T_TGID)
		m->process.pid = m->task.tgid;
	classifier_begin(&m->class, &m->task, m->task_has, m->processes, !m->ours, m->page);
	m->now = PROCESS;
	m->any_area = false;
	return model_emit(m, &ev, err);
}

static int model_task(struct census_model *m, const struct capture_record *rec,
		      struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_TASK, .task = &m->task,
				   .task_has = rec->has };
	bool fresh = true;
	struct census_texts texts;
	int r = model_end_process(m, err);

	if (r != ATW_OK)
		return r;
	m->nlost = 0;
	m->words.len = 0;
	texts = census_texts_keep(&m->words, &rec->t);
	if (m->words.failed)
		return atw_err_nomem(err);
	m->task = rec->t;
	m->task_has = rec->has;
	census_texts_set(&m->task, &m->words, &texts);
	if (rec->t.mm && !model_add_mm(m, rec->t.mm, &fresh))
		return atw_err_nomem(err);
	m->now = rec->t.mm && fresh ? PROCESS : fresh ? NO_PROCESS : AGAIN;
	ev.again = m->now == AGAIN;
	r = model_emit(m, &ev, err);
	return r == ATW_OK && m->now == PROCESS ? model_begin_process(m, err) : r;
}

/* ---- areas ---- */

static int model_area(struct census_model *m, const struct capture_record *rec,
		      struct atw_err *err)
{
	bool part = m->in_area && m->goes_on && rec->v.start == m->area.last + 1;
	int r = ATW_OK;

	if (m->now == AGAIN)
		return ATW_OK;
	if (m->now == NO_TASK)
		return atw_err_set(err, ATW_E_FORMAT, "V: of no task");
	if (part) {
		m->resident += rec->v.resident;
		m->area.last = rec->v.last;
		m->class.last_last = rec->v.last;
		m->goes_on = (rec->has & CAPTURE_V_MORE) && rec->v.more;
		return ATW_OK;
	}
	r = model_end_area(m, err);
	/* An address space without a number still has VMAs. */
	if (r == ATW_OK && m->now == NO_PROCESS)
		r = model_begin_process(m, err);
	if (r != ATW_OK)
		return r;
	m->area_name.len = 0;
	buf_add(&m->area_name, rec->v.name.data, rec->v.name.len);
	buf_char(&m->area_name, '\0');
	if (m->area_name.failed || !units_of(&m->units, &rec->v, rec->has, &m->unit))
		return atw_err_nomem(err);
	m->v = rec->v;
	m->resident = rec->v.resident;
	m->listed_resident = 0;
	m->sums = m->listed = (struct capture_sums){ 0 };
	if (m->v.name.data)
		m->v.name.data = m->area_name.data;
	m->v_has = rec->has;
	classify(&m->class, &m->v, rec->has, m->unit, &m->area);
	m->area.process = &m->process;
	m->area.v = &m->v;
	m->area.v_has = rec->has;
	m->area.name = m->area_name.data;
	m->in_area = m->held = m->any_area = true;
	m->goes_on = (rec->has & CAPTURE_V_MORE) && rec->v.more;
	return m->unit && !m->unit->framed ? ATW_OK : model_emit_area(m, err);
}

/* ---- pages ---- */

static void model_sums(struct census_model *m, const struct capture_sums *p)
{
	if (!m->in_area)
		return;
	m->sums.user += p->user;
	m->sums.exec += p->exec;
	m->sums.readonly += p->readonly;
	m->sums.single += p->single;
	m->sums.shared += p->shared;
}

/* With the counting rules of P: lines. */
static void model_list(struct census_model *m, const struct capture_run *run)
{
	capture_add_found(run, run->pages, !m->ours, &m->listed);
	m->listed_resident += run->entry & CAPTURE_PRESENT ? run->pages : 0;
}

/* The first frame of a file in the page cache: copies of the file share it. */
static bool model_beginning(const struct census_model *m)
{
	const struct census_pages *p = &m->pages;

	return m->unit && !m->unit->framed && (m->v_has & CAPTURE_V_OFFSET) && !m->v.offset &&
	       p->va == m->v.start && p->present && !p->anon && !p->zero &&
	       (p->known & (CENSUS_PA | CENSUS_ORIGIN)) == (CENSUS_PA | CENSUS_ORIGIN);
}

static int model_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct census_model *m = arg;
	struct census_event ev = { .what = CENSUS_ON_PAGES, .pages = &m->pages };
	int r;

	if (m->now == AGAIN)
		return ATW_OK;
	if (!m->in_area)
		return atw_err_set(err, ATW_E_FORMAT, "M: of no area");
	model_list(m, run);
	if (!m->alike || !run->like || !model_pages_like(run, &m->pages))
		model_pages(&m->area, run, &m->lacks, m->page, &m->pages);
	m->alike = true;
	if (model_beginning(m) && !units_frame(&m->units, m->unit, m->pages.pa))
		return atw_err_nomem(err);
	r = model_emit_area(m, err);
	return r == ATW_OK ? model_emit(m, &ev, err) : r;
}

static int model_on_frames(void *arg, const struct capture_frames *frames,
			   struct atw_err *err)
{
	struct census_model *m = arg;
	struct census_event ev = { .what = CENSUS_ON_FRAMES, .frames = frames };

	return model_emit(m, &ev, err);
}

/* ---- unreadable data ---- */

static void model_lose(struct census_model *m, uint64_t first, uint64_t last)
{
	uint64_t *at = m->lost[m->nlost < LOST ? m->nlost : LOST - 1];

	if (m->nlost < LOST) {
		m->nlost++;
		at[0] = first;
		at[1] = last;
		return;
	}
	at[0] = first < at[0] ? first : at[0];
	at[1] = last > at[1] ? last : at[1];
}

/* Lost pages or areas of the current process; other L: lines do not affect its events. */
static int model_lost(struct census_model *m, const struct capture_lost *l, uint32_t has,
		      struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_LOST, .lost = l };
	bool its = m->now == PROCESS && l->pid == m->task.pid;

	if (its && has & CAPTURE_L_START)
		model_lose(m, l->start, has & CAPTURE_L_LAST ? l->last : l->start);
	else if (its && blob_is(l->what, "pages"))
		model_lose(m, 0, UINT64_MAX);
	else if (its && (blob_is(l->what, "areas") || blob_is(l->what, "maps")))
		m->process.incomplete = true;
	return model_emit(m, &ev, err);
}

/* ---- other records ---- */

static int model_header(struct census_model *m, const struct capture_header *h,
			struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_HEADER, .header = h };
	uint64_t v;

	if (blob_is(h->key, "way") && h->value.len == 5 && !memcmp(h->value.data, "paper", 5))
		m->was_paper = true;
	m->ours = !m->was_paper;
	if (blob_is(h->key, "page") && num_dec(h->value.data, h->value.len, &v) && v >= 4096 &&
	    !(v & (v - 1)))
		m->page = v;
	if (blob_is(h->key, "pageflags") && num_hex(h->value.data, h->value.len, &v)) {
		m->lacks.anon = !(v >> KPF_ANON & 1);
		m->lacks.page_hugetlb = !(v >> KPF_HUGE & 1);
	}
	if (blob_is(h->key, "areaflags") && num_hex(h->value.data, h->value.len, &v))
		m->lacks.area_hugetlb = !(v & VM_HUGETLB);
	return model_emit(m, &ev, err);
}

static int model_on_record(void *arg, const struct capture_record *rec,
			   struct atw_err *err)
{
	struct census_model *m = arg;
	struct census_event ev = { .what = CENSUS_ON_RAM };

	m->alike = false;
	switch (rec->letter) {
	case 'H':
		return model_header(m, &rec->h, err);
	case 'R':
		ev.ram = &rec->r;
		ev.ram_has = rec->has;
		return model_emit(m, &ev, err);
	case 'S':
		ev.what = CENSUS_ON_SWAP;
		ev.swap = &rec->s;
		return model_emit(m, &ev, err);
	case 'U':
		return units_add(&m->units, &rec->u, rec->has) ? ATW_OK
							       : atw_err_nomem(err);
	case 'T':
		return model_task(m, rec, err);
	case 'V':
		return model_area(m, rec, err);
	case 'P':
		model_sums(m, &rec->p);
		return ATW_OK;
	case 'C':
		ev.what = CENSUS_ON_CACHED;
		ev.cached = &rec->c;
		ev.cached_has = rec->has;
		return model_emit(m, &ev, err);
	case 'L':
		return model_lost(m, &rec->l, rec->has, err);
	default:
		return ATW_OK;
	}
}

/* ---- a model ---- */

int census_model_open(const struct census_report *const *report, void *const *state, size_t n,
		      struct census_model **ret, struct atw_err *err)
{
	struct census_model *m = calloc(1, sizeof(*m));

	if (!m)
		return atw_err_nomem(err);
	m->report = report;
	m->state = state;
	m->n = n;
	m->page = 4096;
	for (size_t i = 0; i < n; i++)
		m->wanted |= report[i]->on;
	*ret = m;
	return ATW_OK;
}

struct census_sink census_model_sink(struct census_model *m)
{
	return (struct census_sink){
		.record = model_on_record, .run = model_on_run,
		.frames = model_on_frames, .arg = m,
	};
}

int census_model_end(struct census_model *m, struct atw_err *err)
{
	struct census_event ev = { .what = CENSUS_ON_END };
	int r = model_end_process(m, err);

	return r == ATW_OK ? model_emit(m, &ev, err) : r;
}

uint64_t census_model_page(const struct census_model *m)
{
	return m->page;
}

void census_model_close(struct census_model *m)
{
	if (!m)
		return;
	units_deinit(&m->units);
	buf_deinit(&m->words);
	buf_deinit(&m->area_name);
	table_deinit(&m->mms);
	free(m);
}
