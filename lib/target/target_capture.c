/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target_capture.c - captures of `atwalk collect`: processes, VMAs and pages, without
 * the content of memory. What a plugin's target has is kept as one (plugin_tasks.h), and is a
 * backend of its own for what is said about it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "base/unpack.h"
#include "target/captured.h"
#include "target/plugin_tasks.h"
#include "target/target.h"

/* No mode: nothing is known of entries but what the capture says of them. */
static const struct atw_flag capture_no_flags[1];
static const struct atw_paging capture_no_mode = {
	.name = "a capture",
	.va_bits = 64,
	.pa_bits = CAPTURE_PA_BITS,
	.flags = capture_no_flags,
};

enum { HEADERS = 256 };

struct capture_input {
	int fd;
	bool paper;
	const char *packed;          /* by what; or NULL */
	char path[32];               /* leads to fd, whatever the file is called now */
	char about[160];             /* a plugin's line about it; empty: it is a file */
};

/* ---- opening ---- */

/* What is packed and no source can be nothing else. */
static int target_capture_probe(struct atw_blob head, const char *path)
{
	return unpack_name(head) ? 50 : capture_probe(head);
}

const struct source_format target_capture_format = {"capture", target_capture_probe};

const char *target_capture_path(const struct target *t)
{
	return t->file ? t->file->path : NULL;
}

/* Read the first lines. Errors in them are left to the reader of the whole file. */
static int capture_read_head(struct target *t, struct atw_err *err)
{
	struct capture_stream *s = NULL;
	struct capture_record rec;
	int r = capture_stream_open(t->file->fd, &s, err);

	for (unsigned i = 0; r == ATW_OK && i < HEADERS; i++) {
		r = capture_stream_next(s, &rec);
		if (s->fatal)
			break;
		if (r == ATW_END || (r == ATW_OK && rec.letter == 'T'))
			i = HEADERS;
		if (r == ATW_OK && rec.letter == 'H') {
			if (blob_is(rec.h.key, "machine"))
				blob_text(rec.h.value, t->machine, sizeof(t->machine));
			if (blob_is(rec.h.key, "release"))
				blob_text(rec.h.value, t->release, sizeof(t->release));
		}
		r = ATW_OK;
	}
	if (s) {
		t->file->paper = s->rd.paper;
		if (r != ATW_OK)
			atw_err_set(err, r, "%s", s->e.text);
	}
	capture_stream_close(s);
	return r;
}

static struct capture_input *capture_input_new(struct target *t)
{
	t->file = calloc(1, sizeof(*t->file));
	if (t->file)
		t->file->fd = -1;
	return t->file;
}

static int capture_open_file(struct target *t, const struct source_input *in,
			     struct atw_err *err)
{
	struct capture_input *f = capture_input_new(t);
	uint8_t magic[16] = { 0 };

	if (!f)
		return atw_err_nomem(err);
	if (in->spec.nparts)
		return atw_err_set(err, ATW_E_USAGE, "a capture is one file");
	f->fd = open(in->spec.path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (f->fd < 0)
		return atw_err_set(err, io_status(errno), "%m");
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	f->packed = pread(f->fd, magic, sizeof(magic), 0) > 0 ?
		unpack_name((struct atw_blob){ magic, sizeof(magic) }) : NULL;
	return capture_read_head(t, err);
}

static int capture_open(struct target *t, const struct source_input *in,
			struct atw_err *err)
{
	int r = in->kind ? ATW_END : capture_open_file(t, in, err);

	return r < 0 ? source_input_failed(in, r, err) : r;
}

static int capture_open_plugin(struct target *t, const struct source_input *in,
			       struct atw_err *err)
{
	const struct plugin_device *of = plugin_source_target(in->kind);
	struct capture_input *f = of ? capture_input_new(t) : NULL;
	struct plugin_tasks got = { .fd = -1 };
	int r;

	if (!f)
		return of ? atw_err_nomem(err) : ATW_END;
	r = plugin_tasks_read(of, &in->spec, &got, err);
	f->fd = got.fd;
	if (r < 0)
		return source_input_failed(in, r, err);
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	memcpy(f->about, got.about, sizeof(f->about));
	t->format = of->of.name;
	t->caps |= got.frames ? TARGET_RMAP : 0;
	r = capture_read_head(t, err);
	return r < 0 ? source_input_failed(in, r, err) : r;
}

static void capture_close(struct target *t)
{
	captured_close(t->captured);
	if (t->file && t->file->fd >= 0)
		close(t->file->fd);
	free(t->file);
}

static void capture_describe_format(const struct target *t, char *buf, size_t len)
{
	if (t->file->about[0]) {
		snprintf(buf, len, "%s", t->file->about);
		return;
	}
	snprintf(buf, len, "capture%s%s%s", t->file->paper ? " in the paper's form" : ", version 1",
		 t->file->packed ? ", packed by " : "", t->file->packed ? t->file->packed : "");
}

/* ---- what it has ---- */

static int capture_attach(struct target *t, const struct target_opts *o,
			  const struct target_reading *rd, struct atw_err *err)
{
	struct captured_opts co = { .defective = &t->defective, .made = t->file->about[0] };
	int r;

	if (rd) {
		co.damaged = rd->damaged;
		co.progress = rd->progress;
		co.arg = rd->arg;
	}
	r = captured_open(t->file->path, &co, &t->captured, err);
	if (r < 0)
		return r;
	t->space = (struct mmu_space){.paging = capture_no_mode};
	t->space.paging.page_shift = (uint8_t)__builtin_ctzll(t->captured->page);
	return ATW_OK;
}

static int capture_provider(struct target *t, const struct target_query *q,
			    provider_cannot_fn *cannot, void *arg, struct provider **ret,
			    struct atw_err *err)
{
	return capture_provider_open(t->captured, cannot, arg, ret, err);
}

static int capture_by_pid(struct target *t, uint64_t pid, unsigned half,
			  struct subject *ret, struct atw_err *err)
{
	size_t i = captured_find(t->captured, pid);
	const struct captured_task *k;

	/* Of a capture that is damaged it is not known which processes are missing. */
	if (i == CAPTURED_NONE)
		return atw_err_set(err, t->defective ? ATW_E_MISSING : ATW_E_NONE,
				   "there is no process %" PRIu64, pid);
	k = &t->captured->task[i];
	if (!captured_has_memory(k))
		return atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu64
				   " is a kernel thread or has ended: it has no address "
				   "space of its own",
				   pid);
	subject_set_process(ret, captured_process(k), k->name);
	return ATW_OK;
}

static int capture_each(struct target *t, target_task_fn *fn, target_unread_fn *unread,
			void *arg, struct atw_err *err)
{
	struct atw_err why = { 0 };

	for (size_t i = 0; i < t->captured->ntasks; i++) {
		const struct captured_task *c = &t->captured->task[i];
		struct lnx_task k = {.pid = captured_process(c),
				     .tgid = captured_process(c)};

		if (!captured_has_memory(c) || k.pid != c->pid)
			continue;
		memcpy(k.name, c->name, sizeof(k.name));
		fn(t, &k, arg, &why);
	}
	return ATW_OK;
}

/* The idle task is left out, as other sources leave it out. */
static int capture_tasks_next(struct target_tasks *c, struct target_task *ret,
			      struct atw_err *err)
{
	const struct captured *k = c->target->captured;
	const struct captured_task *t;
	bool has_tgid;

	while (c->at < k->ntasks &&
	       capture_task_idle(k->task[c->at].pid, k->task[c->at].has))
		c->at++;
	if (c->at == k->ntasks)
		return ATW_END;
	t = &k->task[c->at++];
	has_tgid = t->has & CAPTURE_T_TGID;
	*ret = (struct target_task){
		/* A plugin's number of an address space is none of the kernel's addresses. */
		.task.mm = k->made ? 0 : t->mm, .task.pid = t->pid, .task.tgid = captured_process(t),
		.task.ppid = t->ppid,
		.task.leader = t->kind != CAPTURE_TASK_THREAD,
		.task.kernel = t->kind == CAPTURE_TASK_KTHREAD,
		.have = (has_tgid ? TASK_TGID : 0) |
			(t->has & CAPTURE_T_PPID ? TASK_PPID : 0) |
			(t->kind == CAPTURE_TASK_UNKNOWN ? 0 : TASK_KIND),
	};
	memcpy(ret->task.name, t->name, sizeof(ret->task.name));
	return ATW_OK;
}

static bool capture_is_ram(const struct target *t, uint64_t first, uint64_t last)
{
	const struct captured *k = t->captured;

	for (size_t i = 0; i < k->nram; i++)
		if (k->ram[i].start <= last && k->ram[i].last >= first)
			return true;
	return !k->nram;
}

static bool target_capture_describe(struct target *t, struct target_facts *to,
				    uint32_t pid)
{
	size_t i = pid ? captured_find(t->captured, pid) : CAPTURED_NONE;

	captured_facts(t->captured, to);
	if (i != CAPTURED_NONE)
		target_fact(to, "process", "%" PRIu32 " (%s)", pid,
			    t->captured->task[i].name);
	return true;
}

#define CAPTURE_OPS \
	.close = capture_close, .attach = capture_attach, .provider = capture_provider, \
	.by_pid = capture_by_pid, .each = capture_each, .tasks_next = capture_tasks_next, \
	.is_ram = capture_is_ram, .describe_format = capture_describe_format, \
	.describe = target_capture_describe, \
	.instead = "a dump, or live on that machine, has them"

const struct target_backend target_capture = {
	.noun = "capture",
	.format = "capture",
	.caps = TARGET_TASKS | TARGET_PAGES | TARGET_RMAP,
	.open = capture_open,
	.only = "is a capture: it records only which pages processes had",
	.reports = "a capture records",
	CAPTURE_OPS,
};

const struct target_backend target_plugin = {
	.noun = "saved state",
	.caps = TARGET_TASKS | TARGET_PAGES,
	.open = capture_open_plugin,
	.only = "has processes and their pages, and no physical memory",
	.reports = "a saved state has",
	CAPTURE_OPS,
};
