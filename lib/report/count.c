/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.c - numbers of pages of processes, to be followed over time. */
#include "report/frame_set.h"
#include "report/report.h"

enum {
	C_PAGES, C_ANON, C_FILE, C_MAPPINGS, C_SWAPPED, C_ZEROES, C_DEVICE, C_PROCESSES, C_COUNT,
};

static const struct atw_column columns[C_COUNT] = {
	[C_PAGES] = COLUMN("user_space_pages", PAGES, 16,
			"pages of memory that processes map, each once"),
	[C_ANON] = COLUMN("anon", PAGES, 8, "those that are of no file"),
	[C_FILE] = COLUMN("file", PAGES, 8, "those that are of files, or shared memory"),
	[C_MAPPINGS] = COLUMN("mappings", COUNT, 8, "how often they are mapped, in all"),
	[C_SWAPPED] = COLUMN("swapped", PAGES, 8, "entries of pages that are on swap"),
	[C_ZEROES] = COLUMN("zeroes", COUNT, 8,
			"mappings of the page of zeroes", .hidden = true),
	[C_DEVICE] = COLUMN("device", COUNT, 8,
			"mappings of what is no memory", .hidden = true),
	[C_PROCESSES] = COLUMN("processes", COUNT, 9, "address spaces"),
};
static const struct atw_schema schema = { "count", columns, C_COUNT };

struct count {
	struct frame_set frames;
	uint64_t pages, anon, file, mappings, swapped, zeroes, device, processes;
	bool paper;                      /* LPMA format, which has no swap */
	uint64_t unknown, no_origin;     /* mappings of unknown frames; of unknown
					  * origin */
	bool refused;                    /* there are too many frames to count */
};

static int count_on_pages(struct count *c, const struct census_pages *p, uint64_t page,
			  struct atw_err *err)
{
	uint64_t fresh = 0;
	int r;

	c->swapped += p->swapped ? p->pages : 0;
	c->zeroes += p->zero ? p->pages : 0;
	c->device += p->device ? p->pages : 0;
	if (!is_resident(p))
		return ATW_OK;
	c->mappings += p->pages;
	if (!(p->known & CENSUS_PA)) {
		c->unknown += p->pages;
		return ATW_OK;
	}
	if (c->refused)
		return ATW_OK;
	r = frames_add_pages(&c->frames, p, page, &fresh, err);
	if (r == ATW_E_LIMIT) {
		c->refused = true;
		frames_deinit(&c->frames);
		atw_err_wrap(err, "count: not counted");
	}
	if (r != ATW_OK)
		return r;
	c->pages += fresh;
	if (!(p->known & CENSUS_ORIGIN))
		c->no_origin += fresh;
	else
		*(p->anon ? &c->anon : &c->file) += fresh;
	return ATW_OK;
}

static int count_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct count *c = state;

	if (ev->what == CENSUS_ON_PAGES)
		return count_on_pages(c, ev->pages, ev->page, err);
	if (ev->what == CENSUS_ON_AREA_END) {
		c->mappings += ev->area->rest.user;
		c->unknown += ev->area->rest.user;
		return ATW_OK;
	}
	c->processes++;
	c->paper = ev->process->paper;
	return ATW_OK;
}

static int count_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct count *c = state;
	struct report_row row = { .have = 0 };
	bool known = !c->unknown && !c->refused;

	if (c->unknown)
		out->note(out->arg, "the frames of %" PRIu64 " pages are not known, so distinct "
			  "frames cannot be counted", c->unknown);
	if (c->refused)
		out->note(out->arg, "too many frames: distinct ones cannot be counted");
	if (out->paper && !known)
		out->text(out->arg, "User space pages: n/a\n");
	else if (out->paper)
		out->text(out->arg, "User space pages: %" PRIu64 "\n", c->pages);
	if (out->paper && c->swapped)
		out->text(out->arg, "Swapped pages: %" PRIu64 "\n", c->swapped);
	if (out->paper)
		return ATW_OK;
	row_if(&row, known, C_PAGES, c->pages);
	/*
	 * A few frames that were freed during the listing do not make the result unknown.
	 */
	if (known && (!c->no_origin || c->anon + c->file)) {
		row_u(&row, C_ANON, c->anon);
		row_u(&row, C_FILE, c->file);
		if (c->no_origin)
			out->note(out->arg, "of %" PRIu64 " pages it is not known whether they are of a file: "
				  "they are in neither of anon and file", c->no_origin);
	}
	row_u(&row, C_MAPPINGS, c->mappings);
	row_if(&row, !c->paper, C_SWAPPED, c->swapped);
	row_u(&row, C_ZEROES, c->zeroes);
	row_u(&row, C_DEVICE, c->device);
	row_u(&row, C_PROCESSES, c->processes);
	return row_out(&row, out, err);
}

static void count_deinit(void *state)
{
	struct count *c = state;

	frames_deinit(&c->frames);
}

const struct census_report report_count = {
	.name = "count",
	.title = "User space pages",
	.help = "how many pages of memory processes have: a number to follow over time",
	.on = CENSUS_ON(PAGES) | CENSUS_ON(PROCESS) | CENSUS_ON(AREA_END),
	.schema = &schema,
	.paper = true,
	.state = sizeof(struct count),
	.feed = count_feed,
	.finish = count_finish,
	.deinit = count_deinit,
};
