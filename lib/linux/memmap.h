/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap.h - location of struct page, and the meaning of its bytes.
 *
 * A file each: memmap.c finds the struct page of a frame, page_abi.c finds the layout
 * of struct page in this kernel, page_flags.c decodes it as /proc/kpageflags would,
 * memmap_links.c finds which pages are free in per-CPU lists, slab.c and node.c
 * find its slab cache and NUMA node, page.c is the interface to other files.
 */
#pragma once

#include "linux/page.h"
#include "base/table.h"
#include "linux/kernel.h"
#include "linux/kmem.h"
#include "linux/kpf.h"

/* ---- memmap_ahead.c: read-ahead of struct pages of a running machine ---- */

/*
 * Such a source lends no memory, and each read is a system call. So the struct pages that
 * will be needed are read together, contiguous ones as one part; others are read by whole
 * pages of kernel memory, a few of which are kept until the next batch. Nothing else is
 * kept: later lookups read again.
 */

struct memmap_ahead;
/* `size` of a struct page. NULL: no memory. */
struct memmap_ahead *memmap_ahead_create(struct atw_source *mem, uint32_t size);
void memmap_ahead_destroy(struct memmap_ahead *a);

/*
 * The struct pages of `n` frames from pfn on, which are contiguous at this address, will
 * be needed. As many are added as there is room for.
 */
void memmap_ahead_add(struct memmap_ahead *a, uint64_t pfn, uint64_t n, atw_pa pa);

enum { MEMMAP_BLOCK_BITS = 6, MEMMAP_BLOCK = 1 << MEMMAP_BLOCK_BITS };
/*
 * The physical address of the struct pages of the MEMMAP_BLOCK frames from pfn on. false:
 * they are not contiguous.
 */
typedef bool memmap_ahead_place(void *arg, uint64_t pfn, atw_pa *ret);
/*
 * Add the frames that these physical addresses lie in, until there is no room. Those without
 * a place are left out. No section may begin inside of a block. Returns the number of
 * addresses that were handled.
 */
uint32_t memmap_ahead_add_frames(struct memmap_ahead *a, const uint64_t *pa, uint32_t n,
				 unsigned shift, memmap_ahead_place *place, void *arg);
/* The number of batches that were read. */
uint64_t memmap_ahead_reads(const struct memmap_ahead *a);
/* Discard all that were added, which makes room for others. */
void memmap_ahead_anew(struct memmap_ahead *a);
/*
 * If it was added: its bytes, valid until the next call of add, and the number of frames
 * from it on that follow there. Or NULL.
 */
const uint8_t *memmap_ahead_find(struct memmap_ahead *a, struct kmem *m, uint64_t pfn,
				 uint64_t *ret_n);
/*
 * The page of kernel memory at this address, valid until the next call. NULL with the
 * reason.
 */
const uint8_t *memmap_ahead_page(struct memmap_ahead *a, struct kmem *m, uint64_t address,
				 struct atw_err *err);

/* ---- memmap.c ---- */

/* More than any configuration's struct page has. */
#define PAGE_STRUCT_MAX 256

/* ---- location: memmap.c ---- */

enum memmap_model { MEMMAP_FLAT, MEMMAP_SPARSE, MEMMAP_EXTREME };

/* A range of frames with consecutive struct pages. */
struct memmap_section {
	uint64_t nr;             /* its number */
	uint64_t first;          /* address of its first struct page */
	const uint8_t *whole;    /* all of them, if the source lends them */
	atw_pa pa;               /* of the first, if they are contiguous */
	bool in_one;
	const uint8_t **part;    /* else by pages of memory, filled on use */
};

struct memmap_where {
	struct atw_source *mem;
	struct memmap_ahead *ahead;      /* of a running machine, or for all frames;
					  * else NULL */
	bool partial;            /* an extract: struct pages that it left out are zero */
	bool unpacks;            /* the source unpacks pages that are announced */
	enum memmap_model model;
	uint64_t base;           /* FLAT: mem_map; else the array of roots */
	uint64_t roots;          /* number of its elements; 0: not known */
	uint64_t first_pfn;      /* FLAT: of mem_map[0] */
	uint32_t section_size, map_at;   /* struct mem_section */
	uint32_t per_root;
	uint64_t flag_bits;      /* of section_mem_map */
	uint8_t shift;           /* log2 of frames in a section */
	uint32_t size;           /* struct page */

	struct memmap_section *section;  /* those that were looked up */
	size_t n, cap;
	struct table by_nr;      /* 1 + index in section[] */
	uint32_t *low;           /* the same for low numbers, as a direct index */
	size_t last;             /* index of the last lookup */
};

int memmap_where_init(struct atw_kernel *k, struct memmap_where *w, struct atw_err *err);
void memmap_where_deinit(struct memmap_where *w);
/*
 * The bytes of a frame's struct page: borrowed, or in `buf`. Of a running machine they
 * are valid until the next call of memmap_soon(). NULL with the reason.
 */
const uint8_t *memmap_bytes(struct kmem *m, struct memmap_where *w, uint64_t pfn,
			    uint8_t buf[PAGE_STRUCT_MAX], struct atw_err *err);
/*
 * The same if it only takes an addition, and the number of frames from it on for which it
 * does; or NULL.
 */
const uint8_t *memmap_at_hand(struct kmem *m, struct memmap_where *w, uint64_t pfn,
			      uint64_t *ret_n);
/* Incremented whenever announced struct pages are read. */
static inline uint64_t memmap_reads(const struct memmap_where *w)
{
	return w->ahead ? memmap_ahead_reads(w->ahead) : 0;
}
/* Read-ahead: these struct pages will be needed. */
void memmap_soon(struct kmem *m, struct memmap_where *w, uint64_t pfn, uint64_t n);
/* Prefetch: these adjacent frames will be needed after a few others. */
void memmap_soon_run(struct atw_memmap *m, uint64_t pfn, uint64_t n);
/*
 * The same for the frames of these physical addresses, as far as there is room. Returns the
 * number of addresses that were handled.
 */
uint32_t memmap_soon_frames(struct atw_memmap *m, const uint64_t *pa, uint32_t n);
/* Discard the announcements so far, which makes room for others. */
void memmap_anew(struct atw_memmap *m);
/* Are the struct pages of `n` frames contiguous? Returns their start. */
bool memmap_stretch(struct kmem *m, struct memmap_where *w, uint64_t pfn, uint64_t n, atw_pa *ret);
/* The virtual address of its struct page; 0: it has none. */
uint64_t memmap_address(struct kmem *m, struct memmap_where *w, uint64_t pfn);
/*
 * Reads only what locates the struct page of a frame. Returns the number of frames from
 * it on for which nothing else has to be read.
 */
uint64_t memmap_read_section(struct kmem *m, struct memmap_where *w, uint64_t pfn);
/* Keep nothing of what is read from now on, as for a running machine. */
int memmap_keep_nothing(struct memmap_where *w, struct atw_err *err);
/*
 * The struct page is missing from the dump: for how many frames from it on is it missing?
 */
uint64_t memmap_missing(struct kmem *m, struct memmap_where *w, uint64_t pfn);
/*
 * Is it a zero page, as far as is known by now? See atw_memmap_mapped(). The struct page
 * is not needed.
 */
bool memmap_is_zero(const struct atw_memmap *m, uint64_t pfn);
/* Would atw_memmap_mapped() look at a page of so many frames? Not once it is known. */
bool memmap_seeks_zero(const struct atw_memmap *m, uint64_t pages);
/* For how many frames from it on is there no struct page? 0: there is one. */
uint64_t memmap_none(struct atw_memmap *m, uint64_t pfn);
/* ---- decoding: page_flags.c ---- */

enum page_types {
	TYPES_BITS,              /* a cleared bit each */
	TYPES_TOP,               /* a number in the top byte (6.12) */
};

/*
 * Layout of struct page in this kernel. Offsets are from the first page of a folio,
 * NEED_NONE if the member does not exist; masks and types are 0 if they do not exist.
 */
struct page_abi {
	uint32_t flags, refcount, mapcount, mapping, private_, head, list;
	uint32_t flags2, order, dtor, entire, mapped, large_mapcount;
	enum page_types types;
	uint32_t type_base;      /* TYPES_BITS: bits that are set in every type */
	uint32_t buddy, offline, table, slab, large_kmalloc, hugetlb;
	uint32_t hugetlb_dtor;
	uint64_t has_head, lru, reserved, hwpoison, idle, swapcache;
	uint64_t slab_flag;      /* flag of slabs before they had a type */
	uint64_t hugetlb_flag, double_map, rmappable;   /* of the second page */
	/*
	 * /proc/kpageflags reports flags of the folio since dee3d0bef2b0 (6.10), and of
	 * the page itself before. No type reveals that; _large_mapcount came in the same
	 * release.
	 */
	bool of_folio;
	bool of_snapshot;        /* types are those of the folio, too (6.17) */
	bool folio_idle;         /* 5.16 */
	uint64_t kpf[4][256];    /* translation of each byte of the flags */
	uint64_t matter;         /* flags that affect a result */
	uint64_t of_kind;        /* those of them that affect the kind of a page */
};

/*
 * Flags of what is done with a page, and of what its file system notes in it: they are no
 * part of its kind, so that pages of a file have the same one.
 */
static inline uint64_t memmap_passing(void)
{
	return kpf(KPF_LOCKED) | kpf(KPF_ERROR) | kpf(KPF_REFERENCED) | kpf(KPF_ACTIVE) |
	       kpf(KPF_RECLAIM) | kpf(KPF_UNEVICTABLE) | kpf(KPF_MLOCKED) | kpf(KPF_OWNER_2) |
	       kpf(KPF_PRIVATE) | kpf(KPF_PRIVATE_2) | kpf(KPF_ARCH) | kpf(KPF_ARCH_2) |
	       kpf(KPF_ARCH_3) | kpf(KPF_UNCACHED) | kpf(KPF_IDLE);
}

/* How zero pages are recognised. */
struct zero_pages {
	bool known, huge_known;  /* by a symbol, or by the mappings of processes */
	uint64_t pfn, huge;
	uint64_t huge_pages;     /* frames of the huge one */
	uint64_t tried;          /* last frame that was checked without success */
	bool (*ask)(uint64_t pfn);       /* see atw_memmap_ask_zero(); or NULL */
};

struct node_span {
	uint64_t start, end;     /* frames */
	uint32_t id;
	uint64_t at;             /* its pglist_data */
};
struct nodes {
	struct node_span *v;
	size_t n, last;
	bool overlap;            /* nodes overlap: they cannot be distinguished */
};
int nodes_init(struct atw_kernel *k, struct kmem *m, struct nodes *ret);
/* false: not known. */
bool nodes_find(struct nodes *n, uint64_t pfn, uint32_t *ret);
/*
 * The same, and in *same the number of frames from it on, up to `max`, with that result.
 */
bool nodes_run(struct nodes *n, uint64_t pfn, uint64_t max, uint32_t *ret, uint64_t *same);

#define CACHE_NAMES 64
struct cache_name {
	uint64_t at;             /* kmem_cache; 0: unused */
	char name[32];
};

#define CGROUP_NAMES 64
struct cgroup_name {
	uint64_t data;           /* value that refers to it in a page */
	uint64_t number;
	bool known, found;
};

/*
 * The key of struct pages that decode to the same result: of small folios that processes
 * map, or of the tails of one folio.
 */
struct page_like {
	uint64_t flags;          /* of the page itself, without irrelevant ones */
	uint64_t info;           /* compound_head of a tail; 0: not a tail */
	uint64_t head, end;      /* of a tail, first frame and end of its folio */
	uint32_t mapcount;
	unsigned mapping;        /* ANON and KSM; 0 for tails */
};

/* Flags that matter to a kind have some hundred combinations on a machine in use. */
enum { PAGE_MEMOS = 16, KIND_MEMOS = 256 };
struct page_memo {
	struct page_like like;   /* end 0: unused */
	struct lnx_page page;
	uint64_t reads;          /* memmap_reads() at that time */
};

/* The kind of small pages, by the words that it depends on. */
struct page_kind_memo {
	struct page_like like;   /* end 0: unused */
	struct lnx_page_kind kind;
};

struct atw_memmap {
	struct atw_kernel *k;
	struct kmem *kmem;
	struct memmap_where where;
	struct page_abi abi;
	struct zero_pages zero;
	struct nodes nodes;
	uint32_t slab_cache_at, cache_name_at;
	struct cache_name cache[CACHE_NAMES];
	struct cgroup_name cgroup[CGROUP_NAMES];
	uint8_t buf[3][PAGE_STRUCT_MAX]; /* a page, its head and second page */
	struct page_memo memo[PAGE_MEMOS];
	struct page_kind_memo kind_memo[KIND_MEMOS];
	/* The large folio that was decoded last (up to 6.1): is it mapped? */
	uint64_t mapped_head;
	bool mapped_known, mapped;
	/*
	 * atw_memmap_kind(): the next frame, the number of frames that were alike before it, the
	 * end of the announced range, its length, and how many blocks were announced behind it.
	 */
	uint64_t next, step, announced, batch, heads;
	struct memmap_links *links;      /* created on use */
	/* CONFIG_NO_PAGE_MAPCOUNT: pages of large folios have no mapcount. */
	enum { COUNTS_UNKNOWN, COUNTS_PAGES, COUNTS_AVERAGE } counts;
};

/*
 * Reads a struct page; `err` may be NULL, which is faster if many pages are missing.
 * atw_memmap_page() is the same, but reuses the result of an equal page without decoding.
 */
int memmap_page(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret,
		struct atw_err *err);
/* atw_memmap_page() if it needs no decoding, which atw_memmap_mapped() is not needed for. */
bool memmap_recall(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret);
/*
 * Only for a page for which memmap_page() returned *page. false: the result depends on
 * another struct page.
 */
bool memmap_like(struct atw_memmap *m, const struct lnx_page *page, struct page_like *ret);
/*
 * The number of frames from pfn on, `n` at most, for which memmap_page() returns the same
 * except for frame and node numbers, reference counts and `mapping`, as far as their
 * bytes are available without a read.
 */
uint64_t memmap_same(struct atw_memmap *m, const struct page_like *like, uint64_t pfn,
		     uint64_t n);
/* The same for pfn and the frames before it, in descending order. 0 for tails. */
uint64_t memmap_same_down(struct atw_memmap *m, const struct page_like *like, uint64_t pfn,
			  uint64_t n);
/* Flags of struct page converted to those of /proc/kpageflags. */
static inline uint64_t memmap_translate(const struct page_abi *a, uint64_t k)
{
	return a->kpf[0][k & 255] | a->kpf[1][k >> 8 & 255] |
	       a->kpf[2][k >> 16 & 255] | a->kpf[3][k >> 24 & 255];
}
/*
 * atw_memmap_kind(); `page`: its struct page, if that is at hand, or NULL; `inside`: it may be
 * inside of a free block.
 */
int memmap_kind(struct atw_memmap *m, uint64_t pfn, const uint8_t *page, bool inside,
		struct lnx_page_kind *ret, struct atw_err *err);
/* The same, for all frames behind it that are alike as well. */
int memmap_kind_like(struct atw_memmap *m, uint64_t pfn, bool inside, struct lnx_page_kind *ret,
		     struct atw_err *err);
int page_abi_init(struct atw_kernel *k, struct page_abi *a, struct atw_err *err);
/* The name of the cache a slab belongs to; leaves `ret` empty if unknown. */
void slab_cache_name(struct atw_memmap *m, const uint8_t *slab, char ret[32]);

/* ---- memmap_links.c: is a page without references in a per-CPU list of free pages? ---- */

enum memmap_idle {
	IDLE_KERNEL,             /* the tail of an allocation that is not compound */
	IDLE_FREE,
	IDLE_UNSURE,             /* it was taken from a list or put there meanwhile */
};

/* The number of frames in the free block that begins with this page; 0: there is none. */
uint64_t memmap_free_block(const struct page_abi *a, const uint8_t *page);
/* Neither a folio nor of a type, without references and owner. */
bool memmap_is_idle(const struct page_abi *a, const uint8_t *page);
/*
 * Of a page for which memmap_is_idle() is true; pages are looked up in ascending order.
 * `inside`: the frames before it were not.
 */
int memmap_idle(struct atw_memmap *m, uint64_t pfn, bool inside, enum memmap_idle *ret,
		struct atw_err *err);
void memmap_links_destroy(struct memmap_links *l);

/* ---- memcg.c: cgroups that pages are charged to ---- */

/* Offset of the word in struct page that refers to it; NEED_NONE: there is none. */
uint32_t memcg_member(const struct atw_memmap *m);
/* Path of the cgroup, by this word. false: it is charged to none, or that is not known. */
bool memcg_path(const struct atw_memmap *m, uint64_t data, char *buf, size_t len);

/* ---- memmap_origin.c: origin of very many mapped frames, in few reads ---- */

struct page_origin {
	/* A subset of ANON, KSM, SWAPBACKED, HUGE, THP, ZERO_PAGE. */
	uint64_t flags;
	uint8_t order;           /* of its folio */
	bool known;
	bool stale;              /* it was freed after it was mapped */
};

static inline bool page_origin_same(const struct page_origin *a, const struct page_origin *b)
{
	return a->flags == b->flags && a->order == b->order && a->known == b->known &&
	       a->stale == b->stale;
}

/* `pfn` ascends. Frames without information have a result as well. */
int memmap_origins(struct atw_memmap *m, const uint64_t *pfn, size_t n, struct page_origin *ret,
		   struct atw_err *err);
