/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures. The first byte says in what pieces the rest is given to the reader:
 * it must say the same as when it gets all at once, and what it reads must
 * survive being written.
 */
#include "format/capture_fields.h"
#include "pieces.h"

static struct capture_reader reader;
static struct capture_record latest;

static void run_again(const struct capture_run *run)
{
	struct capture_run got;
	char text[512];
	size_t n = capture_write_run(run, text, sizeof(text));

	FUZZ_CHECK(n > 3, "a run that has no text");
	FUZZ_CHECK(capture_parse_run((struct atw_blob){ text, n - 1 }, false, &got, NULL) ==
		   ATW_OK, "%.*s is no run", (int)n, text);
	/* That is of the text before it, and not of its own. */
	got.like = run->like;
	FUZZ_CHECK(!memcmp(run, &got, sizeof(got)), "%.*s is another run", (int)n, text);
}

/* Is the run, which says so, like the one that was passed on before? */
static void run_is_like(const struct capture_run *run, const struct capture_run *before)
{
	struct capture_run same = *before;

	same.like = run->like;
	same.va = run->va;
	same.pages = run->pages;
	same.entry = (before->entry & CAPTURE_ENTRY_BITS) | (run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS);
	FUZZ_CHECK(!memcmp(run, &same, sizeof(same)), "a run that is not like the one before it");
}

/* What fits into the paper's form is the same there, for all that it has fields for. */
static void run_in_2005(const struct capture_run *run)
{
	const char *field = NULL;
	struct capture_run got;
	char text[80];
	size_t n;

	if (capture_paper_run_fit(run, &field) != CAPTURE_FITS) {
		FUZZ_CHECK(field, "a field without a name");
		return;
	}
	n = capture_write_paper_run(run, text, sizeof(text));
	FUZZ_CHECK(n > 3 && capture_parse_run((struct atw_blob){ text, n - 1 }, true, &got, NULL) ==
		   ATW_OK, "%.*s is no page", (int)n, text);
	FUZZ_CHECK(got.va == run->va && got.entry == run->entry && got.count == run->count &&
		   got.flags == run->flags, "%.*s is another page", (int)n, text);
}

static void frames_again(const struct capture_frames *run)
{
	struct capture_frames got;
	char text[128];
	size_t n = capture_write_frames(run, text, sizeof(text));

	FUZZ_CHECK(n > 3, "frames that have no text");
	FUZZ_CHECK(capture_parse_frames((struct atw_blob){ text, n - 1 }, &got, NULL) == ATW_OK &&
		   got.pa == run->pa && got.pages == run->pages && got.use == run->use &&
		   got.host == run->host && got.has == run->has && got.node == run->node &&
		   got.clean == run->clean,
		   "%.*s is another run", (int)n, text);
}

/* The quick way has the same limits and says the same, if it says anything. */
static void usual(struct atw_blob m)
{
	struct capture_run quick, slow;
	struct atw_blob rest = m;

	if (!capture_parse_usual(&rest, &quick))
		return;
	FUZZ_CHECK(rest.len < m.len && ((const char *)rest.data)[-1] == '|', "no way ahead");
	FUZZ_CHECK(capture_parse_run((struct atw_blob){ m.data, m.len - rest.len - 1 }, false,
				     &slow, NULL) == ATW_OK &&
		   !memcmp(&quick, &slow, sizeof(slow)),
		   "%.*s is two runs", (int)(m.len - rest.len), (const char *)m.data);
}

static void slabs(const struct capture_header *h)
{
	char text[CAPTURE_SLAB_TEXT], twice[CAPTURE_SLAB_TEXT];
	struct capture_slab s, got;
	struct atw_blob name;
	size_t n;

	if (capture_slabinfo(h->value, &name, &s))
		FUZZ_CHECK(name.len && s.active <= s.objects, "no cache has that");
	if (!h->value.data || !capture_slab(h->value, &s))
		return;
	n = capture_slab_text(&s, text);
	FUZZ_CHECK(n < sizeof(text) && capture_slab((struct atw_blob){ text, n }, &got) &&
		   capture_slab_text(&got, twice) == n && !memcmp(text, twice, n),
		   "%s is another cache", text);
}

static void in_2005(const struct capture_record *rec)
{
	static char text[CAPTURE_LINE], twice[CAPTURE_LINE], names[CAPTURE_LINE];
	const char *field = NULL;
	struct capture_record got;
	size_t n;

	if (!strchr("TVP", rec->letter))
		return;
	if (capture_paper_fit(rec, &field) != CAPTURE_FITS) {
		FUZZ_CHECK(field, "a field without a name");
		return;
	}
	n = capture_write_paper(rec, text, sizeof(text));
	if (!n)
		return;
	FUZZ_CHECK(capture_parse((struct atw_blob){ text, n - 1 }, true, names, &got, NULL) ==
		   ATW_OK && got.letter == rec->letter, "%.*s is no line", (int)n, text);
	FUZZ_CHECK(capture_paper_fit(&got, &field) == CAPTURE_FITS &&
		   capture_write_paper(&got, twice, sizeof(twice)) == n && !memcmp(text, twice, n),
		   "%.*s is another line", (int)n, text);
}

/* Names of another text lie elsewhere, so texts are compared. */
static void again(const struct capture_record *rec)
{
	static char text[CAPTURE_LINE], twice[CAPTURE_LINE], names[CAPTURE_LINE];
	struct capture_record got;
	size_t n = capture_write(rec, text, sizeof(text));

	if (!n)
		return;      /* escapes make the paper's names longer than a line */
	FUZZ_CHECK(capture_parse((struct atw_blob){ text, n - 1 }, false, names, &got, NULL) ==
		   ATW_OK, "%.*s is no line", (int)n, text);
	FUZZ_CHECK(got.letter == rec->letter && got.has == rec->has, "another record");
	FUZZ_CHECK(capture_write(&got, twice, sizeof(twice)) == n && !memcmp(text, twice, n),
		   "%.*s is another line", (int)n, text);
}

/* What an M: record has. */
static void runs(struct atw_blob m, uint64_t *digest)
{
	struct capture_run run, before;
	struct atw_err err;
	uint64_t last = 0;
	bool any = false;
	int r;

	for (;;) {
		size_t left = m.len;

		usual(m);
		r = capture_run(&reader, &m, &run, &err);
		check_err(r, &err);
		add(digest, (uint64_t)r);
		if (r == ATW_END)
			break;
		FUZZ_CHECK(m.len < left, "no way ahead");
		if (r != ATW_OK)
			continue;
		FUZZ_CHECK(run.pages && run.va >= reader.area_start &&
			   run.va + (run.pages * reader.page - 1) <= reader.area_last,
			   "a run outside of its area");
		FUZZ_CHECK(!any || run.va > last, "runs out of order");
		last = run.va + (run.pages * reader.page - 1);
		add(digest, run.va ^ run.pages << 1 ^ run.entry << 2);
		FUZZ_CHECK(!run.like || any, "a run like none");
		if (run.like)
			run_is_like(&run, &before);
		any = true;
		before = run;
		run_again(&run);
		run_in_2005(&run);
	}
}

/* What an F: record has. */
static void frames(struct atw_blob f, uint64_t *digest)
{
	struct capture_frames run;
	struct atw_err err;
	int r;

	for (;;) {
		size_t left = f.len;

		r = capture_frames_run(&reader, &f, &run, &err);
		check_err(r, &err);
		add(digest, (uint64_t)r);
		if (r == ATW_END)
			break;
		FUZZ_CHECK(f.len < left, "no way ahead");
		if (r != ATW_OK)
			continue;
		FUZZ_CHECK(run.pages && run.use < CAPTURE_USES &&
			   run.pa + (run.pages * reader.page - 1) == reader.run_last &&
			   !(reader.run_last >> CAPTURE_PA_BITS) &&
			   (!reader.any_ram || reader.run_last < reader.ram_last + reader.page),
			   "frames that are none");
		add(digest, run.pa ^ run.pages << 1 ^ (uint64_t)run.use);
		frames_again(&run);
	}
}

/* A second parse of a value that the reader accepted as loads returns the same. */
static void loads(struct atw_blob text)
{
	struct capture_load load, got;
	char one[CAPTURE_LOAD_TEXT];

	while (text.len) {
		struct atw_blob again = { one, 0 };

		FUZZ_CHECK(capture_load(&text, &load, NULL) == ATW_OK, "no loads");
		again.len = capture_write_load(&load, true, one, sizeof(one));
		FUZZ_CHECK(capture_load(&again, &got, NULL) == ATW_OK &&
			   !memcmp(&load, &got, sizeof(got)), "another load");
	}
}

/* Of one record. */
static void record(uint64_t *digest)
{
	const struct capture_record *rec = &latest;
	add(digest, (uint64_t)rec->letter);
	add(digest, rec->has);
	if (rec->letter == 'M')
		runs(rec->m, digest);
	else if (rec->letter == 'F')
		frames(rec->f, digest);
	else
		again(rec);
	in_2005(rec);
	if (rec->letter == 'H')
		slabs(&rec->h);
	if (rec->letter == 'U' && rec->has & CAPTURE_U_LOADS)
		loads(rec->u.loads);
	if (rec->letter == 'V')
		FUZZ_CHECK(rec->v.start < rec->v.last && rec->v.resident <= rec->v.size,
			   "an area that is none");
	if (rec->letter == 'T') {
		add(digest, touch(rec->t.name.data, rec->t.name.len));
		add(digest, touch(rec->t.exe.data, rec->t.exe.len));
	}
}

static void begin(void)
{
	capture_init(&reader);
}

/* What is given all at once has its runs parsed before their turn. */
static int next(struct atw_blob text, bool last, size_t *pos, struct atw_err *err)
{
	static uint64_t words[1 << 16];

	if (!*pos) {
		size_t n = last ? capture_parse_ahead(text, words, sizeof(words) / sizeof(*words)) : 0;

		reader.parsed = (struct capture_parsed){
			.text = text.data, .next = words, .end = words + n,
			.checked = last ? capture_text_ahead(text) : 0,
		};
	}
	return capture_next(&reader, text, last, pos, &latest, err);
}

static int finish(uint64_t *digest, struct atw_err *err)
{
	(void)digest;
	return capture_finish(&reader, err);
}

static const struct pieces pieces = { begin, next, record, finish, 0 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	size_t step = take(&in, 1);

	capture_probe((struct atw_blob){ in.p, in.len });
	check_pieces(&pieces, in, step);
	return 0;
}
