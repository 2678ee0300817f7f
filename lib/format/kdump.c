/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kdump.c - headers of kdump-compressed dumps. */
#include "format/kdump.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define SIG_LEN         8
#define OFF_VERSION     8
#define OFF_UTSNAME     12
#define MAIN_SIZE       464
#define SUB_SIZE        104
#define VERSION_MAX     6
#define BLOCK_MIN       4096u
#define BLOCK_MAX       (1u << 16)  /* the largest page there is */

/*
 * The headers are C structs of the machine that was dumped: the size of `long` and the
 * alignment of 64-bit numbers differ and are not recorded in the file. So each layout is
 * tried, and must be consistent as a whole.
 */
struct kdump_layout {
	unsigned bits;
	uint16_t status;         /* main header; eight u32 follow */
	/* The sub header. `word` is the size of `long` there. */
	uint8_t word, dump_level, split, start, end;
	uint8_t vmcoreinfo, note;        /* u64 offset, then a word of size */
	uint8_t start_64, end_64, max_64;
	uint8_t size;
};

static const struct kdump_layout layouts[] = {
	{64, 424, 8, 8, 12, 16, 24, 32, 48, 80, 88, 96, 104},
	/*
	 * 64-bit numbers aligned to 4 (i386; QEMU for every 32-bit guest), or to 8 (arm).
	 * Up to version 2 there is no difference.
	 */
	{32, 412, 4, 4, 8, 12, 16, 20, 32, 56, 64, 72, 80},
	{32, 412, 4, 4, 8, 12, 16, 24, 40, 72, 80, 88, 96},
};

int kdump_probe(struct atw_blob head)
{
	const void *p = blob_at(head, 0, SIG_LEN);

	if (!p)
		return 0;
	return !memcmp(p, "KDUMP   ", SIG_LEN) ||
	       !memcmp(p, "DISKDUMP", SIG_LEN) ? 100 : 0;
}

static uint64_t kdump_get_word(const char *p, unsigned size)
{
	return size == 8 ? get_le64(p) : get_le32(p);
}

/* Strings of utsname have no NUL if they are truncated to their field. */
static void kdump_get_uts(const char *main, unsigned field, char *ret)
{
	memcpy(ret, main + OFF_UTSNAME + (size_t)field * KDUMP_UTS_LEN, KDUMP_UTS_LEN);
	ret[KDUMP_UTS_LEN] = '\0';
}

static int kdump_need(const struct view *v, uint64_t end, const char *what,
		      struct atw_err *err)
{
	if (end <= v->size)
		return 0;
	atw_err_set(err, ATW_E_DAMAGED, "the dump ends %" PRIu64
		    " bytes short, inside its %s", end - v->size, what);
	atw_err_hint(err, "is it still being written, or was the copy cut off?");
	return ATW_E_DAMAGED;
}

static int kdump_parse_main(const char *main, const struct kdump_layout *l,
			    struct kdump_header *h, uint64_t *sub_blocks,
			    uint64_t *bitmap_blocks, struct atw_err *err)
{
	const char *p = main + l->status;

	h->bits = l->bits;
	h->status = get_le32(p);
	h->block_size = get_le32(p + 4);
	*sub_blocks = get_le32(p + 8);
	*bitmap_blocks = get_le32(p + 12);
	h->max_pfn = get_le32(p + 16);
	h->nr_cpus = get_le32(p + 36);

	if (h->block_size < BLOCK_MIN || h->block_size > BLOCK_MAX ||
	    h->block_size & (h->block_size - 1))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the header's block size, %" PRIu32
				   ", is not a power of two from 4096 to 64 KiB",
				   h->block_size);
	h->block_shift = (unsigned)__builtin_ctz(h->block_size);
	if (*sub_blocks > INT32_MAX || (!h->diskdump && !*sub_blocks))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the header's sub header size, %" PRIu64
				   " blocks, makes no sense", *sub_blocks);
	if (!*bitmap_blocks)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the header describes a dump without bitmaps");
	return 0;
}

/* Absent, or inside the file and behind the headers. */
static bool kdump_part_fits(const struct kdump_header *h, const struct view *v,
			    struct kdump_part part)
{
	if (!part.off && !part.len)
		return true;
	/* A small flattened file may claim any size. */
	return part.off >= h->block_size && part.off <= v->size &&
	       part.len <= v->size - part.off && part.len <= v->file.len;
}

static int kdump_parse_sub(const char *sub, const struct kdump_layout *l,
			   const struct view *v, struct kdump_header *h,
			   struct atw_err *err)
{
	uint64_t max_64;

	h->phys_base = kdump_get_word(sub, l->word);
	if (h->version >= 1)
		h->dump_level = get_le32(sub + l->dump_level);
	if (h->version >= 2 && get_le32(sub + l->split)) {
		h->split = true;
		h->start_pfn = kdump_get_word(sub + l->start, l->word);
		h->end_pfn = kdump_get_word(sub + l->end, l->word);
	}
	if (h->version >= 3)
		h->vmcoreinfo = (struct kdump_part){
			get_le64(sub + l->vmcoreinfo),
			kdump_get_word(sub + l->vmcoreinfo + 8, l->word)};
	if (h->version >= 4)
		h->notes =
			(struct kdump_part){get_le64(sub + l->note),
					    kdump_get_word(sub + l->note + 8, l->word)};
	if (h->version >= 6) {
		if (h->split) {
			h->start_pfn = get_le64(sub + l->start_64);
			h->end_pfn = get_le64(sub + l->end_64);
		}
		max_64 = get_le64(sub + l->max_64);
		/*
		 * The 32-bit field of the main header saturates; a few writers let it
		 * wrap.
		 */
		if (max_64 && max_64 != h->max_pfn &&
		    (max_64 < UINT32_MAX || (h->max_pfn != UINT32_MAX &&
					     h->max_pfn != (uint32_t)max_64)))
			return atw_err_set(err, ATW_E_DAMAGED,
					   "header and sub header disagree: %" PRIu64
					   " frames and %" PRIu64, h->max_pfn, max_64);
		if (max_64)
			h->max_pfn = max_64;
	}
	if (!kdump_part_fits(h, v, h->vmcoreinfo))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the sub header's vmcoreinfo, %" PRIu64
				   " bytes at 0x%" PRIx64 ", is not inside the file",
				   h->vmcoreinfo.len, h->vmcoreinfo.off);
	if (!kdump_part_fits(h, v, h->notes))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the sub header's notes, %" PRIu64
				   " bytes at 0x%" PRIx64 ", are not inside the file",
				   h->notes.len, h->notes.off);
	return 0;
}

/* Offsets of bitmaps and descriptors, computed from the sizes. */
static int kdump_place(const struct view *v, uint64_t sub_blocks, uint64_t bitmap_blocks,
		       struct kdump_header *h, struct atw_err *err)
{
	/* Both counts have 32 bits and a block 20: nothing overflows. */
	uint64_t first = (1 + sub_blocks) << h->block_shift;
	uint64_t half = bitmap_blocks / 2 << h->block_shift;
	uint64_t whole = bitmap_blocks << h->block_shift;
	uint64_t len = h->max_pfn / 8 + (h->max_pfn % 8 != 0);
	int rc;

	if (!h->max_pfn)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the header describes a machine without memory");
	if (h->max_pfn > UINT64_MAX >> h->block_shift)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the header's %" PRIu64 " frames of %" PRIu32
				   " bytes are more than 2^64 bytes",
				   h->max_pfn, h->block_size);
	if (len > whole)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "bitmaps of %" PRIu64 " blocks are too small for %"
				   PRIu64 " frames", bitmap_blocks, h->max_pfn);
	/* Room for one bitmap only: the oldest dumps stored all memory. */
	h->bitmap1 = first;
	h->bitmap2 = len <= half ? first + half : first;
	h->bitmap_len = len;
	h->descs = first + whole;
	if (!h->split) {
		h->end_pfn = h->max_pfn;
	} else if (h->start_pfn > h->end_pfn || h->start_pfn >= h->max_pfn) {
		return atw_err_set(err, ATW_E_DAMAGED,
				   "this part of a split dump is for frames %" PRIu64
				   " to %" PRIu64 " of %" PRIu64,
				   h->start_pfn, h->end_pfn, h->max_pfn);
	} else if (h->end_pfn > h->max_pfn) {
		h->end_pfn = h->max_pfn;
	}
	rc = kdump_need(v, h->bitmap2 + len, "bitmaps", err);
	/* A small flattened file may claim any size. */
	if (rc == 0 && len > v->file.len)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "bitmaps of %" PRIu64 " bytes are more than the file holds",
				   len);
	return rc;
}

static int kdump_try_layout(const struct view *v, const char *main,
			    const struct kdump_layout *l, struct kdump_header *h,
			    int *passed, struct atw_err *err)
{
	uint64_t sub_blocks, bitmap_blocks;
	char sub[SUB_SIZE];
	int rc;

	*passed = 0;
	rc = kdump_parse_main(main, l, h, &sub_blocks, &bitmap_blocks, err);
	if (rc < 0)
		return rc;
	++*passed;
	if (!h->diskdump) {
		rc = kdump_need(v, (uint64_t)h->block_size + l->size, "sub header", err);
		if (rc < 0)
			return rc;
		view_read_padded(v, h->block_size, sub, l->size);
		rc = kdump_parse_sub(sub, l, v, h, err);
		if (rc < 0)
			return rc;
	}
	++*passed;
	return kdump_place(v, sub_blocks, bitmap_blocks, h, err);
}

int kdump_parse(const struct view *v, struct kdump_header *ret, struct atw_err *err)
{
	struct kdump_header base = { 0 }, h;
	struct atw_err why, best = { 0 };
	int passed, most = -1;
	char main[MAIN_SIZE];
	uint32_t version;
	int rc;

	if (!view_read(v, 0, main, SIG_LEN) ||
	    !kdump_probe((struct atw_blob){ main, SIG_LEN })) {
		if (!view_flattened(v))
			return atw_err_set(err, ATW_E_FORMAT,
					   "does not start like a kdump-compressed dump");
		atw_err_set(err, ATW_E_FORMAT,
			    "is flattened, and what is inside is not kdump-compressed");
		atw_err_hint(err, "if it is an ELF core use elf:PATH; makedumpfile -R OUT <FILE restores its order");
		return ATW_E_FORMAT;
	}
	rc = kdump_need(v, sizeof(main), "header", err);
	if (rc < 0)
		return rc;
	view_read_padded(v, 0, main, sizeof(main));
	base.diskdump = main[0] == 'D';
	version = get_le32(main + OFF_VERSION);
	if (version > VERSION_MAX) {
		if (get_be32(main + OFF_VERSION) <= VERSION_MAX)
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "the dump is from a big-endian machine");
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "header version %" PRIu32 " is not known, only 1 to 6",
				   version);
	}
	base.version = version;
	kdump_get_uts(main, 0, base.sysname);
	kdump_get_uts(main, 1, base.nodename);
	kdump_get_uts(main, 2, base.release);
	kdump_get_uts(main, 3, base.kversion);
	kdump_get_uts(main, 4, base.machine);

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		h = base;
		rc = kdump_try_layout(v, main, &layouts[i], &h, &passed, &why);
		if (rc == 0) {
			*ret = h;
			return 0;
		}
		/*
		 * Report the error of the layout that got furthest, on a tie of the
		 * first: nearly all dumps are 64-bit.
		 */
		if (passed > most) {
			best = why;
			most = passed;
		}
	}
	return atw_err_give(err, best.status, &best);
}

int kdump_desc_parse(const void *bytes, const struct kdump_header *h,
		     struct kdump_desc *ret, bool *compressed,
		     enum codec *codec, struct atw_err *err)
{
	struct kdump_desc d = {
		.offset = get_le64(bytes),
		.size = get_le32((const char *)bytes + 8),
		.flags = get_le32((const char *)bytes + 12),
	};
	static const struct { uint32_t flag; enum codec codec; } codecs[] = {
		{ KDUMP_ZLIB, CODEC_ZLIB }, { KDUMP_LZO, CODEC_LZO },
		{ KDUMP_SNAPPY, CODEC_SNAPPY }, { KDUMP_ZSTD, CODEC_ZSTD },
	};
	size_t i = 0;

	/* Descriptors of an incomplete dump end in zeroes. */
	if (!d.offset)
		return atw_err_set(err, ATW_E_DAMAGED, h->status & KDUMP_INCOMPLETE ?
				   "it was never written: the dump is incomplete" :
				   "it was never written");
	while (d.flags && i < ARRAY_SIZE(codecs) && codecs[i].flag != d.flags)
		i++;
	if (i == ARRAY_SIZE(codecs))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its flags, 0x%" PRIx32 ", name no compression",
				   d.flags);
	if (d.flags ? !d.size || d.size > 2 * h->block_size : d.size != h->block_size)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its size, %" PRIu32 " bytes, is not that of a%s page",
				   d.size, d.flags ? " compressed" : "n uncompressed");
	*compressed = d.flags != 0;
	*codec = codecs[i].codec;
	*ret = d;
	return 0;
}
