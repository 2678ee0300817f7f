/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_fields.h - which fields a line of a capture has: one table, from which
 * lines are read and written, so that both agree. Pure.
 */
#ifndef FORMAT_CAPTURE_FIELDS_H
#define FORMAT_CAPTURE_FIELDS_H

#include "format/capture.h"

enum capture_type {
	CAPTURE_HEX8,                /* at least 8 digits, as the paper's */
	CAPTURE_HEX,
	CAPTURE_DEC,
	CAPTURE_NAME,
	CAPTURE_PAIR,
	CAPTURE_BYTES,
	CAPTURE_WORD,                /* one of capture_states[] */
	CAPTURE_USE,                 /* one of capture_uses[] */
	CAPTURE_LOADS,               /* for capture_load() */
};

struct capture_field {
	const char *name;
	enum capture_type type;
	uint16_t at;                 /* in the part of the record that has it */
	uint32_t has;                /* 0: it is always there */
};

struct capture_form {
	char letter;
	unsigned fields;             /* so many by place, the rest by name */
	unsigned all;
	const struct capture_field *field;
};

/* The last has no letter. */
extern const struct capture_form capture_forms[];
/* What stands behind the address of a run. */
extern const struct capture_form capture_run_form;
/* Of frames: a single number, enum capture_use. */
extern const struct capture_form capture_frames_form;
extern const char *const capture_states[CAPTURE_STATES];
extern const char *const capture_uses[CAPTURE_USES];

const struct capture_form *capture_form(char letter);

/*
 * The next run of *text, if it is as capture_write_run() has it and has no rare
 * key, and then *text moves behind it. false: nothing is known about it. Captures
 * are long, and looking for each comma is what reading one would spend its time on.
 */
bool capture_parse_usual(struct atw_blob *text, struct capture_run *ret);

#endif
