/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_hosted.c - source of a guest in the memory of its host: guest-physical addresses are
 * those of a process by KVM's memory slots, and these lead to memory by the page tables of the
 * process. The host is a dump, or a machine that is read from outside itself.
 *
 * A page that the process has not mapped is zero if it is anonymous and was never written. Of
 * a file or a memfd, other processes may have written it, so it is not known here.
 */
#include "target/guest.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/num.h"
#include "base/sorted.h"
#include "linux/kernel.h"
#include "paging/entry.h"

/* An extent is merged up to this many parts: some callers need its beginning only. */
enum { HOSTED_PARTS = 64 };

struct hosted {
	struct atw_source *host;
	struct atw_kernel *kernel;       /* of the host */
	struct atw_soft_abi soft;
	struct atw_mm mm;                /* of the process */
	struct mmu_lookup *lookup;
	struct vmm_piece *piece;         /* ascending; no areas */
	size_t n, cap;
	uint64_t ram;                    /* bytes, little-endian */
	uint32_t pid;
	const char *machine;             /* of the host, and so of the guest */
	char name[256];                  /* of the host */
	char truncated[240];
};

/* ---- pieces ---- */

/* The parts of the slot in an area of the process. */
static int hosted_add(struct hosted *h, const struct vmm_slot *s, const struct atw_area *a,
		      struct atw_err *err)
{
	uint64_t from = s->address > a->start.u ? s->address : a->start.u;
	uint64_t end = s->address + s->len < a->end.u ? s->address + s->len : a->end.u;

	if (from >= end)
		return ATW_OK;
	if (!ARRAY_ROOM(h->piece, h->n, h->cap))
		return atw_err_nomem(err);
	h->piece[h->n++] = (struct vmm_piece){
		.gpa = s->gpa + (from - s->address), .len = end - from, .start = from,
		.late = a->file || s->late || s->guest_memfd,
	};
	return ATW_OK;
}

static int hosted_make_pieces(struct hosted *h, uint64_t mm, const struct vmm_slot *slot, size_t n,
			      struct atw_err *err)
{
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	struct atw_areas *areas = NULL;
	int r = a ? atw_areas_open(h->kernel, mm, &areas, err) : atw_err_nomem(err);

	while (r == ATW_OK && (r = atw_areas_next(areas, a, err)) == ATW_OK)
		for (size_t i = 0; r == ATW_OK && i < n; i++)
			r = hosted_add(h, &slot[i], a, err);
	atw_areas_close(areas);
	if (r != ATW_END)
		return r;
	if (!h->n)
		return atw_err_set(err, ATW_E_MISSING,
				   "process %" PRIu32 " maps nothing of its guest's memory", h->pid);
	qsort(h->piece, h->n, sizeof(*h->piece), sorted_by_u64);
	return ATW_OK;
}

static int hosted_find(struct hosted *h, struct atw_err *err)
{
	struct vmm_slot *slot = NULL;
	struct lnx_task t;
	size_t n = 0;
	int r = atw_kernel_open(h->host, NULL, &h->kernel, err) ?:
		guest_process(h->kernel, h->pid, &t, err) ?:
		kvm_slots(h->kernel, &t, &slot, &n, err) ?:
		atw_mm_of(h->kernel, &t, &h->mm, err) ?:
		mmu_lookup_open(&h->mm.space, &h->lookup, err) ?:
		hosted_make_pieces(h, t.mm, slot, n, err);
	struct vmm_privacy privacy;
	uint64_t ram = 0;

	for (size_t i = 0; r == ATW_OK && i < n; i++)
		ram += slot[i].read_only ? 0 : slot[i].len;
	if (r == ATW_OK && (r = kvm_privacy(h->kernel, &t, slot, n, &privacy, err)) == ATW_OK)
		vmm_privacy_text(&privacy, h->truncated, sizeof(h->truncated));
	h->ram = htole64(ram);
	free(slot);
	return r == ATW_END ? atw_err_set(err, ATW_E_MISSING, "process %" PRIu32 " has ended", h->pid) : r;
}

static const struct vmm_piece *hosted_piece(const struct hosted *h, uint64_t pa)
{
	return vmm_piece_from(h->piece, h->n, pa);
}

/* ---- pages ---- */

/* What the page at an address is, and for how many bytes from there on. */
struct hosted_page {
	enum atw_extent_kind kind;
	bool mapped;             /* it lies at `pa` */
	atw_pa pa;
	uint64_t len;
};

/* One that is not mapped: its entry may still know where it lies. */
static void hosted_absent(struct hosted *h, const struct vmm_piece *p, uint64_t va,
			  struct hosted_page *ret)
{
	struct atw_soft_word soft = { .what = ATW_SOFT_NONE };
	struct mmu_seen s;
	uint64_t word;

	if (mmu_translate(&h->mm.space, ATW_VA(va), &s, NULL) != ATW_OK || s.loss || !s.depth)
		return;
	word = s.path[s.depth - 1].word;
	if (!word) {
		ret->kind = p->late ? ATW_EXCLUDED : ATW_ZERO;
		return;
	}
	soft = atw_soft_decode_at(&h->soft, &h->mm.space.paging, ATW_VA(va), s.level, word);
	ret->mapped = soft.what == ATW_SOFT_PROTNONE || soft.what == ATW_SOFT_MIGRATION;
	ret->pa = ATW_PA(soft.pa.u + (va - s.va.u));
	ret->kind = soft.what == ATW_SOFT_SWAP ? ATW_EXCLUDED : ATW_NONE;
}

static void hosted_look(struct hosted *h, const struct vmm_piece *p, uint64_t va,
			struct hosted_page *ret)
{
	struct mmu_place at;
	struct atw_extent e;

	*ret = (struct hosted_page){ .kind = ATW_NONE, .len = 4096 - (va & 4095) };
	if (mmu_lookup(h->lookup, ATW_VA(va), &at, NULL) < 0 || !at.size)
		return;
	ret->len = at.size - (va & (at.size - 1));
	if (at.loss)
		ret->kind = at.loss == ATW_LOST_EXCLUDED ? ATW_EXCLUDED : ATW_NONE;
	else if (at.kind == ATW_ABSENT)
		hosted_absent(h, p, va, ret);
	ret->mapped |= !at.loss && at.kind == ATW_LEAF;
	if (ret->mapped && at.kind == ATW_LEAF)
		ret->pa = at.pa;
	if (!ret->mapped)
		return;
	if (atw_extent_at(h->host, ret->pa, &e) != ATW_OK) {
		ret->mapped = false;
		return;
	}
	ret->kind = e.kind;
	if (e.len && e.len < ret->len)
		ret->len = e.len;
}

static ssize_t hosted_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			   struct atw_err *err)
{
	struct hosted *h = s->impl;
	const struct vmm_piece *p = hosted_piece(h, pa.u);
	size_t done = 0;

	if (!p || pa.u < p->gpa)
		return 0;
	if (len > p->len - (pa.u - p->gpa))
		len = p->len - (pa.u - p->gpa);
	while (done < len) {
		struct hosted_page page;
		ssize_t got;
		size_t n;

		hosted_look(h, p, p->start + (pa.u - p->gpa) + done, &page);
		n = page.len < len - done ? (size_t)page.len : len - done;
		if (page.mapped) {
			got = atw_read(h->host, page.pa, (char *)buf + done, n, err);
			if (got <= 0)
				return done ? (ssize_t)done : got;
			done += (size_t)got;
			if ((size_t)got < n)
				break;
			continue;
		}
		if (page.kind != ATW_ZERO)
			break;
		memset((char *)buf + done, 0, n);
		done += n;
	}
	return (ssize_t)done;
}

/* Of one page of the host. */
static ssize_t hosted_peek(struct atw_source *s, atw_pa pa, size_t len, const void **ret,
			   struct atw_err *err)
{
	struct hosted *h = s->impl;
	const struct vmm_piece *p = hosted_piece(h, pa.u);
	struct hosted_page page;

	if (!p || pa.u < p->gpa || !h->host->ops->peek)
		return 0;
	hosted_look(h, p, p->start + (pa.u - p->gpa), &page);
	if (page.len > p->len - (pa.u - p->gpa))
		page.len = p->len - (pa.u - p->gpa);
	if (!page.mapped)
		return 0;
	return h->host->ops->peek(h->host, page.pa, page.len < len ? (size_t)page.len : len, ret, err);
}

static int hosted_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct hosted *h = s->impl;
	const struct vmm_piece *p = hosted_piece(h, pa.u);
	struct atw_extent e = { .start = pa };
	struct hosted_page page;
	uint64_t at, end;

	if (!p)
		return ATW_END;
	if (pa.u < p->gpa) {
		*ret = (struct atw_extent){ pa, p->gpa - pa.u, ATW_NONE };
		return ATW_OK;
	}
	at = p->start + (pa.u - p->gpa);
	end = p->start + p->len;
	for (unsigned i = 0; i < HOSTED_PARTS && at < end; i++, at += page.len) {
		hosted_look(h, p, at, &page);
		if (i && page.kind != e.kind)
			break;
		if (page.len > end - at)
			page.len = end - at;
		e.kind = page.kind;
		e.len += page.len;
	}
	*ret = e;
	return ATW_OK;
}

/* ---- what it is ---- */

static int hosted_outside(struct atw_source *s, atw_pa pa, uint32_t *pid, uint64_t *va)
{
	const struct hosted *h = s->impl;

	*pid = h->pid;
	return vmm_piece_outside(h->piece, h->n, pa.u, va);
}

static int hosted_inside(struct atw_source *s, uint64_t va, atw_pa *ret, uint64_t *ret_len)
{
	const struct hosted *h = s->impl;

	return vmm_piece_inside(h->piece, h->n, va, ret, ret_len);
}

static int hosted_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	const struct hosted *h = s->impl;
	const struct source_fact facts[] = {
		{ "machine", h->machine, strlen(h->machine) },
		{ "ram", &h->ram, sizeof(h->ram) },
		{ "truncated", h->truncated, strlen(h->truncated) },
		{ "host", h->name, strlen(h->name) },
	};

	return source_fact_of(facts, ARRAY_SIZE(facts), key, ret);
}

static void hosted_describe(struct atw_source *s, char *buf, size_t len)
{
	const struct hosted *h = s->impl;
	char size[16];

	snprintf(buf, len, "guest of process %" PRIu32 " in %s, %s of RAM by KVM's memory slots",
		 h->pid, h->name, num_human(le64toh(h->ram), size));
}

static void hosted_close(struct atw_source *s)
{
	struct hosted *h = s->impl;

	mmu_lookup_close(h->lookup);
	atw_kernel_close(h->kernel);
	atw_source_close(h->host);
	free(h->piece);
	free(h);
}

#define HOSTED_OPS \
	.name = "kvm", .close = hosted_close, .read = hosted_read, .extent = hosted_extent, \
	.fact = hosted_fact, .outside = hosted_outside, .inside = hosted_inside, \
	.describe = hosted_describe

static const struct atw_source_ops hosted_in_dump = { HOSTED_OPS, .peek = hosted_peek };
/* Nothing that changes is lent. Like that of qemu:, such a guest may be searched. */
static const struct atw_source_ops hosted_in_running = { HOSTED_OPS, .live = true };

static const char *hosted_machine(enum atw_family family)
{
	return family == ATW_X86 ? "x86_64" : family == ATW_ARM64 ? "aarch64" : "riscv64";
}

int guest_hosted_open(struct atw_source *host, uint32_t pid, const char *host_name,
		      struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *s = calloc(1, sizeof(*s));
	struct hosted *h = calloc(1, sizeof(*h));
	int r = s && h ? ATW_OK : atw_err_nomem(err);

	if (r == ATW_OK) {
		h->host = host;
		h->pid = pid;
		snprintf(h->name, sizeof(h->name), "%s", host_name);
		r = hosted_find(h, err);
	}
	if (r < 0) {
		if (h) {
			mmu_lookup_close(h->lookup);
			atw_kernel_close(h->kernel);
			free(h->piece);
		}
		free(h);
		free(s);
		return r;
	}
	h->soft = atw_kernel_soft_abi(h->kernel, &h->mm.space.paging);
	h->machine = hosted_machine(h->mm.space.paging.family);
	*s = (struct atw_source){
		.ops = atw_source_is_live(host) ? &hosted_in_running : &hosted_in_dump, .impl = h,
	};
	*ret = s;
	return ATW_OK;
}
