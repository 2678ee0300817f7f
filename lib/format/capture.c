/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - reader of captures, atwalk-capture(5): checks each line against those
 * before it.
 */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/num.h"
#include "format/capture.h"
#include "format/capture_fields.h"

#define MAGIC "H: atwalk-capture,"

/* The first words of Figure 1 of Movall et al. when it is copied as text. */
#define CAPTION "Text Box: "

static struct atw_blob capture_behind(struct atw_blob b, size_t n)
{
	return (struct atw_blob){ (const char *)b.data + n, b.len - n };
}

int capture_probe(struct atw_blob head)
{
	struct capture_record rec;
	char names[1024];
	const char *nl;

	if (blob_begins(head, MAGIC))
		return 100;
	if (blob_begins(head, CAPTION))
		head = capture_behind(head, strlen(CAPTION));
	nl = head.len ? memchr(head.data, '\n', head.len) : NULL;
	if (!nl || (size_t)(nl - (const char *)head.data) > sizeof(names))
		return 0;
	head.len = (size_t)(nl - (const char *)head.data);
	return capture_parse(head, true, names, &rec, NULL) == ATW_OK &&
	       rec.letter == 'T' ? 60 : 0;
}

void capture_init(struct capture_reader *c)
{
	memset(c, 0, offsetof(struct capture_reader, names));
	c->page = 4096;
	c->paper = true;
}

static int capture_line_header(struct capture_reader *c, const struct capture_header *h,
			       struct atw_err *err)
{
	bool first = c->line == 1;
	uint64_t v = 0;

	if (!h->key.len || !h->value.data)
		return atw_err_set(err, ATW_E_FORMAT, "H: without a key and a value");
	if (first != blob_is(h->key, "atwalk-capture"))
		return atw_err_set(err, ATW_E_FORMAT, "H: atwalk-capture must be the first line "
				   "and no other");
	if (!first && !blob_is(h->key, "page"))
		return ATW_OK;
	if (!num_dec(h->value.data, h->value.len, &v))
		return atw_err_set(err, ATW_E_FORMAT, "H: %s is no number",
				   first ? "the version" : "page");
	if (first && v != CAPTURE_VERSION)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "version %" PRIu64 ", and this "
				   "program reads version %d", v, CAPTURE_VERSION);
	if (first)
		return ATW_OK;
	if (v < 4096 || v > 1 << 20 || (v & (v - 1)))
		return atw_err_set(err, ATW_E_FORMAT, "H: page is %" PRIu64 ", not a power of "
				   "two from 4096 to 1048576", v);
	if (c->body)
		return atw_err_set(err, ATW_E_FORMAT, "H: page behind lines that it is about");
	c->page = v;
	return ATW_OK;
}

/* The kernel only uses whole pages; partial pages at the ends are tolerated. */
static void capture_add_ram(struct capture_reader *c, uint64_t start, uint64_t last)
{
	uint64_t mask = c->page - 1;

	start &= ~mask;
	last |= mask;
	if (c->nram && start <= c->ram[c->nram - 1].last + 1) {
		c->ram[c->nram - 1].last = last;
	} else if (c->nram < CAPTURE_RAMS) {
		c->ram[c->nram].start = start;
		c->ram[c->nram++].last = last;
	} else {
		c->ram_full = true;
	}
}

static int capture_line_ram(struct capture_reader *c, const struct capture_ram *r,
			    struct atw_err *err)
{
	if (r->start > r->last)
		return atw_err_set(err, ATW_E_DAMAGED, "R: ends at %" PRIX64 ", before its start, "
				   "%" PRIX64, r->last, r->start);
	if (r->last >> CAPTURE_PA_BITS)
		return atw_err_set(err, ATW_E_DAMAGED, "R: ends at %" PRIX64 ", which has more than "
				   "%d bits", r->last, CAPTURE_PA_BITS);
	if (c->any_ram && r->start <= c->ram_last)
		return atw_err_set(err, ATW_E_DAMAGED, "R: starts at %" PRIX64 ", and the one "
				   "before ends at %" PRIX64, r->start, c->ram_last);
	c->any_ram = true;
	c->ram_last = r->last;
	capture_add_ram(c, r->start, r->last);
	return ATW_OK;
}

/* Limits the size of an area to 63 bits, and thereby the sum of all of them. */
static int capture_size(struct capture_reader *c, const struct capture_area *v,
			uint32_t has, struct atw_err *err)
{
	uint64_t bytes = v->last - v->start + 1, mask = c->page - 1, mapped;

	if ((v->start & mask) || (bytes & mask))
		return atw_err_set(err, ATW_E_DAMAGED, "V: %" PRIX64 " to %" PRIX64 " is not whole "
				   "pages of %" PRIu64, v->start, v->last, c->page);
	/* A range of all 2^64 bytes has a size that does not fit into the field. */
	if (!bytes || v->size != bytes)
		return atw_err_set(err, ATW_E_DAMAGED, "V: %" PRIX64 " to %" PRIX64 " is not of "
				   "size %" PRIX64, v->start, v->last, v->size);
	if (v->resident > v->size)
		return atw_err_set(err, ATW_E_DAMAGED, "V: %" PRIX64 " is resident of an area of "
				   "%" PRIX64, v->resident, v->size);
	if ((has & CAPTURE_V_PAGE) && (v->page < c->page || (v->page & (v->page - 1))))
		return atw_err_set(err, ATW_E_DAMAGED, "V: page is %" PRIu64 ", not a power of two "
				   "from %" PRIu64 " on", v->page, c->page);
	if (__builtin_add_overflow(c->mapped, bytes, &mapped) || mapped > INT64_MAX)
		return atw_err_set(err, ATW_E_DAMAGED, "V: with %" PRIX64 " bytes all areas have "
				   "more than 2^63", bytes);
	c->mapped = mapped;
	return ATW_OK;
}

static int capture_line_area(struct capture_reader *c, const struct capture_area *v,
			     uint32_t has, struct atw_err *err)
{
	int r;

	if (!c->in_task)
		return atw_err_set(err, ATW_E_FORMAT, "V: of no task, for no T: line that "
				   "could be read is before it");
	if (v->start > v->last)
		return atw_err_set(err, ATW_E_DAMAGED, "V: ends at %" PRIX64 ", before its start, "
				   "%" PRIX64, v->last, v->start);
	if (v->shared > 1 || v->more > 1)
		return atw_err_set(err, ATW_E_DAMAGED, "V: %s= is neither 0 nor 1",
				   v->shared > 1 ? "shared" : "more");
	if (c->any_area && v->start <= c->area_last)
		return atw_err_set(err, ATW_E_DAMAGED, "V: starts at %" PRIX64 ", and the area "
				   "before ends at %" PRIX64, v->start, c->area_last);
	r = capture_size(c, v, has, err);
	if (r != ATW_OK)
		return r;
	c->areas++;
	c->in_area = c->any_area = true;
	c->any_run = c->any_sums = false;
	c->area_start = v->start;
	c->area_last = v->last;
	return ATW_OK;
}

static int capture_line_sums(struct capture_reader *c, const struct capture_sums *p,
			     struct atw_err *err)
{
	const uint64_t all[] = { p->user, p->exec, p->readonly, p->single, p->shared,
				 p->swap, p->anon, p->file, p->huge };
	uint64_t pages = (c->area_last - c->area_start + 1) / c->page;

	if (c->any_sums || c->any_run)
		return atw_err_set(err, ATW_E_FORMAT, "P: behind another or an M: of its area");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] > pages)
			return atw_err_set(err, ATW_E_DAMAGED, "P: %" PRIu64 " pages of an area of "
					   "%" PRIu64, all[i], pages);
	c->any_sums = true;
	return ATW_OK;
}

static int capture_line_end(struct capture_reader *c, const struct capture_end *e,
			    struct atw_err *err)
{
	const struct {
		const char *what;
		uint64_t claimed, were;
	} all[] = {
		{ "lines", e->lines, c->line - 1 }, { "tasks", e->tasks, c->tasks },
		{ "areas", e->areas, c->areas }, { "lost", e->lost, c->lost },
	};

	/* No line may follow, whether its numbers match or not. */
	c->ended = true;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].claimed != all[i].were)
			return atw_err_set(err, ATW_E_DAMAGED, "E: %s: %" PRIu64 ", but %" PRIu64
					   " were read", all[i].what, all[i].claimed,
					   all[i].were);
	return ATW_OK;
}

/* Checks the order of lines by their letters alone. */
static int capture_order(struct capture_reader *c, char letter, struct atw_err *err)
{
	if (c->ended)
		return atw_err_set(err, ATW_E_DAMAGED, "%c: behind the E: line", letter);
	if (c->tasks && (letter == 'R' || letter == 'S'))
		return atw_err_set(err, ATW_E_FORMAT, "%c: behind a T: line", letter);
	if (c->frames && strchr("UTVPM", letter))
		return atw_err_set(err, ATW_E_FORMAT, "%c: behind an F: line", letter);
	if (c->cached && strchr("UTVPMF", letter))
		return atw_err_set(err, ATW_E_FORMAT, "%c: behind a C: line", letter);
	if (!c->in_area && (letter == 'P' || letter == 'M'))
		return atw_err_set(err, ATW_E_FORMAT, "%c: of no area, for no V: line "
				   "that could be read is before it", letter);
	return ATW_OK;
}

/* Checks a parsed record against those before it. */
static int capture_check(struct capture_reader *c, const struct capture_record *rec,
			 struct atw_err *err)
{
	int r = capture_order(c, rec->letter, err);

	if (r != ATW_OK)
		return r;
	c->body |= rec->letter != 'H';
	switch (rec->letter) {
	case 'H':
		return capture_line_header(c, &rec->h, err);
	case 'R':
		return capture_line_ram(c, &rec->r, err);
	case 'S':
		if (rec->s.pages >> CAPTURE_PA_BITS || rec->s.used > rec->s.pages)
			return atw_err_set(err, ATW_E_DAMAGED, "S: %" PRIu64 " pages, %" PRIu64
					   " used", rec->s.pages, rec->s.used);
		return ATW_OK;
	case 'T':
		if (c->tasks == CAPTURE_TASKS)
			return atw_err_set(err, ATW_E_DAMAGED, "T: more than %d tasks, which no "
					   "kernel has", CAPTURE_TASKS);
		c->tasks++;
		c->in_task = true;
		c->any_area = false;
		c->pid = rec->t.pid;
		return ATW_OK;
	case 'V':
		return capture_line_area(c, &rec->v, rec->has, err);
	case 'P':
		return capture_line_sums(c, &rec->p, err);
	case 'F':
		if (!c->frames)
			c->any_run = false;
		c->frames = true;
		return ATW_OK;
	case 'C':
		c->cached = true;
		if (rec->c.pages >> CAPTURE_PA_BITS || rec->c.dirty > rec->c.pages)
			return atw_err_set(err, ATW_E_DAMAGED, "C: %" PRIu64 " pages, %" PRIu64
					   " dirty", rec->c.pages, rec->c.dirty);
		return ATW_OK;
	case 'L':
		c->lost++;
		return ATW_OK;
	case 'E':
		return capture_line_end(c, &rec->e, err);
	default:
		return ATW_OK;
	}
}

/*
 * After an unreadable line, lines that depend on it must not be attributed to the task or
 * area before it; a line without a letter may have been of any kind.
 */
static void capture_leave(struct capture_reader *c, char letter)
{
	if (strchr("HRSPMCLE", letter))
		return;
	c->in_area = false;
	if (letter == 'U' || letter == 'V')
		return;
	c->in_task = false;
}

/* Has another thread checked its bytes? See capture_text_ahead(). */
static bool capture_is_checked(const struct capture_parsed *p, struct atw_blob text)
{
	size_t at = (size_t)((uintptr_t)text.data - (uintptr_t)p->text);

	return p->text && at < p->checked && text.len <= p->checked - at;
}

static int capture_line(struct capture_reader *c, struct atw_blob text,
			struct capture_record *ret, struct atw_err *err)
{
	struct capture_record rec;
	const char *s = text.data;
	bool named = text.len >= 2 && s[1] == ':';
	int r;

	/*
	 * No letter: in the LPMA format (Movall et al.) runs continue on the next line.
	 */
	if (c->wrapped && !named) {
		r = capture_order(c, 'M', err);
		if (r == ATW_OK)
			*ret = (struct capture_record){ .letter = 'M', .m = text };
		return r;
	}
	c->wrapped = c->paper && named && *s == 'M';
	capture_leave(c, named && *s ? *s : '?');
	r = (capture_is_checked(&c->parsed, text)
		     ? ATW_OK : capture_parse_bytes(text, c->paper, err)) ?:
	    capture_parse_line(text, c->paper, c->names, &rec, err) ?:
	    capture_check(c, &rec, err);
	if (r == ATW_OK)
		*ret = rec;
	return r;
}

static bool capture_empty(struct atw_blob b)
{
	const char *s = b.data;

	for (size_t i = 0; i < b.len; i++)
		if (s[i] != ' ' && s[i] != '\t' && s[i] != '\r')
			return false;
	return true;
}

/* Skip the rest of a line that is too long; does it end in this buffer? */
static bool capture_skipped(struct capture_reader *c, struct atw_blob buf, size_t *pos)
{
	const char *s = (const char *)buf.data + *pos;
	const char *nl = memchr(s, '\n', buf.len - *pos);

	*pos = nl ? (size_t)(nl - (const char *)buf.data) + 1 : buf.len;
	c->skip = !nl;
	return nl;
}

int capture_next(struct capture_reader *c, struct atw_blob buf, bool last, size_t *pos,
		 struct capture_record *ret, struct atw_err *err)
{
	struct atw_blob text = { NULL, 0 };
	const char *nl;
	int r;

	do {
		/*
		 * Frequent runs take the fast path: parsing is as fast as decompression.
		 */
		for (; c->paper && !c->skip && *pos < buf.len &&
		       ((const char *)buf.data)[*pos] == '\n'; ++*pos)
			c->line++;
		if (*pos >= buf.len || (c->skip && !capture_skipped(c, buf, pos)) ||
		    *pos >= buf.len)
			return ATW_END;
		text = capture_behind(buf, *pos);
		nl = memchr(text.data, '\n', text.len < CAPTURE_LINE ? text.len
								     : CAPTURE_LINE);
		if (!nl && text.len < CAPTURE_LINE && !last)
			return ATW_END;
		c->line++;
		if (!nl && text.len >= CAPTURE_LINE) {
			*pos += CAPTURE_LINE;
			c->skip = true;
			c->wrapped = false;
			/* The unreadable line may have been of any kind. */
			c->in_area = c->in_task = false;
			r = atw_err_set(err, ATW_E_FORMAT, "longer than %d bytes", CAPTURE_LINE);
			goto fail;
		}
		if (nl)
			text.len = (size_t)(nl - (const char *)text.data);
		*pos += text.len + (nl != NULL);
		if (!c->started && blob_begins(text, "H:"))
			c->paper = false;
		if (!c->started && blob_begins(text, CAPTION))
			text = capture_behind(text, strlen(CAPTION));
		c->started |= !c->paper || !capture_empty(text);
		/* The last number may be truncated; the LPMA format has no end marker. */
		if (!nl && !c->paper) {
			r = atw_err_set(err, ATW_E_DAMAGED, "cut off in the middle");
			goto fail;
		}
	} while (c->paper && capture_empty(text));

	r = capture_line(c, text, ret, err);
	if (r == ATW_OK)
		return ATW_OK;
fail:
	atw_err_wrap(err, "line %" PRIu64, c->line);
	return r;
}

int capture_finish(const struct capture_reader *c, struct atw_err *err)
{
	if (!c->started)
		return atw_err_set(err, ATW_E_FORMAT, "nothing is in it");
	if (!c->paper && !c->ended && c->in_task)
		return atw_err_set(err, ATW_E_DAMAGED, "no E: line: cut off behind line %" PRIu64
				   ", in process %" PRIu64, c->line, c->pid);
	if (!c->paper && !c->ended)
		return atw_err_set(err, ATW_E_DAMAGED, "no E: line: cut off behind line %" PRIu64,
				   c->line);
	if (!c->tasks && !c->frames)
		return atw_err_set(err, ATW_E_DAMAGED, "no T: line: it has no process");
	return ATW_OK;
}
