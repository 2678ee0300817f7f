/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uSCOPE's numbers agree with those of a kernel of three functions, worked out by hand.
 *
 *	f1 (20 bytes)  reads S1 at two places, calls f2 and f3 from one
 *	f2 (30 bytes)  reads S1 and S2 at one place, calls itself
 *	f3 (16 bytes)  writes S2 at one place, S1 and S2 at another
 *
 * S1 allocates 10 bytes, S2 20; there are no times, so that is what they weigh.
 */
#include "test.h"

#include <unistd.h>

#include "kmap/lib/privilege.h"
#include "kmap/tests/kmap_text.h"

static const char text[] =
	"ffffffff81000003 ffffffff81000014 5\n"
	"ffffffff81000003 ffffffff81000032 3\n"
	"ffffffff81000016 ffffffff81000014 2\n"
	"ffffffff81000010,0,ffff888000001000,10,0,0,0,KMALLOC,sh,a\n"
	"  ffffffff81000001,0,4\n"
	"  ffffffff81000002,0,5\n"
	"  ffffffff81000015,0,6\n"
	"  ffffffff81000034,7,0\n"
	"ffffffff81000040,0,ffff888000002000,20,0,0,0,KMALLOC,sh,b\n"
	"  ffffffff81000015,0,8\n"
	"  ffffffff81000033,9,0\n"
	"  ffffffff81000034,1,0\n";
static const char symbols[] =
	"ffffffff81000000 T f1\nffffffff81000014 T f2.part.0\nffffffff81000032 T f3\n"
	"ffffffff81000042 T end\n";

static struct kmap_model *m;
static struct kmap_names *n;
static char path[64];

static bool begin(bool named)
{
	struct kmap_symbols_opts o = { 0 };

	snprintf(path, sizeof(path), "/tmp/kmap-symbols.%d", (int)getpid());
	if (named) {
		FILE *f = fopen(path, "w");

		if (!f || fputs(symbols, f) < 0 || fclose(f))
			return false;
		o.symbols = path;
	}
	m = kmap_of_text(text);
	return m && kmap_names_open(&o, m, &n, NULL) == ATW_OK;
}

static void end(void)
{
	kmap_names_close(n);
	kmap_model_close(m);
	unlink(path);
}

TEST(as_by_hand)
{
	struct kmap_privilege min, mono, cut;
	struct kmap_compartment *c;
	struct kmap_units u;
	const char *why;
	uint64_t total, out = 0, all = 0, ppm;
	unsigned known;

	CHECK(begin(true));
	known = kmap_ops_known(m, n, &why);
	CHECK(!why);
	CHECK_EQ(known, 1 << KMAP_READ | 1 << KMAP_WRITE | 1 << KMAP_CALLS);
	min = kmap_ps_min(m, n);
	CHECK_EQ(min.v[KMAP_READ], 10 + 10 + 30);
	CHECK_EQ(min.v[KMAP_WRITE], 20 + 30);
	CHECK_EQ(min.v[KMAP_CALLS], 30 + 16 + 30);
	CHECK_EQ(kmap_ps_mono(m, n, &mono, NULL), ATW_OK);
	CHECK_EQ(mono.v[KMAP_READ], 3 * 30);
	CHECK_EQ(mono.v[KMAP_WRITE], 2 * 30);
	CHECK_EQ(mono.v[KMAP_CALLS], 2 * 66);
	CHECK(kmap_ps_total(&mono, known, &total));
	CHECK_EQ(total, 90 + 60 + 132);

	CHECK_EQ(kmap_units_init(&u, m, n, KMAP_FUNCTION, NULL), ATW_OK);
	CHECK_EQ(kmap_compartments(m, &u, &c, NULL), ATW_OK);
	kmap_ps_cut(c, u.n, known, &cut);
	CHECK_EQ(cut.v[KMAP_READ], 2 * 10 + 1 * 30);
	CHECK_EQ(cut.v[KMAP_WRITE], 2 * 30);
	CHECK_EQ(cut.v[KMAP_CALLS], 1 * (30 + 16) + 1 * 30);
	for (size_t i = 0; i < u.n; i++) {
		out += c[i].out;
		all += c[i].out + c[i].inside;
	}
	CHECK_EQ(out, 8);
	CHECK_EQ(all, 10);
	CHECK(kmap_ppm(out, all, &ppm));
	CHECK_EQ(ppm, 800000);
	CHECK(kmap_ppm(cut.v[KMAP_READ], mono.v[KMAP_READ], &ppm));
	CHECK_EQ(ppm, 555556);
	free(c);
	kmap_units_deinit(&u);
	end();
}

TEST(what_is_not_known_is_not_counted)
{
	struct kmap_privilege p;
	const char *why;
	uint64_t total;
	unsigned known;

	CHECK(begin(false));
	known = kmap_ops_known(m, n, &why);
	CHECK_EQ(known, 1 << KMAP_READ | 1 << KMAP_WRITE);
	CHECK(strstr(why, "sizes of all functions"));
	p = kmap_ps_min(m, n);
	CHECK_EQ(p.have, known);
	CHECK(kmap_ps_total(&p, known, &total));
	CHECK_EQ(total, 100);
	end();
	m = NULL;
}

TEST(more_than_64_bits_is_no_number)
{
	const struct kmap_compartment big[2] = {
		{ .instructions = { 1u << 31, 1 }, .reach = { UINT64_MAX / 2, UINT64_MAX } },
		{ .instructions = { 1, 0 }, .reach = { 1, 1 } },
	};
	struct kmap_privilege p;
	uint64_t total, ppm;

	kmap_ps_cut(big, 2, 3, &p);
	CHECK_EQ(p.have, 1 << KMAP_WRITE);
	CHECK_EQ(p.v[KMAP_WRITE], UINT64_MAX);
	CHECK(!kmap_ps_total(&p, 3, &total));
	CHECK(kmap_ps_total(&p, 1 << KMAP_WRITE, &total));
	CHECK(!kmap_ppm(1, 0, &ppm));
	CHECK(kmap_ppm(UINT64_MAX, 1, &ppm));
	CHECK_EQ(ppm, UINT64_MAX);
}

/* ---- names ---- */

TEST(pieces_of_a_function_are_the_function)
{
	static const struct { const char *name; size_t len; } table[] = {
		{ "kfree", 5 }, { "vfs_read.part.0", 8 }, { "a.constprop.0.cold", 1 },
		{ "kmem_cache_alloc_noprof", 16 }, { "__kmalloc_noprof.isra.0", 9 },
		{ "f.isra.12.part.3.constprop.0", 1 }, { "x.cold.7", 1 }, { "y.llvm.1234567", 1 },
		/* These are not. */
		{ "part.0", 6 }, { "_noprof", 7 }, { "a.part.", 7 }, { "a.part.x", 8 },
		{ "a.0", 3 }, { ".cold", 5 }, { "", 0 }, { "0", 1 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		CHECK_EQ(kmap_plain_name(table[i].name, strlen(table[i].name)), table[i].len);
}

TEST(functions_by_name)
{
	struct kmap_units u;
	char place[600];
	size_t found, all;

	CHECK(begin(true));
	kmap_names_found(n, &found, &all);
	CHECK_EQ(found, all);
	CHECK_EQ(kmap_units_init(&u, m, n, KMAP_FUNCTION, NULL), ATW_OK);
	CHECK_EQ(u.n, 3);
	CHECK_STR(u.v[1].name, "f2");
	CHECK_EQ(u.v[1].size, 30);
	CHECK_EQ(u.v[1].reads, 14);
	CHECK_EQ(u.v[1].instructions, 1);
	/* The first one that was met is the first call's. */
	CHECK_STR(kmap_place(n, 0, place), "f1+0x3");
	kmap_units_deinit(&u);
	CHECK_EQ(kmap_units_init(&u, m, n, KMAP_DIRECTORY, NULL), ATW_E_MISSING);
	end();
}
