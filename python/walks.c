// SPDX-License-Identifier: GPL-2.0-or-later
/* walks.c - tasks, VMAs, pages, frames, ranges and mappings as tables. */
#include <stdio.h>
#include <string.h>

#include "source.h"

#define N(head) (sizeof(head) / sizeof((head)[0]))

const char *source_state(uint32_t state)
{
	static const char *const name[] = {
		[ATW_STATE_ABSENT] = "absent", [ATW_STATE_PRESENT] = "present",
		[ATW_STATE_PROTNONE] = "protnone", [ATW_STATE_SWAP] = "swap",
		[ATW_STATE_MIGRATION] = "migration", [ATW_STATE_POISON] = "poison",
		[ATW_STATE_DEVICE] = "device", [ATW_STATE_MARKER] = "marker",
		[ATW_STATE_GUARD] = "guard", [ATW_STATE_LOST] = "lost",
		[ATW_STATE_EXCLUDED] = "excluded", [ATW_STATE_DAMAGED] = "damaged",
		[ATW_STATE_UNSTABLE] = "unstable", [ATW_STATE_BAD] = "bad",
		[ATW_STATE_TABLE] = "table", [ATW_STATE_HIDDEN] = "hidden",
	};

	return state < N(name) ? name[state] : "unknown";
}

/* What every walk does before its first row. Returns false with an exception. */
static bool walks_begin(struct gather *gather, PyObject *self, const struct table_head *head,
			size_t n, PyObject *progress)
{
	struct source *source = (struct source *)self;
	struct table *table;

	if (!source_enter(source))
		return false;
	table = table_create(source_module(source), head, n);
	if (!table) {
		source_leave(source);
		return false;
	}
	return gather_begin(gather, source, table, progress);
}

/* As walks_begin(), and opens an address space. */
static bool walks_begin_space(struct gather *gather, PyObject *self, PyObject *pid,
			      const struct table_head *head, size_t n, PyObject *progress,
			      struct atw_space **ret)
{
	struct source *source = (struct source *)self;
	struct atw_err err = { 0 };
	struct table *table;

	if (!source_enter(source))
		return false;
	if (source_space(source, pid, ret, &err)) {
		source_leave(source);
		source_raise(source_module(source), &err, NULL);
		return false;
	}
	table = table_create(source_module(source), head, n);
	if (table)
		return gather_begin(gather, source, table, progress);
	atw_space_close(*ret);
	source_leave(source);
	return false;
}

static void walks_set_if(struct table *table, size_t column, bool known, uint64_t value)
{
	if (known)
		table_set(table, column, value);
}

static void walks_set_letters(struct table *table, size_t column, uint32_t perms)
{
	char letters[5];

	atw_perms_letters(perms, letters);
	table_set_text(table, column, letters);
}

static void walks_set_flags(struct table *table, size_t column, uint64_t flags)
{
	char text[1024] = "";
	size_t len = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = atw_frame_flag_name(bit);

		if (!(flags >> bit & 1) || len > sizeof(text) - 40)
			continue;
		len += (size_t)(name ? snprintf(text + len, 32, ",%s", name) :
				snprintf(text + len, 32, ",bit%u", bit));
	}
	table_set_text(table, column, len ? text + 1 : text);
}

PyObject *source_tasks(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "pid", TABLE_NUMBER }, { "tgid", TABLE_NUMBER }, { "ppid", TABLE_NUMBER },
		{ "task", TABLE_TEXT }, { "state", TABLE_TEXT }, { "kernel", TABLE_NUMBER },
		{ "start", TABLE_SECONDS }, { "mm", TABLE_ADDRESS }, { "at", TABLE_ADDRESS },
	};
	struct atw_tasks_opts opts = { .size = sizeof(opts) };
	struct atw_tasks *tasks = NULL;
	const struct atw_task *task;
	struct atw_err err = { 0 };
	struct gather gather;
	PyObject *progress;
	int processes, r;

	if (!PyArg_ParseTuple(args, "pO", &processes, &progress) ||
	    !walks_begin(&gather, self, head, N(head), progress))
		return NULL;
	opts.processes = (uint32_t)processes;
	r = atw_tasks_open(gather.source->target, &opts, &tasks, &err);
	while (!r && gather_go_on(&gather) && !(r = atw_tasks_next(tasks, &task, &err))) {
		struct table *table = gather.table;
		double start = (double)task->start / 1e9;
		char state[2] = { (char)task->state };
		uint64_t word;

		if (!table_add_rows(table, 1))
			break;
		memcpy(&word, &start, sizeof(word));
		table_set(table, 0, task->pid);
		walks_set_if(table, 1, task->known & ATW_TASK_TGID, task->tgid);
		walks_set_if(table, 2, task->known & ATW_TASK_PPID, task->ppid);
		table_set_text(table, 3, task->comm);
		if (task->known & ATW_TASK_STATE)
			table_set_text(table, 4, state);
		walks_set_if(table, 5, task->known & ATW_TASK_KERNEL, task->kernel != 0);
		walks_set_if(table, 6, task->known & ATW_TASK_START, word);
		walks_set_if(table, 7, task->mm.u, task->mm.u);
		walks_set_if(table, 8, task->known & ATW_TASK_AT, task->at.u);
	}
	atw_tasks_close(tasks);
	return gather_end(&gather, r, &err);
}

PyObject *source_vmas(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "address", TABLE_ADDRESS }, { "end", TABLE_ADDRESS }, { "size", TABLE_BYTES },
		{ "rights", TABLE_TEXT }, { "offset", TABLE_ADDRESS }, { "device", TABLE_TEXT },
		{ "inode", TABLE_NUMBER }, { "vm_flags", TABLE_ADDRESS }, { "area", TABLE_TEXT },
	};
	struct atw_vmas *vmas = NULL;
	const struct atw_vma *vma;
	struct atw_err err = { 0 };
	PyObject *pid, *progress;
	struct atw_space *space;
	struct gather gather;
	int r;

	if (!PyArg_ParseTuple(args, "OO", &pid, &progress) ||
	    !walks_begin_space(&gather, self, pid, head, N(head), progress, &space))
		return NULL;
	r = atw_vmas_open(space, &vmas, &err);
	while (!r && gather_go_on(&gather) && !(r = atw_vmas_next(vmas, &vma, &err))) {
		struct table *table = gather.table;
		char rights[] = "---p", device[32];
		bool file = vma->flags & ATW_VMA_FILE && !(vma->flags & ATW_VMA_UNREAD);

		if (!table_add_rows(table, 1))
			break;
		table_set(table, 0, vma->start.u);
		table_set(table, 1, vma->end.u);
		table_set(table, 2, vma->end.u - vma->start.u);
		rights[0] = vma->flags & ATW_VMA_READ ? 'r' : '-';
		rights[1] = vma->flags & ATW_VMA_WRITE ? 'w' : '-';
		rights[2] = vma->flags & ATW_VMA_EXEC ? 'x' : '-';
		rights[3] = vma->flags & ATW_VMA_SHARED ? 's' : 'p';
		table_set_text(table, 3, rights);
		walks_set_if(table, 4, file, vma->file_offset);
		snprintf(device, sizeof(device), "%02x:%02x", vma->major, vma->minor);
		if (file)
			table_set_text(table, 5, device);
		walks_set_if(table, 6, file, vma->inode);
		walks_set_if(table, 7, vma->vm_flags, vma->vm_flags);
		if (!(vma->flags & ATW_VMA_UNREAD))
			table_set_text(table, 8, vma->name);
	}
	atw_vmas_close(vmas);
	atw_space_close(space);
	return gather_end(&gather, r, &err);
}

/* A row for each page if physical addresses are known, else one for all of the run. */
static void walks_add_run(struct table *table, const struct atw_page_run *run)
{
	size_t first = table->rows, n = run->pa ? run->count : 1;
	int32_t state, rights = -1;
	char letters[5];

	if (!table_add_rows(table, n))
		return;
	state = table_intern(table, 3, source_state(run->state),
			     strlen(source_state(run->state)));
	atw_perms_letters(run->perms, letters);
	if (run->known & ATW_PAGE_PERMS)
		rights = table_intern(table, 4, letters, strlen(letters));
	for (size_t i = 0; i < n && !table->failed; i++) {
		size_t row = first + i;

		table_set_at(table, row, 0, run->va.u + i * run->page_size);
		table_set_at(table, row, 1, run->pa ? run->page_size : run->bytes);
		if (run->pa)
			table_set_at(table, row, 2, run->pa[i].u);
		table_set_at(table, row, 3, (uint64_t)state);
		if (rights >= 0)
			table_set_at(table, row, 4, (uint64_t)rights);
		if (run->known & ATW_PAGE_LEVEL)
			table_set_at(table, row, 5, run->level);
		if (run->known & ATW_PAGE_USED) {
			table_set_at(table, row, 6, run->accessed != 0);
			table_set_at(table, row, 7, run->dirty != 0);
		}
	}
	if (run->known & ATW_PAGE_SWAP && !run->pa) {
		table_set(table, 8, run->swap_type);
		table_set(table, 9, run->swap_offset);
	}
}

PyObject *source_pages(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "address", TABLE_ADDRESS }, { "size", TABLE_BYTES },
		{ "physical", TABLE_ADDRESS }, { "state", TABLE_TEXT }, { "rights", TABLE_TEXT },
		{ "level", TABLE_NUMBER }, { "accessed", TABLE_NUMBER },
		{ "dirty", TABLE_NUMBER }, { "swap_type", TABLE_NUMBER },
		{ "swap_offset", TABLE_NUMBER },
		/* with frames */
		{ "kcount", TABLE_NUMBER }, { "pageflags", TABLE_TEXT }, { "node", TABLE_NUMBER },
	};
	struct atw_pages_opts opts = { .size = sizeof(opts) };
	unsigned long long first, last;
	const struct atw_page_run *run;
	struct atw_pages *pages = NULL;
	struct atw_err err = { 0 };
	PyObject *pid, *progress;
	struct atw_space *space;
	struct gather gather;
	int frames, r;

	if (!PyArg_ParseTuple(args, "OKKpO", &pid, &first, &last, &frames, &progress) ||
	    !walks_begin_space(&gather, self, pid, head, N(head) - (frames ? 0 : 3), progress,
			       &space))
		return NULL;
	opts.first = ATW_VA(first);
	opts.last = ATW_VA(last);
	opts.frames = (uint32_t)frames;
	r = atw_pages_open(space, &opts, &pages, &err);
	while (!r && gather_go_on(&gather) && !(r = atw_pages_next(pages, &run, &err))) {
		const struct atw_frame *frame = run->frame;
		struct table *table = gather.table;

		walks_add_run(table, run);
		if (table->failed)
			break;
		if (!frames || !frame)
			continue;
		walks_set_if(table, 10, frame->known & ATW_FRAME_MAPCOUNT, frame->mapcount);
		if (frame->known & ATW_FRAME_FLAGS)
			walks_set_flags(table, 11, frame->flags);
		walks_set_if(table, 12, frame->known & ATW_FRAME_NODE, frame->node);
	}
	atw_pages_close(pages);
	atw_space_close(space);
	return gather_end(&gather, r, &err);
}

PyObject *source_frames(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "physical", TABLE_ADDRESS }, { "pageflags", TABLE_TEXT },
		{ "kcount", TABLE_NUMBER }, { "refcount", TABLE_CHANGE },
		{ "head", TABLE_ADDRESS }, { "node", TABLE_NUMBER }, { "order", TABLE_NUMBER },
		{ "cgroup", TABLE_NUMBER }, { "cache", TABLE_TEXT },
	};
	struct atw_frames_opts opts = { .size = sizeof(opts) };
	struct atw_frames *frames = NULL;
	unsigned long long first, last;
	const struct atw_frame *frame;
	struct atw_err err = { 0 };
	struct gather gather;
	PyObject *progress;
	int r;

	if (!PyArg_ParseTuple(args, "KKO", &first, &last, &progress) ||
	    !walks_begin(&gather, self, head, N(head), progress))
		return NULL;
	opts.first = ATW_PA(first);
	opts.last = ATW_PA(last);
	r = atw_frames_open(gather.source->target, &opts, &frames, &err);
	while (!r && gather_go_on(&gather) && !(r = atw_frames_next(frames, &frame, &err))) {
		struct table *table = gather.table;

		if (!table_add_rows(table, 1))
			break;
		table_set(table, 0, frame->pa.u);
		if (frame->known & ATW_FRAME_FLAGS)
			walks_set_flags(table, 1, frame->flags);
		walks_set_if(table, 2, frame->known & ATW_FRAME_MAPCOUNT, frame->mapcount);
		walks_set_if(table, 3, frame->known & ATW_FRAME_REFCOUNT,
			     (uint64_t)frame->refcount);
		walks_set_if(table, 4, frame->known & ATW_FRAME_HEAD, frame->head.u);
		walks_set_if(table, 5, frame->known & ATW_FRAME_NODE, frame->node);
		walks_set_if(table, 6, frame->known & ATW_FRAME_ORDER, frame->order);
		walks_set_if(table, 7, frame->known & ATW_FRAME_CGROUP, frame->cgroup);
		if (frame->cache && frame->cache[0])
			table_set_text(table, 8, frame->cache);
	}
	atw_frames_close(frames);
	return gather_end(&gather, r, &err);
}

PyObject *source_map(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "address", TABLE_ADDRESS }, { "size", TABLE_BYTES },
		{ "physical", TABLE_ADDRESS }, { "page_size", TABLE_BYTES },
		{ "state", TABLE_TEXT }, { "rights", TABLE_TEXT }, { "level", TABLE_NUMBER },
		{ "entries", TABLE_NUMBER }, { "repeat_of", TABLE_BYTES },
	};
	struct atw_ranges_opts opts = { .size = sizeof(opts) };
	struct atw_ranges *ranges = NULL;
	unsigned long long first, last;
	const struct atw_range *range;
	struct atw_err err = { 0 };
	PyObject *pid, *progress;
	struct atw_space *space;
	struct gather gather;
	int r;

	if (!PyArg_ParseTuple(args, "OKKO", &pid, &first, &last, &progress) ||
	    !walks_begin_space(&gather, self, pid, head, N(head), progress, &space))
		return NULL;
	opts.first = ATW_VA(first);
	opts.last = ATW_VA(last);
	r = atw_ranges_open(space, &opts, &ranges, &err);
	while (!r && gather_go_on(&gather) && !(r = atw_ranges_next(ranges, &range, &err))) {
		bool present = range->state == ATW_STATE_PRESENT ||
			       range->state == ATW_STATE_PROTNONE;
		struct table *table = gather.table;

		if (!table_add_rows(table, 1))
			break;
		table_set(table, 0, range->va.u);
		walks_set_if(table, 1, range->bytes, range->bytes);
		walks_set_if(table, 2, present || range->pa.u, range->pa.u);
		walks_set_if(table, 3, range->page_size, range->page_size);
		table_set_text(table, 4, source_state(range->state));
		if (present)
			walks_set_letters(table, 5, range->perms);
		table_set(table, 6, range->level);
		table_set(table, 7, range->entries);
		walks_set_if(table, 8, range->repeat_of, range->repeat_of);
	}
	atw_ranges_close(ranges);
	atw_space_close(space);
	return gather_end(&gather, r, &err);
}

PyObject *source_find(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "pid", TABLE_NUMBER }, { "task", TABLE_TEXT }, { "address", TABLE_ADDRESS },
		{ "physical", TABLE_ADDRESS }, { "size", TABLE_BYTES }, { "state", TABLE_TEXT },
		{ "rights", TABLE_TEXT }, { "level", TABLE_NUMBER }, { "times", TABLE_NUMBER },
		{ "stride", TABLE_BYTES }, { "entry", TABLE_ADDRESS },
		{ "entry_at", TABLE_ADDRESS },
	};
	struct atw_rmap_opts opts = { .size = sizeof(opts) };
	const struct atw_mapping *mapping;
	unsigned long long pa, bytes;
	struct atw_rmap *rmap = NULL;
	struct atw_err err = { 0 };
	struct gather gather;
	PyObject *progress;
	unsigned pid;
	int r;

	if (!PyArg_ParseTuple(args, "KKIO", &pa, &bytes, &pid, &progress) ||
	    !walks_begin(&gather, self, head, N(head), progress))
		return NULL;
	opts.pid = pid;
	r = atw_rmap_open(gather.source->target, ATW_PA(pa), bytes, &opts, &rmap, &err);
	while (!r && gather_go_on(&gather) && !(r = atw_rmap_next(rmap, &mapping, &err))) {
		struct table *table = gather.table;

		if (!table_add_rows(table, 1))
			break;
		walks_set_if(table, 0, mapping->npids, mapping->pid);
		table_set_text(table, 1, mapping->comm);
		table_set(table, 2, mapping->va.u);
		table_set(table, 3, mapping->pa.u);
		table_set(table, 4, mapping->bytes);
		table_set_text(table, 5, source_state(mapping->state));
		walks_set_letters(table, 6, mapping->perms);
		table_set(table, 7, mapping->level);
		table_set(table, 8, mapping->times);
		walks_set_if(table, 9, mapping->times > 1, mapping->stride);
		walks_set_if(table, 10, mapping->word, mapping->word);
		walks_set_if(table, 11, mapping->entry_at.u, mapping->entry_at.u);
	}
	atw_rmap_close(rmap);
	return gather_end(&gather, r, &err);
}
