/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables written as text, with what must come out of them. A file of
 * tests/spec is a whole machine and a whole test on one screen:
 *
 *	paging NAME [EXTENSION...]     the mode
 *	root PA / high PA              the only or lower root; the upper half's
 *	PA: WORD [*COUNT] ...          words from PA on; COUNT copies
 *	page PA [LEN]                  memory that is there and zero
 *	excluded PA [LEN]              memory that was filtered out
 *	broken PA [LEN]                memory that cannot be read
 *	VA -> PA LEVEL RIGHTS          translates so (LEVEL: PTE, PMD, ...)
 *	VA is KIND LEVEL               absent, bad, lost, excluded, damaged
 *	range VA END PA PAGE RIGHTS N  the next range of the whole listing; N
 *	                               entries; PA may be "same:PA"
 *	range VA END KIND              ... that is bad, lost, repeat, ...
 *	end                            there are no more ranges
 */
#include <dirent.h>

#include "walk/walk.h"

#include "base/num.h"
#include "memory.h"
#include "test.h"

struct spec {
	const char *file;
	unsigned line;
	struct memory *m;
	struct mmu_space sp;
	struct mmu_ranges *ranges;
	unsigned expects;
};

#define FAIL(s, ...) do { \
	fprintf(stderr, "%s:%u: ", (s)->file, (s)->line); \
	TEST_FAIL(__VA_ARGS__); \
} while (0)

static uint64_t num(struct spec *s, const char *t)
{
	uint64_t v = 0;

	if (!t || !num_hex(t, strlen(t), &v))
		FAIL(s, "'%s' is not a number", t ? t : "");
	return v;
}

static void words(struct spec *s, uint64_t pa, char *rest)
{
	unsigned ws = s->sp.paging.word_size;

	for (char *t = strtok(rest, " \t"); t; t = strtok(NULL, " \t")) {
		char *star = strchr(t, '*');
		uint64_t n = star ? strtoull(star + 1, NULL, 10) : 1, w;

		if (star)
			*star = '\0';
		w = num(s, t);
		for (; n; n--, pa += ws)
			mem_put(s->m, pa, &w, ws);
	}
}

static const char *kind_name(unsigned kind, unsigned loss, bool repeat)
{
	static const char *const kinds[] = { "absent", "table", "leaf", "bad" };
	static const char *const losses[] = { "", "lost", "excluded", "damaged" };

	return repeat ? "repeat" : loss ? losses[loss] : kinds[kind];
}

static void expect(struct spec *s, uint64_t va, char **t, unsigned n)
{
	struct atw_err err = { 0 };
	struct mmu_seen seen;
	const char *kind;
	char letters[5];

	s->expects++;
	if (mmu_translate(&s->sp, ATW_VA(va), &seen, &err) < 0) {
		FAIL(s, "0x%" PRIx64 ": %s", va, err.text);
		return;
	}
	kind = kind_name(seen.kind, seen.loss, false);
	if (!strcmp(t[0], "is") && n >= 3) {
		if (strcmp(kind, t[1]) || strcmp(s->sp.paging.level[seen.level].name, t[2]))
			FAIL(s, "0x%" PRIx64 " is %s %s", va, kind,
			     s->sp.paging.level[seen.level].name);
		return;
	}
	if (n < 4) {
		FAIL(s, "expect needs PA LEVEL RIGHTS");
		return;
	}
	atw_rights_letters(seen.rights, letters);
	if (seen.kind != ATW_LEAF || seen.loss ||
	    seen.pa.u + (va - seen.va.u) != num(s, t[1]) ||
	    strcmp(s->sp.paging.level[seen.level].name, t[2]) || strcmp(letters, t[3]))
		FAIL(s, "0x%" PRIx64 " is %s -> 0x%" PRIx64 " %s %s", va, kind,
		     seen.pa.u + (va - seen.va.u), s->sp.paging.level[seen.level].name, letters);
}

static bool next_range(struct spec *s, struct mmu_range *g)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .flags = MMU_WALK_SOFT,
	};
	struct atw_err err = { 0 };
	int r = ATW_OK;

	if (!s->ranges)
		r = mmu_ranges_open(&s->sp, &o, MMU_SPLIT_RIGHTS | MMU_SPLIT_LEVEL |
				    MMU_SPLIT_PHYSICAL, &s->ranges, &err);
	if (r == ATW_OK)
		r = mmu_ranges_next(s->ranges, g, &err);
	if (r < 0)
		FAIL(s, "%s", err.text);
	return r == ATW_OK;
}

static void range(struct spec *s, char **t, unsigned n)
{
	struct mmu_range g = { 0 };
	char got[256], want[256] = "", letters[5];

	s->expects++;
	for (unsigned i = 0; i < n; i++)
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s%s",
			 i ? " " : "", t[i]);
	if (!next_range(s, &g)) {
		FAIL(s, "the listing ends before %s", want);
		return;
	}
	atw_rights_letters(g.rights, letters);
	if (g.kind == ATW_LEAF && !g.loss)
		snprintf(got, sizeof(got), "0x%" PRIx64 " 0x%" PRIx64 " %s0x%" PRIx64
			 " 0x%" PRIx64 " %s %" PRIu64, g.va.u, g.va.u + g.size,
			 g.same_pa ? "same:" : "", g.pa.u, g.page, letters, g.entries);
	else
		snprintf(got, sizeof(got), "0x%" PRIx64 " 0x%" PRIx64 " %s", g.va.u,
			 g.va.u + g.size, kind_name(g.kind, g.loss, g.repeat_of));
	if (strcmp(got, want))
		FAIL(s, "range is\n  %s, not\n  %s", got, want);
}

static void line(struct spec *s, char *text)
{
	char *t[12], *save = NULL, *colon;
	struct mmu_range g;
	unsigned n = 0;
	struct atw_err err = { 0 };

	text[strcspn(text, "#\n")] = '\0';
	colon = strchr(text, ':');
	if (colon && strncmp(text, "range", 5)) {
		*colon = '\0';
		words(s, num(s, text), colon + 1);
		return;
	}
	for (char *p = strtok_r(text, " \t", &save); p && n < 12;
	     p = strtok_r(NULL, " \t", &save))
		t[n++] = p;
	if (!n)
		return;
	if (!strcmp(t[0], "paging")) {
		const struct atw_paging *pg = n > 1 ? atw_paging_find(t[1]) : NULL;

		if (!pg) {
			FAIL(s, "no such mode");
			return;
		}
		s->sp.paging = *pg;
		for (unsigned i = 2; i < n; i++)
			if (atw_paging_extend(&s->sp.paging, t[i], &err) < 0)
				FAIL(s, "%s", err.text);
	} else if (!strcmp(t[0], "root")) {
		s->sp.low = (struct mmu_root){ ATW_PA(num(s, t[1])), true };
	} else if (!strcmp(t[0], "high")) {
		s->sp.high = (struct mmu_root){ ATW_PA(num(s, t[1])), true };
	} else if (!strcmp(t[0], "page") || !strcmp(t[0], "excluded") ||
		   !strcmp(t[0], "broken")) {
		mem_kind(s->m, num(s, t[1]), n > 2 ? num(s, t[2]) : MEM_PAGE,
			 *t[0] == 'p' ? ATW_DATA : *t[0] == 'e' ? ATW_EXCLUDED : ATW_NONE);
	} else if (!strcmp(t[0], "range")) {
		range(s, t + 1, n - 1);
	} else if (!strcmp(t[0], "end")) {
		s->expects++;
		if (next_range(s, &g))
			FAIL(s, "there is one more range, at 0x%" PRIx64, g.va.u);
	} else if (n > 2) {
		expect(s, num(s, t[0]), t + 1, n - 1);
	} else {
		FAIL(s, "'%s' is not understood", t[0]);
	}
}

static void spec_file(const char *path)
{
	struct spec s = { .file = path, .m = mem_new() };
	FILE *f = fopen(path, "r");
	char text[1024];

	s.sp.mem = &s.m->s;
	while (f && fgets(text, sizeof(text), f)) {
		s.line++;
		line(&s, text);
	}
	if (!f || !s.expects)
		FAIL(&s, "nothing was expected of it");
	if (f)
		fclose(f);
	mmu_ranges_close(s.ranges);
	mem_free(s.m);
}

static int is_spec(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 3 && !strcmp(d->d_name + n - 3, ".pt");
}

TEST(walk_specs)
{
	struct dirent **names;
	int n = scandir("tests/spec", &names, is_spec, alphasort);

	CHECK(n > 0);
	for (int i = 0; i < n; i++) {
		char path[300];

		snprintf(path, sizeof(path), "tests/spec/%s", names[i]->d_name);
		spec_file(path);
		free(names[i]);
	}
	free(names);
	printf("note - %d machines in tests/spec\n", n);
}
