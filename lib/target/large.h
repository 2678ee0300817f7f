/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * large.h - bytes of a memory area in large pages, and the reasons for small ones. Pure:
 * the input is an area, what is allowed in it, and its runs of pages.
 *
 * A block is what one large page would cover: an aligned piece as large as it. A
 * small page belongs to one block or to none, and a block has one reason, the
 * first that applies; so the bytes of all reasons are those of all small pages.
 */
#pragma once

#include "linux/thp.h"
#include "target/provider.h"
#include "base/buf.h"

/* In the order in which they are looked for. */
enum large_why {
	LARGE_NONE,              /* not known */
	LARGE_SMALL,             /* the area is smaller than a block */
	LARGE_UNALIGNED,         /* there is no whole block of the area around it */
	LARGE_NOHUGEPAGE,        /* VM_NOHUGEPAGE */
	LARGE_DISABLED,          /* off: for the process or the system */
	LARGE_FILE,              /* so is the file: not aligned, or small in its cache */
	LARGE_SPARSE,            /* the block has holes */
	LARGE_RIGHTS,            /* it has pages of several rights, or none */
	LARGE_SWAPPED,           /* some of it is on swap */
	LARGE_POSSIBLE,          /* nothing is in the way */
	LARGE_WHYS
};
extern const char *const large_why_names[LARGE_WHYS];

/* What said LARGE_DISABLED, as bits: of each knob two, never and not advised. */
#define LARGE_OFF_PROCESS 1u
#define LARGE_OFF_NEVER_BY(knob) (2u << 2 * (knob))
#define LARGE_OFF_UNADVISED_BY(knob) (4u << 2 * (knob))

enum large_kind { LARGE_ANON, LARGE_SHMEM, LARGE_OF_FILE };

/* What is allowed in an area. */
struct large_may {
	enum large_kind kind;
	bool unknown;            /* a file of unknown kind */
	uint64_t offset;         /* of the area in it */
	enum thp_when system;    /* for memory of that kind */
	enum thp_knob by;        /* what says so */
	enum thp_when process;
	bool have_advice;        /* `advised` and `refused` are known */
	bool advised, refused;   /* MADV_HUGEPAGE, MADV_NOHUGEPAGE */
	bool special;            /* of a device, or placed by the kernel */
};

/* Bytes, but for numbers of blocks. */
struct large_sum {
	uint64_t large;                  /* mapped by large pages */
	uint64_t unsized;                /* by pages of unknown size, large or small */
	uint64_t hidden;                 /* nothing is known of this */
	uint64_t small[LARGE_WHYS];      /* by others, by reason */
	uint64_t in_full[LARGE_WHYS];    /* of that, in blocks that lack nothing */
	uint64_t holes[LARGE_WHYS];      /* what blocks that were begun lack */
	uint64_t blocks;                 /* whole ones in the area */
	uint64_t full;                   /* of these, wholly mapped by small pages */
	uint64_t off;                    /* LARGE_OFF_... */
	uint64_t unknown;                /* small bytes of which no setting is known */
	uint64_t entries;                /* of a TLB, for all that is mapped and of known size */
	uint64_t entries_large;          /* if each block with small pages were a large one */
};

/* An area that is being looked at. */
struct large_scan {
	uint64_t block;
	uint64_t first, last;            /* of the whole blocks; first > last: none */
	enum large_why edge, area;       /* outside of them; of all inside */
	unsigned off;
	bool unknown;
	struct {
		uint64_t at, small, swapped, other, lost;
		uint8_t rights;
		bool mixed;
	} now;                           /* the block under way */
	struct large_sum sum;
};

/* The area start..end, half open; `block` is a power of two. */
void large_begin(struct large_scan *s, uint64_t start, uint64_t end,
		 const struct large_may *may, uint64_t block);
/* The part first..last of a run lies in the area; low addresses first. */
void large_add(struct large_scan *s, uint64_t first, uint64_t last,
	       const struct page_run *run);
/* s->sum is complete. */
void large_end(struct large_scan *s);

void large_sum_add(struct large_sum *to, const struct large_sum *s);
/* What pages of `slot` bytes map outside of all areas. */
void large_sum_outside(struct large_sum *to, uint64_t bytes, uint64_t slot, uint64_t block);
/* All that small pages map. */
uint64_t large_smaller(const struct large_sum *s);
/* All that pages map. */
uint64_t large_mapped(const struct large_sum *s);
/* What most of them are small for. */
enum large_why large_main(const struct large_sum *s);

/* ---- what is allowed ---- */

/* Flags of an area, and of what kind its memory is, as far as these tell. */
void large_may_of_area(const struct atw_area *a, uint64_t vm_flags, struct large_may *ret);
/*
 * Pure: text of /proc/PID/mountinfo. What its tmpfs at that device was mounted
 * with; false: no tmpfs is there.
 */
bool large_mounted(struct atw_blob text, uint32_t major, uint32_t minor,
		   enum thp_when *ret);
/* Pure: a line "VmFlags: rd wr mr" of /proc/PID/smaps, as VM_*, those in use here. */
uint64_t large_vmflags(const char *line, size_t len);

/* ---- large_live.c ---- */

/*
 * Settings of large pages, from /proc and /sys of the running kernel.
 */

/* Files are read once a process, when they are first asked for. All zero is fine. */
struct large_live {
	uint64_t block;          /* bytes of the large page that the settings are of */
	struct thp_settings set;
	uint32_t pid;
	bool mounts_tried, smaps_tried, process_tried;
	struct buf mounts, smaps;
	size_t at;               /* in smaps, behind the area at `upto` */
	uint64_t upto;
	enum thp_when process;
};

/* What the system allows to the area's kind of memory; *ret says which so far. */
void large_live_system(struct large_live *l, uint32_t pid, uint64_t block,
		       const struct atw_area *a, struct large_may *ret);
/* Fill all of *ret, for an area that is only known from /proc. */
void large_live_may(struct large_live *l, uint32_t pid, uint64_t block,
		    const struct atw_area *a, struct large_may *ret);
/*
 * Is the area at `start` mapped by frame numbers (VM_PFNMAP), so that pagemap has no
 * entries for it? Also true if this is not known.
 */
bool large_live_is_pfnmap(struct large_live *l, uint32_t pid, uint64_t start);
/* What was read of a process is of a moment; settings last. */
void large_live_forget(struct large_live *l);
