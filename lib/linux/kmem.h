/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmem.h - access to the kernel's own memory by virtual address.
 *
 * All code that follows kernel pointers reads through these functions. An error contains
 * the address and one of five reasons.
 */
#pragma once

#include "walk/walk.h"
#include "base/bytes.h"

struct kmem;
/* Called for every physical range that was read. */
typedef void kmem_touched_fn(void *arg, atw_pa pa, size_t len);

/* The space is copied, its source borrowed. */
int kmem_open(const struct mmu_space *sp, struct kmem **ret, struct atw_err *err);
void kmem_close(struct kmem *m);
/* Is it the memory of a running kernel? */
bool kmem_is_live(const struct kmem *m);
void kmem_on_touch(struct kmem *m, kmem_touched_fn *fn, void *arg);
/* For bytes that a search read and used, by physical address: reports them as read. */
void kmem_touch(struct kmem *m, atw_pa pa, size_t len);

/* All of the bytes, or ATW_E_MISSING (not mapped, not in the dump), _DAMAGED, _IO, ... */
int kmem_read(struct kmem *m, uint64_t va, void *buf, size_t len, struct atw_err *err);
/* The number of leading bytes that are readable; 0 with the reason if there are none. */
size_t kmem_upto(struct kmem *m, uint64_t va, void *buf, size_t len, struct atw_err *err);
/*
 * Contiguous bytes, valid until kmem_close(): borrowed from the source if they are
 * contiguous there, else a copy. kmem_blob_upto(): as many as are readable.
 */
int kmem_blob(struct kmem *m, uint64_t va, size_t len, struct atw_blob *ret,
	      struct atw_err *err);
int kmem_blob_upto(struct kmem *m, uint64_t va, size_t max, struct atw_blob *ret,
		   struct atw_err *err);
/*
 * The same for small data of short use: valid until the next call on this kmem. `len` is
 * at most a page.
 */
const void *kmem_peek(struct kmem *m, uint64_t va, size_t len, struct atw_err *err);
/*
 * A text of at most len - 1 bytes, terminated; longer ones are truncated. Bytes behind
 * its end need not be readable.
 */
int kmem_text(struct kmem *m, uint64_t va, char *buf, size_t len, struct atw_err *err);
/* The physical address of a kernel address; ATW_E_MISSING: it is not mapped. */
int kmem_physical(struct kmem *m, uint64_t va, atw_pa *ret, struct atw_err *err);

/*
 * For a running kernel: read `len` bytes at `va` now, up to a page. Until kmem_release(),
 * reads of this range use the copy, which saves a system call per member and makes the
 * members consistent. Nothing is held if the range is not completely readable.
 */
void kmem_hold(struct kmem *m, uint64_t va, size_t len);
/* The same with bytes that were read before, borrowed: kmem_ahead.h. */
void kmem_hold_copy(struct kmem *m, uint64_t va, atw_pa pa, const void *bytes, size_t len);
void kmem_release(struct kmem *m);
/* atw_read_many() of its source. */
void kmem_read_pieces(struct kmem *m, struct atw_piece *piece, size_t n);
/*
 * Incremented whenever bytes are read from its source; borrowed or held bytes do not
 * count.
 */
uint64_t kmem_reads(const struct kmem *m);

struct kmem_word {
	uint64_t va;
	uint8_t len;             /* 1, 2, 4 or 8 */
	bool read;
	uint64_t value;
};

/* Read up to KMEM_WORDS words in this order; of a running kernel in one call. */
enum { KMEM_WORDS = 8 };
void kmem_words(struct kmem *m, struct kmem_word *w, size_t n);

static inline int kmem_failure(const struct atw_err *err)
{
	return err && err->status < 0 ? err->status : ATW_E_MISSING;
}

static inline int kmem_u64(struct kmem *m, uint64_t va, uint64_t *ret,
			   struct atw_err *err)
{
	const void *p = kmem_peek(m, va, 8, err);

	if (!p)
		return kmem_failure(err);
	*ret = get_le64(p);
	return ATW_OK;
}

static inline int kmem_u32(struct kmem *m, uint64_t va, uint32_t *ret,
			   struct atw_err *err)
{
	const void *p = kmem_peek(m, va, 4, err);

	if (!p)
		return kmem_failure(err);
	*ret = get_le32(p);
	return ATW_OK;
}

/* ---- kmem_list.c: structs of a list of a running kernel, many in one read ---- */

/* A part of structs that are linked, all at one offset; offsets are from its start. */
struct kmem_list_shape {
	uint32_t len;            /* of the part */
	uint32_t next;           /* where the link to the next struct lies */
	uint32_t pointer;        /* where a pointer to another struct lies */
	uint32_t behind, behind_len;     /* the bytes of that which are read; length 0: none */
};

struct kmem_list;
/* NULL: not a running kernel, no memory, or no shape that can be read so. */
struct kmem_list *kmem_list_create(struct kmem *m, const struct kmem_list_shape *s);
/* NULL is accepted, also by the others but kmem_list_find(). */
void kmem_list_destroy(struct kmem_list *l);
/*
 * Read the part at `va` and those that follow it, at one moment; nothing is read if it
 * was, and one that follows it. Of some sources nothing can be read so.
 */
void kmem_list_from(struct kmem_list *l, uint64_t va);
void kmem_list_forget(struct kmem_list *l);
/* Identifies the moment of what was read last; 0: nothing is known. */
uint64_t kmem_list_reading(const struct kmem_list *l);
const void *kmem_list_find(struct kmem_list *l, uint64_t va, size_t len);

/*
 * Until kmem_serve(m, NULL), kmem_words(), kmem_hold() and reads of small data take from
 * the list what it has.
 */
void kmem_serve(struct kmem *m, struct kmem_list *l);
/* atw_source_list() of its source; 0 as well where reads have to be reported. */
size_t kmem_read_list(struct kmem *m, const struct atw_chain *l);

/* ---- kmem_ahead.c: read-ahead of structs of a running kernel, many in one read ---- */

/*
 * Each read of such a source is a system call. Structs that will be needed are added and
 * read together; kmem_ahead_hold() then does what kmem_hold() does, without a read. The
 * caller is responsible for the validity of the copies.
 */

struct kmem_ahead;
/* NULL: no memory. */
struct kmem_ahead *kmem_ahead_create(struct kmem *m);
/* NULL is accepted. */
void kmem_ahead_destroy(struct kmem_ahead *a);

/* Add `len` bytes at `va` to the next read. Ignored if there is no room. */
void kmem_ahead_add(struct kmem_ahead *a, uint64_t va, size_t len);
/* Read all that were added since the last call. */
void kmem_ahead_read(struct kmem_ahead *a);
/* The copy of the item with this address, or NULL; valid until kmem_ahead_forget(). */
const void *kmem_ahead_find(const struct kmem_ahead *a, uint64_t va, size_t len);
/* kmem_hold() with that copy; false: there is none. */
bool kmem_ahead_hold(const struct kmem_ahead *a, uint64_t va, size_t len);
/* Re-read the first `n` items: are they unchanged? */
bool kmem_ahead_same(struct kmem_ahead *a, unsigned n);
void kmem_ahead_forget(struct kmem_ahead *a);
