// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu.c - source of a running guest: the RAM in the process that runs it, read from outside.
 * The guest is neither stopped nor changed, and no page is allocated for it.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/message.h"
#include "base/num.h"
#include "host/vmm.h"
#include "host/vmm_process.h"
#include "source/source.h"

/* An extent is merged up to this many parts: some callers need its beginning only. */
enum { QEMU_PARTS = 32 };

struct qemu {
	struct vmm vmm;
	const char *machine; /* as uname -m has it */
	uint64_t ram;        /* bytes, little-endian */
	char truncated[240];
	char instance[48];
	struct buf layout;   /* by its monitor, as vmm_slots_parse() takes it */
};

static const char *qemu_machine(enum vmm_arch arch)
{
	return arch == VMM_ARCH_X86_64  ? "x86_64"
	       : arch == VMM_ARCH_ARM64 ? "aarch64"
					: "riscv64";
}

static bool qemu_is_late(const struct vmm *v)
{
	for (size_t i = 0; i < v->npieces; i++)
		if (v->piece[i].late)
			return true;
	return false;
}

/* What there is to say of it. */
static void qemu_note(struct qemu *q)
{
	const char *text = NULL;

	q->machine = qemu_machine(q->vmm.arch);
	q->ram = htole64(q->vmm.ram);
	vmm_privacy_text(&q->vmm.privacy, q->truncated, sizeof(q->truncated));
	if (!*q->truncated && q->vmm.extra)
		text = _("memory of devices of the guest (pc-dimm, nvdimm, virtio-mem, "
		       "virtio-pmem) is not read");
	else if (!*q->truncated && qemu_is_late(&q->vmm))
		text = _("pages of the guest that userfaultfd has not filled in yet are missing");
	if (text)
		snprintf(q->truncated, sizeof(q->truncated), "%s", text);
	vmm_instance(q->vmm.pid, q->instance, sizeof(q->instance));
	for (size_t i = 0; i < q->vmm.npieces && q->vmm.way == VMM_BY_MONITOR; i++)
		buf_printf(&q->layout, "%s%" PRIx64 ":%" PRIx64 ":0x%" PRIx64, i ? "," : "",
			   q->vmm.piece[i].gpa, q->vmm.piece[i].start, q->vmm.piece[i].len);
}

/* It names no file. */
static int qemu_probe(struct atw_blob head, const char *path)
{
	return 0;
}

static int qemu_open(struct atw_source *s, const struct atw_source_spec *spec,
		     struct atw_err *err)
{
	const struct vmm_how how = {
		.layout = spec->layout, .socket = strchr(spec->path, '/') ? spec->path : NULL,
	};
	struct qemu *q = calloc(1, sizeof(*q));
	uint32_t pid = 0;
	int r;

	if (!q)
		return atw_err_nomem(err);
	s->impl = q;
	if (spec->nparts)
		return atw_err_set(err, ATW_E_USAGE, "a process has no further parts");
	r = vmm_process_find(spec->path, false, &pid, err) ?: vmm_open(pid, &how, &q->vmm, err);
	if (r < 0)
		return r;
	qemu_note(q);
	return ATW_OK;
}

static void qemu_close(struct atw_source *s)
{
	struct qemu *q = s->impl;

	if (q) {
		vmm_close(&q->vmm);
		buf_deinit(&q->layout);
	}
	free(q);
}

static const struct vmm_piece *qemu_piece(const struct qemu *q, uint64_t pa)
{
	return vmm_piece_from(q->vmm.piece, q->vmm.npieces, pa);
}

/* So many bytes before the first page that was not filled in yet. */
static size_t qemu_upto(const struct qemu *q, const struct vmm_piece *p, uint64_t at, size_t len)
{
	enum process_page state;
	uint64_t sum = 0, n;

	while (sum < len) {
		if (process_memory_look(q->vmm.memory, p->area, at + sum, &state, &n, NULL) < 0 ||
		    state == PROCESS_ZERO)
			break;
		sum += n;
	}
	return sum < len ? (size_t)sum : len;
}

static ssize_t qemu_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *err)
{
	struct qemu *q = s->impl;
	const struct vmm_piece *p = qemu_piece(q, pa.u);

	if (!p || pa.u < p->gpa)
		return 0;
	if (len > p->len - (pa.u - p->gpa))
		len = p->len - (pa.u - p->gpa);
	if (p->late)
		len = qemu_upto(q, p, p->start + (pa.u - p->gpa), len);
	if (!len)
		return 0;
	return process_memory_read(q->vmm.memory, p->area, p->start + (pa.u - p->gpa),
				   buf, len, err);
}

/*
 * Swapped pages are excluded, so a search through all data does not swap the guest in. A
 * read of one is answered nevertheless: its pages of tables and tasks are few.
 */
static enum atw_extent_kind qemu_kind(const struct vmm_piece *p, enum process_page state)
{
	if (p->late && state == PROCESS_ZERO)
		return ATW_NONE;
	return state == PROCESS_PRESENT || state == PROCESS_STORED ? ATW_DATA
	       : state == PROCESS_ZERO                             ? ATW_ZERO
	       : state == PROCESS_SWAPPED                          ? ATW_EXCLUDED
								   : ATW_NONE;
}

static int qemu_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct qemu *q = s->impl;
	const struct vmm_piece *p = qemu_piece(q, pa.u);
	struct atw_extent e = {.start = pa};
	enum process_page state;
	uint64_t at, end, len;

	if (!p)
		return ATW_END;
	if (pa.u < p->gpa) {
		*ret = (struct atw_extent){pa, p->gpa - pa.u, ATW_NONE};
		return ATW_OK;
	}
	at = p->start + (pa.u - p->gpa);
	end = p->start + p->len;
	for (unsigned i = 0; i < QEMU_PARTS && at < end; i++, at += len) {
		int r = process_memory_look(q->vmm.memory, p->area, at, &state, &len,
					    NULL);

		if (r < 0)
			return r;
		if (i && qemu_kind(p, state) != e.kind)
			break;
		if (len > end - at)
			len = end - at;
		e.kind = qemu_kind(p, state);
		e.len += len;
	}
	*ret = e;
	return ATW_OK;
}

static int qemu_outside(struct atw_source *s, atw_pa pa, uint32_t *pid, uint64_t *va)
{
	const struct qemu *q = s->impl;

	*pid = q->vmm.pid;
	return vmm_piece_outside(q->vmm.piece, q->vmm.npieces, pa.u, va);
}

static int qemu_inside(struct atw_source *s, uint64_t va, atw_pa *ret, uint64_t *ret_len)
{
	const struct qemu *q = s->impl;

	return vmm_piece_inside(q->vmm.piece, q->vmm.npieces, va, ret, ret_len);
}

static int qemu_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	const struct qemu *q = s->impl;
	const struct source_fact facts[] = {
		{"machine", q->machine, strlen(q->machine)},
		{"ram", &q->ram, sizeof(q->ram)},
		{"truncated", q->truncated, strlen(q->truncated)},
		{"instance", q->instance, strlen(q->instance)},
		{"remark", q->vmm.remark, strlen(q->vmm.remark)},
		{"layout", q->layout.data, q->layout.failed ? 0 : q->layout.len},
	};

	return source_fact_of(facts, sizeof(facts) / sizeof(facts[0]), key, ret);
}

static void qemu_describe(struct atw_source *s, char *buf, size_t len)
{
	static const char *const how[] = {
		[VMM_BY_RULE] = "", [VMM_BY_SLOTS] = " by KVM's memory slots",
		[VMM_BY_LAYOUT] = " by the layout that was given",
		[VMM_BY_MONITOR] = " by its monitor",
	};
	const struct qemu *q = s->impl;
	char size[16];

	num_human(q->vmm.ram, size);
	snprintf(buf, len, "running guest of %sprocess %" PRIu32 "%s%s, %s of RAM%s",
		 q->vmm.way == VMM_BY_RULE || q->vmm.way == VMM_BY_MONITOR ? "QEMU " : "", q->vmm.pid,
		 *q->vmm.machine ? ", machine " : "", q->vmm.machine, size, how[q->vmm.way]);
}

const struct atw_source_ops source_qemu = {
	.name = "qemu",
	.help = "RAM of a running guest; qemu: and the PID of its QEMU process, its name or socket",
	.probe = qemu_probe,
	.open = qemu_open,
	.close = qemu_close,
	.read = qemu_read,
	.extent = qemu_extent,
	.fact = qemu_fact,
	.outside = qemu_outside,
	.inside = qemu_inside,
	.describe = qemu_describe,
	.live = true,
};

/* Which memory it has is read from the kernel that runs it, which is above a source. */
static int qemu_open_kvm(struct atw_source *s, const struct atw_source_spec *spec, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "a guest of KVM is not opened as a source of its own");
}

const struct atw_source_ops source_kvm = {
	.name = "kvm",
	.help = "RAM of a running guest, by the memory slots of KVM; kvm: and a PID, name or socket",
	.probe = qemu_probe,
	.open = qemu_open_kvm,
	.close = qemu_close,
	.read = qemu_read,
	.extent = qemu_extent,
	.fact = qemu_fact,
	.outside = qemu_outside,
	.inside = qemu_inside,
	.describe = qemu_describe,
	.live = true,
};

static struct qemu *qemu_below(const struct atw_source *s)
{
	while (s && s->below)
		s = s->below;
	return s && (s->ops == &source_qemu || s->ops == &source_kvm) ? s->impl : NULL;
}

const struct vmm *source_guest(const struct atw_source *s)
{
	const struct qemu *q = qemu_below(s);

	return q ? &q->vmm : NULL;
}

void source_guest_swap(struct atw_source *s, struct vmm *v)
{
	struct qemu *q = qemu_below(s);
	struct vmm old = q->vmm;

	q->vmm = *v;
	*v = old;
	buf_deinit(&q->layout);
	q->layout = (struct buf){ 0 };
	qemu_note(q);
}

int source_of_guest(struct vmm *v, struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *s = calloc(1, sizeof(*s));
	struct qemu *q = calloc(1, sizeof(*q));

	if (!s || !q) {
		free(s);
		free(q);
		vmm_close(v);
		return atw_err_nomem(err);
	}
	q->vmm = *v;
	qemu_note(q);
	*s = (struct atw_source){ .ops = &source_kvm, .impl = q };
	*ret = s;
	return ATW_OK;
}
