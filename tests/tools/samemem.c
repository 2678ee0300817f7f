/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samemem [-x FROM-TO] A B [PART-OF-B...] - whether two sources hold the same memory
 *
 * -x leaves out these addresses (hexadecimal).
 * Every byte that either has is compared. One line shows how many are equal,
 * differ, could not be read, or are in one source only (in B with what B says
 * instead of having them). Exit 0: everything both have is equal and neither
 * has more; 1: not so; 2: could not be opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

#define CHUNK ((size_t)1 << 20)

static struct target *open_or_die(char **argv, int n)
{
	const struct atw_source_spec given = {
		.parts = (const char *const *)argv + 1, .nparts = (size_t)n,
	};
	struct target *t;
	struct atw_err err = { 0 };

	if (target_open(argv[0], &given, NULL, &t, &err) < 0) {
		fprintf(stderr, "samemem: %s\n", err.text);
		exit(2);
	}
	return t;
}

struct sums {
	uint64_t same, differ, failed, only_a, only_b, excluded;
	uint64_t first_difference;
	struct atw_err first_failure;
};

/* What there is at pa and for how long, at most up to `limit` (0: 2^64). */
static enum atw_extent_kind at(struct atw_source *s, uint64_t pa, uint64_t *len)
{
	struct atw_extent e;

	if (atw_extent_at(s, ATW_PA(pa), &e) != ATW_OK) {
		*len = UINT64_MAX - pa;
		return ATW_NONE;
	}
	*len = e.len ? e.len : UINT64_MAX - pa;
	return e.kind;
}

static bool has(enum atw_extent_kind k)
{
	return k == ATW_DATA || k == ATW_ZERO;
}

static bool get(struct atw_source *s, uint64_t pa, void *buf, size_t len,
		struct sums *sum)
{
	for (size_t done = 0; done < len;) {
		struct atw_err err = { 0 };
		ssize_t n = atw_read(s, ATW_PA(pa + done), (char *)buf + done,
				     len - done, &err);

		if (n <= 0) {
			if (!sum->first_failure.text[0])
				sum->first_failure = err;
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

static void compare(struct atw_source *a, struct atw_source *b, uint64_t pa,
		    uint64_t len, struct sums *sum)
{
	static char x[CHUNK], y[CHUNK];

	while (len) {
		/* A page at a time where reading fails, to count fairly. */
		size_t n = len < CHUNK ? (size_t)len : CHUNK;

		if (!get(a, pa, x, n, sum) || !get(b, pa, y, n, sum)) {
			n = n < 4096 ? n : 4096;
			if (!get(a, pa, x, n, sum) || !get(b, pa, y, n, sum)) {
				sum->failed += n;
				pa += n;
				len -= n;
				continue;
			}
		}
		if (!memcmp(x, y, n)) {
			sum->same += n;
		} else {
			for (size_t i = 0; i < n; i++) {
				if (x[i] == y[i]) {
					sum->same++;
				} else if (!sum->differ++) {
					sum->first_difference = pa + i;
				}
			}
		}
		pa += n;
		len -= n;
	}
}

int main(int argc, char **argv)
{
	struct target *at_a, *at_b;
	struct atw_source *a, *b;
	struct sums sum = { 0 };
	uint64_t pa = 0, la, lb, len, from = UINT64_MAX, to = UINT64_MAX;
	char what[128] = "";

	if (argc > 2 && !strcmp(argv[1], "-x") &&
	    sscanf(argv[2], "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from < to) {
		argc -= 2;
		argv += 2;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: samemem [-x FROM-TO] A B [PART-OF-B...]\n");
		return 2;
	}
	at_a = open_or_die(argv + 1, 0);
	at_b = open_or_die(argv + 2, argc - 3);
	a = at_a->source;
	b = at_b->source;
	while (pa < UINT64_MAX) {
		enum atw_extent_kind ka = at(a, pa, &la), kb = at(b, pa, &lb);

		len = la < lb ? la : lb;
		if (pa >= from && pa < to) {
			pa = to;
			continue;
		}
		if (pa < from && len > from - pa)
			len = from - pa;
		if (has(ka) && has(kb)) {
			compare(a, b, pa, len, &sum);
		} else if (has(ka)) {
			sum.only_a += len;
			if (kb == ATW_EXCLUDED)
				sum.excluded += len;
		} else if (has(kb)) {
			sum.only_b += len;
		}
		pa += len;
	}
	if (b->ops->describe)
		b->ops->describe(b, what, sizeof(what));
	printf("%" PRIu64 " same, %" PRIu64 " differ, %" PRIu64 " unreadable, %" PRIu64
	       " only in A (%" PRIu64 " excluded from B), %" PRIu64 " only in B [%s]\n",
	       sum.same, sum.differ, sum.failed, sum.only_a, sum.excluded, sum.only_b, what);
	if (sum.differ)
		printf("  first difference at 0x%" PRIx64 "\n", sum.first_difference);
	if (sum.failed)
		printf("  first failure: %s\n", sum.first_failure.text);
	target_close(at_a);
	target_close(at_b);
	return sum.differ || sum.failed || sum.only_a || sum.only_b || !sum.same;
}
