/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tape.c - a stretch of the census stream as bytes: a letter, and what it announces.
 *
 *	A..Z  a record: `has`, the struct of its letter, the texts that point out of it
 *	r     a run
 *	l     a run that differs from the one before in its address, length and entry
 *	t     lines: struct tape_lines, and their text
 *	n, g  marks: a PID
 */
#include "census/tape.h"

#include <stdlib.h>
#include <string.h>

#include "format/capture_fields.h"

/* What differs between most neighbouring runs. */
struct tape_step {
	uint64_t va, pages, entry;
};

struct tape_lines {
	size_t len;
	struct capture_end count;
};

/* Lines that are being added have an end. */
static void tape_end_lines(struct tape *t)
{
	struct tape_lines head;

	if (!t->text)
		return;
	/* There was room for the longest line. */
	t->len += capture_text_close(&t->lines, t->data + t->len);
	head = (struct tape_lines){ t->len - t->text - sizeof(head), t->lines.count };
	memcpy(t->data + t->text, &head, sizeof(head));
	t->lines.count = (struct capture_end){ 0 };
	t->text = 0;
}

/*
 * The tape that takes the next record, run, mark or line; NULL: nothing more is wanted.
 * `line`: it may be one of several lines.
 */
static struct tape *tape_of(struct turn *t, bool line, struct atw_err *err)
{
	struct tape *tape = t->tape;
	bool full = turn_is_full(t, tape->len);
	int r = ATW_OK;

	if (full || !line)
		tape_end_lines(tape);
	if (full)
		r = turn_pass(t);
	if (r != ATW_OK)
		atw_err_set(err, r, "stopped");
	return r == ATW_OK ? t->tape : NULL;
}

static char *tape_room(struct tape *t, size_t bytes, struct atw_err *err)
{
	char *at;

	if (!array_reserve((void **)&t->data, &t->cap, t->len + bytes, 1)) {
		atw_err_nomem(err);
		return NULL;
	}
	at = t->data + t->len;
	t->len += bytes;
	return at;
}

/* ---- records ---- */

static size_t tape_size_of(char letter)
{
	switch (letter) {
	case 'T': return sizeof(struct capture_task);
	case 'V': return sizeof(struct capture_area);
	case 'P': return sizeof(struct capture_sums);
	default: return sizeof(struct capture_record) - offsetof(struct capture_record, h);
	}
}

/* The text that a field of a record has; NULL: none. */
static const struct atw_blob *tape_text(const struct capture_field *f, uint32_t has,
					const char *part)
{
	const struct atw_blob *b = (const void *)(part + f->at);

	if ((f->type != CAPTURE_NAME && f->type != CAPTURE_LOADS) || (f->has && !(has & f->has)))
		return NULL;
	return b->data ? b : NULL;
}

/* The bytes of all texts of a record. */
static size_t tape_texts(const struct capture_form *form, uint32_t has, const char *part)
{
	const struct atw_blob *b;
	size_t n = 0;

	for (unsigned i = 0; i < form->all; i++) {
		b = tape_text(&form->field[i], has, part);
		n += b ? b->len : 0;
	}
	return n;
}

static int tape_on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	const struct capture_form *form = capture_form(rec->letter);
	const char *part = (const char *)&rec->h;
	size_t size = tape_size_of(rec->letter);
	size_t texts = tape_texts(form, rec->has, part);
	struct tape *t = tape_of(arg, false, err);
	char *to = t ? tape_room(t, 1 + sizeof(rec->has) + size + texts, err) : NULL;

	if (!to)
		return t ? ATW_E_NOMEM : ATW_E_STOPPED;
	*to++ = rec->letter;
	to = mempcpy(to, &rec->has, sizeof(rec->has));
	to = mempcpy(to, part, size);
	for (unsigned i = 0; i < form->all; i++) {
		const struct atw_blob *b = tape_text(&form->field[i], rec->has, part);

		if (b)
			to = mempcpy(to, b->data, b->len);
	}
	return ATW_OK;
}

/* Returns the position behind it. */
static const char *tape_get_record(const char *at, struct capture_record *ret)
{
	const struct capture_form *form = capture_form(*at);
	char *part = (char *)&ret->h;
	size_t size = tape_size_of(*at);

	ret->letter = *at++;
	memcpy(&ret->has, at, sizeof(ret->has));
	at += sizeof(ret->has);
	memcpy(part, at, size);
	at += size;
	for (unsigned i = 0; i < form->all; i++) {
		struct atw_blob *b = (void *)(part + form->field[i].at);

		if (!tape_text(&form->field[i], ret->has, part))
			continue;
		b->data = at;
		at += b->len;
	}
	return at;
}

/* ---- runs ---- */

static int tape_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	const struct tape_step step = { run->va, run->pages, run->entry };
	struct tape *t = tape_of(arg, false, err);
	bool like = t && t->like && capture_run_tail_same(&t->last, run);
	char *to = t ? tape_room(t, 1 + (like ? sizeof(step) : sizeof(*run)), err) : NULL;

	if (!to)
		return t ? ATW_E_NOMEM : ATW_E_STOPPED;
	if (like) {
		*to = 'l';
		memcpy(to + 1, &step, sizeof(step));
		return ATW_OK;
	}
	*to = 'r';
	memcpy(to + 1, run, sizeof(*run));
	t->last = *run;
	t->like = true;
	return ATW_OK;
}

static const char *tape_get_run(const char *at, struct capture_run *run)
{
	struct tape_step step;

	if (*at++ == 'r') {
		memcpy(run, at, sizeof(*run));
		run->like = false;
		return at + sizeof(*run);
	}
	memcpy(&step, at, sizeof(step));
	run->like = !((run->entry ^ step.entry) & CAPTURE_ENTRY_BITS);
	run->va = step.va;
	run->pages = step.pages;
	run->entry = step.entry;
	return at + sizeof(step);
}

/* ---- lines ---- */

/* Room for a line behind those that were added, if any. */
static char *tape_line(struct turn *turn, struct tape **ret, struct atw_err *err)
{
	struct tape *t = tape_of(turn, true, err);
	char *head;

	*ret = t;
	if (!t)
		return NULL;
	t->len += t->text ? capture_text_close(&t->lines, t->data + t->len) : 0;
	if (!t->text) {
		head = tape_room(t, 1 + sizeof(struct tape_lines), err);
		if (!head)
			return NULL;
		*head = 't';
		t->text = t->len - sizeof(struct tape_lines);
	}
	if (!tape_room(t, CAPTURE_LINE, err))
		return NULL;
	t->len -= CAPTURE_LINE;
	return t->data + t->len;
}

static int tape_on_record_line(void *arg, const struct capture_record *rec,
			       struct atw_err *err)
{
	struct tape *t;
	size_t n;
	char *at;

	if (!strchr("TVP", rec->letter))
		return tape_on_record(arg, rec, err);
	at = tape_line(arg, &t, err);
	if (!at)
		return t ? ATW_E_NOMEM : ATW_E_STOPPED;
	n = capture_text_add(&t->lines, rec, at, err);
	t->len += n;
	return n ? ATW_OK : ATW_E_LIMIT;
}

static int tape_on_run_line(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct tape *t = ((struct turn *)arg)->tape;
	char *at;

	if (!t->text || !capture_text_go_on(&t->lines, 'M')) {
		at = tape_line(arg, &t, err);
		if (!at)
			return t ? ATW_E_NOMEM : ATW_E_STOPPED;
		t->len += capture_text_open(&t->lines, 'M', at);
	}
	t->len += capture_text_add_run(&t->lines, run, t->data + t->len);
	return ATW_OK;
}

static const char *tape_play_lines(const char *at, const struct census_sink *to, int *r,
				   struct atw_err *err)
{
	struct tape_lines head;

	memcpy(&head, ++at, sizeof(head));
	at += sizeof(head);
	*r = to->lines(to->arg, at, head.len, &head.count, err);
	return at + head.len;
}

/* ---- marks ---- */

static const char letters[] = { [TAPE_NEXT] = 'n', [TAPE_GONE] = 'g' };

int tape_add_mark(struct turn *turn, enum tape_mark mark, uint64_t pid, struct atw_err *err)
{
	struct tape *t = tape_of(turn, false, err);
	char *to = t ? tape_room(t, 1 + sizeof(pid), err) : NULL;

	if (!to)
		return t ? ATW_E_NOMEM : ATW_E_STOPPED;
	*to = letters[mark];
	memcpy(to + 1, &pid, sizeof(pid));
	return ATW_OK;
}

/* ---- the whole tape ---- */

struct census_sink tape_sink(struct turn *t, bool lines)
{
	return (struct census_sink){
		.record = lines ? tape_on_record_line : tape_on_record,
		.run = lines ? tape_on_run_line : tape_on_run,
		.arg = t,
	};
}

void tape_clear(struct tape *t)
{
	t->len = 0;
	t->like = false;
	t->text = 0;
	t->lines.open = 0;
	t->lines.count = (struct capture_end){ 0 };
}

int tape_play(struct tape *t, const struct tape_to *to, struct atw_err *err)
{
	struct capture_record rec;
	struct capture_run run = { 0 };
	const char *at, *end;
	int r = ATW_OK;

	tape_end_lines(t);
	at = t->data;
	end = at + t->len;
	while (at < end && r == ATW_OK) {
		uint64_t pid;

		switch (*at) {
		case 'r':
		case 'l':
			at = tape_get_run(at, &run);
			r = to->sink->run(to->sink->arg, &run, err);
			break;
		case 't':
			at = tape_play_lines(at, to->sink, &r, err);
			break;
		case 'n':
		case 'g':
			memcpy(&pid, at + 1, sizeof(pid));
			r = to->mark(to->arg, *at == 'n' ? TAPE_NEXT : TAPE_GONE, pid, err);
			at += 1 + sizeof(pid);
			break;
		default:
			at = tape_get_record(at, &rec);
			r = to->sink->record(to->sink->arg, &rec, err);
			break;
		}
	}
	return r;
}

void tape_deinit(struct tape *t)
{
	free(t->data);
	*t = (struct tape){ .len = 0 };
}
