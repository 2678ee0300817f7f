/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content_rows.h - parts of rows about the content of memory: rd and search. */
#pragma once

#include "target/content.h"

#include "listing.h"

/* State of a piece, of listing_states. */
enum state content_state_shown(const struct content_piece *p);

/* "7f 45 4c", in 3 * len + 1 bytes. */
void content_hex(const void *data, size_t len, char *text);
/* Printable ASCII as it is, other bytes as dots; `text` has room for len + 1. */
void content_ascii(const void *data, size_t len, char *text);

/* "init_task+0x40": what an address of the kernel's half is in. false: nothing is known. */
bool content_symbol(const struct session *s, uint64_t address, char *text, size_t len);

/* Bytes that could not be read, by the reason. */
struct content_gaps {
	uint64_t unmapped, missing;      /* bytes; missing: in no source, or unreadable */
	struct atw_err why;              /* of the first that is unreadable */
};
void content_gaps_add(struct content_gaps *g, const struct content_piece *p,
		      const struct atw_err *why);
int content_gaps_status(const struct content_gaps *g);
/* A line on standard error if the exit status is EXIT_PARTIAL. */
void content_gaps_print(const struct content_gaps *g, const char *name);

/* Words that are physical addresses and ranges. Prints errors; 0 or an exit status. */
int content_args_physical(const struct session *s, char **argv, struct address_arg *ret, int n);
