// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * core.c - writer of ELF core files: System V ABI ch. 4 and 5 and elf(5); more than 65534
 * segments by PN_XNUM, as in the kernel (fs/binfmt_elf.c).
 */
#include "extract/own.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* A segment: bytes in the file, then bytes that are left out. */
struct segment {
	uint64_t pa, len, out;
};

struct core_plan {
	struct segment *v;
	size_t n, cap;
	bool failed;
};

void core_note(struct buf *notes, const char *name, uint32_t type, const void *desc,
	       size_t len)
{
	static const char zero[4];
	size_t name_len = strlen(name) + 1;
	const Elf64_Nhdr h = { (uint32_t)name_len, (uint32_t)len, type };

	buf_add(notes, &h, sizeof(h));
	buf_add(notes, name, name_len);
	buf_add(notes, zero, -name_len & 3);
	buf_add(notes, desc, len);
	buf_add(notes, zero, -len & 3);
}

/* ---- segments ---- */

static void core_put(struct core_plan *p, uint64_t pa, uint64_t len, bool data)
{
	struct segment *last = p->n ? &p->v[p->n - 1] : NULL;
	bool follows = last && last->pa + last->len + last->out == pa;

	if (!len || p->failed)
		return;
	if (data && follows && !last->out) {
		last->len += len;
	} else if (!data && follows) {
		last->out += len;
	} else if (!ARRAY_ROOM(p->v, p->n, p->cap)) {
		p->failed = true;
	} else {
		p->v[p->n++] = (struct segment){ pa, data ? len : 0, data ? 0 : len };
	}
}

/* Splits the range [start, start + len) into marked bytes and the rest. */
static void core_put_extent(struct core_plan *p, const struct byte_marks *m, size_t *next,
			    const struct atw_extent *e)
{
	uint64_t at = e->start.u, last = at + (e->len - 1);
	bool data = e->kind == ATW_DATA || e->kind == ATW_ZERO;

	while (*next < m->n && m->v[*next].nr <= last >> MARK_SHIFT && data) {
		uint64_t first = m->v[*next].nr << MARK_SHIFT;
		uint64_t end = first | (MARK_PAGE - 1);

		if (end >= at) {
			first = MAX(first, at);
			core_put(p, at, first - at, false);
			if (end >= last) {       /* the page may continue behind it */
				core_put(p, first, last - first + 1, true);
				return;
			}
			core_put(p, first, end - first + 1, true);
			at = end + 1;
		}
		++*next;
	}
	core_put(p, at, last - at + 1, false);
}

static int core_make_plan(struct atw_source *mem, const struct byte_marks *m,
			  struct core_plan *p, struct atw_err *err)
{
	struct atw_extent e;
	uint64_t at = 0;
	size_t next = 0;

	while (atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK && e.len) {
		if (e.start.u < at) {
			e.len -= at - e.start.u;
			e.start.u = at;
		}
		while (next < m->n && (m->v[next].nr << MARK_SHIFT | (MARK_PAGE - 1)) < e.start.u)
			next++;
		if (e.kind != ATW_NONE)
			core_put_extent(p, m, &next, &e);
		at = e.start.u + e.len;
		if (at <= e.start.u)
			break;
	}
	return p->failed ? atw_err_nomem(err) : ATW_OK;
}

/* ---- contents ---- */

enum { ROOM = 256 * 1024 };

struct core_out {
	atw_extract_write *fn;
	void *arg;
	uint8_t *data;           /* ROOM bytes */
	size_t len;
	uint64_t done;
	struct atw_err *err;
};

static int core_send(struct core_out *o)
{
	int r = o->len ? o->fn(o->arg, o->data, o->len, o->err) : ATW_OK;

	o->done += o->len;
	o->len = 0;
	return r < 0 ? r : ATW_OK;
}

static int core_add(struct core_out *o, const void *data, size_t len)
{
	const uint8_t *p = data;
	int r = ATW_OK;

	while (len && r == ATW_OK) {
		size_t part = ROOM - o->len < len ? ROOM - o->len : len;

		memcpy(o->data + o->len, p, part);
		o->len += part;
		p += part;
		len -= part;
		if (o->len == ROOM)
			r = core_send(o);
	}
	return r;
}

static int core_add_zero(struct core_out *o, uint64_t len)
{
	static const uint8_t zero[MARK_PAGE];
	int r = ATW_OK;

	for (; len && r == ATW_OK; len -= len < MARK_PAGE ? len : MARK_PAGE)
		r = core_add(o, zero, len < MARK_PAGE ? len : MARK_PAGE);
	return r;
}

static int core_add_segment(struct core_out *o, struct atw_source *mem,
			    const struct byte_marks *m, size_t *next,
			    const struct segment *s)
{
	uint64_t at = s->pa, end = s->pa + s->len;
	int r = ATW_OK;

	while (at != end && r == ATW_OK) {
		uint8_t page[MARK_PAGE];
		unsigned from = at & (MARK_PAGE - 1);
		size_t len = MARK_PAGE - from < end - at ? MARK_PAGE - from : (size_t)(end - at);
		ssize_t got;

		while (*next < m->n && m->v[*next].nr < at >> MARK_SHIFT)
			++*next;
		got = atw_read(mem, ATW_PA(at), page, len, o->err);
		if (got != (ssize_t)len)
			return atw_err_set(o->err, got < 0 ? (int)got : ATW_E_DAMAGED,
					   "the page at 0x%" PRIx64 " cannot be read any more", at);
		mark_clear(&m->v[*next], from, page, (unsigned)len);
		r = core_add(o, page, len);
		at += len;
	}
	return r;
}

static int core_add_headers(struct core_out *o, const struct core_plan *p,
			    uint16_t machine, size_t notes, uint64_t *data_at)
{
	size_t phnum = p->n + 1;
	bool many = phnum >= PN_XNUM;
	const Elf64_Shdr sh = { .sh_info = (uint32_t)phnum };
	const uint64_t phoff = sizeof(Elf64_Ehdr) + (many ? sizeof(sh) : 0);
	const Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = machine, .e_version = EV_CURRENT,
		.e_phoff = phoff, .e_ehsize = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = many ? PN_XNUM : (uint16_t)phnum,
		.e_shoff = many ? sizeof(eh) : 0, .e_shentsize = many ? sizeof(sh) : 0,
		.e_shnum = many,
	};
	Elf64_Phdr ph = {
		.p_type = PT_NOTE, .p_offset = phoff + phnum * sizeof(ph),
		.p_filesz = notes, .p_memsz = notes, .p_align = 4,
	};
	int r = core_add(o, &eh, sizeof(eh));

	if (r == ATW_OK && many)
		r = core_add(o, &sh, sizeof(sh));
	if (r == ATW_OK)
		r = core_add(o, &ph, sizeof(ph));
	*data_at = (ph.p_offset + notes + MARK_PAGE - 1) & ~(uint64_t)(MARK_PAGE - 1);
	ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = *data_at };
	for (size_t i = 0; i < p->n && r == ATW_OK; i++) {
		ph.p_paddr = p->v[i].pa;
		ph.p_filesz = p->v[i].len;
		ph.p_memsz = p->v[i].len + p->v[i].out;
		r = core_add(o, &ph, sizeof(ph));
		ph.p_offset += ph.p_filesz;
	}
	return r;
}

int core_write(struct atw_source *mem, const struct byte_marks *marks, uint16_t machine,
	       const struct buf *notes, atw_extract_write *fn, void *arg,
	       struct atw_extract_stats *stats, struct atw_err *err)
{
	_auto_free uint8_t *room = malloc(ROOM);
	struct core_out o = {.fn = fn, .arg = arg, .data = room, .err = err};
	struct core_plan p = {0};
	uint64_t data_at = 0;
	size_t next = 0;
	int r = room ? core_make_plan(mem, marks, &p, err) : atw_err_nomem(err);

	if (r == ATW_OK)
		r = core_add_headers(&o, &p, machine, notes->len, &data_at) ?:
		    core_add(&o, notes->data, notes->len) ?:
		    core_add_zero(&o, data_at - o.done - o.len);
	for (size_t i = 0; i < p.n && r == ATW_OK; i++) {
		r = core_add_segment(&o, mem, marks, &next, &p.v[i]);
		stats->pages += (p.v[i].len + MARK_PAGE - 1) >> MARK_SHIFT;
		stats->runs += p.v[i].len != 0;
	}
	if (r == ATW_OK)
		r = core_send(&o);
	stats->bytes = o.done;
	free(p.v);
	return r;
}
