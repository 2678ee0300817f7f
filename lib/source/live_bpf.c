// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live_bpf.c - the running kernel's physical memory, through its direct map.
 *
 * The kernel maps all RAM at one fixed distance. Once the distance is known, a
 * physical address is a virtual one, and host/bpf.c reads those. Only RAM is
 * ever read, and nothing is written.
 */
#include "source/live_bpf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/host_file.h"
#include "host/host.h"
#include "source/live_image.h"
#include "host/bpf_percpu.h"
#include "base/message.h"
#include "host/bpf_task.h"
#include "source/live_ram.h"
#include "source/live_types.h"

enum {
	NOTE_DESC = 24,          /* ELF note: 12 bytes, "VMCOREINFO\0", padding */
	NOTE_MAX = 64 * 1024,
	CPUS_MAX = 8192,         /* NR_CPUS_RANGE_END of x86 */
};

struct direct {
	struct host_bpf bpf;
	struct bpf_tasks tasks;
	struct extents ram;
	uint64_t base;           /* virtual - physical, of all RAM */
	struct live_image image;
	void *vmcoreinfo;
	size_t vmcoreinfo_len;
	void *lent;              /* places of the area that are lent to a caller */
	struct host_info host;
	struct live_types types;
	uint64_t init_task;      /* 0: not looked for yet */
	uint64_t *percpu;        /* offsets of per-CPU data; NULL: likewise */
	size_t cpus;
};

/* ---- the direct map ---- */

/* The note's 24 bytes but for descsz, and how its text begins. */
static bool bpf_is_note(const uint8_t *p)
{
	return get_le32(p) == 11 && get_le32(p + 8) == 0 &&
	       !memcmp(p + 12, "VMCOREINFO\0", 12) && !memcmp(p + NOTE_DESC, "OSRELEASE=", 10);
}

/*
 * The direct map maps VMCOREINFO's note and the process's own top table at the same
 * distance from their physical addresses. The physical address of the note is known. That
 * of the table is not; but the table is in RAM, and the distance is a multiple of the
 * kernel's alignment of it, so there is one candidate for each such step of RAM.
 *
 * Candidates are tried from the lowest one up: so every address tried before the right
 * one lies below it, in the direct map or in the empty space before it, and not behind
 * it, where devices are mapped.
 */
static int bpf_find_base(struct direct *l, uint64_t pgd, uint64_t note,
			 struct atw_err *err)
{
	const struct extent *last = &l->ram.v[l->ram.n - 1];
	uint64_t top = last->start + last->len;
	/* x86: PUD_SIZE; arm64: ARM64_MEMSTART_ALIGN; riscv: PMD_SIZE. */
	uint64_t step = strncmp(l->host.uts.machine, "riscv", 5) ? UINT64_C(512) << 20
							   : UINT64_C(2) << 20;
	uint64_t at = (pgd - top + step - 1) & ~(step - 1);
	uint8_t head[NOTE_DESC + 10];

	for (; at <= pgd && pgd - at <= top; at += step) {
		int r = bpf_copy(&l->bpf, at + note, head, sizeof(head), err);

		if (r == ATW_OK && bpf_is_note(head) && extents_find(&l->ram, pgd - at)) {
			l->base = at;
			return ATW_OK;
		}
		if (r < 0 && r != ATW_E_IO)
			return r;
	}
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "the kernel's direct map of RAM was not found below 0x%" PRIx64, pgd);
}

static int bpf_read_vmcoreinfo(struct direct *l, struct atw_source *s, uint64_t note,
			       uint64_t len, struct atw_err *err)
{
	uint8_t *p = malloc(len);
	ssize_t n;

	if (!p)
		return atw_err_nomem(err);
	l->vmcoreinfo = p;
	n = atw_read(s, ATW_PA(note), p, len, err);
	if (n < 0)
		return (int)n;
	if ((uint64_t)n < len || !bpf_is_note(p) || get_le32(p + 4) > len - NOTE_DESC)
		return atw_err_set(err, ATW_E_DAMAGED, "VMCOREINFO at 0x%" PRIx64 " is not whole",
				   note);
	l->vmcoreinfo_len = get_le32(p + 4);
	live_image_find(&l->image, (char *)p + NOTE_DESC, l->vmcoreinfo_len);
	return ATW_OK;
}

/* ---- opening ---- */

/* The file that members are kept in, of this boot alone; false: it cannot be told. */
static bool bpf_kept_name(struct direct *l, char *ret, size_t len)
{
	struct atw_blob b;

	return host_info_fact(&l->host, "instance", &b) == ATW_OK &&
	       (size_t)snprintf(ret, len, "%.*s-members", (int)b.len, (const char *)b.data) < len;
}

/* The distance of the direct map proves that the members are where they are read. */
static int bpf_find_direct(struct direct *l, uint64_t note, struct atw_err *err)
{
	uint64_t pgd;

	l->tasks = (struct bpf_tasks){ .bpf = &l->bpf, .types = l->types.of_tasks };
	return bpf_own_pgd(&l->tasks, &pgd, err) ?: bpf_find_base(l, pgd, note, err);
}

static int bpf_attach(struct direct *l, struct atw_source *s, const char *folder,
		      struct atw_err *err)
{
	uint64_t note, len;
	char name[80];
	int r = bpf_open(&l->bpf, err);

	if (r == ATW_OK && !bpf_kept_name(l, name, sizeof(name)))
		folder = NULL;
	if (r == ATW_OK)
		r = live_types_find(&l->types, folder, name, err) ?:
		    live_ram(&l->ram, err) ?:
		    live_note_place(&note, &len, err);
	if (r != ATW_OK)
		return r;
	if (len <= NOTE_DESC || len > NOTE_MAX || !extents_find(&l->ram, note))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "VMCOREINFO is said to be at 0x%" PRIx64 ", which is not RAM",
				   note);
	r = bpf_find_direct(l, note, err);
	if (r < 0 && l->types.recalled)
		r = live_types_find_again(&l->types, err) ?: bpf_find_direct(l, note, err);
	if (r == ATW_OK)
		r = bpf_read_vmcoreinfo(l, s, note, len, err);
	if (r == ATW_OK)
		live_types_keep(&l->types, folder, name);
	return r;
}

static void live_bpf_close(struct atw_source *s)
{
	struct direct *l = s->impl;

	if (!l)
		return;
	bpf_tasks_close(&l->tasks);
	bpf_close(&l->bpf);
	live_types_close(&l->types);
	extents_deinit(&l->ram);
	free(l->vmcoreinfo);
	free(l->percpu);
	free(l);
	s->impl = NULL;
}

/* ---- memory ---- */

/*
 * Pieces that wait for one run of the program, none of them across the end of a
 * page, and where their bytes are to go.
 */
struct batch {
	size_t n;
	struct part {
		char *to;
		uint64_t pa;
		uint32_t len;
		bool again;      /* by itself, for it was not read */
		ssize_t *got;    /* of the whole that it is a part of */
	} part[LIVE_BATCH];
};

/* What the direct map lacks may be the kernel's own; other RAM that is not there is no hole. */
static ssize_t bpf_read_image(struct direct *l, uint64_t pa, void *to, uint32_t len,
			      struct atw_err *err)
{
	uint64_t va;

	if (live_image_at(&l->image, pa, &va) &&
	    bpf_copy(&l->bpf, va, to, len, err) == ATW_OK)
		return len;
	return atw_err_set(err, ATW_E_IO, "the kernel itself does not map physical 0x%" PRIx64,
			   pa);
}

/* What is in the area is lost by that. */
static void bpf_read_again(struct direct *l, struct batch *b, struct atw_err *err)
{
	for (size_t i = 0; i < b->n; i++) {
		ssize_t *got = b->part[i].got, n;

		if (!b->part[i].again || *got < 0)
			continue;
		n = bpf_read_image(l, b->part[i].pa, b->part[i].to, b->part[i].len, err);
		*got = n < 0 ? n : *got + n;
	}
}

static void bpf_run_batch(struct direct *l, struct batch *b, struct atw_err *err)
{
	struct bpf_area *a = l->bpf.area;
	bool again = false;
	int r = b->n ? bpf_read(&l->bpf, b->n, err) : ATW_OK;

	for (size_t i = 0; i < b->n; i++) {
		ssize_t *got = b->part[i].got;

		/* Parts behind one that failed are of no use. */
		if (*got < 0)
			continue;
		if (r < 0) {
			*got = r;
		} else if (a->piece[i].result) {
			again = b->part[i].again = true;
		} else {
			const uint8_t *from = a->data[a->piece[i].place];

			if ((uint8_t *)b->part[i].to != from)
				memcpy(b->part[i].to, from, b->part[i].len);
			*got += b->part[i].len;
		}
	}
	if (again)
		bpf_read_again(l, b, err);
	b->n = 0;
}

/* Where the bytes are read to: where they are to go, if that is in the area. */
static uint32_t bpf_place_for(const struct direct *l, const char *to, uint32_t otherwise)
{
	size_t off = (size_t)(to - (const char *)l->bpf.area->data[LIVE_BATCH]);

	return off < LIVE_LENT * LIVE_PIECE && off % LIVE_PIECE == 0
	       ? LIVE_BATCH + (uint32_t)(off / LIVE_PIECE) : otherwise;
}

static void bpf_read_many(struct atw_source *s, struct atw_piece *piece, size_t n,
			  struct atw_err *err)
{
	struct direct *l = s->impl;
	struct batch b = { .n = 0 };

	for (size_t i = 0; i < n; i++) {
		struct atw_piece *p = &piece[i];
		const struct extent *e = extents_find(&l->ram, p->pa.u);
		uint64_t left = e ? e->len - (p->pa.u - e->start) : 0;
		size_t len = p->len < left ? p->len : (size_t)left;

		p->got = 0;
		for (size_t put = 0, part; put < len; put += part) {
			part = LIVE_PIECE - ((p->pa.u + put) & (LIVE_PIECE - 1));
			if (part > len - put)
				part = len - put;
			if (b.n == LIVE_BATCH)
				bpf_run_batch(l, &b, err);
			b.part[b.n] = (struct part){
				.to = (char *)p->buf + put, .pa = p->pa.u + put,
				.len = (uint32_t)part, .got = &p->got,
			};
			l->bpf.area->piece[b.n] = (struct bpf_piece){
				.va = l->base + p->pa.u + put, .len = (uint32_t)part,
				.result = -EFAULT,
				.place = bpf_place_for(l, b.part[b.n].to, (uint32_t)b.n),
			};
			b.n++;
		}
	}
	bpf_run_batch(l, &b, err);
}

static ssize_t live_bpf_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			     struct atw_err *err)
{
	struct atw_piece p = { pa, buf, len, 0 };

	bpf_read_many(s, &p, 1, err);
	return p.got;
}

/* One buffer at a time, for the reader that reads tables ahead. */
static void *bpf_buffer_open(struct atw_source *s, size_t len)
{
	struct direct *l = s->impl;

	if (l->lent || len > LIVE_LENT * LIVE_PIECE)
		return NULL;
	return l->lent = l->bpf.area->data[LIVE_BATCH];
}

static bool bpf_buffer_close(struct atw_source *s, void *buf)
{
	struct direct *l = s->impl;

	if (!buf || buf != l->lent)
		return false;
	l->lent = NULL;
	return true;
}

static void bpf_mapped(struct atw_source *s, atw_pa pa, atw_va va, uint64_t len)
{
	struct direct *l = s->impl;

	live_image_add(&l->image, pa.u, va.u, len);
}

static int bpf_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct direct *l = s->impl;

	return extents_extent(&l->ram, pa, ret);
}

/* ---- the kernel's structs ---- */

static bool bpf_direct(struct atw_source *s, uint64_t va, struct atw_direct *ret)
{
	struct direct *l = s->impl;
	const struct extent *e = extents_find(&l->ram, va - l->base);

	if (e)
		*ret = (struct atw_direct){ l->base + e->start, e->start, e->len };
	return e;
}

static size_t bpf_read_list(struct atw_source *s, const struct atw_chain *list)
{
	struct direct *l = s->impl;
	const struct extent *last = &l->ram.v[l->ram.n - 1];
	size_t n = bpf_list(&l->bpf, &(struct bpf_list){
		.va = list->va, .len = list->len, .next = list->next, .back = list->back,
		.low = l->base, .span = last->start + last->len,
	});

	n = n < list->max ? n : list->max;
	for (size_t i = 0; i < n; i++) {
		list->at[i] = l->bpf.area->piece[i].va;
		memcpy((char *)list->buf + i * list->len, l->bpf.area->data[i], list->len);
	}
	return n;
}

/* ---- facts ---- */

/* Each call looks the process up anew: it may have ended, or executed another program. */
static int bpf_mm_of(struct atw_source *s, uint64_t pid, uint64_t *ret,
		     struct atw_err *err)
{
	struct direct *l = s->impl;
	struct atw_err why = {0};
	int r = bpf_task_mm(&l->tasks, pid, ret, &why);

	if (r == ATW_OK)
		return r;
	return atw_err_set(err, r == ATW_E_NONE ? r : ATW_E_MISSING, "%s", why.text);
}

/* The task that heads the list of all: symbols name it in few kernels. */
static int bpf_init_fact(struct direct *l, struct atw_blob *ret)
{
	if (!l->init_task && bpf_init_task(&l->tasks, &l->init_task, NULL) < 0)
		return ATW_E_MISSING;
	*ret = (struct atw_blob){ &l->init_task, sizeof(l->init_task) };
	return ATW_OK;
}

static int bpf_percpu_fact(struct direct *l, struct atw_blob *ret)
{
	if (!l->percpu) {
		l->percpu = calloc(CPUS_MAX, sizeof(*l->percpu));
		if (l->percpu && l->types.pptrs &&
		    bpf_percpu(&l->bpf, l->types.pptrs, l->percpu, CPUS_MAX, &l->cpus, NULL) < 0)
			l->cpus = 0;
	}
	*ret = (struct atw_blob){ l->percpu, l->cpus * sizeof(*l->percpu) };
	return l->cpus ? ATW_OK : ATW_E_MISSING;
}

/* The kernel's own structs are found by them; symbols name their place in few kernels. */
static int bpf_types_fact(struct direct *l, const char *key, struct atw_blob *ret)
{
	struct btf *b = &l->types.btf;

	if (live_types_read(&l->types, NULL) < 0)
		return ATW_E_MISSING;
	*ret = !strcmp(key, "btf") ? l->types.file.bytes
				   : (struct atw_blob){ b->at, b->n * sizeof(*b->at) };
	return ATW_OK;
}

static int bpf_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct direct *l = s->impl;

	if (!strcmp(key, "way"))
		*ret = (struct atw_blob){ "bpf", 3 };
	else if (!strcmp(key, "init_task"))
		return bpf_init_fact(l, ret);
	else if (!strcmp(key, "percpu"))
		return bpf_percpu_fact(l, ret);
	else if (!strcmp(key, "btf") || !strcmp(key, "btf.index"))
		return bpf_types_fact(l, key, ret);
	else if (!strcmp(key, "vmcoreinfo") && l->vmcoreinfo)
		*ret = (struct atw_blob){ (char *)l->vmcoreinfo + NOTE_DESC,
					  l->vmcoreinfo_len };
	else
		return host_info_fact(&l->host, key, ret);
	return ATW_OK;
}

static void bpf_describe(struct atw_source *s, char *buf, size_t len)
{
	struct direct *l = s->impl;

	snprintf(buf, len, _("running kernel, read through BPF, direct map at 0x%" PRIx64),
		 l->base);
}

static const struct atw_source_ops direct_ops = {
	.name = "live",
	.help = "the running kernel, through BPF",
	.close = live_bpf_close,
	.read = live_bpf_read,
	.extent = bpf_extent,
	.fact = bpf_fact,
	.describe = bpf_describe,
	.live = true,
	.here = true,
	.read_many = bpf_read_many,
	.buffer_open = bpf_buffer_open,
	.buffer_close = bpf_buffer_close,
	.mapped = bpf_mapped,
	.mm_of = bpf_mm_of,
	.direct = bpf_direct,
	.list = bpf_read_list,
};

int live_bpf_open(struct atw_source *s, const char *remember, struct atw_err *err)
{
	const struct atw_source_ops *ops = s->ops;
	struct direct *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return atw_err_nomem(err);
	host_info_init(&l->host);
	s->impl = l;
	s->ops = &direct_ops;
	r = bpf_attach(l, s, remember, err);
	if (r < 0) {
		live_bpf_close(s);
		s->ops = ops;
	}
	return r;
}
