/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listing.h - rows about ranges of an address space. All listings share these columns,
 * and each shows a subset by default.
 */
#pragma once

#include "atwalk.h"
#include "target/provider.h"

enum col {
	C_ADDRESS, C_END, C_SIZE, C_PHYSICAL, C_PFN, C_PAGE, C_PAGES, C_STEP, C_LEVEL, C_INDEX,
	C_ENTRY_AT, C_ENTRY, C_REPEAT, C_RIGHTS, C_STATE, C_AREA, C_FLAGS, C_PROPERTIES,
	C_NODE, C_PID, C_TASK, C_COUNT,
	/* Only with listing_add_host(): */
	C_HVA = C_COUNT, C_HPA, C_HOST_PAGE, C_HOST_STATE, C_S2_HPA, C_S2_PAGE, C_S2_RIGHTS,
	C_S2_STATE, C_S2_DIFFERS, C_HOSTS,
	/* Only with listing_add_lines(): */
	C_SET1 = C_HOSTS, C_SET2, C_REFS, C_READS, C_WRITES, C_THREADS, C_VERDICT, C_ALL,
};
#define COL(c) ((uint64_t)1 << (c))

enum state {
	STATE_PRESENT, STATE_TABLE, STATE_ABSENT, STATE_PROTNONE, STATE_SWAP,
	STATE_MIGRATION, STATE_POISON, STATE_DEVICE, STATE_MARKER, STATE_GUARD,
	STATE_LOST, STATE_EXCLUDED, STATE_UNSTABLE, STATE_BAD, STATE_REPEAT,
};

struct listing {
	const struct session *src;
	const struct mmu_space *space;
	struct atw_column col[C_ALL];
	struct atw_schema schema;
	const char *flag[64];            /* the mode's, same-page and marks */
	struct atw_names flags;
	uint64_t same_page;              /* its bit */
	struct page_marks marks;
	const char *level[ATW_MAX_LEVELS + 1];   /* the last one may be a cache line */
	struct atw_names levels;
	size_t region;                   /* the one met last */
	/* The areas of a process, when one was asked for. */
	uint64_t areas_of;               /* its mm; 0: not read */
	struct area_name *area;
	size_t nareas, areas_cap, at_area;
};

/* `shown`: COL() of the columns without --columns. */
void listing_init(struct listing *l, const char *name, const struct session *src,
		  uint64_t shown);

/* Bits of s2_differs. */
enum listing_differs {
	DIFFERS_UNMAPPED, DIFFERS_EXTRA, DIFFERS_SMALLER, DIFFERS_LARGER, DIFFERS_MOVED,
	DIFFERS_PROTECTED, DIFFERS_ROM, DIFFERS_WORDS,
};
/* Of a target without page tables: the flags of its provider, and same-page. */
void listing_flags(struct listing *l, const struct atw_names *flags, uint64_t unknown);
/*
 * Columns of the host of a guest, instead of those for which there is no room then; `stage2`:
 * with those of stage 2.
 */
void listing_add_host(struct listing *l, bool stage2);
/*
 * Columns of cache lines. Those of sets are shown if there is a number of sets, those of
 * references if there are any.
 */
void listing_add_lines(struct listing *l, uint32_t sets1, uint32_t sets2, bool refs);
/* Then: hides what a plain table of 100 characters has no room for. */
void listing_narrow_lines(struct listing *l, bool refs);
/* What a line has in the column `level`. */
static inline uint64_t listing_line_level(const struct listing *l)
{
	return l->levels.n - 1;
}

void listing_deinit(struct listing *l);
/* Another look: areas are read again when they are next asked for. */
void listing_renew(struct listing *l);

enum { ROW_MOST = 48 };                  /* columns; pages has some of its own */
struct row {
	union atw_value v[ROW_MOST];
	uint64_t have;
};

static inline void row_set(struct row *r, unsigned c, uint64_t u)
{
	r->v[c].u = u;
	r->have |= COL(c);
}

/* The same if the value is known. */
static inline void row_set_if(struct row *r, bool known, unsigned c, uint64_t u)
{
	if (known)
		row_set(r, c, u);
}

static inline void row_text(struct row *r, unsigned c, const char *s)
{
	r->v[c].s = s;
	r->have |= COL(c);
}

/* Where `address` leads, and the number of the frame. */
static inline void row_physical(const struct listing *l, struct row *r, uint64_t pa)
{
	row_set(r, C_PHYSICAL, pa);
	if (l->space->paging.page_shift)
		row_set(r, C_PFN, pa >> l->space->paging.page_shift);
}

static inline int row_put(const struct row *r, struct atw_output *out,
			  struct atw_err *err)
{
	const struct atw_row row = { r->v, r->have };

	return atw_output_row(out, &row, err);
}

/* The words of enum state. */
extern const struct atw_names listing_states;
/* The state of a row for a provider's enum page_state. */
enum state state_shown(unsigned page_state);
/*
 * Kind, loss and the word of an entry, as a state; where an absent word
 * still knows a page, its address too.
 */
enum state row_state(const struct listing *l, struct row *r, unsigned level,
		     unsigned kind, unsigned loss, uint64_t word, uint64_t skip);
/*
 * Rights as letters: of a leaf those of its user, of a table the ones that it leaves to
 * the entries below it.
 */
void row_rights(struct row *r, enum state st, unsigned rights);

/* The flags of a leaf, with what the kernel notes in some of them. */
void row_flags(const struct listing *l, struct row *r, uint64_t va, uint64_t flags);

/* The process of the row, if the user selected one. */
void row_subject(const struct listing *l, struct row *r);
/* For targets without symbols: the remaining areas of the cursor. */
struct provider;
struct vma_cursor;
void listing_areas(struct listing *l, struct vma_cursor *c);

/* A note about a number: the format is `one` or `many`; none if it is 0. */
void note_number(struct atw_output *out, uint64_t n, const char *one, const char *many);
/* Warns once about data that a provider lacks, with a hint. */
void warn_lacks(const struct common *c, const struct session *o, const struct provider *p);

/*
 * The region of the kernel's half that an address is in or, failing that, the next one
 * above it; of a process's half, its memory area likewise. false: none, or it is not
 * known which process the tables are of.
 */
bool listing_region(struct listing *l, uint64_t address, struct atw_region *ret);
/* Its name in the row, if all of first..last is in one area. */
void row_area(struct listing *l, struct row *r, uint64_t first, uint64_t last);
/* The same, and all of first..last is in it. */
bool listing_area(struct listing *l, uint64_t first, uint64_t last,
		  struct atw_region *ret);
