/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan_image.c - VMCOREINFO by the kernel's pointers to it, without a search of all memory.
 *
 * kernel/crash_core.c (vmcore_info.c since 6.9) has its text, its note and their size in
 * variables of the kernel's image, in one order or the other. The size stands beside one of the
 * pointers or between both. The image is contiguous and small. Where it lies:
 *
 *	x86_64          in the tables of the real-mode trampoline, a root table below 640
 *	                KiB that maps the kernel as all others do (arch/x86/realmode)
 *	arm64, riscv64  behind the header of the boot image, which stays in memory
 *
 * The pointers are of the direct map. Its offset differs from kernel to kernel and boot to
 * boot, but is a multiple of 1 GiB. So their lower 30 bits are those of the physical
 * address, and each GiB of memory is tried.
 *
 * The variables are near the start of .bss. On x86_64 the image is large: there the kernel's own
 * resource "Kernel bss" (arch/x86/kernel/setup.c), near the start of its data, says where that is.
 */
#include "linux/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

enum {
	PAGE = 4096, WORDS = PAGE / 8,
	LOW_END = 640 << 10,
	LARGE = 2 << 20,         /* the image begins at a multiple of it, and x86 maps it so */
	IMAGE_MOST = 128 << 20,
	HEADER = 64,             /* of the boot image */
	HEADERS_MOST = 1 << 20,  /* places: of 2 TiB */
	CHUNK = 64 << 10, PAIR = 2 * 8, BOUNDS = 4 * 8,
	PAIRS_MOST = 64, GIBS_MOST = 4096,
	RESOURCES_PART = 16 << 10, DATA_MOST = 1 << 20, /* of the data, searched for resources */
	TEXT_LEAST = 256, TEXT_MOST = 65536,
};

struct image_bounds {
	uint64_t start, end;     /* physical */
	uint64_t data;           /* the first page that can be written; 0: not known */
	uint64_t bss, bss_end;   /* 0: not found yet */
};

struct image_scan {
	struct atw_source *mem;
	scan_fn *fn;
	void *arg;
	char *text;              /* room for one */
	unsigned pairs;          /* that were tried */
	bool blank;              /* the chunk that was searched is there, and all zeroes */
	uint64_t words[WORDS];
	struct image_bounds bounds;
	char chunk[CHUNK + BOUNDS];
};

/* At each multiple of 8 bytes; anything but 0 ends the search. */
typedef int image_try_fn(struct image_scan *m, const char *at);

/* ---- the variables ---- */

static bool image_is_pointer(uint64_t va)
{
	return va >> 63 && !(va % PAGE);
}

static int image_try_pointer(struct image_scan *m, uint64_t va)
{
	const uint64_t gib = (uint64_t)1 << 30;
	struct atw_extent e;
	int r = 0;

	for (uint64_t pa = va % gib, i = 0; !r && i < GIBS_MOST; pa += gib, i++) {
		unsigned place;
		char head[SCAN_HEAD];

		if (atw_extent_at(m->mem, ATW_PA(pa), &e) != ATW_OK)
			break;
		if (e.kind == ATW_DATA &&
		    atw_read(m->mem, ATW_PA(pa), head, sizeof(head), NULL) == sizeof(head) &&
		    scan_text_place(head, &place))
			r = scan_offer(m->mem, pa + place, m->text, m->fn, m->arg);
	}
	return r;
}

/* A text has any length; sizes of other things are mostly round. */
static bool image_is_length(uint64_t n)
{
	return n >= TEXT_LEAST && n <= TEXT_MOST && n & (n - 1) && n % PAGE;
}

/* A pointer and the size beside it. */
static int image_try_pair(struct image_scan *m, const char *at)
{
	uint64_t one = get_le64(at), two = get_le64(at + 8);
	uint64_t va = image_is_length(two) ? one : image_is_length(one) ? two : 0;

	if (!va || !image_is_pointer(va) || m->pairs == PAIRS_MOST)
		return 0;
	m->pairs++;
	return image_try_pointer(m, va);
}

static bool image_is_blank(const struct image_scan *m, size_t len)
{
	for (size_t i = 0; i < len; i += 8)
		if (get_le64(m->chunk + i))
			return false;
	return true;
}

/* Bytes at..end of physical memory; what is missing of it is left out. */
static int image_search_chunk(struct image_scan *m, uint64_t at, uint64_t end,
			      image_try_fn *try, size_t span)
{
	int r = 0;

	m->blank = true;
	while (!r && at < end) {
		size_t len = (size_t)(end - at);
		ssize_t got = atw_read(m->mem, ATW_PA(at), m->chunk, len + span, NULL);

		m->blank = m->blank && got > 0 && image_is_blank(m, MIN((size_t)got, len));

		for (ssize_t i = 0; !r && i + (ssize_t)span <= got && (size_t)i < len; i += 8)
			r = try(m, m->chunk + i);
		at = ((got > 0 ? at + (size_t)got : at) | (PAGE - 1)) + 1;
	}
	return r;
}

/* From the end of start..end. */
static int image_search_back(struct image_scan *m, uint64_t start, uint64_t end)
{
	int r = 0;

	while (!r && end > start) {
		uint64_t at = end - start > CHUNK ? end - CHUNK : start;

		r = image_search_chunk(m, at, end, image_try_pair, PAIR);
		end = at;
	}
	return r;
}

/*
 * From the start of start..end. Behind a chunk of zeroes, those with zeroes in their first page
 * are left out: tables for more CPUs or nodes than there are fill MiBs.
 */
static int image_search_ahead(struct image_scan *m, uint64_t start, uint64_t end)
{
	int r = 0;

	m->blank = false;
	for (uint64_t at = start; !r && at < end; at += CHUNK)
		if (!m->blank ||
		    atw_read(m->mem, ATW_PA(at), m->chunk, PAGE, NULL) != PAGE ||
		    !image_is_blank(m, PAGE))
			r = image_search_chunk(m, at, MIN(end, at + CHUNK), image_try_pair, PAIR);
	return r;
}

/* ---- x86_64 ---- */

static bool image_table(struct image_scan *m, uint64_t entry)
{
	/* Present, writable, accessed, dirty (_KERNPG_TABLE) and not large. */
	const uint64_t flags = 0x63, not = 0x80;

	return (entry & (flags | not)) == flags &&
	       atw_read(m->mem, ATW_PA(entry & UINT64_C(0x000ffffffffff000)), m->words,
			PAGE, NULL) == PAGE;
}

/*
 * A resource of the image: { start, end, name, flags }. That of .bss is the last one by its
 * addresses, and lies beside the others.
 */
static int image_try_resource(struct image_scan *m, const char *at)
{
	const uint64_t flags = 0x81000200;       /* IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY */
	struct image_bounds *b = &m->bounds;
	uint64_t start = get_le64(at), last = get_le64(at + 8);

	if (get_le64(at + 24) == flags && get_le64(at + 16) >> 63 && !(start % PAGE) &&
	    start > MAX(b->data, b->bss) && start < last && last < b->end) {
		b->bss = start;
		b->bss_end = last + 1;
	}
	return 0;
}

static void image_find_bss(struct image_scan *m)
{
	struct image_bounds *b = &m->bounds;
	uint64_t stop = MIN(b->end, b->data + DATA_MOST);

	for (uint64_t at = b->data; at < stop; at += RESOURCES_PART) {
		uint64_t before = b->bss;

		image_search_chunk(m, at, MIN(stop, at + RESOURCES_PART), image_try_resource,
				   BOUNDS);
		/* Others may begin in the next part. */
		if (before)
			break;
	}
}

static int image_search_x86(struct image_scan *m)
{
	const struct image_bounds *b = &m->bounds;
	int r;

	if (b->data)
		image_find_bss(m);
	r = b->bss ? image_search_ahead(m, b->bss, b->bss_end) : 0;
	return r ? r : image_search_back(m, b->start, b->end);
}

/* The last GiB but one: the kernel's image. m->words: of its table of 2 MiB each. */
static int image_of_pmd(struct image_scan *m)
{
	const uint64_t address = UINT64_C(0x000fffffffe00000);
	struct image_bounds *b = &m->bounds;

	*b = (struct image_bounds){ .start = 0 };
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t e = m->words[i], pa;

		if (!(e & 1))
			continue;
		/* The rest may be in tables; the first entry is text, and large. */
		if (!b->start && !(e & 0x80))
			return 0;
		pa = e & address;
		if (!b->start)
			b->start = pa;
		if (e & 0x80 && e & 2 && !b->data && pa >= b->start)
			b->data = pa;
		if (e & 0x80 && pa >= b->start)
			b->end = pa + LARGE;
		else if (b->end)
			b->end += LARGE;
	}
	return b->start && b->end - b->start <= IMAGE_MOST ? image_search_x86(m) : 0;
}

static int image_x86(struct image_scan *m)
{
	int r = 0;

	for (uint64_t at = 0; !r && at < LOW_END; at += PAGE) {
		uint64_t last, upper, image;

		if (atw_read(m->mem, ATW_PA(at + PAGE - 8), &last, 8, NULL) != 8 ||
		    !image_table(m, le64toh(last)))
			continue;
		/* With five levels there is a table more. */
		upper = le64toh(m->words[WORDS - 1]);
		image = le64toh(m->words[WORDS - 2]);
		if (!image && image_table(m, upper))
			image = le64toh(m->words[WORDS - 2]);
		if (image_table(m, image))
			r = image_of_pmd(m);
	}
	return r;
}

/* ---- arm64, riscv64 ---- */

/* Documentation/arch/{arm64,riscv}: image_size is at 16, a magic number at 56. */
static int image_headed(struct image_scan *m)
{
	struct atw_extent e;
	uint64_t at = 0;
	int r = 0;

	for (unsigned tries = 0; !r && tries < HEADERS_MOST &&
	     atw_extent_at(m->mem, ATW_PA(at), &e) == ATW_OK; tries++) {
		uint8_t head[HEADER];

		if (e.kind == ATW_DATA && !(at % LARGE) &&
		    atw_read(m->mem, ATW_PA(at), head, HEADER, NULL) == HEADER &&
		    (!memcmp(head + 56, "ARM\x64", 4) || !memcmp(head + 56, "RSC\x05", 4)) &&
		    get_le64(head + 16) <= IMAGE_MOST)
			r = image_search_back(m, at, (at + get_le64(head + 16)) & ~(uint64_t)(PAGE - 1));
		if (e.kind != ATW_DATA && e.start.u + e.len > at + LARGE)
			at = e.start.u + e.len;
		else
			at++;
		if (at > UINT64_MAX - LARGE)
			break;
		at = (at + LARGE - 1) & ~(uint64_t)(LARGE - 1);
	}
	return r;
}

int scan_image(struct atw_source *mem, scan_fn *fn, void *arg)
{
	_auto_free struct image_scan *m = calloc(1, sizeof(*m));
	_auto_free char *text = malloc(SCAN_TEXT_MAX);
	struct atw_blob machine = { NULL, 0 };
	int r = 0;

	if (!m || !text)
		return ATW_E_NOMEM;
	m->mem = mem;
	m->fn = fn;
	m->arg = arg;
	m->text = text;
	atw_fact(mem, "machine", &machine);
	if (!machine.len || blob_is(machine, "x86_64"))
		r = image_x86(m);
	return r || blob_is(machine, "x86_64") ? r : image_headed(m);
}
