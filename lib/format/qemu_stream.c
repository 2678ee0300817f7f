// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu_stream.c - QEMU: docs/devel/migration/main.rst and mapped-ram.rst,
 * migration/savevm.c, migration/ram.c. All numbers are big-endian.
 */
#include "format/qemu_stream.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/message.h"

#define STREAM_MAGIC "QEVM"

enum { STREAM_VERSION = 3, RAM_VERSION = 4, MAPPED_VERSION = 1, MAPPED_HEADER = 28 };

/* How far the end of a section with unknown contents is searched. */
enum { SECTION_MAX = 16 << 20 };

enum stream_section {
	SECTION_EOF,
	SECTION_START,
	SECTION_PART,
	SECTION_END,
	SECTION_FULL,
	SECTION_SUBSECTION,
	SECTION_DESCRIPTION,
	SECTION_CONFIGURATION,
	SECTION_COMMAND,
	SECTION_FOOTER = 0x7e,
};

/* RAM_SAVE_FLAG_*, in the bits of an address below the page. */
enum stream_flag {
	RAM_ZERO = 0x2,
	RAM_MEM_SIZE = 0x4,
	RAM_PAGE = 0x8,
	RAM_EOS = 0x10,
	RAM_CONTINUE = 0x20,
	RAM_XBZRLE = 0x40,
	RAM_HOOK = 0x80,
	RAM_COMPRESSED = 0x100,
	RAM_MULTIFD_FLUSH = 0x200,
};

struct stream_reader {
	const struct view *v;
	uint64_t at;
	bool ended;              /* bytes past the end were wanted */
	const uint8_t *run;      /* contiguous bytes at `run_at` */
	uint64_t run_at, run_len;
	struct qemu_stream *s;
	qemu_page_fn *fn;
	void *arg;
	struct atw_err *err;
	size_t block;            /* of the last page, also in a section before */
	uint32_t ram;            /* id of its section */
	bool ram_begun, ram_ended;
};

bool qemu_stream_probe(struct atw_blob head)
{
	return blob_begins(head, STREAM_MAGIC) && head.len >= 8 &&
	       get_be32((const char *)head.data + 4) <= STREAM_VERSION;
}

/* Clusters without bytes read as zeroes. */
static bool stream_get(struct stream_reader *r, void *buf, size_t len)
{
	const void *p;

	if (r->at - r->run_at >= r->run_len || r->run_len - (r->at - r->run_at) < len) {
		r->run_at = r->at;
		r->run_len = view_run(r->v, r->at, &p);
		r->run = r->run_len ? p : NULL;
	}
	if (r->run_len - (r->at - r->run_at) >= len && r->run) {
		memcpy(buf, r->run + (r->at - r->run_at), len);
	} else if (!view_read_padded(r->v, r->at, buf, len)) {
		r->ended = true;
		memset(buf, 0, len);
		return false;
	}
	r->at += len;
	return true;
}

static uint64_t stream_number(struct stream_reader *r, unsigned len)
{
	uint8_t b[8] = {0};

	return stream_get(r, b + 8 - len, len) ? get_be64(b) : 0;
}

static bool stream_skip(struct stream_reader *r, uint64_t len)
{
	if (r->at > r->v->size || len > r->v->size - r->at) {
		r->ended = true;
		return false;
	}
	r->at += len;
	return true;
}

/* A byte of length and as many of text. */
static bool stream_name(struct stream_reader *r, char name[QEMU_NAME])
{
	size_t len = (size_t)stream_number(r, 1);

	name[0] = '\0';
	if (r->ended || !stream_get(r, name, len))
		return false;
	name[len] = '\0';
	return true;
}

/* A name from the file, cut for a message; an unprintable byte is a '?'. */
static const char *stream_shown(const char *name, char to[49])
{
	size_t n = strnlen(name, 48);

	for (size_t i = 0; i < n; i++)
		to[i] = name[i] >= ' ' && name[i] < 0x7f ? name[i] : '?';
	to[n] = '\0';
	return to;
}

/* ---- configuration ---- */

static int stream_capabilities(struct stream_reader *r)
{
	uint64_t n = stream_number(r, 4);
	char name[QEMU_NAME];

	for (uint64_t i = 0; i < n && stream_name(r, name); i++) {
		r->s->mapped |= !strcmp(name, "mapped-ram");
		r->s->shared_left_out |= !strcmp(name, "x-ignore-shared");
	}
	return ATW_OK;
}

static int stream_page_bits(struct stream_reader *r)
{
	uint64_t at = r->at, bits = stream_number(r, 4);

	if (r->ended || (bits >= 10 && bits <= 16)) {
		r->s->page_bits = bits ? (unsigned)bits : r->s->page_bits;
		return ATW_OK;
	}
	return atw_err_set(r->err, ATW_E_DAMAGED,
			   "configuration at 0x%" PRIx64 ": pages of 2^%" PRIu64 " bytes", at,
			   bits);
}

static int stream_configuration(struct stream_reader *r)
{
	uint64_t at = r->at, len = stream_number(r, 4);
	char name[QEMU_NAME], shown[49];
	uint8_t type;

	if (!r->ended && len >= QEMU_NAME)
		return atw_err_set(r->err, ATW_E_DAMAGED,
				   "configuration at 0x%" PRIx64
				   ": a machine type of %" PRIu64 " bytes", at, len);
	if (!stream_get(r, r->s->machine, (size_t)len))
		return ATW_OK;
	r->s->machine[len] = '\0';
	while (stream_get(r, &type, 1)) {
		int rc = ATW_OK;

		if (type != SECTION_SUBSECTION) {
			r->at--;
			break;
		}
		at = r->at;
		stream_name(r, name);
		stream_number(r, 4);
		if (!strcmp(name, "configuration/capabilities"))
			rc = stream_capabilities(r);
		else if (!strcmp(name, "configuration/target-page-bits"))
			rc = stream_page_bits(r);
		else if (!strcmp(name, "configuration/uuid"))
			stream_skip(r, 16);
		else if (!r->ended)
			rc = atw_err_set(r->err, ATW_E_UNSUPPORTED,
					 "subsection '%s' at 0x%" PRIx64 " is not known",
					 stream_shown(name, shown), at);
		if (rc < 0)
			return rc;
	}
	return ATW_OK;
}

/* ---- RAM ---- */

static int stream_damaged(struct stream_reader *r, uint64_t at, const char *what)
{
	return atw_err_set(r->err, ATW_E_DAMAGED, "RAM record at 0x%" PRIx64 ": %s", at,
			   message(what));
}

/* struct MappedRamHeader; the stream goes on behind the block's pages. */
static int stream_mapped_header(struct stream_reader *r, struct qemu_block *b, uint64_t at)
{
	uint64_t pages;

	if (stream_number(r, 4) != MAPPED_VERSION && !r->ended)
		return stream_damaged(r, at, "the mapped-ram header is not of version 1");
	b->page_size = stream_number(r, 8);
	b->bitmap = stream_number(r, 8);
	b->pages = stream_number(r, 8);
	if (r->ended)
		return ATW_OK;
	if (b->page_size < 1024 || b->page_size > 65536 ||
	    (b->page_size & (b->page_size - 1)) || b->len % b->page_size)
		return stream_damaged(r, at, "not a size of pages of mapped-ram");
	pages = b->len / b->page_size;
	if (b->bitmap < r->at || b->pages < b->bitmap ||
	    b->pages - b->bitmap < (pages + 63) / 64 * 8 ||
	    !add_u64(b->pages, b->len, &r->at))
		return stream_damaged(r, at, "the places of mapped-ram overlap");
	return ATW_OK;
}

static int stream_blocks(struct stream_reader *r, uint64_t total, uint64_t word_at)
{
	struct qemu_stream *s = r->s;

	if (s->nblocks)
		return stream_damaged(r, word_at, "a second list of blocks");
	while (total && !r->ended) {
		struct qemu_block b = {.name = ""};
		uint64_t at = r->at;
		int rc = ATW_OK;

		stream_name(r, b.name);
		b.len = stream_number(r, 8);
		if (s->shared_left_out)
			stream_number(r, 8);
		if (r->ended)
			break;
		if (b.len > total)
			return stream_damaged(r, at, "the blocks are larger than their sum");
		if (s->nblocks == QEMU_BLOCKS)
			return stream_damaged(r, at, "more than 256 blocks");
		if (s->mapped)
			rc = stream_mapped_header(r, &b, at);
		if (rc < 0)
			return rc;
		if (r->ended)
			break;
		total -= b.len;
		s->block[s->nblocks++] = b;
	}
	return ATW_OK;
}

static int stream_find_block(struct stream_reader *r, uint64_t at)
{
	char name[QEMU_NAME];

	if (!stream_name(r, name))
		return ATW_OK;
	for (size_t i = 0; i < r->s->nblocks; i++)
		if (!strcmp(r->s->block[i].name, name)) {
			r->block = i;
			return ATW_OK;
		}
	return stream_damaged(r, at, "a page of a block that is not in the list");
}

static int stream_page(struct stream_reader *r, uint64_t address, uint64_t flags,
		       uint64_t at)
{
	uint64_t size = UINT64_C(1) << r->s->page_bits;
	struct qemu_page p = {.start = address, .len = size};
	struct qemu_block *b;
	int rc = ATW_OK;

	if (!(flags & RAM_CONTINUE))
		rc = stream_find_block(r, at);
	if (rc < 0 || r->ended)
		return rc;
	if (r->block >= r->s->nblocks)
		return stream_damaged(r, at, "a page of no block");
	b = &r->s->block[p.block = r->block];
	if (address >= b->len || b->len - address < size)
		return stream_damaged(r, at, "a page behind the end of its block");
	if (flags & RAM_ZERO) {
		p.kind = QEMU_PAGE_FILL;
		p.fill = (uint8_t)stream_number(r, 1);
	} else if (flags & RAM_COMPRESSED) {
		p.kind = QEMU_PAGE_ZLIB;
		p.stored = (uint32_t)stream_number(r, 4);
		if (!r->ended && (!p.stored || p.stored > QEMU_PACKED_MAX))
			return stream_damaged(r, at, "not a size of a compressed page");
		p.at = r->at;
		stream_skip(r, p.stored);
	} else {
		p.kind = QEMU_PAGE_BYTES;
		p.at = r->at;
		stream_skip(r, size);
	}
	if (r->ended)
		return ATW_OK;
	b->sent++;
	r->s->copies++;
	r->s->zeroes += p.kind == QEMU_PAGE_FILL && !p.fill;
	return r->fn(r->arg, &p, r->err);
}

static int stream_xbzrle(struct stream_reader *r, uint64_t at)
{
	atw_err_set(r->err, ATW_E_UNSUPPORTED,
		    "RAM record at 0x%" PRIx64
		    ": a page is stored as its difference (XBZRLE) to one that is not in the file",
		    at);
	atw_err_hint(r->err, "save the guest with the migration capability xbzrle off");
	return ATW_E_UNSUPPORTED;
}

/* Records up to the one that ends the section. */
static int stream_ram(struct stream_reader *r)
{
	uint64_t mask = (UINT64_C(1) << r->s->page_bits) - 1;
	int rc = ATW_OK;

	while (rc == ATW_OK && !r->ended) {
		uint64_t at = r->at, word = stream_number(r, 8), flags = word & mask;

		if (r->ended)
			break;
		if (flags & RAM_EOS)
			return ATW_OK;
		if (flags & RAM_XBZRLE)
			return stream_xbzrle(r, at);
		if (flags & RAM_MEM_SIZE)
			rc = stream_blocks(r, word & ~mask, at);
		else if (flags & (RAM_ZERO | RAM_PAGE | RAM_COMPRESSED))
			rc = stream_page(r, word & ~mask, flags, at);
		else if (flags != RAM_MULTIFD_FLUSH)
			rc = stream_damaged(r, at, flags & RAM_HOOK ?
					    "it is of a migration by RDMA" :
					    "its flags are not known");
	}
	return rc;
}

/* ---- sections ---- */

/*
 * Sections of devices do not record their size. Those that come before the RAM ends are
 * few and small, and each has its number in a footer.
 */
static int stream_skip_section(struct stream_reader *r, uint32_t id, const char *name,
			       uint64_t at)
{
	uint8_t want[5] = {SECTION_FOOTER, (uint8_t)(id >> 24), (uint8_t)(id >> 16),
			   (uint8_t)(id >> 8), (uint8_t)id};
	uint64_t end = r->at + SECTION_MAX;
	uint8_t b[6];
	char shown[49];

	for (; r->at < end; r->at -= sizeof(b) - 1) {
		if (!stream_get(r, b, sizeof(b)))
			return ATW_OK;
		if (!memcmp(b, want, sizeof(want)) && b[5] <= SECTION_COMMAND) {
			r->at--;
			return ATW_OK;
		}
	}
	return atw_err_set(r->err, ATW_E_UNSUPPORTED,
			   "section '%s' at 0x%" PRIx64 ": its end is not found",
			   stream_shown(name, shown), at);
}

/* Old machine types have none. */
static int stream_footer(struct stream_reader *r, uint32_t id)
{
	uint64_t at = r->at;
	uint8_t b[5];

	if (!stream_get(r, b, sizeof(b)))
		return ATW_OK;
	if (b[0] != SECTION_FOOTER) {
		r->at = at;
		return ATW_OK;
	}
	return get_be32(b + 1) == id ? ATW_OK :
		atw_err_set(r->err, ATW_E_DAMAGED,
			    "footer at 0x%" PRIx64 ": of section %" PRIu32 ", not %" PRIu32, at,
			    get_be32(b + 1), id);
}

static int stream_section_ram(struct stream_reader *r, enum stream_section type,
			      uint32_t id)
{
	int rc = stream_ram(r);

	if (rc < 0 || r->ended)
		return rc;
	r->ram_ended |= type == SECTION_END;
	return stream_footer(r, id);
}

/* Of START and FULL. *ret_devices: the RAM ended before this section. */
static int stream_named_section(struct stream_reader *r, enum stream_section type,
				uint64_t at, bool *ret_devices)
{
	uint32_t id = (uint32_t)stream_number(r, 4), version;
	char name[QEMU_NAME];

	stream_name(r, name);
	stream_number(r, 4);
	version = (uint32_t)stream_number(r, 4);
	if (r->ended)
		return ATW_OK;
	if (strcmp(name, "ram") || r->ram_begun) {
		*ret_devices = type == SECTION_FULL && r->ram_ended;
		return *ret_devices ? ATW_OK : stream_skip_section(r, id, name, at);
	}
	if (version != RAM_VERSION)
		return atw_err_set(r->err, ATW_E_UNSUPPORTED,
				   "section 'ram' at 0x%" PRIx64 ": version %" PRIu32
				   ", and only version 4 is known", at, version);
	r->ram = id;
	r->ram_begun = true;
	return stream_section_ram(r, type, id);
}

static int stream_next_section(struct stream_reader *r, bool *ret_devices)
{
	uint64_t at = r->at;
	uint8_t type;
	uint32_t id;

	if (!stream_get(r, &type, 1))
		return ATW_OK;
	switch (type) {
	case SECTION_START:
	case SECTION_FULL:
		return stream_named_section(r, type, at, ret_devices);
	case SECTION_PART:
	case SECTION_END:
		id = (uint32_t)stream_number(r, 4);
		if (r->ended)
			return ATW_OK;
		return r->ram_begun && id == r->ram ?
			       stream_section_ram(r, type, id) :
			       stream_skip_section(r, id, "of a device", at);
	case SECTION_CONFIGURATION:
		return stream_configuration(r);
	case SECTION_COMMAND:
		stream_number(r, 2);
		stream_skip(r, stream_number(r, 2));
		return ATW_OK;
	case SECTION_EOF:
	case SECTION_DESCRIPTION:
		*ret_devices = true;
		return ATW_OK;
	default:
		return atw_err_set(r->err, ATW_E_DAMAGED,
				   "section at 0x%" PRIx64 ": type 0x%02x is not known", at,
				   type);
	}
}

/* ---- mapped-ram ---- */

static bool stream_stored(struct stream_reader *r, const struct qemu_block *b, uint64_t page)
{
	r->at = b->bitmap + page / 8;
	return stream_number(r, 1) >> page % 8 & 1;
}

/*
 * One run of pages of a kind. A file that is not finished has no zeroes: the bitmap is
 * written last.
 */
static int stream_mapped_run(struct stream_reader *r, size_t i, uint64_t first,
			     uint64_t last, bool stored)
{
	struct qemu_block *b = &r->s->block[i];
	struct qemu_page p = {.block = i, .start = first * b->page_size,
			      .len = (last - first) * b->page_size,
			      .kind = stored ? QEMU_PAGE_BYTES : QEMU_PAGE_FILL};

	if (!stored && !r->s->complete)
		return ATW_OK;
	if (stored) {
		p.at = b->pages + p.start;
		if (p.at >= r->v->size || r->v->size - p.at < p.len) {
			r->s->complete = false;
			p.len = p.at < r->v->size ? r->v->size - p.at : 0;
			p.len -= p.len % b->page_size;
		}
	}
	if (!p.len)
		return ATW_OK;
	b->sent += p.len / b->page_size;
	r->s->copies += p.len / b->page_size;
	r->s->zeroes += stored ? 0 : p.len / b->page_size;
	return r->fn(r->arg, &p, r->err);
}

static int stream_mapped(struct stream_reader *r, size_t i)
{
	struct qemu_block *b = &r->s->block[i];
	uint64_t n = b->page_size ? b->len / b->page_size : 0;
	uint64_t have = b->bitmap < r->v->size ? r->v->size - b->bitmap : 0;
	int rc = ATW_OK;

	/* Past the end of the file there are no bits. */
	if (have < n / 8 + (n % 8 != 0)) {
		r->s->complete = false;
		n = have * 8;
	}
	for (uint64_t first = 0, page; first < n && rc == ATW_OK; first = page) {
		bool stored = stream_stored(r, b, first);

		for (page = first + 1; page < n; page++)
			if (stream_stored(r, b, page) != stored)
				break;
		rc = stream_mapped_run(r, i, first, page, stored);
	}
	return rc;
}

int qemu_stream_parse(const struct view *v, uint64_t start, qemu_page_fn *fn, void *arg,
		      struct qemu_stream *ret, struct atw_err *err)
{
	struct stream_reader r = {
		.v = v, .at = start, .s = ret, .fn = fn, .arg = arg, .err = err,
		.block = QEMU_BLOCKS,
	};
	bool devices = false;
	uint8_t magic[4];
	uint32_t version;
	int rc = ATW_OK;

	*ret = (struct qemu_stream){.page_bits = 12};
	stream_get(&r, magic, sizeof(magic));
	version = (uint32_t)stream_number(&r, 4);
	if (r.ended || memcmp(magic, STREAM_MAGIC, sizeof(magic)))
		return atw_err_set(err, ATW_E_FORMAT,
				   "no migration stream of QEMU at 0x%" PRIx64, start);
	if (version != STREAM_VERSION)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "migration stream of version %" PRIu32
				   ", and only version 3 is known", version);
	while (rc == ATW_OK && !r.ended && !devices) {
		ret->ram_end = r.at;
		rc = stream_next_section(&r, &devices);
	}
	if (rc < 0)
		return rc;
	ret->complete = r.ram_ended;
	if (!ret->nblocks)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the stream ends (0x%" PRIx64 " bytes) before any memory",
				   v->size - (start < v->size ? start : v->size));
	for (size_t i = 0; i < ret->nblocks && ret->mapped && rc == ATW_OK; i++)
		rc = stream_mapped(&r, i);
	return rc;
}
