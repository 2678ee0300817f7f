/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - from what the user typed to a source, a kernel and addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atwalk.h"
#include "base/nearest.h"
#include "provider/captured.h"
#include "provider/proc.h"

static void trace(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	(void)arg;
	fprintf(stderr, "atwalk: read 0x%" PRIx64 "+%zu: %zd\n", pa.u, len, result);
}

/* The kernel's release decides what absent words mean; two places have it. */
static void find_release(struct opened *o)
{
	const char *release = o->kernel ? atw_kernel_release(o->kernel) : NULL;
	struct atw_blob b;

	if (release)
		snprintf(o->release, sizeof(o->release), "%s", release);
	else if (atw_fact(o->source, "release", &b) == ATW_OK)
		snprintf(o->release, sizeof(o->release), "%.*s",
			 (int)(b.len < 95 ? b.len : 95), (const char *)b.data);
}

const char *root_from(const struct opened *o)
{
	return o->process[0] ? o->process : atw_kernel_root_why(o->kernel);
}

/* At most one option says whose page tables are meant. */
int check_whose(const struct space_opts *space, struct atw_err *err)
{
	const struct { bool given; const char *name; } said[] = {
		{ space->pid.given, "--pid" }, { space->task, "--task" },
		{ space->cpu.given, "--cpu" }, { space->root.given, "--root" },
	};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (said[i].given && first)
			return atw_err_set(err, ATW_E_USAGE,
					   "%s and %s both say whose page tables", first,
					   said[i].name);
		if (said[i].given)
			first = said[i].name;
	}
	if (space->freeze && !space->pid.given && !space->task)
		return atw_err_set(err, ATW_E_USAGE, "--freeze needs --pid or --task");
	if (space->pti && !space->pid.given && !space->task)
		return atw_err_set(err, ATW_E_USAGE, "--pti needs --pid or --task");
	return ATW_OK;
}

struct soft_once {
	bool done;
	struct atw_soft_abi abi;
};

const struct atw_soft_abi *soft_of(const struct opened *o)
{
	struct soft_once *s = o->soft;

	if (!s->done) {
		s->done = true;
		s->abi = atw_kernel_soft_abi(o->kernel, &o->space.paging);
		if (!s->abi.known)
			s->abi = atw_soft_abi_for(&o->space.paging,
						  o->release[0] ? o->release : NULL);
	}
	return &s->abi;
}

/* No registers: the kernel keeps in memory what it loaded. `why` stays if not. */
static int use_cpu(struct opened *o, struct atw_kernel_opts *ko, struct atw_err *err)
{
	const struct atw_err first = *err;
	struct atw_err why = { 0 };
	struct atw_cpu c = { .mm = 0 };
	int r;

	ko->has_cpu = false;
	r = atw_kernel_open(o->source, ko, &o->kernel, &why);
	if (r == ATW_OK)
		r = atw_cpu_of(o->kernel, ko->cpu, &c, &why);
	if (r < 0) {
		atw_kernel_close(o->kernel);
		o->kernel = NULL;
		*err = first;
		snprintf(err->text, sizeof(err->text), "%.200s, nor does its kernel: %.250s",
			 first.text, why.text);
		return err->status;
	}
	o->space = c.tables.space;
	snprintf(o->process, sizeof(o->process), "CPU %u, mm at 0x%" PRIx64, ko->cpu, c.mm);
	return ATW_OK;
}

static int open_kernel(const struct space_opts *space, struct opened *o,
		       struct atw_err *err)
{
	char ext[128];
	struct atw_kernel_opts ko = {
		.size = sizeof(ko), .paging = space->paging,
		.has_root = space->root.given, .root = ATW_PA(space->root.u),
		.ext = space->pte_ext, .has_cpu = space->cpu.given,
		.cpu = (unsigned)space->cpu.u, .file = space->kernel,
	};
	int r = check_whose(space, err);

	if (r < 0)
		return r;
	if (space->cpu.given && space->cpu.u > UINT32_MAX)
		return atw_err_set(err, ATW_E_USAGE,
				   "--cpu: there is no CPU %" PRIu64, space->cpu.u);
	if (space->cbit.given) {
		snprintf(ext, sizeof(ext), "%.90s%scbit=%" PRIu64,
			 ko.ext ? ko.ext : "", ko.ext ? "," : "", space->cbit.u);
		ko.ext = ext;
	}
	r = atw_kernel_open(o->source, &ko, &o->kernel, err);
	if (r == ATW_OK)
		o->space = *atw_kernel_space(o->kernel);
	else if (r == ATW_E_MISSING && space->cpu.given)
		r = use_cpu(o, &ko, err);
	if (r < 0)
		return r;
	o->user_space = space->cpu.given || space->root.given;
	find_release(o);
	o->soft = calloc(1, sizeof(*o->soft));
	return o->soft ? ATW_OK : atw_err_set(err, ATW_E_NOMEM, "out of memory");
}

/* Facts of a container about what is wrong with it; they bear on every answer. */
static const char *const defects[] = { "truncated", "damaged" };

enum { DEFECTS = sizeof(defects) / sizeof(defects[0]) };

static void remark_defects(const struct common *c, struct opened *o)
{
	struct atw_blob text;

	for (size_t i = 0; i < DEFECTS; i++)
		if (atw_fact(o->source, defects[i], &text) == ATW_OK) {
			o->defective = true;
			remark(c, "%s: %.*s", o->name, (int)text.len,
			       (const char *)text.data);
		}
}

void complain_defects(const struct common *c, const struct opened *o)
{
	struct atw_blob text;

	for (size_t i = 0; i < DEFECTS && c->quiet; i++)
		if (atw_fact(o->source, defects[i], &text) == ATW_OK)
			complain_part("%s: %.*s", o->name, (int)text.len,
				      (const char *)text.data);
}

/* ---- no page tables, but what /proc says ---- */

static bool is_pagemap(const struct opened *o)
{
	static const char name[] = "pagemap";
	struct atw_blob way;

	return atw_source_is_live(o->source) && atw_fact(o->source, "way", &way) == ATW_OK &&
	       way.len == sizeof(name) - 1 && !memcmp(way.data, name, way.len);
}

bool no_memory_why(const struct opened *o, struct atw_err *err)
{
	struct atw_blob why, hint;

	if (atw_fact(o->source, "memory.why", &why) < 0)
		return false;
	atw_err_set(err, ATW_E_PERM, "live: %.*s", (int)why.len, (const char *)why.data);
	if (atw_fact(o->source, "memory.hint", &hint) == ATW_OK)
		atw_err_hint(err, "%.*s", (int)hint.len, (const char *)hint.data);
	return true;
}

int no_memory(const struct opened *o, const char *what)
{
	struct atw_err err = { 0 };

	if (!no_memory_why(o, &err)) {
		atw_err_set(&err, ATW_E_UNSUPPORTED,
			    "%s: /proc tells of the pages of processes; %s needs page tables or the kernel's memory",
			    o->name, what);
		atw_err_hint(&err, "live:bpf reads the kernel's own tables");
	}
	return complain(&err);
}

static int attach_pagemap(struct opened *o, const struct space_opts *space)
{
	const struct { bool given; const char *name; } tables[] = {
		{ space->pti, "--pti" }, { space->cpu.given, "--cpu" },
		{ space->root.given, "--root" }, { space->paging, "--paging" },
		{ space->pte_ext, "--pte-ext" }, { space->cbit.given, "--cbit" },
		{ space->kernel, "--kernel" },
	};
	const struct atw_paging *mode = proc_paging();
	struct atw_err err = { 0 };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].given)
			return no_memory(o, tables[i].name);
	if (check_whose(space, &err) < 0)
		return complain(&err);
	if (!mode) {
		atw_err_set(&err, ATW_E_UNSUPPORTED, "%s: pages of %ld bytes are not known here",
			    o->name, sysconf(_SC_PAGESIZE));
		return complain(&err);
	}
	o->space = (struct atw_space){ .mem = o->source, .paging = *mode };
	return space->pid.given || space->task ? select_process(o, space) : EXIT_COMPLETE;
}

int attach_kernel(const struct common *c, struct opened *o,
		  const struct space_opts *space)
{
	struct atw_err err = { 0 };
	int r;

	if (is_pagemap(o))
		return no_memory(o, "this");
	if (is_capture(o))
		return no_tables(o, "this");
	r = open_kernel(space, o, &err);
	if (r < 0) {
		/* What is wrong with an option is not the source's fault. */
		if (strncmp(err.text, "--", 2))
			atw_err_wrap(&err, "%s", o->name);
		return complain(&err);
	}
	if (space->pid.given || space->task) {
		r = select_process(o, space);
		if (r)
			return r;
	}
	if (atw_kernel_file_is_unproved(o->kernel))
		remark(c, "%s: nothing tells whether %s is of this kernel: what comes out of it may be another's",
		       o->name, space->kernel);
	/* Tables that happened to be in use, chosen by nobody, are worth a word. */
	if (c->verbose || (!o->user_space &&
			   atw_kernel_root_from(o->kernel) == ATW_ROOT_CPU))
		remark(c, "%s: %s, root: %s", o->name,
		       o->space.paging.name, root_from(o));
	return EXIT_COMPLETE;
}

/* A word that is no file may have been meant as a command. */
static void hint_command(struct atw_err *err, const char *name)
{
	struct nearest near = { .word = name, .len = strlen(name) };
	static const char proc[] = "/proc/";
	const char *pid = strncmp(name, proc, sizeof(proc) - 1) ? name : name + sizeof(proc) - 1;
	size_t digits = strspn(pid, "0123456789");

	if (digits && (pid != name ? !pid[digits] || pid[digits] == '/'
				   : !pid[digits] && err->status == ATW_E_MISSING)) {
		atw_err_hint(err, "of process %.*s: live --pid %.*s", (int)digits, pid,
			     (int)digits, pid);
		return;
	}
	if (err->status != ATW_E_MISSING || err->hint[0] || strpbrk(name, "/:."))
		return;
	for (size_t i = 0; command_at(i); i++)
		nearest_try(&near, command_at(i)->name);
	if (near.name && !near.distance)
		atw_err_hint(err, "the command goes first: atwalk %s [options] SOURCE", name);
	else if (near.name)
		atw_err_hint(err, "did you mean the command '%s'?", near.name);
}

static bool is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev &&
	       st.st_ino == file->st_ino;
}

/* PATH, FORMAT:PATH and raw:PATH@ADDRESS name PATH. */
static bool names_file(const char *text, const struct stat *file)
{
	const char *colon = strchr(text, ':');
	char path[4096], *at;

	if (is_file(text, file) || (colon && is_file(colon + 1, file)))
		return true;
	if (!colon || strlen(colon + 1) >= sizeof(path))
		return false;
	snprintf(path, sizeof(path), "%s", colon + 1);
	at = strrchr(path, '@');
	if (at)
		*at = '\0';
	return at && is_file(path, file);
}

/* A source is never changed, not even when it is asked for. */
int check_output(const struct common *c, const char *name)
{
	struct stat st;
	bool same;

	if (c->output && !*c->output)
		return complain(&(struct atw_err){
			.status = ATW_E_USAGE, .text = "--output: a file needs a name",
		});
	if (!c->output || stat(c->output, &st) < 0 || !S_ISREG(st.st_mode))
		return EXIT_COMPLETE;
	same = names_file(name, &st);
	for (size_t i = 0; i < c->parts.n && !same; i++)
		same = names_file(c->parts.v[i], &st);
	return same ? complain(&(struct atw_err){
		.status = ATW_E_USAGE, .text = "--output: that is the source itself",
	}) : EXIT_COMPLETE;
}

int open_source(const struct common *c, const char *name,
		const struct space_opts *space, struct opened *ret)
{
	struct opened o = { .name = name };
	struct atw_source *traced;
	struct atw_err err = { 0 };
	int status = check_output(c, name);

	if (status)
		return status;
	if (atw_source_open(name, c->parts.v, c->parts.n, &o.source, &err) < 0) {
		hint_command(&err, name);
		return complain(&err);
	}
	status = cost_begin(c, &o);
	if (status) {
		close_source(&o);
		return status;
	}
	if (c->verbose > 1 &&
	    atw_source_trace(o.source, trace, NULL, &traced, &err) == ATW_OK)
		o.source = traced;
	remark_defects(c, &o);
	find_release(&o);
	if (space)
		status = attach_kernel(c, &o, space);
	if (status)
		close_source(&o);
	else
		*ret = o;
	return status;
}

int attach_pages(const struct common *c, struct opened *o, const struct space_opts *space)
{
	if (is_capture(o))
		return attach_capture(c, o, space);
	o->pagemap = is_pagemap(o);
	return o->pagemap ? attach_pagemap(o, space) : attach_kernel(c, o, space);
}

int open_pages(const struct common *c, const char *name, const struct space_opts *space,
	       struct opened *ret)
{
	int status = open_source(c, name, NULL, ret);

	if (status)
		return status;
	status = attach_pages(c, ret, space);
	if (status)
		close_source(ret);
	return status;
}

void close_source(struct opened *o)
{
	thaw(o);
	captured_close(o->capture);
	atw_kernel_close(o->kernel);
	atw_source_close(o->source);
	free(o->soft);
	cost_tell(o);
	free(o->pace);
	free(o->frozen);
}

const char *whose_tables(const struct opened *o)
{
	uint64_t cr3;

	if (atw_source_is_live(o->source))
		return "--pid N takes those of a process, --root PHYS any others";
	if (atw_fact_u64(o->source, "cpu0.cr3", &cr3) == ATW_OK)
		return "--pid N takes those of a process, --cpu N those a CPU was using, --root PHYS any";
	return "--pid N takes those of a process, --root PHYS any others";
}

bool is_plain(const struct common *c)
{
	return !c->format || !strcmp(c->format, "plain");
}

void output_opts(const struct common *c, const struct opened *o,
		 struct atw_output_opts *ret)
{
	*ret = (struct atw_output_opts){
		.format = c->format, .path = c->output, .columns = c->columns,
		.filter = c->filter, .sort = c->sort, .group = c->group,
		.units = !c->units || *c->units == 'h' ? ATW_UNITS_HUMAN :
			 *c->units == 'b' ? ATW_UNITS_BYTES : ATW_UNITS_PAGES,
		.page_shift = o && (o->kernel || o->capture) ?
			o->space.paging.page_shift : 12,
		.color = c->color && *c->color == 'a' && c->color[1] == 'l' ? true :
			 c->color && *c->color == 'n' ? false :
			 !c->output && isatty(STDOUT_FILENO),
	};
}

int output_end(struct atw_output *out, int r, int status, struct atw_err *err)
{
	if (r == ATW_E_LIMIT) {
		status = complain(err);
		r = ATW_OK;
	}
	if (r == ATW_OK)
		r = atw_output_commit(out, err);
	if (r < 0)
		status = complain(err);
	atw_output_close(out);
	return status;
}
