// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu_saved.c - operations of a guest's memory in a migration stream of QEMU: an index
 * of its pages, and the addresses that its machine gives them.
 */
#include "source/qemu_saved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/num.h"

/* Kinds of extents besides ATW_DATA and ATW_ZERO, which only reads tell from data. */
enum { SAVED_FILL = ATW_NONE + 1, SAVED_ZLIB };

/* Their offsets have more than a place: pages that are neighbours must not be merged. */
enum { SAVED_AT_SHIFT = 16 };

enum {
	SAVED_PAGE_MAX = 1 << 16,
	SAVED_CACHE = 16 << 20,
	SAVED_PARTS = 4096,      /* an extent is merged of up to as many */
	SAVED_DEVICES = 256 << 20,
	SAVED_ZEROES = 4096,
	/* Blocks that are smaller and have a simple name are of devices: "tpm-ppi". */
	SAVED_RAM_MIN = 1 << 20,
};

static const uint8_t saved_zeroes[SAVED_ZEROES];

/* ---- which blocks are RAM ---- */

static const char *const saved_ram_names[] = {
	"pc.ram", "microvm.ram", "mach-virt.ram", "riscv_virt_board.ram",
	"riscv.sifive.u.ram", "riscv.spike.ram", "sbsa-ref.ram", "ram",
};

static bool saved_is_ram_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(saved_ram_names); i++)
		if (!strcmp(name, saved_ram_names[i]))
			return true;
	return false;
}

/* A backend of -object has its id; blocks of devices have a path or the device's name. */
static bool saved_is_backend(const struct qemu_block *b)
{
	return b->len >= SAVED_RAM_MIN && !strpbrk(b->name, "./");
}

/*
 * The machine's own block; else the only backend; else all of them, if they are equal:
 * NUMA nodes in the order in which they were created. Other backends are of memory
 * devices, at addresses that are in no section.
 */
static int saved_choose(struct qemu_saved *q, struct atw_err *err)
{
	const struct qemu_stream *s = &q->stream;
	size_t named = 0, backends = 0, others = 0;
	uint64_t len = 0;

	for (size_t i = 0; i < s->nblocks; i++)
		named += saved_is_ram_name(s->block[i].name);
	for (size_t i = 0; i < s->nblocks; i++) {
		bool own = saved_is_ram_name(s->block[i].name);

		q->base[i] = UINT64_MAX;
		if (!own && !saved_is_backend(&s->block[i]))
			continue;
		if (named && !own) {
			others++;
			continue;
		}
		backends++;
		if (len && len != s->block[i].len)
			return atw_err_set(err, ATW_E_UNSUPPORTED,
				"its RAM is in blocks of 0x%" PRIx64 " and 0x%" PRIx64 " bytes, and which comes first is not in the stream",
				len, s->block[i].len);
		len = s->block[i].len;
		q->base[i] = q->ram;
		if (!add_u64(q->ram, len, &q->ram))
			return atw_err_set(err, ATW_E_DAMAGED, "its RAM is larger than 2^64 bytes");
	}
	if (!backends)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "none of its %zu blocks of memory is known to be RAM",
				   s->nblocks);
	q->doubtful = backends > 1;
	if (others)
		snprintf(q->m.truncated, sizeof(q->m.truncated),
			 _("memory of devices of the guest (%zu backend%s) is not read: its address is not in the stream"),
			 others, others == 1 ? "" : "s");
	q->chosen = true;
	return ATW_OK;
}

/* ---- index ---- */

/* Runs of zeroes are one extent. */
static int saved_add(struct qemu_saved *q, uint64_t start, uint64_t len, uint64_t off,
		     unsigned kind, struct atw_err *err)
{
	struct extents *x = &q->m.map;
	struct extent *last = x->n ? &x->v[x->n - 1] : NULL;
	int r;

	if (last && last->kind == kind && last->start + last->len == start &&
	    (kind == ATW_ZERO || (kind == ATW_DATA && last->off + last->len == off))) {
		last->len += len;
		return ATW_OK;
	}
	r = extents_add(x, start, len, off, ATW_DATA, err);
	if (r == ATW_OK)
		x->v[x->n - 1].kind = kind;
	return r;
}

static int saved_take_page(void *arg, const struct qemu_page *p, struct atw_err *err)
{
	struct qemu_saved *q = arg;
	uint64_t start;
	int r = q->chosen ? ATW_OK : saved_choose(q, err);

	if (r < 0 || q->base[p->block] == UINT64_MAX)
		return r;
	start = q->base[p->block] + p->start;
	if (p->kind == QEMU_PAGE_BYTES)
		return saved_add(q, start, p->len, p->at, ATW_DATA, err);
	if (p->kind == QEMU_PAGE_FILL && !p->fill)
		return saved_add(q, start, p->len, start, ATW_ZERO, err);
	q->packed = true;
	return p->kind == QEMU_PAGE_FILL ?
		saved_add(q, start, p->len, (uint64_t)p->fill << SAVED_AT_SHIFT, SAVED_FILL, err) :
		saved_add(q, start, p->len, p->at << SAVED_AT_SHIFT, SAVED_ZLIB, err);
}

/* Of copies of a page the last one counts, and any rather than none. */
static int saved_build(struct qemu_saved *q, struct atw_err *err)
{
	struct extents *x = &q->m.map;

	for (size_t i = 0; i < x->n; i++)
		x->v[i].order = OVERLAY_ORDERS - x->v[i].order;
	/* Free memory that the guest reported is not sent. */
	if (q->stream.complete) {
		int r = extents_add(x, 0, q->ram, 0, ATW_EXCLUDED, err);

		if (r < 0)
			return r;
	}
	return extents_build(x, err);
}

static int saved_take_cpus(struct qemu_saved *q)
{
	uint64_t at = q->stream.ram_end, len = q->m.view.size - at;
	_auto_free void *owned = NULL;
	struct atw_blob devices;

	if (!q->stream.complete || at >= q->m.view.size)
		return ATW_OK;
	if (view_blob(&q->m.view, at, len < SAVED_DEVICES ? len : SAVED_DEVICES, &owned,
		      &devices) != ATW_OK)
		return ATW_OK;
	return qemu_cpus_parse(devices, &q->cpus);
}

/* CPUs of x86 may still be in 32-bit mode. */
static const char *saved_machine(const struct qemu_saved *q, enum vmm_arch arch)
{
	const struct qemu_cpu *c = q->cpus.n ? &q->cpus.cpu[0] : NULL;
	const uint32_t need = 1u << QEMU_EFER | 1u << QEMU_CR0;

	if (arch != VMM_ARCH_X86_64)
		return arch == VMM_ARCH_ARM64 ? "aarch64" : "riscv64";
	return c && (c->have & need) == need && !(c->reg[QEMU_EFER] >> 10 & 1) &&
		       c->reg[QEMU_CR0] >> 31 & 1 ? "i386" : "x86_64";
}

/* Machines of arm64 have versions in their names, those of riscv64 have none. */
static enum vmm_arch saved_arch(const struct qemu_saved *q)
{
	struct atw_blob type = blob_of(q->stream.machine);

	if (q->cpus.arch != VMM_ARCH_UNKNOWN)
		return q->cpus.arch;
	return blob_begins(type, "virt-") || blob_is(type, "sbsa-ref") ? VMM_ARCH_ARM64 :
	       blob_is(type, "virt") || blob_begins(type, "sifive_u") ? VMM_ARCH_RISCV64 :
									VMM_ARCH_X86_64;
}

static int saved_lay_out(struct qemu_saved *q, struct atw_err *err)
{
	_auto_free struct vmm_words *w = calloc(1, sizeof(*w));
	enum vmm_arch arch = saved_arch(q);
	int r;

	if (!w)
		return atw_err_nomem(err);
	if (arch == VMM_ARCH_OTHER)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "its CPUs are of an architecture that is not supported");
	if (!q->stream.machine[0])
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "the stream does not record the type of the machine");
	w->machine = blob_of(q->stream.machine);
	w->ram = q->ram;
	r = vm_layout_of(arch, w, &q->layout, err);
	if (r == ATW_OK)
		q->machine = saved_machine(q, arch);
	return r;
}

static int saved_has_memory(const struct qemu_saved *q, struct atw_err *err)
{
	for (size_t i = 0; i < q->stream.nblocks; i++)
		if (q->chosen && q->base[i] != UINT64_MAX && q->stream.block[i].sent)
			return ATW_OK;
	if (q->stream.shared_left_out) {
		atw_err_set(err, ATW_E_UNSUPPORTED,
			    "its RAM is not in the stream: it was shared memory, which x-ignore-shared leaves out");
		atw_err_hint(err, "open the file that backed it: raw:PATH@ADDRESS");
		return ATW_E_UNSUPPORTED;
	}
	return atw_err_set(err, ATW_E_DAMAGED, "the stream ends before any page of RAM");
}

static void saved_say(struct qemu_saved *q, const char *container)
{
	const struct qemu_stream *s = &q->stream;
	char size[16];

	snprintf(q->m.what, sizeof(q->m.what), "%s%.40s, RAM of %s%s%s%s",
		 container, s->machine, num_human(q->ram, size),
		 q->doubtful ? ", backends taken for NUMA nodes" : "",
		 s->mapped ? ", mapped-ram" : "", q->packed ? ", compressed pages" : "");
	if (!s->complete)
		snprintf(q->m.truncated, sizeof(q->m.truncated),
			 _("ends before all of its RAM was saved; is it still being written?"));
}

int qemu_saved_index(struct atw_source *s, uint64_t start, const char *container,
		     struct atw_err *err)
{
	struct qemu_saved *q = s->impl;
	int r = qemu_stream_parse(&q->m.view, start, saved_take_page, q, &q->stream, err) ?:
		saved_has_memory(q, err) ?: saved_build(q, err);

	if (r < 0)
		return r;
	if (saved_take_cpus(q) < 0)
		return atw_err_nomem(err);
	r = saved_lay_out(q, err);
	if (r < 0)
		return r;
	saved_say(q, container);
	if (!q->packed)
		return ATW_OK;
	if (!page_cache_init(&q->cache, SAVED_PAGE_MAX, SAVED_CACHE))
		return atw_err_nomem(err);
	q->packed_ops = *s->ops;
	q->packed_ops.peek = NULL;
	s->ops = &q->packed_ops;
	return ATW_OK;
}

void qemu_saved_close(struct atw_source *s)
{
	struct qemu_saved *q = s->impl;

	if (q) {
		free(q->cpus.cpu);
		page_cache_deinit(&q->cache);
		codec_ctx_deinit(&q->codec);
	}
	mapped_close(s);
}

/* ---- operations ---- */

/* The part of the layout that has pa, or the next one; NULL: neither. */
static const struct vm_extent *saved_piece(const struct qemu_saved *q, uint64_t pa)
{
	for (size_t i = 0; i < q->layout.n; i++)
		if (pa < q->layout.v[i].gpa || pa - q->layout.v[i].gpa < q->layout.v[i].len)
			return &q->layout.v[i];
	return NULL;
}

/*
 * The extent that has pa, its offset in the RAM, and the bytes of it from there on that are
 * neighbours in memory, too.
 */
static const struct extent *saved_find(struct qemu_saved *q, uint64_t pa, uint64_t *ret_at,
				       uint64_t *ret_len)
{
	const struct vm_extent *p = saved_piece(q, pa);
	const struct extent *e;
	uint64_t in;

	if (!p || pa < p->gpa)
		return NULL;
	in = pa - p->gpa;
	*ret_at = p->offset + in;
	e = extents_find(&q->m.map, *ret_at);
	if (!e)
		return NULL;
	*ret_len = MIN(e->len - (*ret_at - e->start), p->len - in);
	return e;
}

static int saved_unpack(struct qemu_saved *q, const struct extent *e, uint8_t *out,
			struct atw_err *err)
{
	uint64_t at = e->off >> SAVED_AT_SHIFT;
	uint8_t head[4], *in;
	size_t stored, len = 0;
	int r;

	if (!view_read(&q->m.view, at - 4, head, sizeof(head)))
		return atw_err_set(err, ATW_E_IO, "the file has changed while it was read");
	stored = get_be32(head);
	if (stored > QEMU_PACKED_MAX)
		return atw_err_set(err, ATW_E_IO, "the file has changed while it was read");
	in = malloc(stored);
	if (!in)
		return atw_err_nomem(err);
	r = view_read_padded(&q->m.view, at, in, stored) ?
		codec_decompress_ctx(&q->codec, CODEC_ZLIB, in, stored, out, e->len, &len, err) :
		atw_err_set(err, ATW_E_IO, "the file has changed while it was read");
	free(in);
	if (r == ATW_OK && len != e->len)
		r = atw_err_set(err, ATW_E_DAMAGED, "it unpacks to %zu bytes, not %" PRIu64,
				len, e->len);
	if (r < 0)
		atw_err_wrap(err, "compressed page at 0x%" PRIx64, at);
	return r;
}

static int saved_packed(struct qemu_saved *q, const struct extent *e, const uint8_t **ret,
			struct atw_err *err)
{
	int r;

	*ret = page_cache_find(&q->cache, e->start);
	if (*ret)
		return ATW_OK;
	*ret = page_cache_claim(&q->cache, e->start);
	r = saved_unpack(q, e, (uint8_t *)*ret, err);
	if (r < 0)
		return atw_err_wrap(err, "%s", q->m.file.path), r;
	page_cache_commit(&q->cache, e->start);
	return ATW_OK;
}

static ssize_t saved_read_parts(struct atw_source *s, atw_pa pa, void *buf, size_t len,
				struct atw_err *err)
{
	struct qemu_saved *q = s->impl;
	size_t done = 0;

	while (done < len) {
		char *to = (char *)buf + done;
		const uint8_t *page = NULL;
		uint64_t at, n;
		const struct extent *e = saved_find(q, pa.u + done, &at, &n);
		int r;

		if (!e || e->kind == ATW_EXCLUDED)
			break;
		n = MIN(n, len - done);
		if (e->kind == ATW_ZERO) {
			memset(to, 0, (size_t)n);
		} else if (e->kind == SAVED_FILL) {
			memset(to, (int)(e->off >> SAVED_AT_SHIFT), (size_t)n);
		} else if (e->kind == SAVED_ZLIB) {
			r = saved_packed(q, e, &page, err);
			if (r < 0)
				return r;
			memcpy(to, page + (at - e->start), (size_t)n);
		} else if (!view_read_padded(&q->m.view, e->off + (at - e->start), to,
					     (size_t)n)) {
			break;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t qemu_saved_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			struct atw_err *err)
{
	struct qemu_saved *q = s->impl;

	return q->packed ? page_cache_read(&q->cache, saved_read_parts, s, pa, buf, len, err) :
			   saved_read_parts(s, pa, buf, len, err);
}

ssize_t qemu_saved_peek(struct atw_source *s, atw_pa pa, size_t len, const void **ret,
			struct atw_err *err)
{
	struct qemu_saved *q = s->impl;
	uint64_t at, n, run;
	const struct extent *e = saved_find(q, pa.u, &at, &n);

	if (!e)
		return 0;
	if (e->kind == ATW_ZERO) {
		*ret = saved_zeroes;
		run = SAVED_ZEROES;
	} else if (e->kind == ATW_DATA) {
		run = view_run(&q->m.view, e->off + (at - e->start), ret);
	} else {
		return 0;
	}
	n = n < run ? n : run;
	return (ssize_t)(len < n ? len : n);
}

static enum atw_extent_kind saved_kind(const struct extent *e)
{
	return e->kind > ATW_NONE ? ATW_DATA : (enum atw_extent_kind)e->kind;
}

int qemu_saved_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct qemu_saved *q = s->impl;
	const struct vm_extent *p = saved_piece(q, pa.u);
	struct atw_extent e = {.start = pa, .kind = ATW_NONE};
	uint64_t at, len;

	if (!p)
		return ATW_END;
	if (pa.u < p->gpa) {
		*ret = (struct atw_extent){pa, p->gpa - pa.u, ATW_NONE};
		return ATW_OK;
	}
	for (unsigned i = 0; i < SAVED_PARTS; i++, e.len += len) {
		const struct extent *x = saved_find(q, pa.u + e.len, &at, &len);

		if (!x || (i && saved_kind(x) != e.kind))
			break;
		e.kind = saved_kind(x);
	}
	if (!e.len) {
		/* A hole of a stream that ends early. */
		struct atw_extent hole;
		int r = extents_extent(&q->m.map, ATW_PA(p->offset + (pa.u - p->gpa)), &hole);

		e.len = p->len - (pa.u - p->gpa);
		if (r == ATW_OK && hole.len < e.len)
			e.len = hole.len;
	}
	*ret = e;
	return ATW_OK;
}

/* "cpuN.NAME" */
static int saved_cpu_fact(const struct qemu_cpus *c, const char *key, struct atw_blob *ret)
{
	const char *dot = strchr(key, '.');
	uint64_t n;

	if (!text_begins(key, "cpu") || !dot ||
	    !num_dec(key + 3, (size_t)(dot - key - 3), &n) || n >= c->n)
		return ATW_E_MISSING;
	for (unsigned i = 0; i < QEMU_REGISTERS; i++)
		if (!strcmp(dot + 1, qemu_register_name(i)) && c->cpu[n].have >> i & 1) {
			*ret = (struct atw_blob){&c->cpu[n].reg[i], 8};
			return ATW_OK;
		}
	return ATW_E_MISSING;
}

/*
 * "machine", "cpus", "cpuN.cr0" .cr2 .cr3 .cr4 .efer (x86), .satp .priv (riscv64), .ttbr0
 * .ttbr1 .tcr .mair .sctlr (arm64), and those of mapped_fact().
 */
int qemu_saved_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct qemu_saved *q = s->impl;
	const struct source_fact facts[] = {
		{"machine", q->machine, strlen(q->machine)},
		{"cpus", &q->cpus.n, q->cpus.n ? sizeof(q->cpus.n) : 0},
	};

	if (source_fact_of(facts, ARRAY_SIZE(facts), key, ret) == ATW_OK ||
	    saved_cpu_fact(&q->cpus, key, ret) == ATW_OK)
		return ATW_OK;
	return mapped_fact(s, key, ret);
}
