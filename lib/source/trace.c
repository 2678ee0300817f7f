// SPDX-License-Identifier: GPL-2.0-or-later
/* trace - wrapper that reports each read and its result. */
#include "source/wrap.h"

struct trace {
	atw_trace_fn *fn;
	void *arg;
};

static ssize_t trace_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	struct trace *t = s->impl;
	ssize_t n = s->below->ops->read(s->below, pa, buf, len, err);

	t->fn(t->arg, pa, len, n);
	return n;
}

static ssize_t trace_peek(struct atw_source *s, atw_pa pa, size_t len,
			  const void **ret, struct atw_err *err)
{
	struct trace *t = s->impl;
	ssize_t n = s->below->ops->peek(s->below, pa, len, ret, err);

	t->fn(t->arg, pa, len, n);
	return n;
}

static void trace_many(struct atw_source *s, struct atw_piece *piece, size_t n,
		       struct atw_err *err)
{
	struct trace *t = s->impl;

	atw_read_many(s->below, piece, n, err);
	for (size_t i = 0; i < n; i++)
		t->fn(t->arg, piece[i].pa, piece[i].len, piece[i].got);
}

#define TRACE_OPS(...) { \
	WRAP_OPS, \
	.name = "trace", \
	.help = "reports reads", \
	.close = wrap_close, \
	.read = trace_read, \
	.read_many = trace_many, \
	__VA_ARGS__ \
}

/* It can lend pointers only if what it wraps does. */
static const struct atw_source_ops trace_ops = TRACE_OPS();
static const struct atw_source_ops trace_peek_ops = TRACE_OPS(.peek = trace_peek);

int atw_source_trace(struct atw_source *below, atw_trace_fn *fn, void *arg,
		     struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *s = wrap_new(below->ops->peek ? &trace_peek_ops : &trace_ops,
					below, sizeof(struct trace), err);

	if (!s)
		return ATW_E_NOMEM;
	*(struct trace *)s->impl = (struct trace){ fn, arg };
	*ret = s;
	return ATW_OK;
}
