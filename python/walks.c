// SPDX-License-Identifier: GPL-2.0-or-later
/* walks.c - tasks, VMAs, pages, frames, ranges and mappings as tables. */
#include "call.h"

#include <stdio.h>
#include <string.h>

#define N(head) (sizeof(head) / sizeof((head)[0]))

static const char *const walks_states[] = {
	[ATW_STATE_ABSENT] = "absent", [ATW_STATE_PRESENT] = "present",
	[ATW_STATE_PROTNONE] = "protnone", [ATW_STATE_SWAP] = "swap",
	[ATW_STATE_MIGRATION] = "migration", [ATW_STATE_POISON] = "poison",
	[ATW_STATE_DEVICE] = "device", [ATW_STATE_MARKER] = "marker",
	[ATW_STATE_GUARD] = "guard", [ATW_STATE_LOST] = "lost",
	[ATW_STATE_EXCLUDED] = "excluded", [ATW_STATE_DAMAGED] = "damaged",
	[ATW_STATE_UNSTABLE] = "unstable", [ATW_STATE_BAD] = "bad",
	[ATW_STATE_TABLE] = "table", [ATW_STATE_HIDDEN] = "hidden",
};
const struct table_words table_states = {
	.names = walks_states, .n = N(walks_states), .type = ATW_COLUMN_ENUM,
};

static const char *const walks_rights[] = {
	"readable", "writable", "executable", "user",
};
const struct table_words table_rights = {
	.names = walks_rights, .n = N(walks_rights), .letters = "rwxu",
	.type = ATW_COLUMN_LETTERS,
};
/* Of a VMA, as in /proc/PID/maps: "p" is none of them. */
static const char *const walks_area_rights[] = {
	"readable", "writable", "executable", "shared",
};
static const struct table_words table_area_rights = {
	.names = walks_area_rights, .n = N(walks_area_rights), .letters = "rwxs",
	.type = ATW_COLUMN_LETTERS,
};
static const char *walks_flags[64];
static const struct table_words table_frame_flags = {
	.names = walks_flags, .n = N(walks_flags), .type = ATW_COLUMN_FLAGS,
};

void walks_init(void)
{
	for (unsigned bit = 0; bit < N(walks_flags); bit++)
		walks_flags[bit] = atw_frame_flag_name(bit);
}

const char *source_state(uint32_t state)
{
	return state < N(walks_states) && walks_states[state] ? walks_states[state] : "unknown";
}

/* What listings are given. */
struct walk_call {
	struct call call;
	uint64_t first, last;
	uint32_t pid;
	bool processes, frames;
};

/* A call with its table; of an address space if `pid` is not NULL. NULL with an exception. */
static struct walk_call *walks_begin(PyObject *self, int (*run)(struct call *call),
				     const struct table_head *head, size_t n, PyObject *pid)
{
	struct walk_call *c = call_create(NULL, (struct source *)self, sizeof(*c), run);

	if (!c || (call_set_table(&c->call, head, n) &&
		   (!pid || call_set_process(&c->call, pid))))
		return c;
	call_destroy(&c->call);
	return NULL;
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
		const char *name = walks_flags[bit];

		if (!(flags >> bit & 1) || len > sizeof(text) - 40)
			continue;
		len += (size_t)(name ? snprintf(text + len, 32, ",%s", name) :
				snprintf(text + len, 32, ",bit%u", bit));
	}
	table_set_text(table, column, len ? text + 1 : text);
}

static int tasks_run(struct call *call)
{
	const struct walk_call *c = (struct walk_call *)call;
	const struct atw_tasks_opts opts = { .size = sizeof(opts), .processes = c->processes };
	struct atw_tasks *tasks = NULL;
	const struct atw_task *task;
	int r;

	r = atw_tasks_open(call->source->target, &opts, &tasks, &call->err);
	while (!r && call_continues(call) && !(r = atw_tasks_next(tasks, &task, &call->err))) {
		struct table *table = call->table;
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
	return r;
}

PyObject *source_tasks(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(pid, NUMBER), TABLE_COLUMN(tgid, NUMBER), TABLE_COLUMN(ppid, NUMBER),
		TABLE_COLUMN(task, TEXT), TABLE_COLUMN(state, TEXT), TABLE_COLUMN(kernel, NUMBER),
		TABLE_COLUMN(start, SECONDS), TABLE_COLUMN(mm, ADDRESS), TABLE_COLUMN(at, ADDRESS),
	};
	struct walk_call *c;
	PyObject *progress;
	int processes;

	if (!PyArg_ParseTuple(args, "pO", &processes, &progress))
		return NULL;
	c = walks_begin(self, tasks_run, head, N(head), NULL);
	if (!c)
		return NULL;
	c->processes = processes;
	return call_finish(&c->call, progress);
}

static int vmas_run(struct call *call)
{
	struct atw_vmas *vmas = NULL;
	const struct atw_vma *vma;
	int r;

	r = call_open_space(call) ?:
	    atw_vmas_open(call->space, &vmas, &call->err);
	while (!r && call_continues(call) && !(r = atw_vmas_next(vmas, &vma, &call->err))) {
		struct table *table = call->table;
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
	return r;
}

PyObject *source_vmas(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(address, ADDRESS), TABLE_COLUMN(end, ADDRESS), TABLE_COLUMN(size, BYTES),
		TABLE_WORDS(rights, table_area_rights), TABLE_COLUMN(offset, ADDRESS),
		TABLE_COLUMN(device, TEXT),
		TABLE_COLUMN(inode, NUMBER), TABLE_COLUMN(vm_flags, ADDRESS), TABLE_COLUMN(area, TEXT),
	};
	PyObject *pid, *progress;
	struct walk_call *c;

	if (!PyArg_ParseTuple(args, "OO", &pid, &progress))
		return NULL;
	c = walks_begin(self, vmas_run, head, N(head), pid);
	if (!c)
		return NULL;
	return call_finish(&c->call, progress);
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
	if (table->failed)
		return;
	table_fill(table, first, n, 0, run->va.u, run->page_size);
	table_fill(table, first, n, 1, run->pa ? run->page_size : run->bytes, 0);
	if (run->pa)
		table_copy(table, first, n, 2, run->pa);
	table_fill(table, first, n, 3, (uint64_t)state, 0);
	if (rights >= 0)
		table_fill(table, first, n, 4, (uint64_t)rights, 0);
	if (run->known & ATW_PAGE_LEVEL)
		table_fill(table, first, n, 5, run->level, 0);
	if (run->known & ATW_PAGE_USED) {
		table_fill(table, first, n, 6, run->accessed != 0, 0);
		table_fill(table, first, n, 7, run->dirty != 0, 0);
	}
	if (run->known & ATW_PAGE_SWAP && !run->pa) {
		table_set(table, 8, run->swap_type);
		table_set(table, 9, run->swap_offset);
	}
}

static int pages_run(struct call *call)
{
	const struct walk_call *c = (struct walk_call *)call;
	const struct atw_pages_opts opts = {
		.size = sizeof(opts), .first = ATW_VA(c->first), .last = ATW_VA(c->last),
		.frames = c->frames,
	};
	const struct atw_page_run *run;
	struct atw_pages *pages = NULL;
	int r;

	r = call_open_space(call) ?:
	    atw_pages_open(call->space, &opts, &pages, &call->err);
	while (!r && call_continues(call) && !(r = atw_pages_next(pages, &run, &call->err))) {
		const struct atw_frame *frame = run->frame;
		struct table *table = call->table;

		walks_add_run(table, run);
		if (table->failed)
			break;
		if (!c->frames || !frame)
			continue;
		walks_set_if(table, 10, frame->known & ATW_FRAME_MAPCOUNT, frame->mapcount);
		if (frame->known & ATW_FRAME_FLAGS)
			walks_set_flags(table, 11, frame->flags);
		walks_set_if(table, 12, frame->known & ATW_FRAME_NODE, frame->node);
	}
	atw_pages_close(pages);
	return r;
}

PyObject *source_pages(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(address, ADDRESS), TABLE_COLUMN(size, BYTES),
		TABLE_COLUMN(physical, ADDRESS), TABLE_WORDS(state, table_states),
		TABLE_WORDS(rights, table_rights), TABLE_COLUMN(level, NUMBER),
		TABLE_COLUMN(accessed, NUMBER),
		TABLE_COLUMN(dirty, NUMBER), TABLE_COLUMN(swap_type, NUMBER),
		TABLE_COLUMN(swap_offset, NUMBER),
		/* with frames */
		TABLE_COLUMN(kcount, NUMBER), TABLE_WORDS(pageflags, table_frame_flags),
		TABLE_COLUMN(node, NUMBER),
	};
	uint64_t first, last;
	PyObject *pid, *progress;
	struct walk_call *c;
	int frames;

	if (!PyArg_ParseTuple(args, "OO&O&pO", &pid, call_u64, &first, call_u64, &last,
			      &frames, &progress))
		return NULL;
	c = walks_begin(self, pages_run, head, N(head) - (frames ? 0 : 3), pid);
	if (!c)
		return NULL;
	c->first = first;
	c->last = last;
	c->frames = frames;
	return call_finish(&c->call, progress);
}

static int frames_run(struct call *call)
{
	const struct walk_call *c = (struct walk_call *)call;
	const struct atw_frames_opts opts = {
		.size = sizeof(opts), .first = ATW_PA(c->first), .last = ATW_PA(c->last),
	};
	struct atw_frames *frames = NULL;
	const struct atw_frame *frame;
	int r;

	r = atw_frames_open(call->source->target, &opts, &frames, &call->err);
	while (!r && call_continues(call) &&
	       !(r = atw_frames_next(frames, &frame, &call->err))) {
		struct table *table = call->table;

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
	return r;
}

PyObject *source_frames(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(physical, ADDRESS), TABLE_WORDS(pageflags, table_frame_flags),
		TABLE_COLUMN(kcount, NUMBER), TABLE_COLUMN(refcount, CHANGE),
		TABLE_COLUMN(head, ADDRESS), TABLE_COLUMN(node, NUMBER), TABLE_COLUMN(order, NUMBER),
		TABLE_COLUMN(cgroup, NUMBER), TABLE_COLUMN(cache, TEXT),
	};
	uint64_t first, last;
	struct walk_call *c;
	PyObject *progress;

	if (!PyArg_ParseTuple(args, "O&O&O", call_u64, &first, call_u64, &last, &progress))
		return NULL;
	c = walks_begin(self, frames_run, head, N(head), NULL);
	if (!c)
		return NULL;
	c->first = first;
	c->last = last;
	return call_finish(&c->call, progress);
}

static int map_run(struct call *call)
{
	const struct walk_call *c = (struct walk_call *)call;
	const struct atw_ranges_opts opts = {
		.size = sizeof(opts), .first = ATW_VA(c->first), .last = ATW_VA(c->last),
	};
	struct atw_ranges *ranges = NULL;
	const struct atw_range *range;
	int r;

	r = call_open_space(call) ?:
	    atw_ranges_open(call->space, &opts, &ranges, &call->err);
	while (!r && call_continues(call) &&
	       !(r = atw_ranges_next(ranges, &range, &call->err))) {
		bool present = range->state == ATW_STATE_PRESENT ||
			       range->state == ATW_STATE_PROTNONE;
		struct table *table = call->table;

		if (!table_add_rows(table, 1))
			break;
		table_set(table, 0, range->va.u);
		walks_set_if(table, 1, range->bytes, range->bytes);
		walks_set_if(table, 2, !(range->flags & ATW_RANGE_NO_PA) &&
			     (present || range->pa.u), range->pa.u);
		walks_set_if(table, 3, range->page_size, range->page_size);
		table_set_text(table, 4, source_state(range->state));
		if (present && !(range->flags & ATW_RANGE_NO_PERMS))
			walks_set_letters(table, 5, range->perms);
		walks_set_if(table, 6, !(range->flags & ATW_RANGE_NO_LEVEL), range->level);
		table_set(table, 7, range->entries);
		walks_set_if(table, 8, range->repeat_of, range->repeat_of);
	}
	atw_ranges_close(ranges);
	return r;
}

PyObject *source_map(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(address, ADDRESS), TABLE_COLUMN(size, BYTES),
		TABLE_COLUMN(physical, ADDRESS), TABLE_COLUMN(page_size, BYTES),
		TABLE_WORDS(state, table_states), TABLE_WORDS(rights, table_rights),
		TABLE_COLUMN(level, NUMBER), TABLE_COLUMN(entries, NUMBER),
		TABLE_COLUMN(repeat_of, BYTES),
	};
	uint64_t first, last;
	PyObject *pid, *progress;
	struct walk_call *c;

	if (!PyArg_ParseTuple(args, "OO&O&O", &pid, call_u64, &first, call_u64, &last,
			      &progress))
		return NULL;
	c = walks_begin(self, map_run, head, N(head), pid);
	if (!c)
		return NULL;
	c->first = first;
	c->last = last;
	return call_finish(&c->call, progress);
}

static int find_run(struct call *call)
{
	const struct walk_call *c = (struct walk_call *)call;
	const struct atw_rmap_opts opts = { .size = sizeof(opts), .pid = c->pid };
	const struct atw_mapping *mapping;
	struct atw_rmap *rmap = NULL;
	int r;

	r = atw_rmap_open(call->source->target, ATW_PA(c->first), c->last, &opts, &rmap,
			  &call->err);
	while (!r && call_continues(call) && !(r = atw_rmap_next(rmap, &mapping, &call->err))) {
		struct table *table = call->table;

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
	return r;
}

PyObject *source_find(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(pid, NUMBER), TABLE_COLUMN(task, TEXT), TABLE_COLUMN(address, ADDRESS),
		TABLE_COLUMN(physical, ADDRESS), TABLE_COLUMN(size, BYTES),
		TABLE_WORDS(state, table_states), TABLE_WORDS(rights, table_rights),
		TABLE_COLUMN(level, NUMBER), TABLE_COLUMN(times, NUMBER),
		TABLE_COLUMN(stride, BYTES), TABLE_COLUMN(entry, ADDRESS),
		TABLE_COLUMN(entry_at, ADDRESS),
	};
	uint64_t pa, bytes;
	struct walk_call *c;
	PyObject *progress;
	uint32_t pid;

	if (!PyArg_ParseTuple(args, "O&O&O&O", call_u64, &pa, call_u64, &bytes, call_u32, &pid,
			      &progress))
		return NULL;
	c = walks_begin(self, find_run, head, N(head), NULL);
	if (!c)
		return NULL;
	c->first = pa;
	c->last = bytes;
	c->pid = pid;
	return call_finish(&c->call, progress);
}
