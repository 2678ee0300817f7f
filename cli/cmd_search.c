/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_search.c - search of memory for bytes, words, text and pointers. */
#include "base/pattern.h"
#include "common/progress.h"

#include "content_rows.h"

struct search_opts {
	struct space_opts space;
	struct opt_list bytes, text, word, pointers;
	struct opt_number width;
	bool fold, physical;
};

static const struct opt options[] = {
	{0, "bytes", OPT_LIST, offsetof(struct search_opts, bytes), "HEX",
	 "search for these bytes; ? is any digit: '7f454c46 ??01'", NULL},
	{0, "text", OPT_LIST, offsetof(struct search_opts, text), "TEXT",
	 "search for the bytes of TEXT", NULL},
	{0, "word", OPT_LIST, offsetof(struct search_opts, word), "VALUE[/MASK]",
	 "search for aligned words with this value, in the bits of MASK alone", NULL},
	{0, "pointers-to", OPT_LIST, offsetof(struct search_opts, pointers), "RANGE",
	 "search for aligned words that lie in RANGE, or are the address given", NULL},
	{0, "width", OPT_NUMBER, offsetof(struct search_opts, width), "BYTES",
	 "set the size of words: 1, 2, 4 or 8 (default)", NULL},
	{0, "ignore-case", OPT_FLAG, offsetof(struct search_opts, fold), NULL,
	 "match letters of --text in either case", NULL},
	{0, "physical", OPT_FLAG, offsetof(struct search_opts, physical), NULL,
	 "take each RANGE as physical addresses", NULL},
	OPT_FREEZE(struct search_opts, space),
	OPT_SUBJECT(struct search_opts, space),
	{0},
};

enum { S_ADDRESS, S_PHYSICAL, S_PATTERN, S_BYTES, S_TEXT, S_AREA, S_COUNT };
enum {
	SEARCH_SHOWN = 16,       /* bytes of a match that are shown */
	SEARCH_MOST = 64,        /* patterns */
};

static const struct atw_column search_columns[S_COUNT] = {
	[S_ADDRESS] = COLUMN("address", VA, 0, "virtual address of the match"),
	[S_PHYSICAL] = COLUMN("physical", PA, 0, "physical address of its first byte"),
	[S_PATTERN] = HIDDEN_COLUMN("pattern", TEXT, 16,
				    "the pattern that matched, as typed"),
	[S_BYTES] = COLUMN("bytes", TEXT, 3 * SEARCH_SHOWN - 1,
			   "the bytes from there on, hexadecimal"),
	[S_TEXT] = COLUMN("text", TEXT, SEARCH_SHOWN,
			  "the same as ASCII, others as dots"),
	[S_AREA] = COLUMN("area", TEXT, 12,
			  "memory area (VMA) or region of the kernel it lies in"),
};

struct search_pattern {
	struct pattern p;
	const char *text; /* as typed */
};

struct search_state {
	const struct common *c;
	struct session src;
	const struct search_opts *o;
	struct search_pattern *pattern;
	size_t n;
	unsigned longest; /* bytes of the longest pattern */
	bool zero;        /* one of them matches zeroes */
	bool physical;
	struct listing list;
	struct atw_column col[S_COUNT];
	struct atw_schema schema;
	struct atw_output *out;
	/* The end of what was searched, for matches that go on behind it. */
	uint8_t tail[2 * PATTERN_MOST];
	size_t tail_len;
	uint64_t tail_at, tail_pa; /* of its first byte */
	struct content_gaps gaps;
	uint64_t searched; /* bytes */
	struct progress progress;
};

/* ---- patterns ---- */

static int search_add(struct search_state *s, const struct pattern *p, const char *text)
{
	s->pattern[s->n++] = (struct search_pattern){*p, text};
	s->longest = MAX(s->longest, p->len);
	s->zero |= pattern_is_zero(p);
	return EXIT_COMPLETE;
}

static int search_add_pointers(struct search_state *s, const char *text, unsigned width,
			       struct atw_err *err)
{
	struct pattern p;
	struct address a;
	int r = parse_address(&s->src, text, &a, err);

	if (r < 0)
		return r;
	pattern_range(&p, a.first, a.last, width);
	return search_add(s, &p, text);
}

/* Symbols may be in RANGE of --pointers-to, so SOURCE is open. */
static int search_add_all(struct search_state *s)
{
	const struct search_opts *o = s->o;
	unsigned width = o->width.given ? (unsigned)o->width.u : 8;
	struct atw_err err = {0};
	struct pattern p;
	int r = ATW_OK;

	for (size_t i = 0; i < o->bytes.n && r == ATW_OK; i++)
		if ((r = pattern_hex(&p, o->bytes.v[i], &err)) == ATW_OK)
			search_add(s, &p, o->bytes.v[i]);
	for (size_t i = 0; i < o->text.n && r == ATW_OK; i++)
		if ((r = pattern_text(&p, o->text.v[i], o->fold, &err)) == ATW_OK)
			search_add(s, &p, o->text.v[i]);
	for (size_t i = 0; i < o->word.n && r == ATW_OK; i++)
		if ((r = pattern_word(&p, o->word.v[i], width, &err)) == ATW_OK)
			search_add(s, &p, o->word.v[i]);
	for (size_t i = 0; i < o->pointers.n && r == ATW_OK; i++)
		r = search_add_pointers(s, o->pointers.v[i], width, &err);
	return r < 0 ? print_error(&err) : EXIT_COMPLETE;
}

/* ---- matches ---- */

static int search_put(struct search_state *s, const struct search_pattern *p, uint64_t at,
		      uint64_t pa, const uint8_t *data, size_t len, struct atw_err *err)
{
	char hex[3 * SEARCH_SHOWN + 1] = "", ascii[SEARCH_SHOWN + 1];
	struct atw_region area;
	union atw_value v[S_COUNT] = {
		[S_ADDRESS].u = at, [S_PHYSICAL].u = pa, [S_PATTERN].s = p->text,
		[S_BYTES].s = hex,  [S_TEXT].s = ascii,
	};
	struct atw_row row = {v, 1u << S_PHYSICAL | 1u << S_PATTERN | 1u << S_BYTES |
					 1u << S_TEXT |
					 (s->physical ? 0 : 1u << S_ADDRESS)};

	len = MIN(len, SEARCH_SHOWN);
	content_hex(data, len, hex);
	content_ascii(data, len, ascii);
	if (!s->physical && listing_area(&s->list, at, at, &area)) {
		v[S_AREA].s = area.name;
		row.have |= 1u << S_AREA;
	}
	return atw_output_row(s->out, &row, err);
}

/* Matches that begin before data[end], in order of their places. */
static int search_in(struct search_state *s, uint64_t at, uint64_t pa,
		     const uint8_t *data, size_t len, size_t end, size_t over,
		     struct atw_err *err)
{
	size_t next[SEARCH_MOST] = {0};
	int r = ATW_OK;

	for (size_t i = 0; i < s->n; i++)
		next[i] = pattern_find(&s->pattern[i].p, at, data, len, 0);
	while (r == ATW_OK) {
		const struct search_pattern *p;
		size_t first = 0;

		for (size_t i = 1; i < s->n; i++)
			if (next[i] < next[first])
				first = i;
		if (next[first] >= end)
			break;
		p = &s->pattern[first];
		/* In a bridge: those that end before it were found in the piece. */
		if (next[first] + p->p.len > over)
			r = search_put(s, p, at + next[first], pa + next[first],
				       data + next[first], len - next[first], err);
		next[first] = pattern_find(&p->p, at, data, len, next[first] + 1);
	}
	return r;
}

/* Matches that begin in what was searched last and end in these bytes. */
static int search_bridge(struct search_state *s, const uint8_t *data, size_t len,
			 struct atw_err *err)
{
	size_t more = s->longest > SEARCH_SHOWN ? s->longest : SEARCH_SHOWN;
	size_t had = s->tail_len;

	if (!had)
		return ATW_OK;
	more = MIN(more, len);
	memcpy(s->tail + had, data, more);
	return search_in(s, s->tail_at, s->tail_pa, s->tail, had + more, had, had, err);
}

/* The last bytes that a match may begin in; `len` may be less than that. */
static void search_keep_tail(struct search_state *s, uint64_t at, uint64_t pa,
			     const uint8_t *data, size_t len)
{
	size_t most = s->longest - 1u, n = len < most ? len : most;
	size_t old = s->tail_len + n > most ? most - n : s->tail_len;

	memmove(s->tail, s->tail + s->tail_len - old, old);
	memcpy(s->tail + old, data + len - n, n);
	s->tail_len = old + n;
	s->tail_at = at + len - s->tail_len;
	s->tail_pa = pa + len - s->tail_len;
}

static int search_bytes(struct search_state *s, uint64_t at, uint64_t pa,
			const uint8_t *data, size_t len, struct atw_err *err)
{
	int r;

	if (s->tail_at + s->tail_len != at)
		s->tail_len = 0;
	r = search_bridge(s, data, len, err) ?:
	    search_in(s, at, pa, data, len, len, 0, err);
	if (r == ATW_OK)
		search_keep_tail(s, at, pa, data, len);
	return r;
}

static const uint8_t search_zeroes[4096];

/* Known zeroes: their ends, unless a pattern matches zeroes. */
static int search_zero(struct search_state *s, const struct content_piece *p,
		       struct atw_err *err)
{
	uint64_t done = 0, n;
	int r = ATW_OK;

	for (; done < p->len && r == ATW_OK; done += n) {
		n = p->len - done;
		if (n > sizeof(search_zeroes))
			n = sizeof(search_zeroes);
		r = search_bytes(s, p->at + done, p->pa + done, search_zeroes, (size_t)n,
				 err);
		if (!done && !s->zero && p->len > 2 * sizeof(search_zeroes)) {
			uint64_t skip = p->len - 2 * sizeof(search_zeroes);

			s->tail_at += skip;
			s->tail_pa += skip;
			done += skip;
		}
	}
	return r;
}

static int search_range(struct search_state *s, uint64_t first, uint64_t last, bool all,
			struct atw_err *err)
{
	struct content_piece p;
	struct content *c;
	int r = content_open(s->src.target, s->physical ? NULL : &s->src.subject.space,
			     first, last, false, &c, err);

	if (r < 0)
		return r;
	s->tail_len = 0;
	while ((r = content_next(c, &p, err)) == ATW_OK) {
		/* Between the ranges of RAM there is nothing to search. */
		if (p.state != PAGE_PRESENT && !(all && p.state == PAGE_LOST))
			content_gaps_add(&s->gaps, &p, content_error(c));
		if (p.state != PAGE_PRESENT || p.repeat)
			continue;
		s->searched += p.len;
		r = p.zero ? search_zero(s, &p, err)
			   : search_bytes(s, p.at, p.pa, p.data, (size_t)p.len, err);
		if (r != ATW_OK)
			break;
		progress_at(&s->progress, s->searched >> 20, 0);
	}
	content_close(c);
	return r == ATW_END ? ATW_OK : r;
}

/* ---- the command ---- */

static int search_all(struct search_state *s, const struct address_arg *a, int n)
{
	struct session *src = &s->src;
	const struct subject own = src->subject;
	struct atw_output_opts oo;
	struct atw_err err = {0};
	char size[16];
	int r, status;

	memcpy(s->col, search_columns, sizeof(s->col));
	s->col[S_ADDRESS].hidden = s->col[S_AREA].hidden = s->physical;
	s->schema = (struct atw_schema){"search", s->col, S_COUNT};
	output_opts(s->c, src, &oo);
	oo.private = true;
	r = atw_output_open(&oo, &s->schema, &s->out, &err);
	progress_begin(&s->progress, s->c, src->name, "MiB");
	if (!n && r == ATW_OK)
		r = search_range(s, 0, s->physical ? UINT64_MAX : UINT64_MAX >> 1, true,
				 &err);
	for (int i = 0; i < n && r == ATW_OK; i++) {
		if (a[i].owned && !a[i].unmapped)
			src->subject = a[i].owner;
		r = search_range(s, a[i].a.first, a[i].a.last, false, &err);
		src->subject = own;
	}
	progress_end(&s->progress);
	thaw(src);
	/* That something is not mapped is no reason: it was not searched. */
	s->gaps.unmapped = 0;
	status = content_gaps_status(&s->gaps);
	if (r == ATW_OK && !status && !atw_output_rows(s->out))
		status = EXIT_NO;
	if (r == ATW_OK)
		r = atw_output_note(s->out, "%" PRIu64 " match%s in %s",
				    atw_output_rows(s->out),
				    atw_output_rows(s->out) == 1 ? "" : "es",
				    num_human(s->searched, size));
	status = output_end(s->out, r, status, &err);
	if (r == ATW_OK)
		content_gaps_print(&s->gaps, src->name);
	return status;
}

static int search_check(const struct search_opts *o)
{
	size_t n = o->bytes.n + o->text.n + o->word.n + o->pointers.n;

	if (!n)
		return usage_error("search",
				   "a pattern is missing: --bytes, --text, --word "
				   "or --pointers-to");
	if (n > SEARCH_MOST)
		return usage_error("search", "at most %d patterns can be searched for at once",
				   SEARCH_MOST);
	if (o->width.given && o->width.u != 1 && o->width.u != 2 && o->width.u != 4 &&
	    o->width.u != 8)
		return usage_error("search", "--width is 1, 2, 4 or 8");
	return EXIT_COMPLETE;
}

/* Without a RANGE and a process, all RAM. */
static bool search_is_physical(const struct search_opts *o, int n)
{
	const struct space_opts *s = &o->space;

	return o->physical ||
	       (n < 1 && !s->pid.given && !s->task && !s->cpu.given && !s->root.given);
}

static bool search_names_symbols(const struct search_opts *o)
{
	uint64_t n;

	for (size_t i = 0; i < o->pointers.n; i++)
		if (!num_hex(o->pointers.v[i], strcspn(o->pointers.v[i], "+-"), &n))
			return true;
	return false;
}

static int search_scope(const struct search_state *s, int n)
{
	struct atw_err err = { 0 };

	if (n || !s->physical || !target_has(s->src.target, TARGET_HERE))
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_USAGE, "refusing to search all memory of a running machine");
	atw_err_hint(&err, "name ranges of addresses, or a process with --pid");
	return print_error(&err);
}

static int search_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct search_opts *o = opts;
	struct search_state s = {.c = c, .o = o};
	_auto_free struct search_pattern *pattern = calloc(SEARCH_MOST, sizeof(*pattern));
	_auto_free struct address_arg *a = NULL;
	int n = argc - 1, status;

	if (!argc)
		return usage_error("search", "SOURCE is missing");
	status = search_check(o);
	if (status)
		return status;
	a = calloc((size_t)n + 1, sizeof(*a));
	s.pattern = pattern;
	if (!a || !pattern)
		return print_nomem();
	s.physical = search_is_physical(o, n);
	/* Physical memory needs no kernel, but symbols do. */
	status = s.physical && !search_names_symbols(o)
			 ? session_open(c, argv[0], &s.src)
			 : open_to_freeze(c, argv[0], &o->space,
					  TARGET_MEMORY | (s.physical ? 0 : TARGET_TABLES),
					  &s.src);
	if (!status) {
		status = session_need(&s.src, TARGET_MEMORY, "search") ?:
			 search_scope(&s, n) ?:
			 search_add_all(&s);
		if (!status)
			status = s.physical
					 ? content_args_physical(&s.src, argv + 1, a, n)
					 : address_args_find(c, &o->space, &s.src,
							     argv + 1, a, n);
		if (!status)
			status = freeze(c, &s.src, &o->space);
		if (!s.physical)
			listing_init(&s.list, "search", &s.src, 0);
		if (!status)
			status = search_all(&s, a, n);
		listing_deinit(&s.list);
		session_close(&s.src);
	}
	return status;
}

const struct command cmd_search = {
	.name = "search",
	.args = "SOURCE [RANGE...]",
	.summary = "search memory for bytes, text, words or pointers",
	.about =
		"Searches each RANGE of addresses, the whole address space of the process that\n"
		"--pid or --task names, or without both all RAM in SOURCE. A match is a row. Memory\n"
		"that is not in SOURCE cannot be searched: how much that is goes to standard error.\n"
		"Exit status 1: there is no match; 4: some of it could not be searched.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct search_opts),
	.run = search_run,
};
