/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unlisted.c - sink that adds L: records for pages that no run lists. */
#include "census/unlisted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool unlisted_is_reported(const struct unlisted *u)
{
	return u->lost[0] <= u->start && u->lost[1] >= u->last;
}

/* Emits the L: record of the VMA that ends here, if pages are missing. */
static int unlisted_end_area(struct unlisted *u, struct atw_err *err)
{
	uint64_t missing = u->resident > u->listed ? u->resident - u->listed : 0;
	bool known = u->any || u->rd->paper;
	const struct capture_record none = { .letter = 'P' };
	struct capture_record rec = {
		.letter = 'L', .has = CAPTURE_L_START | CAPTURE_L_LAST,
		.l = { .pid = u->pid, .what = { "pages", 5 }, .start = u->start, .last = u->last },
	};
	char why[96] = "which of them are in memory is not recorded";

	if (!u->open)
		return ATW_OK;
	u->open = false;
	/* In the current format, a VMA without a P: line has no known pages. */
	if (!u->any && !missing && u->rd->paper)
		return u->to->record(u->to->arg, &none, err);
	/* /proc has no pagemap words for [vsyscall], so none are missing. */
	if ((known && !missing) || (!missing && u->start > INT64_MAX) ||
	    unlisted_is_reported(u))
		return ATW_OK;
	if (missing)
		snprintf(why, sizeof(why), "%" PRIu64 " of %" PRIu64
			 " that are in memory are not recorded", missing, u->resident);
	rec.l.why = (struct atw_blob){ why, strlen(why) };
	return u->to->record(u->to->arg, &rec, err);
}

static void unlisted_begin_area(struct unlisted *u, const struct capture_area *v)
{
	u->open = true;
	u->any = false;
	u->start = v->start;
	u->last = v->last;
	u->resident = v->resident / u->rd->page;
	u->listed = 0;
}

static int unlisted_on_record(void *arg, const struct capture_record *rec,
			    struct atw_err *err)
{
	struct unlisted *u = arg;
	int r = ATW_OK;

	switch (rec->letter) {
	case 'P':
		u->any = true;
		break;
	case 'L':
		u->lost[0] = rec->has & CAPTURE_L_START ? rec->l.start : UINT64_MAX;
		u->lost[1] = rec->has & CAPTURE_L_LAST ? rec->l.last : u->lost[0];
		break;
	default:
		r = unlisted_end_area(u, err);
		break;
	}
	if (rec->letter == 'T') {
		u->pid = rec->t.pid;
		u->lost[0] = UINT64_MAX;
	}
	if (rec->letter == 'V')
		unlisted_begin_area(u, &rec->v);
	return r == ATW_OK ? u->to->record(u->to->arg, rec, err) : r;
}

static int unlisted_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct unlisted *u = arg;

	u->any = true;
	if (run->entry & CAPTURE_PRESENT)
		u->listed += run->pages;
	return u->to->run(u->to->arg, run, err);
}

static int unlisted_on_frames(void *arg, const struct capture_frames *run,
			    struct atw_err *err)
{
	struct unlisted *u = arg;
	int r = unlisted_end_area(u, err);

	return r == ATW_OK ? u->to->frames(u->to->arg, run, err) : r;
}

struct census_sink unlisted_sink(struct unlisted *u)
{
	u->lost[0] = UINT64_MAX;
	return (struct census_sink){
		unlisted_on_record, unlisted_on_run, unlisted_on_frames, u
	};
}

int unlisted_end(struct unlisted *u, struct atw_err *err)
{
	return unlisted_end_area(u, err);
}
