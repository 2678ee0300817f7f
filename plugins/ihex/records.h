/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - records of Intel HEX (Intel, Hexadecimal Object File Format Specification,
 * revision A, 1988). Pure: a text in, pieces of memory out, and nothing in it is trusted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { RECORD_BYTES = 255 };

enum record_result {
	RECORD_DATA,             /* `at`, `n` and `byte` are set */
	RECORD_END,              /* behind the end record */
	RECORD_CUT,              /* the text ends before that */
	RECORD_WRONG,            /* `why` is set */
};

/* Zeroed but for `text` and `len`: at the beginning. */
struct records {
	const char *text;
	size_t len, pos;
	unsigned long line;      /* that was read last, from 1 */
	uint64_t base;           /* added to the addresses of records */
	int wraps;               /* addresses wrap within 64 KiB above it */
	/* Of the data: contiguous bytes. */
	uint64_t at;
	unsigned n;
	uint8_t byte[RECORD_BYTES];
	const char *why;         /* what is wrong in the line */
	/* What wraps is returned in two pieces; the second one: */
	unsigned rest;
};

enum record_result records_next(struct records *r);
