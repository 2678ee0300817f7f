/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ihex.c - a source: physical memory from Intel HEX, as debug probes and flash programmers
 * write it. `vmcoreinfo=FILE` adds the kernel's note, which such a file lacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/plugin.h>

#include "records.h"

static const struct atw_host *host;

enum { IHEX_NOTE = 64 << 10 };           /* the most bytes of VMCOREINFO */

/* What --plugin ihex:vmcoreinfo=FILE has. */
struct ihex_options {
	char *note;
	size_t note_len;
};

/* Contiguous memory: bytes of `byte` from `from` on. */
struct ihex_range {
	uint64_t start, len;
	size_t from;
};

struct ihex {
	const struct ihex_options *options;
	uint8_t *byte;
	size_t nbytes;
	struct ihex_range *range;
	size_t n, cap;
	int cut;
	char what[64];
};

static int ihex_nomem(struct atw_err *err)
{
	return host->error(err, ATW_E_NOMEM, "out of memory");
}

/* ---- opening ---- */

/* A record goes on where the one before it ended, or begins a range. */
static int ihex_add(struct ihex *x, const struct records *r)
{
	struct ihex_range *last = x->n ? &x->range[x->n - 1] : NULL;

	memcpy(x->byte + x->nbytes, r->byte, r->n);
	if (last && last->start + last->len == r->at) {
		last->len += r->n;
	} else {
		if (x->n == x->cap) {
			size_t cap = x->cap ? 2 * x->cap : 64;
			struct ihex_range *range = realloc(x->range, cap * sizeof(*range));

			if (!range)
				return -1;
			x->range = range;
			x->cap = cap;
		}
		x->range[x->n++] = (struct ihex_range){ r->at, r->n, x->nbytes };
	}
	x->nbytes += r->n;
	return 0;
}

static int ihex_compare(const void *a, const void *b)
{
	const struct ihex_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Extents are ascending; files need not be. */
static int ihex_sort(struct ihex *x, struct atw_err *err)
{
	qsort(x->range, x->n, sizeof(*x->range), ihex_compare);
	for (size_t i = 1; i < x->n; i++)
		if (x->range[i].start - x->range[i - 1].start < x->range[i - 1].len)
			return host->error(err, ATW_E_DAMAGED,
					   "the file has the byte at 0x%" PRIx64 " twice",
					   x->range[i].start);
	snprintf(x->what, sizeof(x->what), "Intel HEX, %zu range%s", x->n, x->n == 1 ? "" : "s");
	return ATW_OK;
}

static int ihex_parse(struct ihex *x, const struct atw_plugin_input *in, struct atw_err *err)
{
	struct records r = { .text = in->data, .len = in->len };
	enum record_result got;

	/* A byte of memory takes two characters at least. */
	x->byte = malloc(in->len / 2 + RECORD_BYTES);
	if (!x->byte)
		return ihex_nomem(err);
	while ((got = records_next(&r)) == RECORD_DATA)
		if (ihex_add(x, &r) < 0)
			return ihex_nomem(err);
	if (got == RECORD_WRONG)
		return host->error(err, ATW_E_DAMAGED, "line %lu: %s", r.line, r.why);
	x->cut = got == RECORD_CUT;
	return x->n ? ihex_sort(x, err)
		    : host->error(err, ATW_E_DAMAGED, "the file has no record with memory");
}

static void ihex_close(void *state)
{
	struct ihex *x = state;

	free(x->byte);
	free(x->range);
	free(x);
}

static int ihex_open(void *instance, const struct atw_plugin_input *in, void **ret,
		     struct atw_err *err)
{
	struct ihex *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return ihex_nomem(err);
	x->options = instance;
	r = ihex_parse(x, in, err);
	if (r == ATW_OK)
		*ret = x;
	else
		ihex_close(x);
	return r;
}

/* ---- what it has ---- */

static int ihex_extent(void *state, uint64_t i, struct atw_plugin_extent *ret,
		       struct atw_err *err)
{
	const struct ihex *x = state;

	if (i >= x->n)
		return ATW_END;
	ret->start = x->range[i].start;
	ret->len = x->range[i].len;
	ret->kind = ATW_MEMORY_DATA;
	return ATW_OK;
}

/* The range that has the byte, which lies in one of the extents. */
static const struct ihex_range *ihex_find(const struct ihex *x, uint64_t pa)
{
	size_t low = 0, high = x->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (x->range[mid].start <= pa)
			low = mid;
		else
			high = mid;
	}
	return &x->range[low];
}

static int64_t ihex_read(void *state, uint64_t pa, void *buf, uint64_t len, struct atw_err *err)
{
	const struct ihex *x = state;
	const struct ihex_range *e = ihex_find(x, pa);
	uint64_t left = e->len - (pa - e->start);

	len = len < left ? len : left;
	memcpy(buf, x->byte + e->from + (pa - e->start), len);
	return (int64_t)len;
}

static int ihex_fact(void *state, const char *key, const void **ret, uint64_t *ret_len)
{
	static const char cut[] = "the file is cut off: it has no end record";
	const struct ihex *x = state;

	if (!strcmp(key, "truncated") && x->cut) {
		*ret = cut;
		*ret_len = sizeof(cut) - 1;
		return ATW_OK;
	}
	if (!strcmp(key, "vmcoreinfo") && x->options->note) {
		*ret = x->options->note;
		*ret_len = x->options->note_len;
		return ATW_OK;
	}
	return ATW_E_MISSING;
}

static const char *ihex_describe(void *state)
{
	return ((const struct ihex *)state)->what;
}

static const struct atw_plugin_source ihex = {
	.size = sizeof(ihex), .name = "ihex", .help = "Intel HEX", .flags = ATW_SOURCE_FILE,
	.open = ihex_open, .extent = ihex_extent, .read = ihex_read, .fact = ihex_fact,
	.describe = ihex_describe, .close = ihex_close,
};

static const struct atw_plugin_source *ihex_source(void *instance, uint32_t i)
{
	return i ? NULL : &ihex;
}

/* ---- the plugin ---- */

static void ihex_stop(void *instance)
{
	struct ihex_options *o = instance;

	free(o->note);
	free(o);
}

static int ihex_read_note(struct ihex_options *o, const char *path, struct atw_err *err)
{
	FILE *in = fopen(path, "re");

	if (!in)
		return host->error(err, ATW_E_USAGE, "vmcoreinfo=%.200s: %s", path,
				   strerror(errno));
	o->note = malloc(IHEX_NOTE + 1);
	o->note_len = o->note ? fread(o->note, 1, IHEX_NOTE + 1, in) : 0;
	fclose(in);
	if (!o->note)
		return ihex_nomem(err);
	if (!o->note_len || o->note_len > IHEX_NOTE)
		return host->error(err, ATW_E_USAGE, "vmcoreinfo=%.200s: it is not such a text",
				   path);
	return ATW_OK;
}

static int ihex_start(const struct atw_host *h, const char *options, void **ret,
		      struct atw_err *err)
{
	static const char key[] = "vmcoreinfo=";
	struct ihex_options *o = calloc(1, sizeof(*o));
	int r = ATW_OK;

	host = h;
	if (!o)
		return ihex_nomem(err);
	if (options && strncmp(options, key, sizeof(key) - 1))
		r = h->error(err, ATW_E_USAGE, "option '%.40s': expected vmcoreinfo=FILE", options);
	else if (options)
		r = ihex_read_note(o, options + sizeof(key) - 1, err);
	if (r == ATW_OK)
		*ret = o;
	else
		ihex_stop(o);
	return r;
}

/* A file begins with ":LLAAAATT": a colon, and the type is 00 to 05. */
ATW_PLUGIN_WITH("ihex", "1", ATW_PLUGIN_SOURCE, "physical memory from Intel HEX: ihex:FILE",
		"", "ihex", "ihex@0=3a????????????303?",
		.start = ihex_start, .stop = ihex_stop, .source = ihex_source);
