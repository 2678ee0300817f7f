/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backing.c - the memory of a guest by its use, and what of it the host has: memory that is
 * free in the guest and backed by the host is what the guest would give back.
 */
#include "format/capture_fields.h"
#include "report/report.h"
#include "base/num.h"

enum { B_USE, B_SIZE, B_BACKED, B_SWAPPED, B_ABSENT, B_COUNT };

static const struct atw_column columns[B_COUNT] = {
	[B_USE] = COLUMN("use", TEXT, 11, "what the guest uses its frames for"),
	[B_SIZE] = COLUMN("size", BYTES, 10, "bytes of them", .sum = true),
	[B_BACKED] = COLUMN("backed", BYTES, 10, "of these, in the host's memory", .sum = true),
	[B_SWAPPED] = COLUMN("swapped", BYTES, 10, "of these, on the host's swap", .sum = true),
	[B_ABSENT] = COLUMN("absent", BYTES, 10,
			    "of these, without memory of the host: never written, or returned",
			    .sum = true),
};
static const struct atw_schema schema = { "backing", columns, B_COUNT };

struct backing_state {
	uint64_t page;
	uint64_t pages[CAPTURE_USES][CAPTURE_HOSTS];
	bool frames, host;
};

static int backing_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct backing_state *b = state;
	const struct capture_frames *f = ev->frames;

	b->page = ev->page;
	b->pages[f->use][f->host] += f->pages;
	b->frames = true;
	b->host |= f->host != CAPTURE_HOST_UNKNOWN;
	return ATW_OK;
}

static int backing_row(const struct backing_state *b, unsigned use, const struct census_out *out,
		       struct atw_err *err)
{
	const uint64_t *pages = b->pages[use];
	struct report_row row = { .have = 0 };
	bool known = !pages[CAPTURE_HOST_UNKNOWN];
	uint64_t all = 0;

	for (unsigned i = 0; i < CAPTURE_HOSTS; i++)
		all += pages[i];
	if (!all)
		return ATW_OK;
	row_s(&row, B_USE, capture_uses[use]);
	row_u(&row, B_SIZE, all * b->page);
	row_if(&row, known, B_BACKED, pages[CAPTURE_HOST_BACKED] * b->page);
	row_if(&row, known, B_SWAPPED, pages[CAPTURE_HOST_SWAPPED] * b->page);
	row_if(&row, known, B_ABSENT, pages[CAPTURE_HOST_ABSENT] * b->page);
	return row_out(&row, out, err);
}

static int backing_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct backing_state *b = state;
	const uint64_t *unused = b->pages[CAPTURE_FREE];
	char memory[16], swap[16];
	int r = ATW_OK;

	if (!b->host) {
		out->lacks(out->arg, b->frames ? "what the host has of this machine's memory is not recorded: it is known of running guests (qemu:PID, kvm:PID)"
					       : "the use of frames is not recorded");
		return ATW_OK;
	}
	for (unsigned i = 0; i < CAPTURE_USES && r == ATW_OK; i++)
		r = backing_row(b, i, out, err);
	out->note(out->arg, "free in the guest, and in the host's memory: %s; on the host's swap: %s",
		  num_human(unused[CAPTURE_HOST_BACKED] * b->page, memory),
		  num_human(unused[CAPTURE_HOST_SWAPPED] * b->page, swap));
	return r;
}

const struct census_report report_backing = {
	.name = "backing",
	.title = "Memory of a guest, and what of it the host has",
	.help = "what a running guest uses its memory for, and what of it the host has",
	.on = CENSUS_ON(FRAMES),
	.schema = &schema,
	.state = sizeof(struct backing_state),
	.feed = backing_feed,
	.finish = backing_finish,
};
