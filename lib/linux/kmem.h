/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmem.h - the kernel's own memory, by virtual address.
 *
 * Everything that follows a pointer of the kernel reads through here. An error
 * names the address and says which of the five reasons it was.
 */
#ifndef LINUX_KMEM_H
#define LINUX_KMEM_H

#include "walk/walk.h"

#include "base/bytes.h"

struct kmem;
/* Called for every piece of physical memory that something was read from. */
typedef void kmem_touched_fn(void *arg, atw_pa pa, size_t len);

/* The space is copied, its source borrowed. */
int kmem_open(const struct mmu_space *sp, struct kmem **ret, struct atw_err *err);
void kmem_close(struct kmem *m);
/* Is it a running kernel's? */
bool kmem_is_live(const struct kmem *m);
void kmem_on_touch(struct kmem *m, kmem_touched_fn *fn, void *arg);
/* For what a search met and used, by physical address: it counts as read. */
void kmem_touch(struct kmem *m, atw_pa pa, size_t len);

/* All of it, or ATW_E_MISSING (not mapped, not there), _DAMAGED, _IO, ... */
int kmem_read(struct kmem *m, uint64_t va, void *buf, size_t len,
	      struct atw_err *err);
/* As much as there is without a gap; 0 and the reason if nothing is. */
size_t kmem_upto(struct kmem *m, uint64_t va, void *buf, size_t len,
		 struct atw_err *err);
/*
 * In one piece, good until kmem_close(): lent by the source where it lies in
 * one piece there, else a copy. kmem_blob_upto(): as much as there is.
 */
int kmem_blob(struct kmem *m, uint64_t va, size_t len, struct atw_blob *ret,
	      struct atw_err *err);
int kmem_blob_upto(struct kmem *m, uint64_t va, size_t max, struct atw_blob *ret,
		   struct atw_err *err);
/*
 * The same for something small that is looked at and forgotten: good until the
 * next call on this kmem. `len` is at most a page.
 */
const void *kmem_peek(struct kmem *m, uint64_t va, size_t len, struct atw_err *err);
/*
 * A text, at most len - 1 bytes of it, terminated; what does not fit is cut.
 * Bytes behind its end need not be there.
 */
int kmem_text(struct kmem *m, uint64_t va, char *buf, size_t len,
	      struct atw_err *err);
/* What a kernel address maps to; ATW_E_MISSING: nothing. */
int kmem_physical(struct kmem *m, uint64_t va, atw_pa *ret, struct atw_err *err);

/*
 * Of a running kernel: read `len` bytes at `va` now, up to a page. Until kmem_release(),
 * what lies there is answered from this copy, which saves a system call a member and makes
 * members of one moment. Nothing is held where it is not there as a whole.
 */
void kmem_hold(struct kmem *m, uint64_t va, size_t len);
/* The same of bytes that were read from there before, borrowed: kmem_ahead.h. */
void kmem_hold_copy(struct kmem *m, uint64_t va, atw_pa pa, const void *bytes, size_t len);
void kmem_release(struct kmem *m);
/* atw_read_many() of its source. */
void kmem_read_pieces(struct kmem *m, struct atw_piece *piece, size_t n);
/* Grows whenever bytes are read from its source: what is lent or held is not. */
uint64_t kmem_reads(const struct kmem *m);

struct kmem_word {
	uint64_t va;
	uint8_t len;             /* 1, 2, 4 or 8 */
	bool read;
	uint64_t value;
};

/* Up to KMEM_WORDS of them, in this order, and of a running kernel in one call. */
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

#endif
