/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the kernel's log are read in order; missing and damaged ones are reported.
 */
#include "printk_image.h"

#include "test.h"

static int read_image(void *arg, uint64_t at, void *buf, size_t len, struct atw_err *err)
{
	const struct printk_image *m = arg;

	if (at > P_ALL || len > P_ALL - at)
		return atw_err_set(err, ATW_E_MISSING, "0x%" PRIx64 " is not there", at);
	memcpy(buf, m->b + at, len);
	return ATW_OK;
}

/* Every record, a line each; what is wrong by its status. */
static const char *all(struct printk_image *m, char buf[2048])
{
	struct printk_record *rec = malloc(sizeof(*rec));
	struct printk_ring r;
	size_t n = 0;
	int status = printk_open(&printk_6_12, 0, read_image, m, &r, NULL);

	snprintf(buf, 2048, "open: %d\n", status);
	if (status == ATW_OK)
		buf[0] = '\0';
	for (uint64_t i = 0; status == ATW_OK && rec && i < r.count && n < 1900; i++) {
		int one = printk_record(&r, i, rec, NULL);

		if (one == ATW_OK)
			n += (size_t)snprintf(buf + n, 2048 - n, "%" PRIu64 " %" PRIu64 " <%u,%u> %u %s\n",
					      rec->seq, rec->time, rec->facility, rec->level,
					      rec->caller, rec->text);
		else
			n += (size_t)snprintf(buf + n, 2048 - n, "%d\n", one);
	}
	free(rec);
	return buf;
}

TEST(records_in_order)
{
	struct printk_image m;
	char buf[2048];
	uint64_t at;

	printk_ids(&m, 5, 7);
	at = printk_line(&m, 5, 2, 0, "one", 6);
	at = printk_line(&m, 6, 1, at, "two\nlines", 4);
	printk_line(&m, 7, 2, at, "", 0);
	CHECK_STR(all(&m, buf), "105 5000000042 <3,6> 17 one\n106 6000000042 <3,4> 17 two\nlines\n"
		  "107 7000000042 <3,0> 17 \n");
}

/* Ids and positions go on for ever; a text that does not fit at the end is at the start. */
TEST(around_the_end)
{
	struct printk_image m;
	char buf[2048];
	uint64_t at = 1024 - 40;

	printk_ids(&m, 1023, 1025);
	at = printk_line(&m, 1023, 2, at, "up to the very end, 32", 6);
	CHECK_EQ(at, 1024 - 8);
	at = printk_line(&m, 1024, 2, at, "at the start", 6);
	CHECK_EQ(at, 1024 + 24);
	printk_line(&m, 1025, 2, at, "behind it", 6);
	CHECK_STR(all(&m, buf), "1123 1023000000042 <3,6> 17 up to the very end, 32\n"
		  "1124 1024000000042 <3,6> 17 at the start\n1125 1025000000042 <3,6> 17 behind it\n");
	/* One that ends where the buffer does. */
	printk_ids(&m, 3, 3);
	printk_line(&m, 3, 2, 256 - 16, "8 bytes.", 6);
	CHECK_STR(all(&m, buf), "103 3000000042 <3,6> 17 8 bytes.\n");
}

TEST(what_is_not_there)
{
	struct printk_image m;
	char buf[2048];
	uint64_t at;

	printk_ids(&m, 0, 4);
	at = printk_line(&m, 0, 3, 0, "may be used again", 6);
	at = printk_line(&m, 1, 0, at, "is being written", 6);
	at = printk_line(&m, 2, 2, at, "overwritten", 6);
	printk_u64(&m, P_DATA + 2 * 32 - 8, 77);
	at = printk_line(&m, 3, 2, at, "x", 6);
	/* An empty line, as the kernel has it, and one that found no room. */
	printk_u64(&m, P_DESCS + 3 * P_DESC + 8, 3);
	printk_u64(&m, P_DESCS + 3 * P_DESC + 16, 3);
	m.b[P_INFOS + 3 * P_INFO + 16] = 0;
	printk_line(&m, 4, 2, at, "y", 6);
	printk_u64(&m, P_DESCS + 4 * P_DESC + 8, 1);
	printk_u64(&m, P_DESCS + 4 * P_DESC + 16, 1);
	memset(m.b + P_DATA + 48 + 8, 0, 8);
	all(&m, buf);
	CHECK(strstr(buf, "-10\n-10\n") == buf);
	CHECK(strstr(buf, "103 3000000042 <3,6> 17 \n-10\n"));
	/* Another record is there meanwhile. */
	printk_u64(&m, P_DESCS, 8 | (uint64_t)2 << 62);
	CHECK(strstr(all(&m, buf), "-10\n-10\n") == buf);
}

TEST(damaged)
{
	struct printk_image m;
	struct printk_layout l = printk_6_12;
	struct printk_ring r;
	char buf[2048];

	printk_ids(&m, 5, 5);
	printk_line(&m, 5, 2, 0, "one", 6);
	/* A text is no longer than its block. */
	m.b[P_INFOS + 5 * P_INFO + 16] = 255;
	CHECK_STR(all(&m, buf), "105 5000000042 <3,6> 17 one\n");
	/* Blocks that end before they begin, lie askew, or are nowhere. */
	printk_u64(&m, P_DESCS + 5 * P_DESC + 8, 32);
	CHECK_STR(all(&m, buf), "-7\n");
	printk_u64(&m, P_DESCS + 5 * P_DESC + 8, 4);
	CHECK_STR(all(&m, buf), "-7\n");
	printk_u64(&m, 56, UINT64_MAX - 4);
	printk_u64(&m, P_DESCS + 5 * P_DESC + 8, 0);
	CHECK_STR(all(&m, buf), "-4\n");
	/* Numbers that no log has. */
	m.b[0] = 27;
	CHECK_STR(all(&m, buf), "open: -7\n");
	m.b[0] = 0;
	CHECK_STR(all(&m, buf), "open: -7\n");
	printk_ids(&m, 6, 5);
	CHECK_STR(all(&m, buf), "open: -7\n");
	printk_ids(&m, 0, 8);
	CHECK_STR(all(&m, buf), "open: -7\n");
	printk_ids(&m, 0, 0);
	l.info_size = 20;
	CHECK_EQ(printk_open(&l, 0, read_image, &m, &r, NULL), ATW_E_DAMAGED);
	l = printk_6_12;
	l.desc_size = 1 << 20;
	CHECK_EQ(printk_open(&l, 0, read_image, &m, &r, NULL), ATW_E_DAMAGED);
	CHECK_EQ(printk_open(&printk_6_12, P_ALL - 3, read_image, &m, &r, NULL), ATW_E_MISSING);
}
