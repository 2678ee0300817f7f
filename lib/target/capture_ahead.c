/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target/capture_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

enum {
	PIECE = 64 << 10,
	BLOCK = CAPTURE_LINE + PIECE,
	BLOCKS = 64,             /* at most, that are read and not taken yet */
	WORDS = 32 << 10,        /* of packed runs; mostly a block has fewer */
};

/* Whole lines, but for a line that is too long for any block, and for the last block. */
struct capture_block {
	struct pool_job job;     /* first, so that it leads to its block */
	uint64_t number;         /* from 0 */
	size_t have, n, checked;         /* bytes; words in run[]; of capture_text_ahead() */
	/* What follows it: the end of the file or a failure, else more. */
	bool last;
	int r;
	struct atw_err e;
	uint64_t run[WORDS];
	char text[BLOCK];
};

struct capture_ahead {
	struct pool *pool;
	struct capture_block *block[BLOCKS];
	size_t nblocks;
	uint64_t taken, added;   /* blocks */
	/* Blocks are read one after the other, whichever thread does it: of all that follows. */
	pthread_mutex_t lock;
	pthread_cond_t read;
	uint64_t next;           /* the block to read */
	struct unpack *in;
	/* What is behind the last whole line of the last block that was read. */
	char rest[BLOCK];
	size_t have;
	/* The file has ended, or could not be read on; in the last block then. */
	bool ended;
	int r;
	struct atw_err e;
};

/* Reads until a block is full enough, or to the end. */
static void capture_ahead_read(struct capture_ahead *a, struct capture_block *b)
{
	size_t n;

	while (!a->ended && b->have < BLOCK &&
	       (b->have < PIECE || !memchr(b->text, '\n', b->have))) {
		n = 0;
		a->r = unpack_read(a->in, b->text + b->have, BLOCK - b->have, &n, &a->e);
		a->ended = a->r != ATW_OK || !n;
		b->have += a->r == ATW_OK ? n : 0;
	}
}

/*
 * The next block. What is behind the last whole line waits for the next one; at the end,
 * the last block has that alone.
 */
static void capture_ahead_fill(struct capture_ahead *a, struct capture_block *b)
{
	const char *nl;

	memcpy(b->text, a->rest, a->have);
	b->have = a->have;
	b->last = a->ended;
	a->have = 0;
	b->r = a->r;
	b->e = a->e;
	if (b->last)
		return;
	capture_ahead_read(a, b);
	nl = b->have ? memrchr(b->text, '\n', b->have) : NULL;
	if (nl || a->ended) {
		size_t whole = nl ? (size_t)(nl - b->text) + 1 : 0;

		a->have = b->have - whole;
		memcpy(a->rest, b->text + whole, a->have);
		b->have = whole;
	}
}

/* When those before it have been read. */
static void capture_ahead_read_block(struct capture_ahead *a, struct capture_block *b)
{
	pthread_mutex_lock(&a->lock);
	while (a->next != b->number)
		pthread_cond_wait(&a->read, &a->lock);
	capture_ahead_fill(a, b);
	a->next++;
	pthread_cond_broadcast(&a->read);
	pthread_mutex_unlock(&a->lock);
}

static void capture_ahead_work(void *arg, void *state, struct pool_job *job)
{
	struct capture_block *b = (struct capture_block *)job;

	capture_ahead_read_block(arg, b);
	b->n = capture_parse_ahead((struct atw_blob){ b->text, b->have }, b->run, WORDS);
	b->checked = capture_text_ahead((struct atw_blob){ b->text, b->have });
}

static const struct pool_ops ops = { .work = capture_ahead_work };

/*
 * The block that was taken last is free now, and no sooner: records refer to it. Blocks are
 * added by halves, because each addition may have to wake an idle thread.
 */
static void capture_ahead_add(struct capture_ahead *a)
{
	struct pool_job *job[BLOCKS];
	size_t n = 0, room = a->nblocks - (size_t)(a->added - a->taken);

	if (room < a->nblocks / 2)
		return;
	for (; n < room; a->added++) {
		struct capture_block *b = a->block[a->added % a->nblocks];

		b->number = a->added;
		job[n++] = &b->job;
	}
	pool_add(a->pool, job, n);
}

int capture_ahead_more(struct capture_ahead *a, struct capture_stream *s)
{
	struct capture_block *b;

	capture_ahead_add(a);
	b = a->block[a->taken++ % a->nblocks];
	if (!pool_take(a->pool, &b->job)) {
		capture_ahead_read_block(a, b);
		b->n = b->checked = 0;
	}
	s->base += s->have;
	s->text = b->text;
	s->pos = 0;
	s->have = b->have;
	s->rd.parsed = (struct capture_parsed){
		.text = b->text, .checked = b->checked, .next = b->run, .end = b->run + b->n,
	};
	if (b->r != ATW_OK)
		s->e = b->e;
	s->last = b->last && (b->r == ATW_OK || b->r == ATW_E_DAMAGED);
	s->fatal = b->r != ATW_OK && b->r != ATW_E_DAMAGED;
	return b->r;
}

struct capture_ahead *capture_ahead_open(struct capture_stream *s, unsigned threads)
{
	struct capture_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->read, NULL);
	/* Half of them are under way at any time: one by each thread, and one that waits. */
	for (size_t want = 4 * (size_t)threads + 4; a->nblocks < want && a->nblocks < BLOCKS; a->nblocks++) {
		a->block[a->nblocks] = calloc(1, sizeof(struct capture_block));
		if (!a->block[a->nblocks])
			break;
	}
	a->pool = a->nblocks > 1 ? pool_open(&ops, a, threads) : NULL;
	if (!a->pool) {
		capture_ahead_close(a);
		return NULL;
	}
	a->in = s->in;
	a->have = s->have - s->pos;
	memcpy(a->rest, s->buf + s->pos, a->have);
	s->base += s->pos;
	s->pos = s->have = 0;
	return a;
}

void capture_ahead_close(struct capture_ahead *a)
{
	if (!a)
		return;
	pool_close(a->pool);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->read);
	for (size_t i = 0; i < a->nblocks; i++)
		free(a->block[i]);
	free(a);
}
