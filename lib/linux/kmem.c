/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmem.c - access to kernel memory by virtual address. */
#include "linux/kmem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/huge.h"
#include "walk/memory.h"

/*
 * Cache of translations. Structs are in the direct map, which has large slots, so few
 * entries suffice for nearly every pointer. A running kernel has pointers to everywhere,
 * and a translation costs several reads: so there is one more entry for each of many GiB,
 * 2 MiB and 4 KiB, used by the largest that a slot fills.
 */
enum { SLOTS = 8, FAR_BITS = 9, FAR_SIZES = 3 };

/* Bytes of copies that lie together, and of a line of the cache. */
enum { COPIES_LEAST = 64 << 10, COPIES_MOST = 2 << 20, COPY_ALIGN = 64 };

/* Each by itself, so that a read behind its end is found out. */
#if defined(__SANITIZE_ADDRESS__)
enum { COPIES_APART = true };
#elif defined(__has_feature)
enum { COPIES_APART = __has_feature(address_sanitizer) };
#else
enum { COPIES_APART = false };
#endif

static const uint8_t far_shift[FAR_SIZES] = { 30, 21, 12 };

struct kmem_slot {
	uint64_t va, size, pa;   /* size 0: unused */
};

/*
 * Bytes that could not be borrowed from the source, kept until the end: several copies, one
 * behind the other. A page of struct pages each has a listing of thousands.
 */
struct copies {
	struct copies *next;
	size_t used, size;       /* with this header */
	bool mapped;             /* by huge_alloc(); else by malloc() */
};

struct kmem {
	struct mmu_space space;
	struct mmu_lookup *lookup;
	struct kmem_slot slot[SLOTS], far[FAR_SIZES][1 << FAR_BITS];
	unsigned oldest;
	size_t page;
	char *scratch;           /* a page, for kmem_peek() if it must copy */
	struct copies *copies;   /* the last ones first */
	size_t copied;           /* bytes that all of them have room for */
	uint64_t held_at, held_pa;
	size_t held_len;         /* 0: nothing is held */
	const char *held;
	char *held_page;         /* for kmem_hold(); NULL: not allocated yet */
	struct kmem_list *served;
	uint64_t reads;
	kmem_touched_fn *touched;
	void *arg;
};

int kmem_open(const struct mmu_space *sp, struct kmem **ret, struct atw_err *err)
{
	struct kmem *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return atw_err_nomem(err);
	m->space = *sp;
	m->page = (size_t)1 << sp->paging.page_shift;
	m->scratch = malloc(m->page);
	r = m->scratch ? mmu_lookup_open(sp, &m->lookup, err) : atw_err_nomem(err);
	if (r < 0) {
		kmem_close(m);
		return r;
	}
	mmu_lookup_keep(m->lookup);
	*ret = m;
	return ATW_OK;
}

/* A copy begins where a line of the cache does, and struct pages in it cross none. */
static size_t kmem_copy_at(size_t used)
{
	return (used + COPY_ALIGN - 1) & -(size_t)COPY_ALIGN;
}

/* For more copies as there are already, within limits, and for one of `max` bytes. */
static struct copies *kmem_copies_alloc(const struct kmem *m, size_t max)
{
	size_t many = MIN(MAX(m->copied, (size_t)COPIES_LEAST), (size_t)COPIES_MOST);
	size_t size = MAX(COPIES_APART ? 0 : many, kmem_copy_at(sizeof(struct copies)) + max);
	/* Tables of symbols have megabytes: page faults would take longer than reading them. */
	bool huge = size >= COPIES_MOST / 2 && !COPIES_APART;
	void *p = NULL;

	if (huge) {
		size = MAX(size, (size_t)COPIES_MOST);
		p = huge_alloc(size, true);
	} else if (posix_memalign(&p, COPY_ALIGN, size)) {
		return NULL;
	}
	if (p)
		*(struct copies *)p = (struct copies){
			.used = sizeof(struct copies), .size = size, .mapped = huge,
		};
	return p;
}

/* Room for a copy of `max` bytes; it is one once c->used says so. NULL: no memory. */
static struct copies *kmem_copies_with(struct kmem *m, size_t max)
{
	struct copies *c = m->copies;

	if (c && kmem_copy_at(c->used) <= c->size && c->size - kmem_copy_at(c->used) >= max)
		return c;
	c = kmem_copies_alloc(m, max);
	if (!c)
		return NULL;
	c->next = m->copies;
	m->copies = c;
	m->copied += c->size;
	return c;
}

static void kmem_copies_free(struct copies *c)
{
	if (c->mapped)
		huge_free(c, c->size);
	else
		free(c);
}

void kmem_close(struct kmem *m)
{
	if (!m)
		return;
	for (struct copies *c = m->copies, *next; c; c = next) {
		next = c->next;
		kmem_copies_free(c);
	}
	mmu_lookup_close(m->lookup);
	free(m->scratch);
	free(m->held_page);
	free(m);
}

bool kmem_is_live(const struct kmem *m)
{
	return atw_source_is_live(m->space.mem);
}

void kmem_on_touch(struct kmem *m, kmem_touched_fn *fn, void *arg)
{
	m->touched = fn;
	m->arg = arg;
}

/* ---- translation ---- */

static int kmem_not_mapped(uint64_t va, const struct mmu_place *p, struct atw_err *err)
{
	if (p->loss == ATW_LOST_EXCLUDED)
		return atw_err_set(err, ATW_E_MISSING,
				   "kernel address 0x%" PRIx64 ": its page table was excluded from the dump", va);
	if (p->loss)
		return atw_err_set(err, ATW_E_MISSING,
				   "kernel address 0x%" PRIx64 ": its page table cannot be had", va);
	return atw_err_set(err, ATW_E_MISSING, "kernel address 0x%" PRIx64 " is not mapped", va);
}

static struct kmem_slot *kmem_far_slot(struct kmem *m, unsigned size, uint64_t va)
{
	return &m->far[size][(va >> far_shift[size]) * UINT64_C(0x9e3779b97f4a7c15) >>
			     (64 - FAR_BITS)];
}

static void kmem_keep_slot(struct kmem *m, uint64_t va, const struct kmem_slot *s)
{
	unsigned size = 0;

	while (size < FAR_SIZES - 1 && s->size < (uint64_t)1 << far_shift[size])
		size++;
	m->slot[m->oldest++ % SLOTS] = *kmem_far_slot(m, size, va) = *s;
}

static int kmem_find_slot(struct kmem *m, uint64_t va, struct kmem_slot *ret,
			  struct atw_err *err)
{
	struct atw_direct d;
	struct mmu_place p;
	int r;

	for (unsigned i = 0; i < SLOTS; i++)
		if (va - m->slot[i].va < m->slot[i].size) {
			*ret = m->slot[i];
			return ATW_OK;
		}
	for (unsigned i = 0; i < FAR_SIZES; i++) {
		const struct kmem_slot *far = kmem_far_slot(m, i, va);

		if (va - far->va < far->size) {
			*ret = *far;
			return ATW_OK;
		}
	}
	/* What a search read has to include the tables that lead there. */
	if (!m->touched && atw_source_direct(m->space.mem, va, &d)) {
		*ret = (struct kmem_slot){ d.va, d.size, d.pa };
		kmem_keep_slot(m, va, ret);
		return ATW_OK;
	}
	r = mmu_lookup(m->lookup, ATW_VA(va), &p, err);
	if (r < 0) {
		/* The pointer comes from the dump, so the caller made no error. */
		if (r == ATW_E_USAGE)
			r = ATW_E_DAMAGED;
		atw_err_wrap(err, "kernel address");
		if (err)
			err->status = r;
		return r;
	}
	if (p.kind != ATW_LEAF || p.loss)
		return kmem_not_mapped(va, &p, err);
	ret->va = va & ~(p.size - 1);
	ret->pa = p.pa.u - (va - ret->va);
	ret->size = p.size;
	kmem_keep_slot(m, va, ret);
	atw_source_mapped(m->space.mem, ATW_PA(ret->pa), ATW_VA(ret->va), ret->size);
	return ATW_OK;
}

int kmem_physical(struct kmem *m, uint64_t va, atw_pa *ret, struct atw_err *err)
{
	struct kmem_slot s;
	int r = kmem_find_slot(m, va, &s, err);

	if (r == ATW_OK)
		*ret = ATW_PA(s.pa + (va - s.va));
	return r;
}

/* The number of bytes from va on that are physically contiguous. */
static int kmem_find_run(struct kmem *m, uint64_t va, size_t len, atw_pa *pa, size_t *run,
			 struct atw_err *err)
{
	struct kmem_slot s;
	int r = kmem_find_slot(m, va, &s, err);

	if (r < 0)
		return r;
	*pa = ATW_PA(s.pa + (va - s.va));
	*run = s.size - (va - s.va) < len ? (size_t)(s.size - (va - s.va)) : len;
	while (*run < len) {
		if (kmem_find_slot(m, va + *run, &s, NULL) < 0 || s.va != va + *run ||
		    s.pa != pa->u + *run)
			break;
		*run = s.size < len - *run ? *run + (size_t)s.size : len;
	}
	return ATW_OK;
}

void kmem_touch(struct kmem *m, atw_pa pa, size_t len)
{
	if (m->touched)
		m->touched(m->arg, pa, len);
}

/* ---- access ---- */

static int kmem_not_there(struct kmem *m, uint64_t va, atw_pa pa, ssize_t got,
			  struct atw_err *err)
{
	switch (memory_loss(m->space.mem, pa, got)) {
	case ATW_LOST_EXCLUDED:
		return atw_err_set(err, ATW_E_MISSING,
				   "kernel address 0x%" PRIx64 ": its page at 0x%" PRIx64 " was excluded from the dump",
				   va, pa.u);
	case ATW_LOST_DAMAGED:
		return atw_err_wrap(err, "kernel address 0x%" PRIx64, va);
	default:
		return atw_err_set(err, ATW_E_MISSING,
				   "kernel address 0x%" PRIx64 ": its page at 0x%" PRIx64 " is not in the source",
				   va, pa.u);
	}
}

static const void *kmem_served(struct kmem *m, uint64_t va, size_t len)
{
	return m->served ? kmem_list_find(m->served, va, len) : NULL;
}

void kmem_serve(struct kmem *m, struct kmem_list *l)
{
	m->served = l;
}

size_t kmem_read_list(struct kmem *m, const struct atw_chain *l)
{
	m->reads++;
	return m->touched ? 0 : atw_source_list(m->space.mem, l);
}

void kmem_hold(struct kmem *m, uint64_t va, size_t len)
{
	const void *served;
	struct kmem_slot s;
	ssize_t got;
	atw_pa pa;

	m->held_len = 0;
	if (!kmem_is_live(m) || len > m->page)
		return;
	served = kmem_served(m, va, len);
	if (served) {
		kmem_hold_copy(m, va, ATW_PA(0), served, len);
		return;
	}
	if (!m->held_page)
		m->held_page = malloc(m->page);
	if (!m->held_page || kmem_find_slot(m, va, &s, NULL) < 0 ||
	    s.size - (va - s.va) < len)
		return;
	pa = ATW_PA(s.pa + (va - s.va));
	m->reads++;
	got = atw_read(m->space.mem, pa, m->held_page, len, NULL);
	if (got == (ssize_t)len)
		kmem_hold_copy(m, va, pa, m->held_page, len);
}

void kmem_hold_copy(struct kmem *m, uint64_t va, atw_pa pa, const void *bytes, size_t len)
{
	m->held_at = va;
	m->held_pa = pa.u;
	m->held = bytes;
	m->held_len = len;
}

void kmem_release(struct kmem *m)
{
	m->held_len = 0;
}

void kmem_read_pieces(struct kmem *m, struct atw_piece *piece, size_t n)
{
	m->reads += n;
	atw_read_many(m->space.mem, piece, n, NULL);
}

uint64_t kmem_reads(const struct kmem *m)
{
	return m->reads;
}

/* The held bytes, which are reported as read now. */
static const char *kmem_held(struct kmem *m, uint64_t va, size_t len)
{
	uint64_t off = va - m->held_at;

	if (off >= m->held_len || len > m->held_len - off)
		return kmem_served(m, va, len);
	kmem_touch(m, ATW_PA(m->held_pa + off), len);
	return m->held + off;
}

size_t kmem_upto(struct kmem *m, uint64_t va, void *buf, size_t len, struct atw_err *err)
{
	const char *copy = kmem_held(m, va, len);
	size_t done = 0;

	if (copy) {
		memcpy(buf, copy, len);
		return len;
	}
	while (done < len) {
		ssize_t got;
		size_t run;
		atw_pa pa;

		if (kmem_find_run(m, va + done, len - done, &pa, &run, err) < 0)
			break;
		m->reads++;
		got = atw_read(m->space.mem, pa, (char *)buf + done, run, err);
		if (got <= 0) {
			kmem_not_there(m, va + done, pa, got, err);
			break;
		}
		kmem_touch(m, pa, (size_t)got);
		done += (size_t)got;
	}
	return done;
}

int kmem_read(struct kmem *m, uint64_t va, void *buf, size_t len, struct atw_err *err)
{
	struct atw_err why = { .status = ATW_E_MISSING };

	if (kmem_upto(m, va, buf, len, &why) == len)
		return ATW_OK;
	return atw_err_set(err, why.status, "%s", why.text);
}

const void *kmem_peek(struct kmem *m, uint64_t va, size_t len, struct atw_err *err)
{
	struct kmem_slot s;
	const void *p;
	atw_pa pa;

	if (len > m->page) {
		atw_err_set(err, ATW_E_USAGE, "more than a page of the kernel's memory at once");
		return NULL;
	}
	p = kmem_held(m, va, len);
	if (p)
		return p;
	if (kmem_find_slot(m, va, &s, err) < 0)
		return NULL;
	pa = ATW_PA(s.pa + (va - s.va));
	if (s.size - (va - s.va) >= len) {
		p = memory_lent(m->space.mem, pa, len, NULL);
		if (p) {
			kmem_touch(m, pa, len);
			return p;
		}
	}
	return kmem_read(m, va, m->scratch, len, err) == ATW_OK ? m->scratch : NULL;
}

void kmem_words(struct kmem *m, struct kmem_word *w, size_t n)
{
	struct atw_piece piece[KMEM_WORDS];
	const void *served;
	struct kmem_slot s;
	bool read = false;

	n = n < KMEM_WORDS ? n : KMEM_WORDS;
	for (size_t i = 0; i < n; i++) {
		w[i].value = 0;
		piece[i] = (struct atw_piece){ .buf = &w[i].value };
		served = kmem_served(m, w[i].va, w[i].len);
		w[i].read = served;
		/* Aligned, so that none crosses a page. */
		if (served)
			memcpy(&w[i].value, served, w[i].len);
		else if (w[i].va % w[i].len == 0 &&
		    kmem_find_slot(m, w[i].va, &s, NULL) == ATW_OK) {
			piece[i].pa = ATW_PA(s.pa + (w[i].va - s.va));
			piece[i].len = w[i].len;
			read = true;
		}
	}
	if (read)
		atw_read_many(m->space.mem, piece, n, NULL);
	for (size_t i = 0; i < n; i++) {
		if (!piece[i].len)
			continue;
		/* Hosts are little-endian: base/bytes.h. */
		w[i].read = piece[i].got == (ssize_t)piece[i].len;
		if (w[i].read)
			kmem_touch(m, piece[i].pa, piece[i].len);
	}
}

/* Borrowed if the source can lend all of it contiguously. */
static const void *kmem_lend(struct kmem *m, uint64_t va, size_t len)
{
	const void *p;
	size_t run;
	atw_pa pa;

	if (kmem_find_run(m, va, len, &pa, &run, NULL) < 0 || run < len)
		return NULL;
	p = memory_lent(m->space.mem, pa, len, NULL);
	if (p)
		kmem_touch(m, pa, len);
	return p;
}

int kmem_blob_upto(struct kmem *m, uint64_t va, size_t max, struct atw_blob *ret,
		   struct atw_err *err)
{
	const void *p = max ? kmem_lend(m, va, max) : "";
	struct copies *c;
	size_t at, len;
	char *data;

	if (p) {
		*ret = (struct atw_blob){ p, max };
		return ATW_OK;
	}
	c = kmem_copies_with(m, max);
	if (!c)
		return atw_err_nomem(err);
	at = kmem_copy_at(c->used);
	data = (char *)c + at;
	len = kmem_upto(m, va, data, max, err);
	if (!len)
		return kmem_failure(err);
	c->used = at + len;
	if (COPIES_APART && len < max) {
		c = realloc(c, c->used);
		if (!c)
			return atw_err_nomem(err);
		c->size = c->used;
		m->copies = c;
		data = (char *)c + at;
	}
	*ret = (struct atw_blob){ data, len };
	return ATW_OK;
}

int kmem_blob(struct kmem *m, uint64_t va, size_t len, struct atw_blob *ret,
	      struct atw_err *err)
{
	struct atw_err why = { .status = ATW_E_MISSING };
	struct atw_blob b;
	int r = kmem_blob_upto(m, va, len, &b, &why);

	if (r == ATW_OK && b.len == len) {
		*ret = b;
		return ATW_OK;
	}
	return atw_err_set(err, why.status, "%s", why.text);
}

/* Reads a part of a text, and reports it as read up to the end of the text. */
static int kmem_text_part(struct kmem *m, uint64_t va, char *buf, size_t len, bool *end,
			  struct atw_err *err)
{
	kmem_touched_fn *fn = m->touched;
	const char *nul;
	struct kmem_slot s;
	int r;

	m->touched = NULL;
	r = kmem_read(m, va, buf, len, err);
	m->touched = fn;
	if (r < 0)
		return r;
	nul = memchr(buf, 0, len);
	*end = nul;
	/* A part does not cross a page, and therefore no slot. */
	if (kmem_find_slot(m, va, &s, NULL) == ATW_OK)
		kmem_touch(m, ATW_PA(s.pa + (va - s.va)), nul ? (size_t)(nul - buf) + 1 : len);
	return ATW_OK;
}

int kmem_text(struct kmem *m, uint64_t va, char *buf, size_t len, struct atw_err *err)
{
	struct atw_err why = { .status = ATW_E_MISSING };
	size_t n = 0, part;
	bool end = false;

	/* In parts: the memory behind a short text may be unmapped. */
	while (n + 1 < len) {
		part = MIN(64 - (size_t)((va + n) & 63), len - 1 - n);
		if (kmem_text_part(m, va + n, buf + n, part, &end, &why) < 0)
			return atw_err_set(err, why.status, "%s", why.text);
		if (end)
			return ATW_OK;
		n += part;
	}
	buf[n] = 0;
	return ATW_OK;
}
