/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * criu.c - a target: processes that CRIU saved, from the folder of its images. The pages of a
 * process are those that the images have, which is what its memory is after a restore: pages of
 * files that were not written to are not among them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atwalk/plugin.h>

#include "base/buf.h"
#include "folder.h"

static const struct atw_host *host;

struct criu_lost {
	uint32_t pid;
	const char *what;
	char why[120];
};

struct criu {
	struct folder folder;
	struct image_reader tree;
	uint64_t page;                   /* bytes */
	uint32_t machine;
	/* The process, and the next of its tasks. */
	struct image_task task;
	bool in_task;
	uint32_t pid;
	struct file core, mm_file;
	struct image_mm mm;
	struct folder_runs own, shared;
	bool has_own;                    /* its pagemap was read */
	size_t at;                       /* first of `own` that ends behind the area before */
	/* The area: the pages of `runs` that begin at `from` are those at its start. */
	uint64_t start, end, from;
	const struct folder_runs *runs;
	size_t next;
	struct buf name, exe;
	struct criu_lost *lost;
	size_t nlost, lost_cap, returned;
	uint64_t address[ATW_BATCH_RUNS], count[ATW_BATCH_RUNS], state[ATW_BATCH_RUNS];
};

static int criu_nomem(struct atw_err *err)
{
	return host->error(err, ATW_E_NOMEM, "out of memory");
}

/* What a function of the library found. */
static int criu_failed(int r, const struct atw_err *why, struct atw_err *err)
{
	return host->error(err, r, "%s", why->text);
}

static int criu_add_lost(struct criu *x, const char *what, const char *why, struct atw_err *err)
{
	if (!ARRAY_ROOM(x->lost, x->nlost, x->lost_cap))
		return criu_nomem(err);
	x->lost[x->nlost] = (struct criu_lost){ .pid = x->pid, .what = what };
	snprintf(x->lost[x->nlost++].why, sizeof(x->lost->why), "%s", why);
	return ATW_OK;
}

/* A text of an image, which has no end. */
static const char *criu_text(struct buf *b, struct atw_blob text, struct atw_err *err)
{
	b->len = 0;
	buf_add(b, text.data, text.data ? strnlen(text.data, text.len) : 0);
	buf_char(b, '\0');
	if (b->failed)
		criu_nomem(err);
	return b->failed ? NULL : b->data;
}

/* ---- tasks ---- */

/*
 * core-PID.img, which stays mapped for the name. *ret is empty, and what is lost is noted, if it
 * is not there.
 */
static int criu_read_core(struct criu *x, uint32_t pid, struct image_core *ret, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct proto p;
	char name[32];
	int r;

	snprintf(name, sizeof(name), "core-%" PRIu32 ".img", pid);
	*ret = (struct image_core){ 0 };
	file_close(&x->core);
	r = folder_first(&x->folder, name, IMAGE_CORE, &x->core, &p, &why);
	if (r == ATW_E_MISSING)
		return criu_add_lost(x, "name", why.text, err);
	if (r < 0)
		return criu_failed(r, &why, err);
	if (!image_core(p, ret))
		return host->error(err, ATW_E_DAMAGED, "%s: entry 1 is not one of a task", name);
	return ATW_OK;
}

/* mm-PID.img and pagemap-PID.img. ATW_END: it has no memory. */
static int criu_read_memory(struct criu *x, const struct image_core *core, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct proto p;
	char name[32];
	int r;

	snprintf(name, sizeof(name), "mm-%" PRIu32 ".img", x->pid);
	file_close(&x->mm_file);
	x->own.n = x->at = 0;
	r = folder_first(&x->folder, name, IMAGE_MM, &x->mm_file, &p, &why);
	if (r == ATW_E_MISSING && core->ended)
		return ATW_END;
	if (r == ATW_E_MISSING)
		return criu_add_lost(x, "areas", why.text, err) ?: ATW_END;
	if (r < 0)
		return criu_failed(r, &why, err);
	if (!image_mm(p, &x->mm))
		return host->error(err, ATW_E_DAMAGED, "%s: entry 1 is not one of an address space", name);
	if (x->mm.page && x->mm.page != x->page)
		return host->error(err, ATW_E_DAMAGED, "%s: pages have %" PRIu64 " bytes, and elsewhere %" PRIu64,
				   name, x->mm.page, x->page);
	snprintf(name, sizeof(name), "pagemap-%" PRIu32 ".img", x->pid);
	r = folder_runs(&x->folder, name, x->page, &x->own, &why);
	x->has_own = r == ATW_OK;
	if (r == ATW_E_MISSING)
		return criu_add_lost(x, "pages", why.text, err);
	return r < 0 ? criu_failed(r, &why, err) : ATW_OK;
}

/* The next process, and what is known of its memory. */
static int criu_process(struct criu *x, struct atw_plugin_task *ret, struct image_core *core,
			struct atw_err *err)
{
	struct proto p;
	enum image_result got = image_next(&x->tree, &p);
	const struct image_file *exe;
	int r;

	if (got == IMAGE_END)
		return ATW_END;
	if (got == IMAGE_WRONG)
		return host->error(err, ATW_E_DAMAGED, "pstree.img: it ends within entry %" PRIu64,
				   x->tree.n + 1);
	if (!image_task(p, &x->task))
		return host->error(err, ATW_E_DAMAGED, "pstree.img: entry %" PRIu64 " is not one of a process",
				   x->tree.n);
	x->pid = x->task.pid;
	x->in_task = true;
	r = criu_read_core(x, x->pid, core, err);
	if (r == ATW_OK)
		r = criu_read_memory(x, core, err);
	if (r < 0)
		return r;
	if (r == ATW_END) {
		ret->space = 0;
		return ATW_OK;
	}
	ret->space = x->pid;
	exe = x->mm.has_exe ? folder_file(&x->folder, x->mm.exe) : NULL;
	if (exe && exe->name.data) {
		ret->exe = criu_text(&x->exe, exe->name, err);
		return ret->exe ? ATW_OK : ATW_E_NOMEM;
	}
	return ATW_OK;
}

static int criu_task(void *state, struct atw_plugin_task *ret, struct atw_err *err)
{
	struct criu *x = state;
	struct image_core core;
	uint32_t tid = 0;
	int r;

	/* Threads follow their process, which is the first of them. */
	while (x->in_task && (x->in_task = image_thread(&x->task, &tid)) && tid == x->pid)
		;
	if (x->in_task) {
		ret->pid = tid;
		ret->space = x->mm_file.map.data ? x->pid : 0;
		r = criu_read_core(x, tid, &core, err);
	} else {
		r = criu_process(x, ret, &core, err);
		ret->pid = x->pid;
	}
	if (r != ATW_OK)
		return r;
	ret->tgid = x->pid;
	ret->ppid = x->task.ppid;
	ret->flags = ATW_TASK_PARENT;
	if (core.name.data) {
		ret->name = criu_text(&x->name, core.name, err);
		return ret->name ? ATW_OK : ATW_E_NOMEM;
	}
	return ATW_OK;
}

/* ---- areas ---- */

/* The file of an area; NULL: none, or it is not known. */
static const struct image_file *criu_area_file(const struct criu *x, const struct image_area *a)
{
	return a->status & (IMAGE_FILE_PRIVATE | IMAGE_FILE_SHARED | IMAGE_IN_MEMFD)
		? folder_file(&x->folder, a->id) : NULL;
}

static int criu_area_name(struct criu *x, const struct image_area *a,
			  const struct image_file *file, const struct image_memfd *memfd,
			  struct atw_plugin_area *ret, struct atw_err *err)
{
	static const struct { uint32_t status; const char *name; } words[] = {
		{ IMAGE_VDSO, "[vdso]" }, { IMAGE_VVAR, "[vvar]" },
		{ IMAGE_VSYSCALL, "[vsyscall]" }, { IMAGE_HEAP, "[heap]" },
		{ IMAGE_ANON_SHARED, "/dev/zero (deleted)" },
	};

	if (memfd) {
		/* Shared memory without a name is an object of the same kind. */
		bool own = blob_is(memfd->name, "/dev/zero");

		ret->name = criu_text(&x->name, memfd->name, err);
		if (!ret->name)
			return ATW_E_NOMEM;
		x->exe.len = 0;
		buf_printf(&x->exe, "%s%s (deleted)", own ? "" : "/memfd:", ret->name);
		ret->name = x->exe.data;
		return x->exe.failed ? criu_nomem(err) : ATW_OK;
	}
	if (file && file->name.data) {
		ret->name = criu_text(&x->name, file->name, err);
		return ret->name ? ATW_OK : ATW_E_NOMEM;
	}
	if (x->mm.stack >= a->start && x->mm.stack < a->end)
		ret->name = "[stack]";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !ret->name; i++)
		if (a->status & words[i].status)
			ret->name = words[i].name;
	return ATW_OK;
}

/* Pages of shared memory are in an image of their own. false: it is not there. */
static int criu_read_shared(struct criu *x, uint64_t id, bool *ret, struct atw_err *err)
{
	struct atw_err why = { 0 };
	char name[48];
	int r;

	snprintf(name, sizeof(name), "pagemap-shmem-%" PRIu64 ".img", id);
	r = folder_runs(&x->folder, name, x->page, &x->shared, &why);
	*ret = r == ATW_OK;
	if (r == ATW_E_MISSING)
		return criu_add_lost(x, "pages", why.text, err);
	return r < 0 ? criu_failed(r, &why, err) : ATW_OK;
}

/* Where the pages of the area are: those of the process at its addresses, or an object's. */
static int criu_area_pages(struct criu *x, const struct image_area *a,
			   const struct image_memfd *memfd, bool *known, struct atw_err *err)
{
	bool of_memfd = a->status & IMAGE_IN_MEMFD && a->status & IMAGE_FILE_SHARED;
	bool object = a->status & (IMAGE_ANON_SHARED | IMAGE_SYSVIPC) || of_memfd;
	char why[80];

	x->start = a->start;
	x->end = a->end;
	if (of_memfd && !memfd) {
		*known = false;
		snprintf(why, sizeof(why), "no image has the memfd that is mapped at 0x%" PRIx64, a->start);
		return criu_add_lost(x, "pages", why, err);
	}
	if (object) {
		x->from = a->offset;
		x->runs = &x->shared;
		x->next = 0;
		return criu_read_shared(x, memfd ? memfd->shm : a->id, known, err);
	}
	while (x->at < x->own.n && x->own.v[x->at].end <= a->start)
		x->at++;
	x->from = a->start;
	x->runs = &x->own;
	x->next = x->at;
	*known = x->has_own;
	return ATW_OK;
}

static int criu_area(void *state, struct atw_plugin_area *ret, struct atw_err *err)
{
	struct criu *x = state;
	struct image_area a;
	const struct image_file *file;
	const struct image_memfd *memfd;
	enum image_result got = image_area_next(&x->mm, &a);
	bool known;
	int r;

	if (got == IMAGE_END)
		return ATW_END;
	if (got == IMAGE_WRONG)
		return host->error(err, ATW_E_DAMAGED, "mm-%" PRIu32 ".img: an area lacks what each has", x->pid);
	file = criu_area_file(x, &a);
	memfd = file && file->inode ? folder_memfd(&x->folder, file->inode) : NULL;
	ret->start = a.start;
	ret->end = a.end;
	ret->flags = ATW_AREA_RIGHTS | (a.prot & PROT_READ ? ATW_AREA_READ : 0u) |
		     (a.prot & PROT_WRITE ? ATW_AREA_WRITE : 0u) |
		     (a.prot & PROT_EXEC ? ATW_AREA_EXEC : 0u) |
		     (a.flags & MAP_SHARED ? ATW_AREA_SHARED : 0u);
	ret->file = a.status & (IMAGE_FILE_PRIVATE | IMAGE_FILE_SHARED) ? 1 : 0;
	ret->offset = ret->file ? a.offset : 0;
	r = criu_area_name(x, &a, file, memfd, ret, err);
	if (r == ATW_OK)
		r = criu_area_pages(x, &a, memfd, &known, err);
	if (r == ATW_OK && known)
		ret->flags |= ATW_AREA_PAGES;
	return r;
}

static int criu_pages(void *state, struct atw_plugin_pages *ret, struct atw_err *err)
{
	struct criu *x = state;
	uint64_t size = x->end - x->start;
	uint32_t n = 0;

	for (; n < ATW_BATCH_RUNS && x->next < x->runs->n; x->next++) {
		const struct folder_run *run = &x->runs->v[x->next];
		uint64_t first = run->start > x->from ? run->start - x->from : 0;
		uint64_t last = run->end > x->from ? run->end - x->from : 0;

		if (first >= size)
			break;
		last = last < size ? last : size;
		if (first >= last)
			continue;
		x->address[n] = x->start + first;
		x->count[n] = (last - first) / x->page;
		x->state[n++] = ATW_PAGE_PRESENT;
	}
	if (!n)
		return ATW_END;
	ret->n = n;
	ret->address = x->address;
	ret->count = x->count;
	ret->state = x->state;
	return ATW_OK;
}

static int criu_lost(void *state, struct atw_plugin_lost *ret, struct atw_err *err)
{
	struct criu *x = state;

	if (x->returned == x->nlost)
		return ATW_END;
	ret->pid = x->lost[x->returned].pid;
	ret->what = x->lost[x->returned].what;
	ret->why = x->lost[x->returned++].why;
	return ATW_OK;
}

/* ---- the folder ---- */

static int criu_fact(void *state, const char *key, const void **ret, uint64_t *ret_len)
{
	const struct criu *x = state;

	if (!strcmp(key, "page")) {
		*ret = &x->page;
		*ret_len = sizeof(x->page);
		return ATW_OK;
	}
	*ret = strcmp(key, "machine") ? NULL : image_machine(x->machine);
	*ret_len = *ret ? strlen(*ret) : 0;
	return *ret ? ATW_OK : ATW_E_MISSING;
}

static void criu_close(void *state)
{
	struct criu *x = state;

	folder_close(&x->folder);
	file_close(&x->core);
	file_close(&x->mm_file);
	buf_deinit(&x->name);
	buf_deinit(&x->exe);
	free(x->own.v);
	free(x->shared.v);
	free(x->lost);
	free(x);
}

/* The machine and the size of a page are those of the first process that has memory. */
static int criu_find_page(struct criu *x, struct atw_err *err)
{
	struct image_core core;
	struct image_task task;
	struct image_mm mm;
	struct image_reader tree = x->tree;
	struct proto p;
	char name[32];

	x->page = 4096;
	while (image_next(&tree, &p) == IMAGE_ENTRY && image_task(p, &task)) {
		struct file file = { 0 };
		int r;

		snprintf(name, sizeof(name), "mm-%" PRIu32 ".img", task.pid);
		r = folder_first(&x->folder, name, IMAGE_MM, &file, &p, NULL);
		if (r == ATW_OK && image_mm(p, &mm) && mm.page)
			x->page = mm.page;
		file_close(&file);
		if (r != ATW_OK)
			continue;
		r = criu_read_core(x, task.pid, &core, err);
		x->machine = core.machine;
		/* It is noted when the task is listed. */
		x->nlost = 0;
		if (r < 0 || (x->page & (x->page - 1)) || x->page < 4096)
			return r < 0 ? r : host->error(err, ATW_E_DAMAGED, "%s: pages have %" PRIu64 " bytes",
						       name, x->page);
		break;
	}
	return ATW_OK;
}

static int criu_open(void *instance, const struct atw_plugin_input *in, void **ret,
		     struct atw_err *err)
{
	struct criu *x = calloc(1, sizeof(*x));
	struct atw_err why = { 0 };
	int r;

	if (!x)
		return criu_nomem(err);
	r = folder_open(in->text, &x->folder, &why);
	if (r < 0)
		r = criu_failed(r, &why, err);
	else
		image_open(x->folder.tree.map, IMAGE_PSTREE, &x->tree);
	if (r == ATW_OK)
		r = criu_find_page(x, err);
	if (r == ATW_OK)
		*ret = x;
	else
		criu_close(x);
	return r;
}

static const struct atw_plugin_target criu = {
	.size = sizeof(criu), .name = "criu", .help = "images of CRIU", .open = criu_open,
	.task = criu_task, .area = criu_area, .pages = criu_pages, .lost = criu_lost,
	.fact = criu_fact, .close = criu_close,
};

static const struct atw_plugin_target *criu_target(void *instance, uint32_t i)
{
	return i ? NULL : &criu;
}

static int criu_start(const struct atw_host *h, const char *options, void **ret,
		      struct atw_err *err)
{
	host = h;
	return options ? h->error(err, ATW_E_USAGE, "it has no option '%.40s'", options) : ATW_OK;
}

ATW_PLUGIN_WITH("criu", "1", ATW_PLUGIN_TARGET, "processes that CRIU saved: criu:FOLDER",
		"", "criu", "",
		.start = criu_start, .target = criu_target);
