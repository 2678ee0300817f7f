/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.c - cost of translations and listings of a DUMP, in ratios to a plain C walk.
 *
 * Everything runs on one input in one process, see measure.h. The dump is
 * mapped and warm. The plain walk and libaddrxlat take part where the dump is
 * x86_64 with four levels.
 */
#include "child.h"
#include "measure.h"

#include "linux/linux.h"

#include "random.h"
#include "resident.h"
#include "walk/memory.h"
#include "walk/rmap.h"
#include "xlat.h"

enum { ADDRESSES = 1000000, QUERIES = 20000, NEAR = 2048 };

struct input {
	const char *path;
	struct atw_source *src;
	struct atw_kernel *kernel;
	const struct mmu_space *sp;
	struct mmu_lookup *lookup;
	struct plain plain;
	bool have_plain;
	struct xlat xlat;
	const char *no_xlat;     /* why not */
	uint64_t leaves, tables;
	atw_va *va;              /* ADDRESSES of mapped bytes, shuffled */
	atw_va *near;            /* the same of few tables, which fit the CPU's cache */
	uint64_t *pa;            /* QUERIES of bytes that are mapped somewhere */
};

static void need_of(int r, const char *path, const struct atw_err *err)
{
	if (r < 0)
		errx(1, "%s: %s", path, err->text);
}

/* ---- one address ---- */

static struct answer translate_plain(void *arg)
{
	const struct input *in = arg;
	struct answer a = { ADDRESSES, 0 };

	for (size_t i = 0; i < ADDRESSES; i++)
		a.sum += plain_translate(&in->plain, in->va[i].u);
	return a;
}

static struct answer translate_atwalk(void *arg)
{
	const struct input *in = arg;
	struct answer a = { ADDRESSES, 0 };
	struct mmu_seen s;

	for (size_t i = 0; i < ADDRESSES; i++) {
		if (mmu_translate(in->sp, in->va[i], &s, NULL) < 0)
			a.count--;
		a.sum += s.pa.u + (in->va[i].u - s.va.u);
	}
	return a;
}

static struct answer look_up(void *arg)
{
	const struct input *in = arg;
	struct answer a = { ADDRESSES, 0 };
	struct mmu_place p;

	for (size_t i = 0; i < ADDRESSES; i++) {
		if (mmu_lookup(in->lookup, in->va[i], &p, NULL) < 0)
			a.count--;
		a.sum += p.pa.u;
	}
	return a;
}

static struct answer look_up_many(void *arg)
{
	enum { AT_ONCE = 500 };
	const struct input *in = arg;
	struct answer a = { ADDRESSES, 0 };
	struct mmu_brief brief[AT_ONCE];
	atw_pa pa[AT_ONCE];

	for (size_t i = 0; i < ADDRESSES; i += AT_ONCE) {
		mmu_lookup_many(in->lookup, in->va + i, AT_ONCE, pa, brief);
		for (size_t k = 0; k < AT_ONCE; k++) {
			a.count -= brief[k].status < 0;
			a.sum += pa[k].u;
		}
	}
	return a;
}

#ifdef HAVE_ADDRXLAT
static struct answer translate_xlat(const struct input *in, addrxlat_ctx_t *ctx)
{
	struct answer a = { ADDRESSES, 0 };

	for (size_t i = 0; i < ADDRESSES; i++)
		a.sum += xlat_translate(ctx, &in->xlat, in->va[i].u);
	return a;
}

static struct answer translate_kdumpfile(void *arg)
{
	const struct input *in = arg;

	return translate_xlat(in, in->xlat.over_kdumpfile);
}

static struct answer translate_lent(void *arg)
{
	const struct input *in = arg;

	return translate_xlat(in, in->xlat.over_lent);
}
#endif

/* All tables are in the cache, and what is done once weighs more than the leaves. */
static bool is_small(const struct input *in)
{
	return in->leaves < 100000;
}

static void translations(struct input *in)
{
	const struct way ways[] = {
		{ .name = "plain C walk", .go = translate_plain },
		{ .name = "mmu_lookup_many", .go = look_up_many, .times = is_small(in) ? 1 : 0.5 },
		{ .name = "mmu_lookup", .go = look_up, .times = 1.5 },
		{ .name = "mmu_translate, with the path", .go = translate_atwalk },
#ifdef HAVE_ADDRXLAT
		{ .name = "libaddrxlat, memory lent to it", .go = translate_lent },
		{ .name = "libaddrxlat over libkdumpfile", .go = translate_kdumpfile },
#endif
	};
	size_t n = sizeof(ways) / sizeof(ways[0]);

	heading("a random translation, ns of CPU time", in->have_plain ? "to plain" : "");
	if (!in->have_plain)
		contest(ways + 1, 3, in, ADDRESSES);
	else
		contest(ways, in->no_xlat ? 4 : n, in, ADDRESSES);
	if (in->no_xlat)
		printf("  %-44s %s\n", "libaddrxlat", in->no_xlat);
}

/* The tables are in the cache: what is left is the cost of the instructions. */
static void translations_near(struct input *in)
{
	static const struct way ways[] = {
		{ .name = "plain C walk", .go = translate_plain },
		{ .name = "mmu_lookup_many", .go = look_up_many, .times = 1 },
		{ .name = "mmu_lookup", .go = look_up, .times = 1.5 },
	};
	struct input near = *in;

	near.va = in->near;
	heading("the same in the first 2048 leaves", in->have_plain ? "to plain" : "");
	contest(ways + !in->have_plain, 3u - !in->have_plain, &near, ADDRESSES);
}

/* ---- every mapping, without output ---- */

static struct answer list_plain(void *arg)
{
	const struct input *in = arg;
	struct answer a = { 0 };

	a.sum = plain_list(&in->plain, in->plain.root, 39, &a.count);
	return a;
}

/*
 * Walk everything; `look` adds up what it finds in a piece of leaves. Leaves of
 * tables that are folded count as listed: one piece stands for them.
 */
static inline struct answer list(const struct input *in, uint32_t flags,
				 uint64_t (*look)(const struct mmu_space *,
						  const struct mmu_seen *))
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .flags = flags,
	};
	struct answer a = { 0 };
	const struct mmu_seen *s;
	struct atw_err err = { 0 };
	struct mmu_walk *w;
	int r = mmu_walk_open(in->sp, &o, &w, &err);

	need_of(r, in->path, &err);
	while ((r = mmu_walk_next(w, &s, &err)) == ATW_OK)
		if (s->kind == ATW_LEAF && !s->loss) {
			a.count += s->count;
			a.sum += look(in->sp, s);
		}
	need_of(r, in->path, &err);
	if (mmu_walk_stats(w).folded)
		a.count = in->leaves;
	mmu_walk_close(w);
	return a;
}

static inline uint64_t no_look(const struct mmu_space *sp, const struct mmu_seen *s)
{
	return 0;
}

/* x86_64 only: the word is the address but for its outer bits. */
static inline uint64_t look_words(const struct mmu_space *sp, const struct mmu_seen *s)
{
	uint64_t slot = (uint64_t)1 << sp->paging.level[s->level].shift, sum = 0;

	for (uint32_t i = 0; i < s->count; i++)
		sum += load_word(s->words, 8, i) & PLAIN_ADDR & ~(slot - 1);
	return sum;
}

static inline uint64_t look_pa(const struct mmu_space *sp, const struct mmu_seen *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->count; i++)
		sum += mmu_seen_pa(sp, s, i).u;
	return sum;
}

static inline uint64_t look_pas(const struct mmu_space *sp, const struct mmu_seen *s)
{
	enum { AT_ONCE = 512 };
	atw_pa pa[AT_ONCE];
	uint64_t sum = 0, odd = 0;       /* two sums halve the chain of dependent additions */

	for (uint32_t i = 0, n; i < s->count; i += n) {
		n = s->count - i < AT_ONCE ? s->count - i : AT_ONCE;
		mmu_seen_pas(sp, s, i, n, pa);
		for (uint32_t k = 0; k + 1 < n; k += 2) {
			sum += pa[k].u;
			odd += pa[k + 1].u;
		}
		sum += n % 2 ? pa[n - 1].u : 0;
	}
	return sum + odd;
}

static struct answer list_pieces(void *arg) { return list(arg, 0, no_look); }
static struct answer list_folded(void *arg) { return list(arg, MMU_WALK_FOLD, no_look); }
static struct answer list_words(void *arg) { return list(arg, 0, look_words); }
static struct answer list_pas(void *arg) { return list(arg, 0, look_pas); }
static struct answer list_pa(void *arg) { return list(arg, 0, look_pa); }

static inline struct answer ranges(const struct input *in, unsigned split)
{
	const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX) };
	struct atw_err err = { 0 };
	struct answer a = { 0 };
	struct mmu_ranges *rs;
	struct mmu_range g;
	int r = mmu_ranges_open(in->sp, &o, split, &rs, &err);

	need_of(r, in->path, &err);
	while ((r = mmu_ranges_next(rs, &g, &err)) == ATW_OK)
		if (g.kind == ATW_LEAF && !g.loss) {
			a.count += g.entries;
			a.sum += g.pa.u;
		}
	need_of(r, in->path, &err);
	if (mmu_walk_stats(mmu_ranges_walk(rs)).folded)
		a.count = in->leaves;
	mmu_ranges_close(rs);
	return a;
}

static struct answer list_rows(void *arg) { return ranges(arg, MMU_SPLIT_EACH); }

static struct answer list_merged(void *arg)
{
	return ranges(arg, MMU_SPLIT_RIGHTS | MMU_SPLIT_LEVEL | MMU_SPLIT_PHYSICAL);
}

static void listings(struct input *in)
{
	static const struct way ways[] = {
		{ .name = "plain C listing, addresses summed", .go = list_plain },
		{ .name = "mmu_walk, addresses summed from its words", .go = list_words, .times = 1 },
		{ .name = "mmu_walk, every piece", .go = list_pieces, .counts_only = true },
		{ .name = "mmu_walk, every piece, repeats folded", .go = list_folded, .counts_only = true, .target = 1.5 },
		{ .name = "mmu_walk, mmu_seen_pas() of every piece", .go = list_pas, .times = 1 },
		{ .name = "mmu_walk, mmu_seen_pa() of every leaf", .go = list_pa },
		{ .name = "mmu_ranges, merged as `map` does", .go = list_merged, .counts_only = true, .target = 5 },
		{ .name = "mmu_ranges, a row a leaf", .go = list_rows },
	};
	size_t n = sizeof(ways) / sizeof(ways[0]), skip = in->have_plain ? 0 : 2;

	heading("listing every mapping, ns of CPU time a leaf", in->have_plain ? "to plain" : "to first");
	contest(ways + skip, n - skip, in, in->leaves);
}

/* ---- reverse map ---- */

static struct answer reverse_find(struct input *in, size_t n)
{
	struct rmap_range *v = calloc(n, sizeof(*v));
	struct rmap_ranges want = { .v = v, .n = n };
	struct rmap f = { .want = &want };
	struct atw_err err = { 0 };
	struct answer a;

	if (!v)
		errx(1, "out of memory");
	for (size_t i = 0; i < n; i++)
		v[i] = (struct rmap_range){ .first = in->pa[i], .last = in->pa[i] };
	rmap_sort(&want);
	need_of(rmap_walk(&f, in->sp, 0, UINT64_MAX, 0, &err), in->path, &err);
	a = (struct answer){ .count = f.n };
	free(f.hit);
	rmap_ranges_deinit(&want);
	free(v);
	return a;
}

static struct answer reverse_one(void *arg)
{
	return reverse_find(arg, 1);
}

static struct answer reverse_many(void *arg)
{
	return reverse_find(arg, QUERIES);
}

static void reverses(struct input *in)
{
	static const struct way one = {
		.name = "rmap_walk of a byte, a leaf", .go = reverse_one,
	};
	/* Of few leaves, this is what it takes to sort the bytes. */
	const struct way many = {
		.name = "rmap_walk of 20000 bytes, a leaf", .go = reverse_many,
		.target = is_small(in) ? 0 : 40,
	};

	heading("reverse map, ns of CPU time", "");
	contest(&one, 1, in, in->leaves);
	contest(&many, 1, in, in->leaves);
}

/* ---- memory ---- */

static void memory(struct input *in, const char *name, struct answer (*go)(void *),
		   double target)
{
	struct resident r;
	int fd[2], status;
	long kib = -1;
	pid_t pid;

	child_pipe(fd);
	pid = child_fork();
	if (!pid) {
		go(in);
		kib = resident(getpid(), in->path, &r) ? r.peak - r.file : -1;
		_exit(write(fd[1], &kib, sizeof(kib)) != sizeof(kib));
	}
	if (read(fd[0], &kib, sizeof(kib)) != sizeof(kib) ||
	    waitpid(pid, &status, 0) < 0 || kib < 0)
		printf("  %-44s could not be measured\n", name);
	else
		figure(name, (double)kib / 1024, target);
	close(fd[0]);
	close(fd[1]);
}

/* ---- inputs ---- */

struct leaf {
	uint64_t va, pa, size;
};

static int by_pa(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	return x->pa < y->pa ? -1 : x->pa > y->pa;
}

static struct leaf *all_leaves(const struct input *in)
{
	struct leaf *leaf = malloc(in->leaves * sizeof(*leaf)), *l = leaf;
	const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX) };
	struct atw_err err = { 0 };
	const struct mmu_seen *s;
	struct mmu_walk *w;

	if (!leaf)
		errx(1, "out of memory");
	need_of(mmu_walk_open(in->sp, &o, &w, &err), in->path, &err);
	while (mmu_walk_next(w, &s, &err) == ATW_OK)
		for (uint32_t i = 0; s->kind == ATW_LEAF && !s->loss && i < s->count; i++) {
			uint64_t size = s->size / s->count;

			*l++ = (struct leaf){
				s->va.u + i * size, mmu_seen_pa(in->sp, s, i).u, size,
			};
		}
	mmu_walk_close(w);
	return leaf;
}

/*
 * A random byte of a random leaf, each leaf as likely as any other; for the reverse
 * map, a random one of the pages that are mapped, however often.
 */
static void choose_addresses(struct input *in)
{
	struct leaf *leaf = all_leaves(in);
	uint64_t seed = 2, pages = 0;

	in->va = malloc(ADDRESSES * sizeof(*in->va));
	in->near = malloc(ADDRESSES * sizeof(*in->near));
	in->pa = malloc(QUERIES * sizeof(*in->pa));
	if (!in->va || !in->near || !in->pa)
		errx(1, "out of memory");
	for (size_t i = 0; i < ADDRESSES; i++) {
		const struct leaf *l = &leaf[random_below(&seed, in->leaves)];

		in->va[i] = ATW_VA(l->va + random_below(&seed, l->size));
	}
	for (size_t i = 0; i < ADDRESSES; i++) {
		uint64_t few = in->leaves < NEAR ? in->leaves : NEAR;
		const struct leaf *l = &leaf[random_below(&seed, few)];

		in->near[i] = ATW_VA(l->va + random_below(&seed, l->size));
	}
	qsort(leaf, in->leaves, sizeof(*leaf), by_pa);
	for (uint64_t i = 0; i < in->leaves; i++)
		if (!pages || leaf[pages - 1].pa != leaf[i].pa)
			leaf[pages++] = leaf[i];
	for (size_t i = 0; i < QUERIES; i++)
		in->pa[i] = leaf[random_below(&seed, pages)].pa;
	free(leaf);
}

static void count(struct input *in)
{
	const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX) };
	struct atw_err err = { 0 };
	const struct mmu_seen *s;
	struct mmu_walk *w;

	need_of(mmu_walk_open(in->sp, &o, &w, &err), in->path, &err);
	while (mmu_walk_next(w, &s, &err) == ATW_OK)
		;
	in->leaves = mmu_walk_stats(w).leaves;
	in->tables = mmu_walk_stats(w).tables;
	mmu_walk_close(w);
}

static void measure(const char *path)
{
	const struct atw_kernel_opts o = { 0 };
	struct input in = { .path = path };
	struct atw_err err = { 0 };
	const struct atw_paging *pg;

	need_of(atw_source_open(path, NULL, 0, &in.src, &err), path, &err);
	need_of(atw_kernel_open(in.src, &o, &in.kernel, &err), path, &err);
	in.sp = atw_kernel_space(in.kernel);
	need_of(mmu_lookup_open(in.sp, &in.lookup, &err), in.path, &err);
	pg = &in.sp->paging;
	count(&in);
	printf("\n%s: %s, %" PRIu64 " leaves, %" PRIu64 " tables\n", path, pg->name,
	       in.leaves, in.tables);

	heading("peak memory above the mapped file, MiB", NULL);
	memory(&in, "listing every mapping", list_rows, 20);

	in.have_plain = !strcmp(pg->name, "x86_64-4") && !pg->ignore &&
			plain_open(&in.plain, path, in.sp->low.pa.u);
	if (in.have_plain)
		in.no_xlat = xlat_open(&in.xlat, &in.plain, path);
	else
		printf("\n  no plain walk and no libaddrxlat here: not x86_64-4 in an ELF core\n");
	choose_addresses(&in);
	translations(&in);
	translations_near(&in);
	listings(&in);
	reverses(&in);

	if (in.have_plain) {
		xlat_close(&in.xlat);
		plain_close(&in.plain);
	}
	free(in.va);
	free(in.near);
	free(in.pa);
	atw_kernel_close(in.kernel);
	atw_source_close(in.src);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: walk DUMP");
	measure(argv[1]);
	return 0;
}
