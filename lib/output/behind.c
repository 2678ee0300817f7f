/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/behind.h"

#include <stdlib.h>

#include "base/pool.h"
#include "output/stream.h"

/* So many that waking a thread for them is little beside formatting them. */
enum { BATCH_ROWS = 8192, BATCH_WORDS = 256 << 10 };

struct behind_batch {
	struct pool_job job;     /* first, so that it leads to its batch */
	struct kept_rows kept;
	int rc;
	struct atw_err why;
};

struct behind {
	struct atw_output *out;
	struct pool *pool;
	struct behind_batch batch[2];
	unsigned filled;         /* the one that takes rows */
	bool added;              /* the other one is to be formatted */
	union atw_value v[SCHEMA_MAX];   /* of the row that is formatted */
};

/* Never more than one batch at a time, so that rows keep their order. */
static void behind_work(void *arg, void *state, struct pool_job *job)
{
	struct behind_batch *batch = (struct behind_batch *)job;
	struct behind *b = arg;

	batch->rc = output_show_kept(b->out, &batch->kept, b->v, &batch->why);
}

static const struct pool_ops ops = { .work = behind_work };

struct behind *behind_open(struct atw_output *out)
{
	struct behind *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->out = out;
	b->pool = pool_open(&ops, b, 1);
	if (!b->pool) {
		behind_close(b);
		return NULL;
	}
	return b;
}

void behind_close(struct behind *b)
{
	if (!b)
		return;
	pool_close(b->pool);
	kept_deinit(&b->batch[0].kept);
	kept_deinit(&b->batch[1].kept);
	free(b);
}

/* The batch that was added has been formatted, by this thread if none has begun it. */
static int behind_take(struct behind *b, struct atw_err *err)
{
	struct behind_batch *batch = &b->batch[!b->filled];

	if (!b->added)
		return ATW_OK;
	b->added = false;
	if (!pool_take(b->pool, &batch->job))
		behind_work(b, NULL, &batch->job);
	kept_clear(&batch->kept);
	return atw_err_give(err, batch->rc, &batch->why);
}

/* The batch is full: the next one takes its place. */
static int behind_turn(struct behind *b, struct atw_err *err)
{
	struct behind_batch *batch = &b->batch[b->filled];
	struct pool_job *job = &batch->job;
	int rc;

	if (batch->kept.rows < BATCH_ROWS && batch->kept.len < BATCH_WORDS &&
	    !batch->kept.failed)
		return ATW_OK;
	rc = behind_take(b, err);
	if (rc < 0)
		return rc;
	pool_add(b->pool, &job, 1);
	b->added = true;
	b->filled = !b->filled;
	return ATW_OK;
}

int behind_row(struct behind *b, const struct atw_row *row, struct atw_err *err)
{
	kept_row(&b->batch[b->filled].kept, &b->out->schema, row,
		 b->out->as_is ? NULL : b->out->shown.at);
	return behind_turn(b, err);
}

int behind_text(struct behind *b, const char *text, size_t len, struct atw_err *err)
{
	kept_text(&b->batch[b->filled].kept, text, len);
	return behind_turn(b, err);
}

int behind_wait(struct behind *b, struct atw_err *err)
{
	struct behind_batch *batch = &b->batch[b->filled];
	int rc = behind_take(b, err);

	if (rc < 0)
		return rc;
	behind_work(b, NULL, &batch->job);
	kept_clear(&batch->kept);
	return atw_err_give(err, batch->rc, &batch->why);
}
