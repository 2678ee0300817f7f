/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census_heard.h - the census stream as the text of a capture, a run or record a line. */
#pragma once

#include "base/buf.h"
#include "census/census.h"

struct heard {
	struct buf text;
	size_t left;                 /* records until it has had enough; 0: never */
};

static int heard_on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct heard *h = arg;
	char line[1024];

	if (h->left && !--h->left)
		return atw_err_set(err, ATW_E_IO, "full");
	buf_add(&h->text, line, capture_write(rec, line, sizeof(line)));
	return ATW_OK;
}

static int heard_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct heard *h = arg;
	char line[1024];

	(void)err;
	buf_add(&h->text, line, capture_write_run(run, line, sizeof(line)));
	buf_char(&h->text, '\n');
	return ATW_OK;
}

static int heard_on_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	struct heard *h = arg;
	char line[1024];

	(void)err;
	buf_add(&h->text, line, capture_write_frames(run, line, sizeof(line)));
	buf_char(&h->text, '\n');
	return ATW_OK;
}

static struct census_sink heard_sink(struct heard *h)
{
	return (struct census_sink){
		.record = heard_on_record, .run = heard_on_run,
		.frames = heard_on_frames, .arg = h,
	};
}
