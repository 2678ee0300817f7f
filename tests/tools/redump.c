/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redump IN.elf FORMAT OUT [option...] - the same memory in another container.
 *
 * Turns an ELF core with plain PT_LOADs (QEMU's dump-guest-memory) into every
 * other format, so that tests can demand equal answers from all of them. It is
 * written from the formats' descriptions and shares no code with the readers
 * it tests.
 *
 *	kdump-zlib -lzo -snappy -zstd -none    kdump-compressed, version 6
 *	lime, avml, raw (one image from the first address on, gaps zero)
 *	elf (a plain copy; makes sense with --flattened)
 *
 *	--flattened             in makedumpfile's form for pipes (kdump-*, elf)
 *	--split N               kdump-*: OUT.1 to OUT.N
 *	--block-size BYTES      kdump-*: the size of a frame, 4096
 *	--exclude-zero          kdump-*: leave out pages that are all zero
 *	--exclude-range A-B     kdump-*: and these, hexadecimal, half open
 *	--pages-of KDUMP        kdump-*: and those that this file leaves out
 *	--corrupt-page PFN      kdump-*: store rubbish for this frame
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZO
#include <lzo/lzo1x.h>
#endif
#ifdef HAVE_SNAPPY
#include <snappy-c.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

struct load {
	uint64_t pa, len;
	const uint8_t *data;
};

static const uint8_t *in;
static size_t in_len;
static struct load *loads;
static size_t nloads;
static const uint8_t *notes;
static size_t notes_len;
static uint16_t e_machine;

static struct {
	bool flattened, exclude_zero;
	unsigned split;
	uint64_t block;
	uint64_t exclude_start, exclude_end;
	uint64_t corrupt;
	const char *pages_of;
} opt = { .split = 1, .block = 4096, .corrupt = UINT64_MAX };

/* ---- input ---- */

static int by_pa(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return x->pa < y->pa ? -1 : x->pa > y->pa;
}

/* /proc/vmcore has the kernel's text twice: once is enough. */
static void drop_overlaps(void)
{
	uint64_t end = 0;
	size_t n = 0;

	for (size_t i = 0; i < nloads; i++) {
		struct load l = loads[i];
		uint64_t cut = l.pa < end ? end - l.pa : 0;

		if (cut >= l.len)
			continue;
		l.pa += cut;
		l.data += cut;
		l.len -= cut;
		end = l.pa + l.len;
		loads[n++] = l;
	}
	nloads = n;
}

static void read_elf(const char *path)
{
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0)
		err(2, "%s", path);
	in_len = (size_t)st.st_size;
	in = mmap(NULL, in_len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (in == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	eh = (const void *)in;
	if (in_len < sizeof(*eh) || memcmp(in, ELFMAG, SELFMAG) ||
	    in[EI_CLASS] != ELFCLASS64 || eh->e_phnum == PN_XNUM ||
	    eh->e_phoff + eh->e_phnum * sizeof(*ph) > in_len)
		errx(2, "%s: not a 64-bit ELF core of the simple kind", path);
	e_machine = eh->e_machine;
	ph = (const void *)(in + eh->e_phoff);
	loads = calloc(eh->e_phnum + 1u, sizeof(*loads));
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_offset > in_len || ph[i].p_filesz > in_len - ph[i].p_offset)
			errx(2, "%s: segment %u is cut off", path, i);
		if (ph[i].p_type == PT_NOTE) {
			notes = in + ph[i].p_offset;
			notes_len = ph[i].p_filesz;
		} else if (ph[i].p_type == PT_LOAD && ph[i].p_filesz) {
			loads[nloads++] = (struct load){ ph[i].p_paddr,
				ph[i].p_filesz, in + ph[i].p_offset };
		}
	}
	if (!nloads)
		errx(2, "%s: holds no memory", path);
	qsort(loads, nloads, sizeof(*loads), by_pa);
	drop_overlaps();
}

/* A whole frame, put together from neighbours if need be; NULL: a gap in it. */
static const uint8_t *frame(uint64_t pfn)
{
	static uint8_t *joined;
	uint64_t pa = pfn * opt.block, end = pa + opt.block;
	size_t lo = 0, hi = nloads;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (loads[mid].pa + loads[mid].len > pa)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (lo == nloads || loads[lo].pa > pa)
		return NULL;
	if (loads[lo].pa + loads[lo].len >= end)
		return loads[lo].data + (pa - loads[lo].pa);
	if (!joined)
		joined = malloc(opt.block);
	for (uint64_t at = pa; at < end; lo++) {
		uint64_t n;

		if (lo == nloads || loads[lo].pa > at)
			return NULL;
		n = loads[lo].pa + loads[lo].len - at;
		n = n < end - at ? n : end - at;
		memcpy(joined + (at - pa), loads[lo].data + (at - loads[lo].pa), n);
		at += n;
	}
	return joined;
}

static bool all_zero(const uint8_t *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

/* The VMCOREINFO note's text, as an offset into the notes. */
static size_t find_vmcoreinfo(size_t *len)
{
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes_len;) {
		const Elf64_Nhdr *n = (const void *)(notes + at);
		size_t desc = at + sizeof(*n) + ((n->n_namesz + 3u) & ~3u);

		if (desc + n->n_descsz > notes_len)
			break;
		if (n->n_namesz >= 10 && !memcmp(n + 1, "VMCOREINFO", 10)) {
			*len = n->n_descsz;
			return desc;
		}
		at = desc + ((n->n_descsz + 3u) & ~3u);
	}
	*len = 0;
	return 0;
}

/* ---- output ---- */

static void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }
static void put64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }
static void put64_be(uint8_t *p, uint64_t v) { put64(p, __builtin_bswap64(v)); }

static FILE *out;
static const char *out_name;

static void out_write(const void *p, size_t len)
{
	if (len && fwrite(p, 1, len, out) != len)
		err(2, "%s", out_name);
}

static void out_open(const char *name)
{
	out_name = name;
	out = fopen(name, "wb");
	if (!out)
		err(2, "%s", name);
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	if (opt.flattened) {
		static uint8_t head[4096];

		strcpy((char *)head, "makedumpfile");
		put64_be(head + 16, 1);
		put64_be(head + 24, 1);
		out_write(head, sizeof(head));
	}
}

/* The bytes belong at `off`; flattened, they go where the file has got to. */
static void out_at(uint64_t off, const void *p, size_t len)
{
	uint8_t rec[16];

	if (opt.flattened) {
		put64_be(rec, off);
		put64_be(rec + 8, len);
		out_write(rec, sizeof(rec));
	} else if ((uint64_t)ftello(out) != off && fseeko(out, (off_t)off, SEEK_SET) < 0) {
		err(2, "%s", out_name);
	}
	out_write(p, len);
}

static uint64_t out_close(void)
{
	uint64_t size;
	uint8_t end[16];

	if (opt.flattened) {
		memset(end, 0xff, sizeof(end));
		out_write(end, sizeof(end));
	}
	fseeko(out, 0, SEEK_END);
	size = (uint64_t)ftello(out);
	if (fclose(out))
		err(2, "%s", out_name);
	return size;
}

/* ---- kdump-compressed ---- */

enum method { NONE = 0, ZLIB = 1, LZO = 2, SNAPPY = 4, ZSTD = 0x20 };

static const struct {
	const char *name;
	enum method method;
} methods[] = {
	{ "none", NONE },
#ifdef HAVE_ZLIB
	{ "zlib", ZLIB },
#endif
#ifdef HAVE_LZO
	{ "lzo", LZO },
#endif
#ifdef HAVE_SNAPPY
	{ "snappy", SNAPPY },
#endif
#ifdef HAVE_ZSTD
	{ "zstd", ZSTD },
#endif
};

/* How many bytes at dst, or 0 when that would not save any. */
static size_t compress_page(enum method m, const uint8_t *src, size_t len,
			    uint8_t *dst, size_t cap)
{
	size_t n = 0;

	(void)src;
	(void)dst;
	(void)cap;
	switch (m) {
#ifdef HAVE_ZLIB
	case ZLIB: {
		uLongf z = cap;

		n = compress2(dst, &z, src, len, Z_BEST_SPEED) == Z_OK ? z : 0;
		break;
	}
#endif
#ifdef HAVE_LZO
	case LZO: {
		static uint8_t work[LZO1X_1_MEM_COMPRESS] __attribute__((aligned(16)));
		lzo_uint z = cap;

		n = lzo1x_1_compress(src, len, dst, &z, work) == LZO_E_OK ? z : 0;
		break;
	}
#endif
#ifdef HAVE_SNAPPY
	case SNAPPY:
		n = cap;
		if (snappy_compress((const char *)src, len, (char *)dst, &n) != SNAPPY_OK)
			n = 0;
		break;
#endif
#ifdef HAVE_ZSTD
	case ZSTD: {
		static ZSTD_CCtx *ctx;

		if (!ctx)
			ctx = ZSTD_createCCtx();
		n = ZSTD_compressCCtx(ctx, dst, cap, src, len, 1);
		if (ZSTD_isError(n))
			n = 0;
		break;
	}
#endif
	default:
		break;
	}
	return n < len ? n : 0;
}

struct kdump {
	enum method method;
	uint64_t max_pfn, stored;
	uint32_t level;                  /* makedumpfile's -d */
	uint64_t bitmap_blocks;          /* of one bitmap */
	uint64_t sub_blocks;
	uint8_t *had, *keep;             /* the bitmaps */
	uint8_t *packed;                 /* room for a page that grows */
	size_t packed_cap;
};

static bool test_bit(const uint8_t *map, uint64_t n)
{
	return map[n / 8] >> n % 8 & 1;
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* The second bitmap of another file of the same memory, and its -d. */
static uint8_t *other_bitmap(struct kdump *k)
{
	uint64_t bytes = k->bitmap_blocks * opt.block, len;
	uint8_t *map = calloc(1, bytes), head[464], sub[12];
	FILE *file = fopen(opt.pages_of, "rb");

	if (!map || !file)
		err(2, "%s", opt.pages_of);
	if (fread(head, sizeof(head), 1, file) != 1 || memcmp(head, "KDUMP   ", 8) ||
	    get32(head + 428) != opt.block)
		errx(2, "%s: not a kdump file of such frames", opt.pages_of);
	len = get32(head + 436) / 2 * opt.block;
	if (fseeko(file, (off_t)opt.block, SEEK_SET) < 0 ||
	    fread(sub, sizeof(sub), 1, file) != 1 ||
	    fseeko(file, (off_t)((1 + get32(head + 432)) * opt.block + len), SEEK_SET) < 0 ||
	    fread(map, len < bytes ? len : bytes, 1, file) != 1)
		errx(2, "%s: cut off", opt.pages_of);
	fclose(file);
	k->level = get32(sub + 8);
	return map;
}

static void make_bitmaps(struct kdump *k)
{
	const struct load *last = &loads[nloads - 1];
	uint64_t block = opt.block;
	uint8_t *other;

	k->max_pfn = (last->pa + last->len + block - 1) / block;
	k->bitmap_blocks = ((k->max_pfn + 7) / 8 + block - 1) / block;
	k->had = calloc(k->bitmap_blocks, block);
	k->keep = calloc(k->bitmap_blocks, block);
	if (!k->had || !k->keep)
		err(2, "bitmaps");
	k->level = opt.exclude_zero ? 1 : 0;
	other = opt.pages_of ? other_bitmap(k) : NULL;
	for (size_t i = 0; i < nloads; i++) {
		uint64_t pfn = loads[i].pa / block;
		uint64_t end = (loads[i].pa + loads[i].len + block - 1) / block;

		for (; pfn < end; pfn++) {
			const uint8_t *p = frame(pfn);

			if (!p || test_bit(k->had, pfn))
				continue;
			k->had[pfn / 8] |= (uint8_t)(1 << pfn % 8);
			if ((opt.exclude_zero && all_zero(p, block)) ||
			    (other && !test_bit(other, pfn)) ||
			    (pfn * block < opt.exclude_end &&
			     (pfn + 1) * block > opt.exclude_start))
				continue;
			k->keep[pfn / 8] |= (uint8_t)(1 << pfn % 8);
			k->stored++;
		}
	}
	free(other);
}

static void uts(uint8_t *h, unsigned field, const char *text, size_t len)
{
	memcpy(h + 12 + 65 * field, text, len < 64 ? len : 64);
}

/* diskdump's main header as a 64-bit machine lays it out. */
static void main_header(const struct kdump *k)
{
	uint8_t h[464] = "KDUMP   ";
	size_t len, text = find_vmcoreinfo(&len);
	const char *release = len ? memmem(notes + text, len, "OSRELEASE=", 10) : NULL;
	const char *machine = e_machine == EM_X86_64 ? "x86_64" :
			      e_machine == EM_AARCH64 ? "aarch64" :
			      e_machine == EM_RISCV ? "riscv64" : "Unknown";

	put32(h + 8, 6);
	uts(h, 0, "Linux", 5);
	if (release)
		uts(h, 2, release + 10, strcspn(release + 10, "\n"));
	uts(h, 4, machine, strlen(machine));
	put32(h + 424, k->method);
	put32(h + 428, (uint32_t)opt.block);
	put32(h + 432, (uint32_t)k->sub_blocks);
	put32(h + 436, (uint32_t)(2 * k->bitmap_blocks));
	put32(h + 440, k->max_pfn < UINT32_MAX ? (uint32_t)k->max_pfn : UINT32_MAX);
	put32(h + 460, 1);
	out_at(0, h, sizeof(h));
}

static void sub_header(const struct kdump *k, uint64_t start, uint64_t end)
{
	uint8_t h[104] = { 0 };
	size_t len, text = find_vmcoreinfo(&len);
	uint64_t note_at = opt.block + sizeof(h);

	put32(h + 8, k->level);
	put32(h + 12, opt.split > 1);
	if (opt.split > 1) {
		put64(h + 16, start);
		put64(h + 24, end);
		put64(h + 80, start);
		put64(h + 88, end);
	}
	if (len) {
		put64(h + 32, note_at + text);
		put64(h + 40, len);
	}
	if (notes_len) {
		put64(h + 48, note_at);
		put64(h + 56, notes_len);
	}
	put64(h + 96, k->max_pfn);
	out_at(opt.block, h, sizeof(h));
	if (notes_len)
		out_at(note_at, notes, notes_len);
}

struct desc {
	uint64_t offset;
	uint32_t size, flags;
	uint64_t page_flags;
};

/* One page's data at `at`; how many bytes that were. */
static size_t put_page(const struct kdump *k, uint64_t pfn, uint64_t at,
		       uint64_t zero_at, struct desc *d)
{
	const uint8_t *p = frame(pfn);
	size_t n;

	if (pfn != opt.corrupt && all_zero(p, opt.block)) {
		*d = (struct desc){ zero_at, (uint32_t)opt.block, NONE, 0 };
		return 0;
	}
	n = compress_page(k->method, p, opt.block, k->packed, k->packed_cap);
	*d = n ? (struct desc){ at, (uint32_t)n, k->method, 0 }
	       : (struct desc){ at, (uint32_t)opt.block, NONE, 0 };
	if (pfn == opt.corrupt) {
		/* No codec begins so; of a page that is not packed, the
		 * descriptor has to go wrong. */
		if (n)
			memset(k->packed, 0xff, n);
		else
			d->size = 17;
	}
	out_at(at, n ? k->packed : p, n ? n : opt.block);
	return n ? n : opt.block;
}

static uint64_t write_part(const struct kdump *k, const char *name,
			   uint64_t start, uint64_t end, uint64_t count)
{
	uint64_t bitmap = (1 + k->sub_blocks) * opt.block;
	uint64_t descs = bitmap + 2 * k->bitmap_blocks * opt.block;
	uint64_t at = descs + count * sizeof(struct desc), zero_at = at;
	struct desc *d = calloc(count + 1, sizeof(*d));
	uint8_t *zero = calloc(1, opt.block);
	uint64_t n = 0;

	if (!d || !zero)
		err(2, "descriptors");
	out_open(name);
	main_header(k);
	sub_header(k, start, end);
	/* QEMU's order: a block of one, a block of the other. */
	for (uint64_t i = 0; i < k->bitmap_blocks; i++) {
		out_at(bitmap + i * opt.block, k->had + i * opt.block, opt.block);
		out_at(bitmap + (k->bitmap_blocks + i) * opt.block,
		       k->keep + i * opt.block, opt.block);
	}
	out_at(zero_at, zero, opt.block);
	at += opt.block;
	for (uint64_t pfn = start; pfn < end && pfn < k->max_pfn; pfn++)
		if (test_bit(k->keep, pfn))
			at += put_page(k, pfn, at, zero_at, &d[n++]);
	out_at(descs, d, (size_t)n * sizeof(*d));
	free(d);
	free(zero);
	return out_close();
}

static void write_kdump(enum method method, const char *name)
{
	struct kdump k = { .method = method };
	uint64_t start = 0, size = 0;
	char part[4096];

	k.packed_cap = opt.block + opt.block / 4 + 1024;
	k.packed = malloc(k.packed_cap);
	k.sub_blocks = (104 + notes_len + opt.block - 1) / opt.block;
	make_bitmaps(&k);
	for (unsigned i = 0; i < opt.split; i++) {
		/* Parts hold equally many pages; the last ends with memory. */
		uint64_t want = k.stored * (i + 1) / opt.split - k.stored * i / opt.split;
		uint64_t end = start, have = 0;

		while (end < k.max_pfn && have < want)
			have += test_bit(k.keep, end++);
		if (i + 1 == opt.split)
			end = k.max_pfn;
		snprintf(part, sizeof(part), "%s.%u", name, i + 1);
		size += write_part(&k, opt.split > 1 ? part : name, start, end, have);
		start = end;
	}
	printf("%s: %" PRIu64 " frames of %" PRIu64 " bytes, %" PRIu64
	       " stored, in %" PRIu64 " bytes\n", name, k.max_pfn, opt.block,
	       k.stored, size);
}

/* ---- LiME and AVML ---- */

static void range_header(uint32_t magic, uint32_t version, uint64_t start,
			 uint64_t len)
{
	uint8_t h[32] = { 0 };

	put32(h, magic);
	put32(h + 4, version);
	put64(h + 8, start);
	put64(h + 16, start + len - 1);
	out_write(h, sizeof(h));
}

static void write_lime(const char *name)
{
	out_open(name);
	for (size_t i = 0; i < nloads; i++) {
		range_header(0x4c694d45, 1, loads[i].pa, loads[i].len);
		out_write(loads[i].data, loads[i].len);
	}
	printf("%s: %zu ranges, %" PRIu64 " bytes\n", name, nloads, out_close());
}

#ifdef HAVE_SNAPPY
static uint32_t crc32c(const uint8_t *p, size_t len)
{
	static uint32_t table[256];
	uint32_t c = ~0u;

	for (uint32_t i = 0; !table[255]; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? 0x82f63b78u : 0);
		table[i] = v;
	}
	while (len--)
		c = table[(uint8_t)(c ^ *p++)] ^ c >> 8;
	return ~c;
}

/* A chunk of a framed stream: 64 KiB of data at most. */
static size_t frame_chunk(const uint8_t *p, size_t len)
{
	static char packed[128 << 10];
	uint32_t sum = crc32c(p, len);
	size_t n = sizeof(packed);
	bool smaller;
	uint8_t h[8];

	if (snappy_compress((const char *)p, len, packed, &n) != SNAPPY_OK)
		errx(2, "snappy fails");
	smaller = n < len - len / 8;
	n = smaller ? n : len;
	put32(h, (uint32_t)(n + 4) << 8 | !smaller);
	put32(h + 4, (sum >> 15 | sum << 17) + 0xa282ead8u);
	out_write(h, sizeof(h));
	out_write(smaller ? (const void *)packed : p, n);
	return sizeof(h) + n;
}

static void write_avml(const char *name)
{
	uint64_t ranges = 0;

	out_open(name);
	for (size_t i = 0; i < nloads; i++) {
		for (uint64_t at = 0, n; at < loads[i].len; at += n, ranges++) {
			uint64_t stream = 10;
			uint8_t tail[8];

			n = loads[i].len - at;
			n = n < 16 << 20 ? n : 16 << 20;
			range_header(0x4c4d5641, 2, loads[i].pa + at, n);
			out_write("\xff\x06\0\0sNaPpY", 10);
			for (uint64_t o = 0; o < n; o += 65536)
				stream += frame_chunk(loads[i].data + at + o,
						      n - o < 65536 ? n - o : 65536);
			put64(tail, stream);
			out_write(tail, sizeof(tail));
		}
	}
	printf("%s: %" PRIu64 " ranges, %" PRIu64 " bytes\n", name, ranges, out_close());
}
#endif

/* ---- raw and ELF ---- */

static void write_raw(const char *name)
{
	uint64_t base = loads[0].pa;

	out_open(name);
	for (size_t i = 0; i < nloads; i++)
		out_at(loads[i].pa - base, loads[i].data, loads[i].len);
	printf("%s: from 0x%" PRIx64 ", %" PRIu64 " bytes\n", name, base, out_close());
}

static void write_elf(const char *name)
{
	const size_t step = 100000;      /* pieces that end in odd places */

	out_open(name);
	/* The end first, to keep readers honest about order. */
	for (size_t at = (in_len - 1) / step * step;; at -= step) {
		out_at(at, in + at, in_len - at < step ? in_len - at : step);
		if (!at)
			break;
	}
	printf("%s: %zu bytes of ELF, %" PRIu64 " bytes\n", name, in_len, out_close());
}

/* ---- command line ---- */

static void options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "flattened", no_argument, NULL, 'f' },
		{ "split", required_argument, NULL, 's' },
		{ "block-size", required_argument, NULL, 'b' },
		{ "exclude-zero", no_argument, NULL, 'z' },
		{ "exclude-range", required_argument, NULL, 'r' },
		{ "corrupt-page", required_argument, NULL, 'c' },
		{ "pages-of", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			opt.flattened = true;
			break;
		case 's':
			opt.split = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 'b':
			opt.block = strtoull(optarg, NULL, 0);
			break;
		case 'z':
			opt.exclude_zero = true;
			break;
		case 'r':
			if (sscanf(optarg, "%" SCNx64 "-%" SCNx64, &opt.exclude_start,
				   &opt.exclude_end) != 2)
				errx(2, "'%s' is not A-B", optarg);
			break;
		case 'c':
			opt.corrupt = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			opt.pages_of = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind != 3 || !opt.split || opt.block < 4096 ||
	    opt.block & (opt.block - 1))
		errx(2, "usage: redump [option...] IN.elf FORMAT OUT");
}

int main(int argc, char **argv)
{
	const char *format, *name;

	options(argc, argv);
	read_elf(argv[optind]);
	format = argv[optind + 1];
	name = argv[optind + 2];
	if (!strncmp(format, "kdump-", 6)) {
		for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
			if (!strcmp(format + 6, methods[i].name)) {
				write_kdump(methods[i].method, name);
				return 0;
			}
		}
	} else if (!strcmp(format, "lime")) {
		write_lime(name);
		return 0;
#ifdef HAVE_SNAPPY
	} else if (!strcmp(format, "avml")) {
		write_avml(name);
		return 0;
#endif
	} else if (!strcmp(format, "raw")) {
		write_raw(name);
		return 0;
	} else if (!strcmp(format, "elf")) {
		write_elf(name);
		return 0;
	}
	/* Tests skip on 77 what this build has no library for. */
	fprintf(stderr, "redump: this build cannot write %s\n", format);
	return 77;
}
