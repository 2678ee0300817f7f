/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.c - opening of a SOURCE as a target, and its capabilities. */
#include "target/guest.h"
#include "target/procfs_tasks.h"
#include "target/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/message.h"

/* Each is tried if none before it has the SOURCE. */
static const struct target_backend *const target_backends[] = {
	&target_capture, &target_plugin, &target_memory, &target_procfs,
};

enum { TARGET_BACKENDS = sizeof(target_backends) / sizeof(target_backends[0]) };

/* Facts of a source about what is wrong with it; they bear on every answer. */
static const char *const target_defects[] = { "truncated", "damaged" };

enum { TARGET_DEFECTS = sizeof(target_defects) / sizeof(target_defects[0]) };

bool target_defect(const struct target *t, size_t i, struct atw_blob *ret)
{
	for (size_t k = 0; k < TARGET_DEFECTS; k++)
		if (atw_fact(t->source, target_defects[k], ret) == ATW_OK && !i--)
			return true;
	return false;
}

static void target_take_fact(const struct target *t, const char *key, char *ret, size_t len)
{
	struct atw_blob b;

	if (atw_fact(t->source, key, &b) == ATW_OK)
		blob_text(b, ret, len);
}

/* The kernel's release decides what absent words mean; two places have it. */
static void target_find_release(struct target *t)
{
	const char *release = t->kernel ? atw_kernel_release(t->kernel) : NULL;

	if (release)
		snprintf(t->release, sizeof(t->release), "%s", release);
	else
		target_take_fact(t, "release", t->release, sizeof(t->release));
}

/* The first backend that has it. */
static int target_open_input(struct target *t, const struct source_input *in,
			     struct atw_err *err)
{
	int r = ATW_END;

	for (size_t i = 0; r == ATW_END && i < TARGET_BACKENDS; i++) {
		t->backend = target_backends[i];
		t->caps = t->backend->caps;
		r = t->backend->open(t, in, err);
	}
	return r;
}

static int target_open_named(struct target *t, const struct atw_source_spec *given,
			     const struct added_sources *added, struct atw_err *err)
{
	struct source_input in;
	int r = source_input_open(t->name, given, &target_capture_format, added, &in, err);

	if (r < 0)
		return r;
	r = target_open_input(t, &in, err);
	source_input_close(&in);
	return r;
}

int target_open(const char *name, const struct atw_source_spec *given,
		const struct added_sources *added, struct target **ret, struct atw_err *err)
{
	static const struct atw_source_spec nothing;
	struct target *t = calloc(1, sizeof(*t));
	struct atw_blob text;
	int r;

	if (!t)
		return atw_err_nomem(err);
	t->name = name;
	given = given ? given : &nothing;
	if (guest_word(name)) {
		t->backend = &target_memory;
		t->caps = t->backend->caps;
		r = guest_open(name, given, &target_capture_format, &t->source, err);
	} else {
		r = target_open_named(t, given, added, err);
	}
	if (r < 0) {
		target_close(t);
		return r;
	}
	t->defective = target_defect(t, 0, &text);
	target_find_release(t);
	target_take_fact(t, "machine", t->machine, sizeof(t->machine));
	atw_fact_u64(t->source, "cpus", &t->cpus);
	*ret = t;
	return ATW_OK;
}

int target_attach(struct target *t, const struct target_opts *o,
		  const struct target_reading *rd, struct atw_err *err)
{
	static const struct target_opts none;
	int r = t->backend->attach(t, o ? o : &none, rd, err);

	if (r == ATW_OK)
		target_find_release(t);
	return r;
}

void target_close(struct target *t)
{
	if (!t)
		return;
	if (t->backend && t->backend->close)
		t->backend->close(t);
	atw_kernel_close(t->kernel);
	atw_source_close(t->source);
	free(t);
}

int target_need(const struct target *t, uint32_t caps, const char *what,
		struct atw_err *err)
{
	const struct target_backend *b = t->backend;

	if (target_has(t, caps))
		return ATW_OK;
	if (target_fell_back(t, err))
		return atw_err_wrap(err, "%s", t->name);
	if (!b->only)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "%s: %s is not to be had of it",
				   t->name, what);
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "%s: %s; %s needs page tables or the kernel's memory", t->name, message(b->only), what);
	atw_err_hint(err, "%s", message(b->instead));
	return ATW_E_UNSUPPORTED;
}

int target_need_kernel(const struct target *t, struct atw_err *err)
{
	const struct target_backend *b = t->backend;

	if (!b->reports)
		return ATW_OK;
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "is a kernel address, and %s those of processes only", message(b->reports));
	if (target_has(t, TARGET_RUNNING))
		atw_err_hint(err, "%s", message(b->instead));
	return ATW_E_UNSUPPORTED;
}

bool target_fell_back(const struct target *t, struct atw_err *err)
{
	if (!t->why.status)
		return false;
	atw_err_set(err, ATW_E_PERM, "%s", atw_err_reason(&t->why));
	if (t->why.hint[0])
		atw_err_hint(err, "%s", t->why.hint);
	return true;
}

int target_provider(struct target *t, const struct target_query *q,
		    provider_cannot_fn *cannot, void *arg, struct provider **ret,
		    struct atw_err *err)
{
	return t->backend->provider(t, q, cannot, arg, ret, err);
}

int target_process(struct target *t, const struct target_query *q,
		   provider_cannot_fn *cannot, void *arg, struct provider **ret,
		   size_t *task, struct atw_err *err)
{
	struct provider *p = NULL;
	int r = target_provider(t, q, cannot, arg, &p, err) ?: p->ops->tasks(p, err);

	if (r == ATW_OK)
		r = p->ops->find(p, q->pid, task, err);
	if (r == ATW_OK)
		*ret = p;
	else
		provider_close(p);
	return r;
}

const struct atw_soft_abi *target_soft(struct target *t)
{
	if (!t->soft_known) {
		t->soft_known = true;
		t->soft = atw_kernel_soft_abi(t->kernel, &t->space.paging);
		if (!t->soft.known)
			t->soft = atw_soft_abi_for(&t->space.paging,
						   t->release[0] ? t->release : NULL);
	}
	return &t->soft;
}

/* ---- tasks ---- */

int target_tasks_open(struct target *t, struct target_tasks *ret, struct atw_err *err)
{
	*ret = (struct target_tasks){.target = t};
	return t->backend->tasks_open ? t->backend->tasks_open(ret, err) : ATW_OK;
}

int target_tasks_next(struct target_tasks *c, struct target_task *ret,
		      struct atw_err *err)
{
	return c->target->backend->tasks_next(c, ret, err);
}

void target_tasks_close(struct target_tasks *c)
{
	lnx_tasks_close(c->walk);
	procfs_tasks_close(c->listed);
}

/* ---- what it is ---- */

bool target_is_ram(const struct target *t, uint64_t first, uint64_t last)
{
	struct atw_extent e;

	if (t->backend->is_ram)
		return t->backend->is_ram(t, first, last);
	return atw_extent_at(t->source, ATW_PA(first), &e) == ATW_OK &&
	       (e.kind != ATW_NONE || (e.len && last - first >= e.len));
}

bool target_describe(struct target *t, struct target_facts *to, uint32_t pid)
{
	return t->backend->describe && t->backend->describe(t, to, pid);
}

const char *target_format(const struct target *t)
{
	const struct atw_source *s = t->source;

	/* Not that of what limits the rate. */
	while (s && s->below)
		s = s->below;
	return s ? s->ops->name : t->format ? t->format : t->backend->format;
}

void target_describe_format(const struct target *t, char *buf, size_t len)
{
	if (t->backend->describe_format)
		t->backend->describe_format(t, buf, len);
	else if (t->source->ops->describe)
		t->source->ops->describe(t->source, buf, len);
	else
		snprintf(buf, len, "%s", target_format(t));
}

void target_fact(const struct target_facts *to, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	to->fact(to->arg, name, text);
}
