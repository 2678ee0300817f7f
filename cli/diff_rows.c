/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff_rows.c - changes as rows of `atwalk diff`, and their sums. */
#include "diff.h"

#include "listing.h"

static const char *const change_names[CHANGES_KINDS] = {
	[CHANGES_STARTED] = "process-started",
	[CHANGES_ENDED] = "process-ended",
	[CHANGES_AREA_MAPPED] = "area-mapped",
	[CHANGES_AREA_UNMAPPED] = "area-unmapped",
	[CHANGES_AREA_GROWN] = "area-grown",
	[CHANGES_AREA_SHRUNK] = "area-shrunk",
	[CHANGES_AREA_RIGHTS] = "area-rights",
	[CHANGES_PAGE_MAPPED] = "page-mapped",
	[CHANGES_PAGE_UNMAPPED] = "page-unmapped",
	[CHANGES_PAGE_MOVED] = "page-moved",
	[CHANGES_PAGE_RIGHTS] = "page-rights",
	[CHANGES_SWAPPED_OUT] = "swapped-out",
	[CHANGES_SWAPPED_IN] = "swapped-in",
	[CHANGES_STATE] = "page-state",
};
static const struct atw_names changes_words = {CHANGES_KINDS, change_names, NULL};

enum {
	D_PID, D_TASK, D_ADDRESS, D_END, D_SIZE, D_CHANGE, D_BEFORE, D_AFTER, D_AREA, D_COLS,
};

static const struct atw_column diff_columns[D_COLS] = {
	[D_PID] = COLUMN("pid", COUNT, 0, "process"),
	[D_TASK] = COLUMN("task", TEXT, 15, "its name"),
	[D_ADDRESS] = COLUMN("address", VA, 0, "where the change begins"),
	[D_END] = HIDDEN_COLUMN("end", VA, 0, "first address after it"),
	[D_SIZE] = COLUMN("size", BYTES, 6,
			  "bytes that changed; of a process, all of its areas"),
	[D_CHANGE] = COLUMN("change", ENUM, 15, "what changed", .names = &changes_words),
	[D_BEFORE] = COLUMN("before", TEXT, 18,
			    "rights, physical address, swap slot, state or size before",
			    .sizes = true),
	[D_AFTER] = COLUMN("after", TEXT, 18, "the same after", .sizes = true),
	[D_AREA] = COLUMN("area", TEXT, 0, "memory area"),
};
static const struct atw_schema diff_schema = {"diff", diff_columns, D_COLS};

enum {
	S_PID, S_TASK, S_MAPPED, S_UNMAPPED, S_MOVED, S_RIGHTS, S_SWAPPED_OUT, S_SWAPPED_IN,
	S_GROWN, S_AREA, S_COLS,
};

#define DIFF_SUM(name, text) COLUMN(name, BYTES, 8, text, .sum = true)

static const struct atw_column diff_sum_columns[S_COLS] = {
	[S_PID] = COLUMN("pid", COUNT, 0, "process"),
	[S_TASK] = COLUMN("task", TEXT, 15, "its name"),
	[S_MAPPED] = DIFF_SUM("mapped", "bytes of pages that were mapped"),
	[S_UNMAPPED] = DIFF_SUM("unmapped", "bytes of pages that were unmapped"),
	[S_MOVED] = DIFF_SUM("moved", "bytes that have another physical address"),
	[S_RIGHTS] = DIFF_SUM("rights_changed", "bytes of pages that have other rights"),
	[S_SWAPPED_OUT] = DIFF_SUM("swapped_out", "bytes that went to swap"),
	[S_SWAPPED_IN] = DIFF_SUM("swapped_in", "bytes that came back from swap"),
	[S_GROWN] = COLUMN("grown", CHANGE_BYTES, 8,
			   "bytes of memory areas: new ones less those that are gone"),
	[S_AREA] = COLUMN("area", TEXT, 0, "mapped file or name of the area"),
};

static const struct atw_schema diff_process_schema = {"diff", diff_sum_columns, S_AREA};
static const struct atw_schema diff_unit_schema = {
	"diff", diff_sum_columns + S_MAPPED, S_COLS - S_MAPPED,
};

struct diff_sum {
	char *name; /* of a unit */
	uint64_t v[S_COLS];
	bool changed;
};

/* ---- before and after ---- */

enum { TEXT = 48 };

static bool diff_rows_letters(const struct changes_area *a, char text[TEXT])
{
	snprintf(text, TEXT, "%c%c%c%c", a->rights & CHANGES_READ ? 'r' : '-',
		 a->rights & CHANGES_WRITE ? 'w' : '-',
		 a->rights & CHANGES_EXEC ? 'x' : '-',
		 a->rights & CHANGES_SHARED ? 's' : 'p');
	return a->rights_known;
}

static void diff_rows_page(const struct diff_rows *d, const struct changes_run *r,
			   bool rights, char text[TEXT])
{
	bool mapped = r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE;

	if (rights)
		snprintf(text, TEXT, "%c%c%c", r->rights & CHANGES_READ ? 'r' : '-',
			 r->rights & CHANGES_WRITE ? 'w' : '-',
			 r->rights & CHANGES_EXEC ? 'x' : '-');
	else if (mapped && r->at_known)
		snprintf(text, TEXT, "0x%016" PRIx64, r->at);
	else if (r->state == PAGE_SWAP && r->at_known)
		snprintf(text, TEXT, "swap %u:0x%" PRIx64, r->swap_type, r->at / d->page);
	else
		snprintf(text, TEXT, "%s", listing_states.name[state_shown(r->state)]);
}

/* false: not known. */
static bool diff_rows_side(const struct diff_rows *d, const struct changes_row *row,
			   unsigned s, char text[TEXT])
{
	switch (row->what) {
	case CHANGES_STARTED:
	case CHANGES_ENDED:
		snprintf(text, TEXT, "%s",
			 (row->what == CHANGES_STARTED) == (s == 1) ? "present"
								    : "absent");
		return true;
	case CHANGES_AREA_GROWN:
	case CHANGES_AREA_SHRUNK:
		snprintf(text, TEXT, "%" PRIu64, row->size[s]);
		return true;
	case CHANGES_AREA_MAPPED:
	case CHANGES_AREA_UNMAPPED:
	case CHANGES_AREA_RIGHTS:
		if (row->area[s])
			return diff_rows_letters(row->area[s], text);
		snprintf(text, TEXT, "absent");
		return true;
	default:
		diff_rows_page(d, &row->page[s], row->what == CHANGES_PAGE_RIGHTS, text);
		return true;
	}
}

/* ---- rows ---- */

static int diff_rows_put(struct diff_rows *d, const struct changes_row *row,
			 uint64_t size, struct atw_err *err)
{
	const struct changes_area *area = row->area[1] ? row->area[1] : row->area[0];
	bool process = row->what == CHANGES_STARTED || row->what == CHANGES_ENDED;
	char text[2][TEXT];
	union atw_value v[D_COLS] = {
		[D_PID].u = d->now->pid,
		[D_TASK].s = d->now->name,
		[D_ADDRESS].u = row->first,
		[D_END].u = row->last + 1,
		[D_SIZE].u = size,
		[D_CHANGE].u = row->what,
		[D_BEFORE].s = text[0],
		[D_AFTER].s = text[1],
		[D_AREA].s = area ? area->name : "",
	};
	struct atw_row out = {v, 1u << D_TASK | 1u << D_SIZE | 1u << D_CHANGE};

	if (!d->kernel)
		out.have |= 1u << D_PID;
	if (!process)
		out.have |= 1u << D_ADDRESS | 1u << D_END;
	if (area && area->name_known)
		out.have |= 1u << D_AREA;
	for (unsigned s = 0; s < 2; s++)
		if (diff_rows_side(d, row, s, text[s]))
			out.have |= 1u << (D_BEFORE + s);
	return atw_output_row(d->out, &out, err);
}

/* ---- sums ---- */

static struct diff_sum *diff_rows_find_sum(struct diff_rows *d, const char *name)
{
	if (d->o->by == DIFF_BY_PROCESS)
		name = "";
	/* What follows is mostly in the same area. */
	if (d->at < d->nsums && !strcmp(d->sum[d->at].name, name))
		return &d->sum[d->at];
	for (d->at = 0; d->at < d->nsums; d->at++)
		if (!strcmp(d->sum[d->at].name, name))
			return &d->sum[d->at];
	if (!array_reserve((void **)&d->sum, &d->sums_cap, d->nsums + 1, sizeof(*d->sum)))
		return NULL;
	d->sum[d->nsums] = (struct diff_sum){.name = strdup(name)};
	return d->sum[d->nsums].name ? &d->sum[d->nsums++] : NULL;
}

static int diff_rows_add(struct diff_rows *d, const struct changes_row *row,
			 struct atw_err *err)
{
	static const int8_t column[CHANGES_KINDS] = {
		[CHANGES_PAGE_MAPPED] = S_MAPPED,
		[CHANGES_PAGE_UNMAPPED] = S_UNMAPPED,
		[CHANGES_PAGE_MOVED] = S_MOVED,
		[CHANGES_PAGE_RIGHTS] = S_RIGHTS,
		[CHANGES_SWAPPED_OUT] = S_SWAPPED_OUT,
		[CHANGES_SWAPPED_IN] = S_SWAPPED_IN,
		[CHANGES_AREA_MAPPED] = S_GROWN,
		[CHANGES_AREA_GROWN] = S_GROWN,
		[CHANGES_AREA_UNMAPPED] = S_GROWN,
		[CHANGES_AREA_SHRUNK] = S_GROWN,
	};
	const struct changes_area *area = row->area[1] ? row->area[1] : row->area[0];
	bool gone =
		row->what == CHANGES_AREA_UNMAPPED || row->what == CHANGES_AREA_SHRUNK;
	uint64_t size = row->last - row->first + 1;
	struct diff_sum *sum = diff_rows_find_sum(d, !area           ? "[outside]"
						     : area->name[0] ? area->name
								     : "[anonymous]");

	if (!sum)
		return atw_err_nomem(err);
	sum->changed = true;
	if (column[row->what])
		sum->v[column[row->what]] += gone ? -size : size;
	return ATW_OK;
}

static int diff_rows_put_sum(struct diff_rows *d, const struct diff_sum *sum,
			     struct atw_err *err)
{
	uint64_t have = ((1u << S_COLS) - 1) & ~(1u << S_PID | 1u << S_TASK);
	union atw_value v[S_COLS];
	bool process = d->o->by == DIFF_BY_PROCESS;
	struct atw_row row = {process ? v : v + S_MAPPED, have};

	if (!sum->changed)
		return ATW_OK;
	for (unsigned i = 0; i < S_COLS; i++)
		v[i].u = sum->v[i];
	v[S_AREA].s = sum->name;
	if (process) {
		v[S_PID].u = d->now->pid;
		v[S_TASK].s = d->now->name;
		row.have |= 1u << S_TASK | (d->kernel ? 0 : 1u << S_PID);
		row.have &= ~((uint64_t)1 << S_AREA);
	} else {
		row.have >>= S_MAPPED;
	}
	return atw_output_row(d->out, &row, err);
}

static void diff_rows_forget_sums(struct diff_rows *d)
{
	for (size_t i = 0; i < d->nsums; i++)
		free(d->sum[i].name);
	d->nsums = 0;
}

/* ---- processes ---- */

static int diff_rows_take(void *arg, const struct changes_row *row, struct atw_err *err)
{
	struct diff_rows *d = arg;

	if (!row->implied)
		d->changes++;
	if (d->o->by)
		return diff_rows_add(d, row, err);
	if ((row->implied || d->one_sided) && !d->o->all)
		return ATW_OK;
	return diff_rows_put(d, row, row->last - row->first + 1, err);
}

int diff_rows_open(struct diff_rows *d, const struct atw_output_opts *oo,
		   struct atw_err *err)
{
	static const struct atw_schema *const schemas[] = {
		[DIFF_ROWS] = &diff_schema,
		[DIFF_BY_PROCESS] = &diff_process_schema,
		[DIFF_BY_UNIT] = &diff_unit_schema,
	};

	return atw_output_open(oo, schemas[d->o->by], &d->out, err);
}

static int diff_rows_find(struct diff_rows *d, struct snapshot s[2],
			  const struct changes_opts *o, struct atw_err *err)
{
	struct changes_side side[2] = {s[0].side, s[1].side};
	int r = changes_find(side, o, diff_rows_take, d, d->unknown, err);

	if (r != ATW_OK || d->o->by != DIFF_BY_PROCESS)
		return r;
	if (d->nsums)
		r = diff_rows_put_sum(d, &d->sum[0], err);
	diff_rows_forget_sums(d);
	return r;
}

int diff_rows_kernel(struct diff_rows *d, struct snapshot s[2], struct atw_err *err)
{
	const struct changes_opts o = {.page = d->page, .pages_only = true};
	int r;

	d->now = &s[1];
	d->one_sided = false;
	d->kernel = true;
	r = diff_rows_find(d, s, &o, err);
	d->kernel = false;
	return r;
}

int diff_rows_process(struct diff_rows *d, struct snapshot s[2], enum changes_what what,
		      struct atw_err *err)
{
	const struct changes_opts o = {.page = d->page, .areas_only = d->o->areas_only};
	const struct changes_row row = {.what = what};
	int r = ATW_OK;

	d->now = what == CHANGES_ENDED ? &s[0] : &s[1];
	d->one_sided = what != CHANGES_KINDS;
	if (d->one_sided) {
		d->changes++;
		if (!d->o->by)
			r = diff_rows_put(d, &row, snapshot_size(d->now), err);
	}
	return r == ATW_OK ? diff_rows_find(d, s, &o, err) : r;
}

int diff_rows_end(struct diff_rows *d, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < d->nsums && r == ATW_OK; i++)
		r = diff_rows_put_sum(d, &d->sum[i], err);
	return r;
}

void diff_rows_close(struct diff_rows *d)
{
	diff_rows_forget_sums(d);
	free(d->sum);
	d->sum = NULL;
}
