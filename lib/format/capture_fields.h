/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_fields.h - the fields of each line of a capture: one table for the parser and
 * the writer, which therefore agree. Pure.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "format/capture.h"

enum capture_type {
	CAPTURE_HEX8,                /* at least 8 digits, as in the LPMA format */
	CAPTURE_HEX,
	CAPTURE_DEC,
	CAPTURE_NAME,
	CAPTURE_PAIR,
	CAPTURE_BYTES,
	CAPTURE_WORD,                /* one of capture_states[] */
	CAPTURE_USE,                 /* one of capture_uses[] */
	CAPTURE_HOST,                /* one of capture_hosts[] */
	CAPTURE_LOADS,               /* for capture_load() */
};

struct capture_field {
	const char *name;
	enum capture_type type;
	uint16_t at;                 /* offset in the struct of the record */
	uint32_t has;                /* 0: mandatory */
};

struct capture_form {
	char letter;
	unsigned fields;             /* number of positional fields; the rest have
				      * names */
	unsigned all;
	const struct capture_field *field;
};

/* The last element has no letter. */
extern const struct capture_form capture_forms[];
/* The fields behind the address of a run. */
extern const struct capture_form capture_run_form;
/* Of frames: struct capture_frames_fields. */
struct capture_frames_fields {
	uint64_t use, host;          /* enum capture_use, enum capture_host */
	uint64_t node, clean;
};
extern const struct capture_form capture_frames_form;
extern const char *const capture_states[CAPTURE_STATES];
extern const char *const capture_uses[CAPTURE_USES];
extern const char *const capture_hosts[CAPTURE_HOSTS];

const struct capture_form *capture_form(char letter);

/* The two steps of capture_parse(): the check for invalid bytes, and the parser. */
int capture_parse_bytes(struct atw_blob line, bool paper, struct atw_err *err);
int capture_parse_line(struct atw_blob line, bool paper, char *names,
		       struct capture_record *ret, struct atw_err *err);

/*
 * Fast path: parses the next run of *text if it has the form that capture_write_run()
 * emits and no rare keys, and advances *text. false: the general parser is needed, and
 * *run is undefined.
 * Without it, most of the time of reading a capture would be spent on finding commas.
 */
bool capture_parse_usual(struct atw_blob *text, struct capture_run *run);
/* The same if it is among those that were parsed before their turn. */
bool capture_take_parsed(struct capture_parsed *p, struct atw_blob *text, struct capture_run *ret);
