/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - every operation of a source, with checks of its contract.
 */
#pragma once

#include "fuzz.h"

enum {
	SOURCE_EXTENTS = 200,    /* looked at, in order */
	SOURCE_READ = 10000,     /* bytes, at each of them */
};

static inline void check_facts(struct atw_source *s)
{
	static const char *const keys[] = {
		"vmcoreinfo", "release", "machine", "cpus", "truncated", "damaged",
		"cpu0.cr0", "cpu0.cr3", "cpu0.cr1", "cpu1.cr4", "cpu1.prstatus",
		"cpu18446744073709551616.cr3", "cpu.", "",
	};
	char text[64];
	uint64_t v;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct atw_blob b;

		if (atw_fact(s, keys[i], &b) == ATW_OK) {
			FUZZ_CHECK(b.data && b.len, "fact %s is empty", keys[i]);
			touch(b.data, b.len);
		}
		atw_fact_u64(s, keys[i], &v);
	}
	memset(text, 1, sizeof(text));
	s->ops->describe(s, text, 16);
	FUZZ_CHECK(memchr(text, 0, 16) && text[16] == 1, "describe() exceeds its buffer");
	s->ops->describe(s, text, sizeof(text));
}

/* read() and peek() agree with each other and with the extent. */
static inline void check_bytes(struct atw_source *s, const struct atw_extent *e)
{
	static uint8_t buf[SOURCE_READ], one[16];
	struct atw_err err = { 0 };
	uint64_t off = e->len > 5 ? 5 : 0;
	atw_pa pa = ATW_PA(e->start.u + off);
	const void *lent;
	ssize_t n, m;

	n = s->ops->read(s, pa, buf, sizeof(buf), &err);
	FUZZ_CHECK(n <= (ssize_t)sizeof(buf), "read %zd bytes of %zu", n, sizeof(buf));
	check_err((int)(n < 0 ? n : 0), &err);
	if (e->kind == ATW_ZERO) {
		FUZZ_CHECK(n < 0 || (n && !buf[0]), "read %zd bytes where there are zeroes", n);
		return;
	}
	if (e->kind != ATW_DATA) {
		FUZZ_CHECK(n == 0, "read %zd bytes where there are none", n);
		return;
	}
	FUZZ_CHECK(n, "extent says data at 0x%" PRIx64 ", read says none", pa.u);
	if (n > 0) {
		m = s->ops->read(s, pa, one, sizeof(one), &err);
		FUZZ_CHECK(m > 0 && !memcmp(one, buf, (size_t)(m < n ? m : n)),
			   "the same bytes read twice differ");
	}
	if (s->ops->peek) {
		m = s->ops->peek(s, pa, sizeof(buf), &lent, &err);
		FUZZ_CHECK(n > 0 && m > 0 && m <= n && !memcmp(lent, buf, (size_t)m),
			   "peek lends %zd, read copies %zd", m, n);
	}
	/* A read across the end of the extent must not exceed the buffer. */
	pa.u = e->start.u + e->len - 1;
	n = atw_read(s, pa, buf, sizeof(buf), &err);
	FUZZ_CHECK(n <= (ssize_t)sizeof(buf), "read %zd bytes of %zu", n, sizeof(buf));
}

static inline void check_source(struct atw_source *s)
{
	static const uint64_t places[] = {
		0, 0xfff, 0x1000, 0xffffffff, (uint64_t)1 << 52, UINT64_MAX,
	};
	struct atw_extent e;
	uint64_t pa = 0;

	check_facts(s);
	for (int i = 0; i < SOURCE_EXTENTS; i++) {
		int r = atw_extent_at(s, ATW_PA(pa), &e);

		FUZZ_CHECK(r == ATW_OK || r == ATW_END, "extent returns %d", r);
		if (r == ATW_END)
			break;
		FUZZ_CHECK(e.start.u == pa, "extent 0x%" PRIx64 " starts at 0x%" PRIx64,
			   pa, e.start.u);
		FUZZ_CHECK(e.len, "an empty extent at 0x%" PRIx64, pa);
		FUZZ_CHECK(pa + e.len > pa || !(pa + e.len), "extent wraps around");
		check_bytes(s, &e);
		pa += e.len;
		if (!pa)
			break;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (atw_extent_at(s, ATW_PA(places[i]), &e) == ATW_OK)
			check_bytes(s, &e);
}

/* Opens a file as `kind` ("elf"; NULL: detected) and runs all checks. */
static inline void check_file(const char *kind, const uint8_t *data, size_t len)
{
	char path[64], text[96];
	int fd = memory_file(data, len, path), r;
	struct atw_source *s = NULL;
	struct atw_err err = { 0 };

	snprintf(text, sizeof(text), "%s%s%s", kind ? kind : "", kind ? ":" : "", path);
	r = atw_source_open(text, NULL, 0, &s, &err);
	check_err(r, &err);
	if (r == ATW_OK) {
		check_source(s);
		atw_source_close(s);
	} else {
		FUZZ_CHECK(strstr(err.text, path), "'%s' does not name the file",
			   err.text);
	}
	close(fd);
}
