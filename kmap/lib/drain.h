/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain.h - what the recorder hands over, written down as a KMAP.
 *
 * The file can be read at any moment up to where it is: an object is one piece of text
 * with all of its accesses, and packed ones end a frame often.
 */
#pragma once

#include "linux/linux.h"

#include "kmap/lib/format.h"
#include "kmap/lib/functions.h"
#include "kmap/lib/share.h"

struct kmap_drain;

struct kmap_drain_opts {
	int fd;                          /* stays the caller's */
	enum kmap_version version;
	int level;                       /* of zstd; 0: plain */
	uint64_t slide;                  /* to take off from addresses of the image */
	uint64_t objects, accesses;      /* written elsewhere: added to the last line */
	unsigned jobs;                   /* threads for kmap_drain_rest(); 0: none, 1 is as good */
};

int kmap_drain_open(struct kshare *s, const struct kmap_drain_opts *o, struct kmap_drain **ret,
		    struct atw_err *err);
/* "# atwalk-kmap 1", which a file of ours begins with. */
int kmap_drain_begin(struct kmap_drain *d, struct atw_err *err);
/* "# atwalk-kmap KEY VALUE"; of version 4 alone, others are as Memorizer wrote them. */
ATW_PRINTF(4, 5) int kmap_drain_header(struct kmap_drain *d, struct atw_err *err,
				       const char *key, const char *fmt, ...);
/*
 * Functions of the kernel, borrowed, once they are known: those that objects have code of
 * are named before these from here on. ATW_E_NOMEM.
 */
int kmap_drain_functions(struct kmap_drain *d, const struct kmap_functions_of *f,
			 struct atw_err *err);
const struct kmap_functions_of *kmap_drain_known(const struct kmap_drain *d);
/* Objects from here on are to be understood without what is before them. */
void kmap_drain_anew(struct kmap_drain *d);
/* Behind all objects: all that were not named, and how many there are. */
int kmap_drain_unnamed(struct kmap_drain *d, struct atw_err *err);
/* How far the kernel was moved, once it is known. */
void kmap_drain_slide(struct kmap_drain *d, uint64_t slide);
/* Where that would be if it had not been moved. */
uint64_t kmap_drain_unmoved(const struct kmap_drain *d, uint64_t va);
/* Up to `max` objects that wait; *ret_n is how many there were. */
int kmap_drain_some(struct kmap_drain *d, unsigned max, unsigned *ret_n, struct atw_err *err);
/* What lives still, or stands for all of its kind: when the recorder stands still. */
int kmap_drain_rest(struct kmap_drain *d, struct atw_err *err);
/* Which code called which, if that is recorded; of version 3 and 4. */
int kmap_drain_calls(struct kmap_drain *d, struct atw_err *err);
/* All that was written so far can be read by others. */
int kmap_drain_flush(struct kmap_drain *d, struct atw_err *err);
/*
 * Writes the last line, and what is in buffers. `cut`: why the recording is incomplete;
 * readers then report that. NULL: it is complete.
 */
int kmap_drain_end(struct kmap_drain *d, const char *cut, struct atw_err *err);
const struct kmap_drain_opts *kmap_drain_how(const struct kmap_drain *d);
/*
 * How far the file is, in bytes, without its last line; packed, or if it is no file: -1.
 * *headers: where the first object begins.
 */
off_t kmap_drain_at(const struct kmap_drain *d, off_t *headers);
/*
 * Something could not be written: takes the file back to where it made sense, which
 * makes room for the last line even on a full disk. false: it cannot be taken back.
 */
bool kmap_drain_mend(struct kmap_drain *d, const char *cut);
/* NULL is fine. */
void kmap_drain_close(struct kmap_drain *d);

/* Bytes of text so far, objects and accesses in it. */
struct kmap_drained {
	uint64_t bytes, objects, accesses;
	uint64_t general;                /* how often what is no single object was touched */
	uint64_t touched[KSHARE_TYPES];  /* how often single objects of a type were */
};
/* What an object's edges come to is added to what was written. */
void kmap_drain_add_up(const struct kmap_drain *d, const struct kshare_object *o,
		       struct kmap_drained *sum);
struct kmap_drained kmap_drain_sums(const struct kmap_drain *d);
const char *kmap_type_name(enum kshare_type type);
