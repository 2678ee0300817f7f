/* SPDX-License-Identifier: GPL-2.0-or-later */
/* example.c - the smallest plugin: says of each row where its address lies in its page. */
#include <stdlib.h>

#include <atwalk/plugin.h>

/* What it reads: any rows with addresses. */
static const struct atw_plugin_column address = {
	.size = sizeof(address), .name = "address", .type = ATW_COLUMN_ADDRESS,
};
static const struct atw_plugin_column *const inputs[] = { &address, NULL };

/* What it adds. */
static const struct atw_plugin_column offset = {
	.size = sizeof(offset), .name = "offset", .type = ATW_COLUMN_BYTES,
	.help = "offset of the address in its large page",
};
static const struct atw_plugin_column *const columns[] = { &offset, NULL };

struct example {
	uint64_t page;           /* bytes */
};

/* A batch has at most ATW_BATCH_ROWS rows; a bit of in_known says which values are there. */
static int example_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	const struct example *x = state;

	for (uint32_t i = 0; i < b->nrows; i++)
		b->out[0][i].u = b->in[0][i].u % x->page;
	for (uint32_t i = 0; i < (b->nrows + 63) / 64; i++)
		b->out_known[0][i] = b->in_known[0][i];
	return ATW_OK;
}

static const struct atw_annotator annotator = {
	.size = sizeof(annotator), .inputs = inputs, .columns = columns, .rows = example_rows,
};

static const struct atw_annotator *example_annotator(void *instance)
{
	return &annotator;
}

/* --plugin example:4M */
static int example_start(const struct atw_host *host, const char *options, void **ret,
			 struct atw_err *err)
{
	struct example *x = calloc(1, sizeof(*x));
	char *end = NULL;

	if (!x)
		return host->error(err, ATW_E_NOMEM, "out of memory");
	x->page = options ? strtoull(options, &end, 10) : 2;
	if (x->page < 1 || x->page > 1024 || (options && (*end != 'M' || end[1]))) {
		free(x);
		return host->error(err, ATW_E_USAGE,
				   "option '%.40s': expected 1M to 1024M, the size of a page", options);
	}
	x->page <<= 20;
	*ret = x;
	return ATW_OK;
}

ATW_PLUGIN("example", "1", ATW_PLUGIN_ANNOTATOR,
	   "the offset of each address in its large page",
	   .start = example_start, .stop = free, .annotator = example_annotator);
