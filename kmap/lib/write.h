/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write.h - writer of KMAP records as text, in any format. */
#pragma once

#include "kmap/lib/read.h"

struct kmap_writer;

struct kmap_form {
	enum kmap_version version;
	bool own;                        /* V4 with all that atwalk-kmap(5) adds to it */
};
/* "version 4", as people read it. */
const char *kmap_form_name(struct kmap_form f);

/* What did not go into it: of each KMAP_LOSES bit how many records had it. */
struct kmap_losses {
	uint64_t n[KMAP_LOSES];
};

/*
 * Our own takes nothing that is compressed (ATW_E_UNSUPPORTED).
 * `fd` stays the caller's. `level`: of zstd, 1 to 19; 0: plain text. Calls, comments and
 * the like that the form has no line for are passed over, and counted.
 */
int kmap_writer_open(int fd, int level, struct kmap_form form, struct kmap_writer **ret,
		     struct atw_err *err);
struct kmap_sink kmap_writer_sink(struct kmap_writer *w);
const struct kmap_losses *kmap_writer_losses(const struct kmap_writer *w);
/*
 * All output has been written when this returns ATW_OK. `of`: summary of the input,
 * which goes to the last line of our own version; NULL is fine for the others.
 */
int kmap_writer_end(struct kmap_writer *w, const struct kmap_summary *of, struct atw_err *err);
/* NULL is fine. */
void kmap_writer_close(struct kmap_writer *w);
