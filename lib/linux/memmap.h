/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap.h - location of struct page, and the meaning of its bytes.
 *
 * A file each: memmap.c finds the struct page of a frame, page_abi.c finds the layout
 * of struct page in this kernel, page_flags.c decodes it as /proc/kpageflags would,
 * slab.c and node.c find its slab cache and NUMA node, page.c is the interface to other
 * files.
 */
#ifndef LINUX_MEMMAP_H
#define LINUX_MEMMAP_H

#include "linux/page.h"

#include "linux/kernel.h"
#include "linux/memmap_ahead.h"

/* More than any configuration's struct page has. */
#define PAGE_STRUCT_MAX 256

/* ---- where they are: memmap.c ---- */

enum memmap_model { MEMMAP_FLAT, MEMMAP_SPARSE, MEMMAP_EXTREME };

/* A stretch of frames with consecutive struct pages. */
struct memmap_section {
	uint64_t nr;             /* its number */
	uint64_t first;          /* address of its first struct page */
	const uint8_t *whole;    /* all of them, where the source lends them */
	atw_pa pa;               /* of the first, if all lie in one piece */
	bool in_one;
	const uint8_t **part;    /* else by pages of memory, each once it was used */
};

struct memmap_where {
	struct atw_source *mem;
	struct memmap_ahead *ahead;      /* of a running machine, or of all frames; else NULL */
	enum memmap_model model;
	uint64_t base;           /* FLAT: mem_map; else the array of roots */
	uint64_t roots;          /* elements of that; 0: not known */
	uint64_t first_pfn;      /* FLAT: of mem_map[0] */
	uint32_t section_size, map_at;   /* struct mem_section */
	uint32_t per_root;
	uint64_t flag_bits;      /* of section_mem_map */
	uint8_t shift;           /* log2 of frames in a section */
	uint32_t size;           /* struct page */

	struct memmap_section *section;  /* found so far */
	size_t n, cap;
	uint32_t *hash;          /* index + 1 in section[], by number */
	size_t slots;            /* a power of two */
	uint32_t *low;           /* the same for the lowest numbers, without a search */
	size_t last;             /* index of the one that answered last */
};

int memmap_where_init(struct atw_kernel *k, struct memmap_where *w,
		      struct atw_err *err);
void memmap_where_deinit(struct memmap_where *w);
/*
 * The bytes of a frame's struct page: lent, or in `buf`. Of a running machine they
 * are good until the next call of memmap_soon(). NULL and why.
 */
const uint8_t *memmap_bytes(struct kmem *m, struct memmap_where *w, uint64_t pfn,
			    uint8_t buf[PAGE_STRUCT_MAX], struct atw_err *err);
/* The same where that is nothing but an addition, and of how many frames from it on, or NULL. */
const uint8_t *memmap_at_hand(struct kmem *m, struct memmap_where *w, uint64_t pfn,
			      uint64_t *ret_n);
/* Grows whenever struct pages that were announced are read. */
static inline uint64_t memmap_reads(const struct memmap_where *w)
{
	return w->ahead ? memmap_ahead_reads(w->ahead) : 0;
}
/* The bytes of these will be asked for soon. */
void memmap_soon(struct kmem *m, struct memmap_where *w, uint64_t pfn, uint64_t n);
/* atw_memmap_soon() of neighbours. */
void memmap_soon_run(struct atw_memmap *m, uint64_t pfn, uint64_t n);
/* What was said so far will not be asked for: there is room for other hints. */
void memmap_anew(struct atw_memmap *m);
/* Do the struct pages of `n` frames lie in one piece? Where it begins. */
bool memmap_stretch(struct kmem *m, struct memmap_where *w, uint64_t pfn, uint64_t n, atw_pa *ret);
/* The address its struct page has; 0: it has none. */
uint64_t memmap_address(struct kmem *m, struct memmap_where *w, uint64_t pfn);
/*
 * Read what says where the struct page of a frame lies, and nothing of it. Returns of
 * how many frames from it on that was all there is to read.
 */
uint64_t memmap_read_section(struct kmem *m, struct memmap_where *w, uint64_t pfn);
/* Keep nothing of what is read from now on, as of a running machine. */
int memmap_keep_nothing(struct memmap_where *w, struct atw_err *err);
/* The bytes of that one are not there: of how many frames from it on is that so? */
uint64_t memmap_missing(struct kmem *m, struct memmap_where *w, uint64_t pfn);
/*
 * Is it a page of zeroes, as far as that is known by now? atw_memmap_mapped() finds out;
 * no struct page need be there.
 */
bool memmap_is_zero(const struct atw_memmap *m, uint64_t pfn);
/* There is no struct page: of how many frames from it on is that so? 0: there is one. */
uint64_t memmap_none(struct atw_memmap *m, uint64_t pfn);
/* ---- what they say: page_flags.c ---- */

enum page_types {
	TYPES_BITS,              /* a cleared bit each */
	TYPES_TOP,               /* a number in the top byte (6.12) */
};

/*
 * How a kernel's struct page is to be read. Offsets are from the first page of
 * a folio, NEED_NONE where the kernel has no such thing; masks and types are 0
 * where it has none.
 */
struct page_abi {
	uint32_t flags, refcount, mapcount, mapping, private_, head;
	uint32_t flags2, order, dtor, entire, mapped, large_mapcount;
	enum page_types types;
	uint32_t type_base;      /* TYPES_BITS: what is set in every type */
	uint32_t buddy, offline, table, slab, large_kmalloc, hugetlb;
	uint32_t hugetlb_dtor;
	uint64_t has_head, lru, reserved, hwpoison, idle, swapcache;
	uint64_t slab_flag;      /* before it was a type */
	uint64_t hugetlb_flag, double_map, rmappable;   /* of the second page */
	/*
	 * /proc/kpageflags speaks of the folio since dee3d0bef2b0 (6.10), which
	 * nothing in a kernel's types shows; _large_mapcount came in that release.
	 * Before, it spoke of the page itself.
	 */
	bool of_folio;
	bool of_snapshot;        /* types, too, are the folio's (6.17) */
	bool folio_idle;         /* 5.16 */
	uint64_t kpf[4][256];    /* what each byte of the flags comes out as */
	uint64_t matter;         /* flags that make any difference to an answer */
};

/* What a frame's zeroes are known by. */
struct zero_pages {
	bool known, huge_known;  /* by a symbol, or by what processes map */
	uint64_t pfn, huge;
	uint64_t huge_pages;     /* frames of the huge one */
	uint64_t tried;          /* frame last looked at in vain */
};

struct node_span {
	uint64_t start, end;     /* frames */
	uint32_t id;
};
struct nodes {
	struct node_span *v;
	size_t n, last;
	bool overlap;            /* nodes lie inside each other: not distinguished */
};
int nodes_init(struct atw_kernel *k, struct kmem *m, struct nodes *ret);
/* false: not known. */
bool nodes_find(struct nodes *n, uint64_t pfn, uint32_t *ret);
/* And in *same: of how many frames from it on, up to `max`, the same is true. */
bool nodes_run(struct nodes *n, uint64_t pfn, uint64_t max, uint32_t *ret, uint64_t *same);

#define CACHE_NAMES 64
struct cache_name {
	uint64_t at;             /* kmem_cache; 0: unused */
	char name[32];
};

#define CGROUP_NAMES 64
struct cgroup_name {
	uint64_t data;           /* what a page has of it */
	uint64_t number;
	bool known, found;
};

/*
 * What struct pages have in common that answer the same: of small folios that processes
 * map, or of the tails of one folio.
 */
struct page_like {
	uint64_t flags;          /* of the page's own, those that matter */
	uint64_t info;           /* compound_head of a tail; 0: no tail */
	uint64_t end;            /* of its folio: a frame */
	uint32_t mapcount;
	unsigned mapping;        /* ANON and KSM, of no tail */
};

enum { PAGE_MEMOS = 16 };
struct page_memo {
	struct page_like like;   /* end 0: unused */
	struct lnx_page page;
	uint64_t reads;          /* memmap_reads() then */
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
	/* Mapped or not: of the large folio that was looked at last (up to 6.1). */
	uint64_t mapped_head;
	bool mapped_known, mapped;
	/* atw_memmap_kind(): what was asked last, and up to where was announced. */
	uint64_t next, announced, batch;
	/* CONFIG_NO_PAGE_MAPCOUNT: pages of large folios are not counted. */
	enum { COUNTS_UNKNOWN, COUNTS_PAGES, COUNTS_AVERAGE } counts;
};

/* atw_memmap_page(); `err` may be NULL, which is faster where much is missing. */
int memmap_page(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret,
		struct atw_err *err);
/* The same; of a page like one that was asked for before, without decoding it. */
int memmap_page_again(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret,
		      struct atw_err *err);
/*
 * Of a page that memmap_page() answered for with *page. false: another one would have to
 * be asked for.
 */
bool memmap_like(struct atw_memmap *m, const struct lnx_page *page, struct page_like *ret);
/*
 * Of how many frames from pfn on, `n` at most, does memmap_page() answer the same but for
 * numbers of frames and nodes, references, and the `mapping`? As far as their bytes are at
 * hand.
 */
uint64_t memmap_same(struct atw_memmap *m, const struct page_like *like, uint64_t pfn,
		     uint64_t n);
/* Flags of the kernel's as those of /proc/kpageflags. */
static inline uint64_t memmap_translate(const struct page_abi *a, uint64_t k)
{
	return a->kpf[0][k & 255] | a->kpf[1][k >> 8 & 255] |
	       a->kpf[2][k >> 16 & 255] | a->kpf[3][k >> 24 & 255];
}
/* atw_memmap_kind(); `inside`: it may be in the midst of a free block. */
int memmap_kind(struct atw_memmap *m, uint64_t pfn, bool inside, struct lnx_page_kind *ret,
		struct atw_err *err);
int page_abi_init(struct atw_kernel *k, struct page_abi *a, struct atw_err *err);
/* The name of the cache a slab belongs to; leaves `ret` empty if unknown. */
void slab_cache_name(struct atw_memmap *m, const uint8_t *slab, char ret[32]);

#endif
