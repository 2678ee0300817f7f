/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - texts out of memory we do not trust, made harmless.
 *
 * A task may call itself anything, terminal commands included. Whatever the
 * format, what comes out is valid UTF-8 without control characters:
 *
 *	plain  \xNN for each byte of a control character, of one that is
 *	       invisible or changes the direction or the end of a line, and of
 *	       what is not UTF-8; likewise for a blank at either end
 *	CSV    the same, but tab, CR and LF stay, as RFC 4180 has them in quotes,
 *	       and so do blanks
 *	JSON   \uNNNN, which loses nothing; a byte that is not UTF-8 becomes the
 *	       character of that number, \u0080 to \u00ff
 *	XML    as plain, and & < > and quotes as entities; HTML takes it, too
 */
#pragma once

#include "base/buf.h"

void text_plain(struct buf *b, const char *s);
/* Free text of several lines: line ends and tabs are kept. */
void text_lines(struct buf *b, const char *s);
/* As plain, but \NNN in octal, as /proc/PID/maps writes a line end; blanks are kept. */
void text_octal(struct buf *b, const char *s);
/* Quoted if necessary; the empty text is "". */
void text_csv(struct buf *b, const char *s);
/* With the quotes. */
void text_json(struct buf *b, const char *s);
/* Text of an element or, in double quotes, of an attribute. */
void text_xml(struct buf *b, const char *s);

/* Nothing is escaped: a byte that is not UTF-8 becomes a character as in JSON. */
void text_utf8(struct buf *b, const char *s);

/*
 * Width in columns of a terminal. The locale says which characters are wide, if it is one
 * of UTF-8; in others, and in that of C, one column per character is assumed.
 */
size_t text_width(const char *s, size_t len);

/* Length of the first `len` bytes without a character at their end that is cut off. */
size_t text_whole(const char *s, size_t len);
