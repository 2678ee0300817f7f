// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads are counted exactly, and --rate never lets one happen too early. */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "host/pace.h"
#include "source/wrap.h"
#include "test.h"

/* Memory where each byte is the low byte of its address; reads are counted. */
struct memory {
	uint64_t reads, manys, largest, last_end;
	bool torn, lent;
};

static struct memory *memory_of(struct atw_source *s)
{
	return s->impl;
}

static void note(struct memory *m, uint64_t pa, size_t len)
{
	if (len > m->largest)
		m->largest = len;
	if ((pa + len) % 64 && pa + len != m->last_end)
		m->torn = true;
}

static ssize_t memory_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			   struct atw_err *err)
{
	(void)err;
	memory_of(s)->reads++;
	note(memory_of(s), pa.u, len);
	if (pa.u >= 0x10000000)
		return 0;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(pa.u + i);
	return (ssize_t)len;
}

static void memory_many(struct atw_source *s, struct atw_piece *piece, size_t n,
			struct atw_err *err)
{
	uint64_t reads = memory_of(s)->reads, sum = 0;

	memory_of(s)->manys++;
	for (size_t i = 0; i < n; i++) {
		piece[i].got = memory_read(s, piece[i].pa, piece[i].buf, piece[i].len, err);
		sum += piece[i].len;
	}
	memory_of(s)->reads = reads;
	if (sum > memory_of(s)->largest)
		memory_of(s)->largest = sum;
}

static int memory_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	(void)s;
	(void)pa;
	(void)ret;
	return ATW_END;
}

/* One buffer of its own. */
static uint8_t own[64];

static void *memory_buffer_open(struct atw_source *s, size_t len)
{
	struct memory *m = memory_of(s);

	if (m->lent || len > sizeof(own))
		return NULL;
	m->lent = true;
	return own;
}

static bool memory_buffer_close(struct atw_source *s, void *buf)
{
	if (buf != own)
		return false;
	memory_of(s)->lent = false;
	return true;
}

static const struct atw_source_ops memory_ops = {
	.name = "memory", .read = memory_read,
	.read_many = memory_many, .extent = memory_extent, .live = true,
	.buffer_open = memory_buffer_open, .buffer_close = memory_buffer_close,
};

static struct atw_source *paced(struct memory *m, struct pace *p)
{
	struct atw_source *below = calloc(1, sizeof(*below)), *s = NULL;

	*m = (struct memory){ 0 };
	*below = (struct atw_source){ &memory_ops, m, NULL };
	if (paced_source(below, p, &s, NULL) != ATW_OK)
		abort();
	return s;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

TEST(counts_bytes_and_calls_and_nothing_else)
{
	struct pace p = { 0 };
	struct memory m;
	struct atw_source *s = paced(&m, &p);
	static uint8_t b[4096];
	struct atw_piece piece[3] = {
		{ ATW_PA(0x1000), b, 100, 0 }, { ATW_PA(0x20000000), b + 100, 8, 0 },
		{ ATW_PA(0x2004), b + 200, 8, 0 },
	};

	CHECK(atw_source_is_live(s));
	CHECK(!s->ops->peek);
	CHECK_EQ(atw_read(s, ATW_PA(0x1234), b, 100, NULL), 100);
	CHECK_EQ(b[0], 0x34);
	CHECK_EQ(p.memory.bytes, 100);
	CHECK_EQ(p.memory.calls, 1);
	/* Where nothing is, nothing was read; but it was asked for. */
	CHECK_EQ(atw_read(s, ATW_PA(0x20000000), b, 100, NULL), 0);
	CHECK_EQ(p.memory.bytes, 100);
	CHECK_EQ(p.memory.calls, 2);
	atw_read_many(s, piece, 3, NULL);
	CHECK_EQ(piece[0].got, 100);
	CHECK_EQ(piece[1].got, 0);
	CHECK_EQ(piece[2].got, 8);
	CHECK_EQ(b[200], 4);
	CHECK_EQ(p.memory.bytes, 208);
	CHECK_EQ(p.memory.calls, 3);
	CHECK_EQ(m.manys, 1);
	CHECK_EQ(p.proc.bytes + p.proc.calls, 0);
	atw_source_close(s);
}

TEST(a_buffer_is_the_source_s_own_or_any)
{
	struct pace p = { 0 };
	struct memory m;
	struct atw_source *s = paced(&m, &p);
	uint8_t *large = atw_buffer_open(s, 65), *a = atw_buffer_open(s, 64);
	uint8_t *b = atw_buffer_open(s, 64);

	CHECK(large && large != own);
	CHECK(a == own);
	CHECK(b && b != own);
	atw_buffer_close(s, large);
	CHECK(m.lent);
	atw_buffer_close(s, a);
	CHECK(!m.lent);
	CHECK(atw_buffer_open(s, 1) == own);
	atw_buffer_close(s, b);
	atw_buffer_close(s, NULL);
	CHECK(m.lent);
	atw_source_close(s);
}

TEST(two_megabytes_at_four_a_second_take_half_a_second)
{
	struct pace p = { .rate = 4 << 20 };
	static uint8_t b[2 << 20];
	struct memory m;
	struct atw_source *s = paced(&m, &p);
	double from = seconds(), end, took;

	CHECK_EQ(atw_read(s, ATW_PA(0), b, sizeof(b), NULL), sizeof(b));
	took = seconds() - from;
	end = (double)p.next / 1e9 - from;
	atw_source_close(s);
	CHECK_EQ(p.memory.bytes, sizeof(b));
	/*
	 * Not earlier, however late a machine under load may be. When the next read would
	 * be allowed: half a second after the first, and later only by that.
	 */
	CHECK(took > 0.48);
	CHECK(end > 0.499);
	CHECK(end < took + 0.02);
	/* A hundredth of a second's worth, and no entry of a table in two parts. */
	CHECK(m.largest <= (4 << 20) / 100);
	CHECK(m.largest > (4 << 20) / 200);
	for (size_t i = 0; i < sizeof(b); i += 4093)
		CHECK_EQ(b[i], (uint8_t)i);
}

TEST(many_pieces_are_as_slow)
{
	static uint8_t b[64][4096];
	struct pace p = { .rate = 1 << 20 };
	struct atw_piece piece[64];
	struct memory m;
	struct atw_source *s = paced(&m, &p);
	double took;

	for (unsigned i = 0; i < 64; i++)
		piece[i] = (struct atw_piece){ ATW_PA(i * 8192 + 24), b[i], i % 2 ? 8 : 4096, 0 };
	m.last_end = 0;
	took = -seconds();
	atw_read_many(s, piece, 64, NULL);
	took += seconds();
	for (unsigned i = 0; i < 64; i++) {
		CHECK_EQ(piece[i].got, i % 2 ? 8 : 4096);
		CHECK_EQ(b[i][0], 24);
	}
	CHECK_EQ(p.memory.bytes, 32 * 4096 + 32 * 8);
	CHECK(m.largest <= (1 << 20) / 100);
	/* 131328 bytes, of which the last slice need not be waited for. */
	CHECK(took > 0.09);
	atw_source_close(s);
}

TEST(entries_are_never_read_in_two_parts)
{
	static uint8_t b[4096];
	struct pace p = { .rate = 100000 };
	struct memory m;
	struct atw_source *s = paced(&m, &p);

	m.last_end = 0x1018 + 4096;
	CHECK_EQ(atw_read(s, ATW_PA(0x1018), b, sizeof(b), NULL), sizeof(b));
	CHECK(!m.torn);
	CHECK(m.reads > 3);
	CHECK_EQ(b[4095], 0x17);
	atw_source_close(s);
}

TEST(files_are_as_slow)
{
	struct pace p = { .rate = 100000 };
	char path[] = "/tmp/atwalk-pace.XXXXXX", b[20000];
	int fd = mkstemp(path);
	double took;

	CHECK(fd >= 0);
	unlink(path);
	memset(b, 'x', sizeof(b));
	CHECK_EQ(write(fd, b, sizeof(b)), sizeof(b));
	b[0] = 'y';
	took = -seconds();
	CHECK_EQ(pace_pread(&p, fd, b, 15000, 100), 15000);
	took += seconds();
	CHECK(took > 0.1);
	CHECK_EQ(b[0], 'x');
	CHECK_EQ(p.proc.bytes, 15000);
	CHECK_EQ(p.memory.bytes, 0);
	/* Short read at the end, nothing behind it, and no delay. */
	CHECK_EQ(pace_pread(&p, fd, b, 2000, 19000), 1000);
	CHECK_EQ(pace_pread(&p, fd, b, 2000, 20000), 0);
	CHECK_EQ(p.proc.bytes, 16000);
	CHECK_EQ(pace_pread(NULL, fd, b, 20000, 0), 20000);
	CHECK_EQ((uint64_t)pace_pread(&p, -1, b, 8, 0), (uint64_t)-1);
	close(fd);
}
