/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_text.c - the census stream as lines of a capture. */
#include "census/capture_text.h"

#include "base/hash.h"

enum {
	WRAP = 4000,                 /* minimum length of an M: or F: line before a new
				      * one begins */
};

size_t capture_text_add(struct capture_text *l, const struct capture_record *rec, char *at,
		 struct atw_err *err)
{
	size_t n = capture_write(rec, at, CAPTURE_LINE);

	if (!n) {
		atw_err_set(err, ATW_E_LIMIT, "%c: a line of more than %d bytes", rec->letter,
			    CAPTURE_LINE);
		return 0;
	}
	l->count.lines++;
	l->count.tasks += rec->letter == 'T';
	l->count.areas += rec->letter == 'V';
	l->count.lost += rec->letter == 'L';
	return n;
}

bool capture_text_go_on(const struct capture_text *l, char letter)
{
	return l->open == letter && l->len < WRAP;
}

size_t capture_text_open(struct capture_text *l, char letter, char *at)
{
	at[0] = letter;
	at[1] = ':';
	l->open = letter;
	l->len = 2;
	return 2;
}

size_t capture_text_add_run(struct capture_text *l, const struct capture_run *run, char *at)
{
	/* A few kinds of pages take turns. */
	uint64_t kind = hash_u64(run->flags ^ run->refs) % CAPTURE_TEXT_TAILS;
	size_t n = capture_write_like(run, &l->tail[kind], at, CAPTURE_LINE - l->len);

	l->len += n;
	return n;
}

size_t capture_text_add_frames(struct capture_text *l, const struct capture_frames *run, char *at)
{
	size_t n = capture_write_frames(run, at, CAPTURE_LINE - l->len);

	l->len += n;
	return n;
}

size_t capture_text_close(struct capture_text *l, char *at)
{
	if (!l->open)
		return 0;
	*at = '\n';
	l->open = 0;
	l->count.lines++;
	return 1;
}

void capture_text_count(struct capture_text *l, const struct capture_end *count)
{
	l->count.lines += count->lines;
	l->count.tasks += count->tasks;
	l->count.areas += count->areas;
	l->count.lost += count->lost;
}
