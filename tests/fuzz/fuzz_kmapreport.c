/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every analysis of a KMAP, as rows and as a picture, clusters of its code, and what two
 * halves of it differ in. The first byte says at which level; the rest is text. Whatever it claims, parts add
 * up to the whole.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "fuzz.h"
#include "kmap/lib/cluster.h"
#include "kmap/lib/diff.h"
#include "kmap/lib/report.h"

static struct kmap_model *read_all(struct input text)
{
	static struct kmap_reader rd;
	const struct atw_blob all = { text.p, text.len };
	struct atw_err err = { 0 };
	struct kmap_record rec;
	struct kmap_model *m;
	size_t pos = 0;
	int r;

	FUZZ_CHECK(kmap_model_open(3, &m, &err) == ATW_OK, "%s", err.text);
	kmap_init(&rd);
	while ((r = kmap_next(&rd, all, true, &pos, &rec, NULL)) != ATW_END &&
	       r != ATW_E_UNSUPPORTED)
		if (r == ATW_OK)
			FUZZ_CHECK(kmap_model_record(m, &rec, &err) == ATW_OK, "%s", err.text);
	if (rd.version == KMAP_COMPRESSED)
		m->compressed = true;
	FUZZ_CHECK(kmap_model_end(m, &err) == ATW_OK, "%s", err.text);
	return m;
}

/* Of numbers that stay below where they stop. */
static void check_sums(const struct kmap_model *m)
{
	uint64_t objects = 0, sites = 0, live = 0, odd = 0, lives = 0, dead = 0;

	for (size_t i = 0; i < m->cache.n; i++) {
		const struct kmap_cache *c = kmap_cache(m, i);

		objects += c->s.objects;
		live += c->s.live;
		odd += c->s.untouched + c->s.unread + c->s.unwritten;
		for (unsigned k = 0; k < KMAP_LIVES; k++) {
			const struct kmap_time *t = kmap_time(m, i, k);

			lives += t->life;
			dead += t->dead;
			FUZZ_CHECK(t->life_untouched <= t->life, "%u", k);
		}
		FUZZ_CHECK(c->dead + c->undated <= c->s.freed, "%" PRIu64, c->dead);
		FUZZ_CHECK(c->s.freed + c->s.live == c->s.objects, "%" PRIu64, c->s.objects);
	}
	for (size_t i = 0; i < m->site.n; i++) {
		sites += kmap_site(m, i)->s.objects;
		FUZZ_CHECK(kmap_site(m, i)->cache < m->cache.n, "site %zu", i);
	}
	FUZZ_CHECK(objects == m->s.objects && sites == objects && live == m->s.live,
		   "%" PRIu64 " objects, not %" PRIu64, objects, m->s.objects);
	FUZZ_CHECK(odd <= objects && lives == m->life_total && lives <= objects, "%" PRIu64, lives);
	FUZZ_CHECK(dead == m->dead && dead + m->undated + m->dead_late <= m->s.freed &&
		   (m->has_used || !dead), "%" PRIu64, dead);
	FUZZ_CHECK(m->hots <= 3, "%zu", m->hots);
	for (size_t i = 1; i < m->hots; i++)
		FUZZ_CHECK(chart_add(m->hot[i].reads, m->hot[i].writes) <=
			   chart_add(m->hot[i - 1].reads, m->hot[i - 1].writes), "hot %zu", i);
}

static const struct kmap_report *now;

static int on_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	(void)arg;
	(void)err;
	for (size_t i = 0; i < now->schema->ncols; i++)
		if (now->schema->col[i].type == ATW_T_TEXT && row->have >> i & 1)
			touch(row->v[i].s, strlen(row->v[i].s));
	return ATW_OK;
}

ATW_PRINTF(2, 3) static void on_note(void *arg, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	(void)arg;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	FUZZ_CHECK(n >= 0, "%s", fmt);
}

ATW_PRINTF(3, 4)
static void on_left_out(void *arg, enum atw_param param, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	(void)arg;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	FUZZ_CHECK(n >= 0 && param, "%s", fmt);
}

static void every_report(const struct kmap_query *a)
{
	const struct census_out out = { .row = on_row, .note = on_note, .left_out = on_left_out };
	struct atw_err err = { 0 };

	for (size_t i = 0; (now = kmap_report_kind(i)); i++) {
		struct scene s;
		int r = now->rows(a, &out, &err);

		check_err(r, &err);
		if (!now->draw)
			continue;
		scene_init(&s, 1, 1);
		r = now->draw(a, &s, &err);
		check_err(r, &err);
		if (r == ATW_OK)
			check_err(scene_done(&s, &err), &err);
		scene_deinit(&s);
	}
}

/* With sizes derived from the input's length, each unit is in a cluster of valid size. */
static void every_cluster(const struct kmap_model *m, const struct kmap_names *n, size_t len)
{
	const struct kmap_cut cuts[] = {
		{ KMAP_CUT_SIZE, 20, "" }, { KMAP_CUT_SIZE, UINT64_MAX, "" },
		{ KMAP_CUT_RATIO, 0, "" }, { KMAP_CUT_RATIO, UINT64_C(1) << 40, "" },
	};
	struct kmap_units u;
	struct atw_err err = { 0 };

	FUZZ_CHECK(kmap_units_init(&u, m, n, KMAP_INSTRUCTION, &err) == ATW_OK, "%s", err.text);
	for (size_t i = 0; i < u.n; i++)
		u.v[i].size = i % 5 ? 1 + (len + i) % 17 : UINT64_MAX - i;
	for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++) {
		uint64_t *size;
		uint32_t *to;
		size_t clusters;

		FUZZ_CHECK(kmap_cluster(m, &u, &cuts[k], &to, &clusters, &err) == ATW_OK, "%s",
			   err.text);
		size = calloc(clusters + 1, sizeof(*size));
		if (!size)
			abort();
		for (size_t i = 0; i < u.n; i++) {
			FUZZ_CHECK(to[i] < clusters, "unit %zu in %" PRIu32, i, to[i]);
			FUZZ_CHECK(k != 0 || !size[to[i]] || size[to[i]] + u.v[i].size <= cuts[k].bound,
				   "cluster %" PRIu32 " is too large", to[i]);
			kmap_add(&size[to[i]], u.v[i].size);
		}
		free(size);
		free(to);
	}
	kmap_units_deinit(&u);
}

static int on_diff(void *arg, const struct kmap_diff_row *r, struct atw_err *err)
{
	(void)err;
	FUZZ_CHECK(r->in[0] || r->in[1], "of neither");
	++*(uint64_t *)arg;
	return ATW_OK;
}

static uint64_t differ(const struct kmap_side *a, const struct kmap_side *b)
{
	const struct kmap_side side[2] = { *a, *b };
	const struct kmap_diff_opts all = { 0 };
	struct atw_err err = { 0 };
	struct kmap_diff d;
	uint64_t n = 0;

	FUZZ_CHECK(kmap_diff_init(&d, side, &err) == ATW_OK, "%s", err.text);
	FUZZ_CHECK(kmap_diff_each(&d, &all, on_diff, &n, &err) == ATW_OK, "%s", err.text);
	kmap_diff_deinit(&d);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	unsigned how = (unsigned)take(&in, 1);
	const struct kmap_symbols_opts no = { 0 };
	struct kmap_model *m = read_all(in), *again = read_all(in);
	struct kmap_side side[2] = { { .m = m, .level = how & 1 }, { .m = again, .level = how & 1 } };
	struct kmap_names *n, *n_again;
	struct atw_err err = { 0 };

	check_sums(m);
	FUZZ_CHECK(kmap_names_open(&no, m, &n, &err) == ATW_OK, "%s", err.text);
	FUZZ_CHECK(kmap_names_open(&no, again, &n_again, &err) == ATW_OK, "%s", err.text);
	every_report(&(struct kmap_query){
		.m = m, .n = n, .about = how & 2 ? "sampled" : "",
		.level = how & 4 ? KMAP_LEVELS : how & 1 ? KMAP_FUNCTION : KMAP_INSTRUCTION,
	});
	every_cluster(m, n, len);
	side[0].names = n;
	side[1].names = n_again;
	FUZZ_CHECK(!differ(&side[0], &side[1]), "it differs from itself");
	kmap_names_close(n);
	kmap_names_close(n_again);
	kmap_model_close(m);
	kmap_model_close(again);
	return 0;
}
