// SPDX-License-Identifier: GPL-2.0-or-later
/* output_part.c - rows that threads format apart: the same bytes, sums and failures. */
#include <stdlib.h>

#include "base/turns.h"
#include "output/kept.h"
#include "output/part.h"
#include "output_capture.h"

static const char *const flag_names[] = { "large", "dirty", "global" };
static const struct atw_names flags = { NELEM(flag_names), flag_names, NULL };
static const struct atw_column cols[] = {
	{ .key = "name", .type = ATW_T_TEXT, .width = 6 },
	{ .key = "n", .type = ATW_T_COUNT, .width = 3, .sum = true },
	{ .key = "address", .type = ATW_T_VA },
	{ .key = "flags", .type = ATW_T_FLAGS, .names = &flags },
	{ .key = "size", .type = ATW_T_BYTES, .sum = true },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

enum { ITEMS = 60, ROWS = 300, WORKERS = 3, BYTES = 1, SUMS = 2 };

struct worker {
	struct output_part *part;
	struct turn *turn;
	char name[32];
};

struct listing {
	struct atw_output *out;
	bool heads;
	bool apart;              /* all that follows is formatted by threads */
};

/* Row `i` of an item; to the output, or else to the part of a thread. */
static int put_row(const struct listing *l, struct worker *w, size_t item, uint64_t i,
		   struct atw_err *err)
{
	union atw_value v[] = { S(w->name), U(item * i), U(i << 12), U(i & 7), U(i << 20) };
	const struct atw_row row = { v, 31 - (i % 7 ? 0 : 4) };

	snprintf(w->name, sizeof(w->name), "%s %zu", item % 5 ? "task" : "a rather long name", item);
	if (l->heads && i == 3 && w->part)
		output_part_heading(w->part, w->name, err);
	else if (l->heads && i == 3)
		atw_output_heading(l->out, "%s", w->name);
	return w->part ? output_part_row(w->part, &row, err) : atw_output_row(l->out, &row, err);
}

static int on_bytes(void *arg, const void *data, size_t len, struct atw_err *err)
{
	struct turn *t = ((struct worker *)arg)->turn;

	if (((struct kept_rows *)t->tape)->len && turn_pass(t) != ATW_OK)
		return ATW_E_STOPPED;
	kept_event(t->tape, BYTES, data, len);
	return ATW_OK;
}

static int work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	struct listing *l = arg;
	struct worker *w = worker;
	struct output_part_sums sums;
	int r = w->part ? ATW_OK : output_part_open(l->out, on_bytes, w, &w->part, err);

	w->turn = t;
	for (uint64_t i = 0; i < ROWS && r == ATW_OK; i++)
		r = put_row(l, w, item, i, err);
	if (r == ATW_OK)
		r = output_part_flush(w->part, &sums, err);
	if (r == ATW_OK)
		kept_event(t->tape, SUMS, &sums, sizeof(sums));
	return r;
}

static int play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	struct listing *l = arg;
	union atw_value v[NELEM(cols)];
	struct kept_item it;
	int r = ATW_OK;

	while (r == ATW_OK && kept_next(tape, &schema, v, &it)) {
		if (it.kind == BYTES)
			r = output_take(l->out, it.text, it.len, err);
		else
			output_take_sums(l->out, (const void *)it.text);
	}
	kept_clear(tape);
	return r;
}

static void drop(void *tape)
{
	kept_deinit(tape);
}

static int list(struct listing *l, bool apart, struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct kept_rows), .work = work, .play = play, .drop = drop,
	};
	struct worker w[WORKERS] = { { .part = NULL } };
	void *worker[WORKERS] = { &w[0], &w[1], &w[2] };
	struct worker own = { .part = NULL };
	int r = ATW_OK;

	for (size_t item = 0; item < ITEMS && r == ATW_OK && !l->apart; item++) {
		l->apart = apart && output_parts(l->out);
		if (l->apart)
			r = turns_run(&ops, l, worker, WORKERS, item, ITEMS, err);
		for (uint64_t i = 0; i < ROWS && r == ATW_OK && !l->apart; i++)
			r = put_row(l, &own, item, i, err);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		output_part_close(w[i].part);
	return r;
}

/* All of it, and whether threads had a part. */
static char *all(struct atw_output_opts o, bool apart, bool *ret_apart, struct atw_err *err)
{
	int fd = memfd_create("part", MFD_CLOEXEC);
	struct listing l = { .heads = !o.format };
	char path[32], *text;
	off_t n;
	int r;

	*err = (struct atw_err){ 0 };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = o.path ? o.path : path;
	r = atw_output_open(&o, &schema, &l.out, err);
	if (r == ATW_OK)
		r = list(&l, apart, err);
	if (r == ATW_OK) {
		if (atw_output_rows(l.out) != ITEMS * ROWS)
			abort();
		r = atw_output_commit(l.out, err);
	}
	atw_output_close(l.out);
	n = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)n + 1);
	if (pread(fd, text, (size_t)n, 0) != n)
		abort();
	close(fd);
	*ret_apart = l.apart;
	return text;
}

static void alike(struct atw_output_opts o, bool expected)
{
	struct atw_err one, several;
	bool apart;
	char *a = all(o, false, &apart, &one), *b;

	CHECK(!apart);
	b = all(o, true, &apart, &several);
	CHECK_EQ(apart, expected);
	CHECK(!strcmp(a, b));
	CHECK_STR(several.text, one.text);
	free(a);
	free(b);
}
#define ALIKE(expected, ...) alike((struct atw_output_opts){ __VA_ARGS__ }, expected)

TEST(the_same_bytes)
{
	ALIKE(true, .format = "csv");
	ALIKE(true, .format = "json");
	ALIKE(true, .format = "jsonl", .columns = "size,name");
	ALIKE(true, .columns = "name,flags,address");
	ALIKE(true, .ahead = true, .units = ATW_UNITS_PAGES);
	/* Others format rows behind them, too. */
	ALIKE(true, .ahead = true, .threads = 1);
	ALIKE(true, .format = "csv", .threads = 1);
}

TEST(rows_that_depend_on_others_have_no_parts)
{
	ALIKE(false, .format = "csv", .sort = "n");
	ALIKE(false, .format = "csv", .limit = 5000);
	ALIKE(false, .format = "html");
}

TEST(a_full_disk_is_reported)
{
	ALIKE(true, .format = "csv", .path = "/dev/full");
}
