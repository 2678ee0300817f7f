/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions are clustered as by a second way, which compares all pairs of clusters at
 * each step and counts everything again.
 */
#include "test.h"

#include "base/buf.h"
#include "kmap/lib/cluster.h"
#include "kmap/lib/privilege.h"
#include "kmap/tests/kmap_text.h"
#include "random.h"

enum { F = 14, S = 6 };                  /* functions, sites */

/* ---- a kernel ---- */

struct kernel {
	uint64_t size[F], calls[F][F];
	uint64_t instructions[F][KMAP_OPS];
	unsigned ops[F][S];
	uint64_t weight[S];
	struct kmap_model *m;
	struct kmap_units u;
	uint64_t all;
};

/* Function f is at f * 4096: instructions that call, then those that touch site s. */
static bool begin(struct kernel *k, uint64_t *seed)
{
	struct buf b = { 0 };

	*k = (struct kernel){ 0 };
	for (unsigned f = 0; f < F; f++)
		k->size[f] = 1 + random_below(seed, 50);
	for (unsigned n = 0; n < 2 * F; n++) {
		unsigned from = (unsigned)random_below(seed, F), to = (unsigned)random_below(seed, F);
		uint64_t count = random_below(seed, 4);

		k->calls[from][to] += count;
		buf_printf(&b, "%x %x %u\n", 0x100000 + from * 4096 + n, 0x100000 + to * 4096,
			   (unsigned)count);
		k->instructions[from][KMAP_CALLS] += count != 0;
		k->all += count;
	}
	for (unsigned s = 0; s < S; s++) {
		k->weight[s] = 1 + random_below(seed, 30);
		buf_printf(&b, "%x,0,%x,%u,0,0,0,KMALLOC,sh,c%u\n", 0x80000 + s, 0x1000 * (s + 1),
			   (unsigned)k->weight[s], s);
		for (unsigned f = 0; f < F; f++) {
			bool reads = !random_below(seed, 3), writes = !random_below(seed, 4);

			if (!reads && !writes)
				continue;
			buf_printf(&b, "  %x,%u,%u\n", 0x100800 + f * 4096 + s, writes, reads);
			k->ops[f][s] = (unsigned)reads << KMAP_READ | (unsigned)writes << KMAP_WRITE;
			k->instructions[f][KMAP_READ] += reads;
			k->instructions[f][KMAP_WRITE] += writes;
		}
	}
	buf_char(&b, '\0');
	k->m = b.failed ? NULL : kmap_of_text(b.data);
	buf_deinit(&b);
	if (!k->m)
		return false;
	/* Sites are code, too: of a function that does nothing. */
	k->u.n = F + 1;
	k->u.of = calloc(k->m->code.n + 1, sizeof(*k->u.of));
	k->u.v = calloc(F + 2, sizeof(*k->u.v));
	for (size_t i = 0; i < k->m->code.n; i++) {
		uint64_t ip = kmap_code(k->m, i)->key.a;

		k->u.of[i] = ip < 0x100000 ? F : (uint32_t)((ip - 0x100000) / 4096);
	}
	for (unsigned f = 0; f < F; f++)
		k->u.v[f].size = k->size[f];
	return true;
}

static void end(struct kernel *k)
{
	kmap_model_close(k->m);
	kmap_units_deinit(&k->u);
}

/* ---- the second way ---- */

struct sums {
	uint64_t size, instructions[KMAP_OPS];
	unsigned ops[S];
	unsigned first;
};

static struct sums sums(const struct kernel *k, const unsigned to[F], unsigned g)
{
	struct sums x = { .first = F };

	for (unsigned f = F; f--;) {
		if (to[f] != g)
			continue;
		x.first = f;
		x.size += k->size[f];
		for (unsigned op = 0; op < KMAP_OPS; op++)
			x.instructions[op] += k->instructions[f][op];
		for (unsigned s = 0; s < S; s++)
			x.ops[s] |= k->ops[f][s];
	}
	return x;
}

static uint64_t size_cost(const struct sums *x, const struct sums *y)
{
	uint64_t added = 0;

	for (unsigned s = 0; s < S; s++)
		added += !x->ops[s] != !y->ops[s];
	return (added + 1) * (x->size < y->size ? x->size : y->size);
}

static uint64_t privilege_cost(const struct kernel *k, const struct sums *x,
			       const struct sums *y)
{
	uint64_t cost = x->instructions[KMAP_CALLS] * y->size +
			y->instructions[KMAP_CALLS] * x->size;

	for (unsigned op = 0; op < KMAP_CALLS; op++)
		for (unsigned s = 0; s < S; s++) {
			bool a = x->ops[s] >> op & 1, b = y->ops[s] >> op & 1;

			if (a != b)
				cost += k->weight[s] * (a ? y : x)->instructions[op];
		}
	return cost;
}

static uint64_t calls(const struct kernel *k, const unsigned to[F], unsigned a, unsigned b)
{
	uint64_t n = 0;

	for (unsigned f = 0; f < F; f++)
		for (unsigned g = 0; g < F; g++)
			if ((to[f] == a && to[g] == b) || (to[f] == b && to[g] == a))
				n += k->calls[f][g];
	return n;
}

/* false: there is none left. */
static bool step(const struct kernel *k, const struct kmap_cut *cut, unsigned to[F])
{
	uint64_t best_calls = 0, best_cost = 1;
	unsigned best_a = 0, best_b = 0;

	/* A group has the number of its first function: equal ones come in their order. */
	for (unsigned a = 0; a < F; a++)
		for (unsigned b = a + 1; b < F; b++) {
			struct sums x = sums(k, to, a), y = sums(k, to, b);
			uint64_t n = calls(k, to, a, b), cost;

			if (x.first == F || y.first == F || !n)
				continue;
			cost = cut->by == KMAP_CUT_SIZE ? size_cost(&x, &y) : privilege_cost(k, &x, &y);
			if (cut->by == KMAP_CUT_SIZE ? x.size + y.size > cut->bound :
			    (unsigned __int128)n * 1000000 * 1000000000000 <
			    (unsigned __int128)cut->bound * k->all * cost)
				continue;
			if (n * best_cost < best_calls * cost ||
			    (n * best_cost == best_calls * cost && n <= best_calls))
				continue;
			best_calls = n;
			best_cost = cost;
			best_a = a;
			best_b = b;
		}
	for (unsigned f = 0; f < F && best_calls; f++)
		if (to[f] == best_b)
			to[f] = best_a;
	return best_calls;
}

static bool same(const struct kernel *k, const struct kmap_cut *cut)
{
	unsigned want[F];
	uint32_t *to;
	size_t n;
	bool equal = true;

	for (unsigned f = 0; f < F; f++)
		want[f] = f;
	while (step(k, cut, want))
		;
	if (kmap_cluster(k->m, &k->u, cut, &to, &n, NULL) != ATW_OK)
		return false;
	for (unsigned f = 0; f < F; f++)
		for (unsigned g = 0; g < F; g++)
			equal = equal && (to[f] == to[g]) == (want[f] == want[g]);
	for (unsigned f = 0, next = 0; f <= F; f++) {
		equal = equal && to[f] <= next && to[f] < n;
		next += to[f] == next;
	}
	free(to);
	return equal;
}

TEST(as_all_pairs_at_each_step)
{
	static const uint64_t sizes[] = { 1, 40, 100, 250, 100000 };
	/* In units of 10^-12: 100000, 1000, 100, 10, any. */
	static const uint64_t ratios[] = {
		UINT64_C(100000000000000000), UINT64_C(1000000000000000),
		UINT64_C(100000000000000), UINT64_C(10000000000000), 0,
	};
	uint64_t seed = 1;

	for (unsigned round = 0; round < 300; round++) {
		struct kernel k;

		CHECK(begin(&k, &seed));
		for (unsigned i = 0; i < 5; i++)
			if (!same(&k, &(struct kmap_cut){ KMAP_CUT_SIZE, sizes[i], "" }) ||
			    !same(&k, &(struct kmap_cut){ KMAP_CUT_RATIO, ratios[i], "" })) {
				end(&k);
				TEST_FAIL("round %u, bound %u", round, i);
				return;
			}
		end(&k);
	}
}

/* ---- numbers that are too large for anything but care ---- */

TEST(the_largest_numbers)
{
	static const char text[] =
		"100000 101000 18446744073709551615\n"
		"100001 102000 18446744073709551615\n"
		"101001 102000 18446744073709551615\n"
		"5,0,1000,18446744073709551615,0,0,0,KMALLOC,sh,a\n"
		"  100800,1,1\n"
		"6,0,2000,18446744073709551615,0,0,0,KMALLOC,sh,b\n"
		"  101800,18446744073709551615,1\n";
	const struct kmap_cut cuts[] = {
		{ KMAP_CUT_SIZE, UINT64_MAX, "" }, { KMAP_CUT_SIZE, UINT64_MAX - 1, "" },
		{ KMAP_CUT_RATIO, 0, "" }, { KMAP_CUT_RATIO, UINT64_C(1000000000000000000), "" },
	};
	static const size_t want[] = { 2, 2, 1, 3 };
	struct kmap_units u = { .n = 3 };
	struct kmap_model *m = kmap_of_text(text);

	CHECK(m);
	u.of = calloc(m->code.n + 1, sizeof(*u.of));
	u.v = calloc(4, sizeof(*u.v));
	for (size_t i = 0; i < m->code.n; i++)
		u.of[i] = (uint32_t)((kmap_code(m, i)->key.a - 0x100000) / 4096);
	u.v[0].size = u.v[1].size = UINT64_MAX / 2;
	u.v[2].size = UINT64_MAX;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t *to;
		size_t n;

		CHECK_EQ(kmap_cluster(m, &u, &cuts[i], &to, &n, NULL), ATW_OK);
		CHECK_EQ(n, want[i]);
		free(to);
	}
	kmap_units_deinit(&u);
	kmap_model_close(m);
}
