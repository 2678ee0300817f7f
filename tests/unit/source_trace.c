// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracing reports every read and changes none. */
#include "test.h"
#include "unit/image.h"

struct seen {
	unsigned n;
	uint64_t pa;
	size_t len;
	ssize_t result;
};

static void see(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	struct seen *s = arg;

	*s = (struct seen){ s->n + 1, pa.u, len, result };
}

TEST(tells_of_reads_and_passes_the_rest_on)
{
	struct image im = { 0 };
	struct atw_source *below, *s;
	struct seen seen = { 0 };
	struct atw_extent e;
	uint8_t b[64];
	const void *p;
	char text[128], line[64];

	fill(&im, 0, 0x1000, 't');
	snprintf(text, sizeof(text), "raw:%s@0x1000", image_save(&im, im.len));
	CHECK_EQ(atw_source_open(text, NULL, 0, &below, NULL), ATW_OK);
	CHECK_EQ(atw_source_trace(below, see, &seen, &s, NULL), ATW_OK);

	CHECK_EQ(s->ops->read(s, ATW_PA(0x1ff0), b, 64, NULL), 16);
	CHECK_EQ(seen.n, 1);
	CHECK_EQ(seen.pa, 0x1ff0);
	CHECK_EQ(seen.len, 64);
	CHECK_EQ(seen.result, 16);
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x2000), 8, &p, NULL), 0);
	CHECK_EQ(seen.n, 2);
	CHECK_EQ(seen.result, 0);
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x1000), 8, &p, NULL), 8);
	CHECK_EQ(*(const char *)p, 't');
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x1000), &e), ATW_OK);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_fact(s, "vmcoreinfo", &(struct atw_blob){ 0 }), ATW_E_MISSING);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "raw image at 0x1000");
	CHECK_EQ(seen.n, 3);
	atw_source_close(s);             /* both */
	image_free(&im);
}

/* A source that lends no pointers and has no facts. */
static ssize_t plain_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	(void)s;
	(void)pa;
	(void)buf;
	(void)len;
	return atw_err_set(err, ATW_E_DAMAGED, "as asked");
}

static int plain_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	(void)s;
	(void)pa;
	(void)ret;
	return ATW_END;
}

static const struct atw_source_ops plain = {
	.name = "plain", .read = plain_read,
	.extent = plain_extent,
};

TEST(promises_no_more_than_what_is_below)
{
	struct atw_source *below = calloc(1, sizeof(*below)), *s;
	struct seen seen = { 0 };
	struct atw_err err = { 0 };
	struct atw_blob b;
	char line[8] = "x";

	below->ops = &plain;
	CHECK_EQ(atw_source_trace(below, see, &seen, &s, NULL), ATW_OK);
	CHECK(!s->ops->peek);
	CHECK_EQ(atw_read(s, ATW_PA(7), line, 1, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "as asked");
	CHECK_EQ(seen.result, ATW_E_DAMAGED);
	CHECK_EQ(atw_fact(s, "cpus", &b), ATW_E_MISSING);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "");
	atw_source_close(s);
}
