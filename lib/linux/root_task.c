/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root_task.c - search for the kernel's root by its first task.
 *
 * The kernel image is mapped with a constant offset. It contains the first task
 * (init/init_task.c), which is named "swapper" and is its own parent and group leader:
 * these pointers contain its virtual address, and so yield the offset. Close to it in the
 * image is init_mm (mm/init-mm.c), which has the root, also in the image, and the borders
 * of the kernel's text and data. In the correct paging mode, a walk from that root maps
 * the task's address to the task. The task itself points to init_mm, except while it
 * idles on the address space of the previous task.
 */
#include "linux/root.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/btf.h"
#include "linux/search.h"
#include "walk/memory.h"

/* ---- types, anywhere in memory ---- */

/* Required members; a kernel without one of them cannot be found in this way. */
enum {
	COMM, PARENT, LEADER, NSPROXY, PGD, START_CODE, END_CODE, END_DATA, UTS_NS,
	UTS_NAME, RELEASE, USED
};

static const struct { const char *type, *member; bool must; } used[USED] = {
	[COMM] = { "task_struct", "comm", true },
	[PARENT] = { "task_struct", "real_parent", true },
	[LEADER] = { "task_struct", "group_leader", true },
	[NSPROXY] = { "task_struct", "nsproxy", false },
	[PGD] = { "mm_struct", "pgd", true },
	[START_CODE] = { "mm_struct", "start_code", true },
	[END_CODE] = { "mm_struct", "end_code", true },
	[END_DATA] = { "mm_struct", "end_data", true },
	[UTS_NS] = { "nsproxy", "uts_ns", false },
	[UTS_NAME] = { "uts_namespace", "name", false },
	[RELEASE] = { "new_utsname", "release", false },
};

struct root_task_hunt {
	struct atw_source *mem;
	const char *family;      /* only modes of this architecture; NULL: all */
	uint32_t off[USED];
	bool have[USED];
	bool types;
	/* Limit of candidates: real memory has few. */
	unsigned types_tried, tasks_tried, mms_tried;
	struct root_task found;
};

enum { TASKS_TRIED = 16, MMS_TRIED = 1000 };

static bool task_take_types(struct root_task_hunt *h, struct atw_blob blob)
{
	struct btf b;
	bool good = true;

	if (btf_init(&b, blob, NULL) < 0)
		return false;
	for (unsigned i = 0; i < USED && good; i++) {
		h->have[i] = btf_offset(&b, used[i].type, used[i].member, &h->off[i], NULL) == ATW_OK;
		good = h->have[i] || !used[i].must;
	}
	btf_deinit(&b);
	return good;
}

static int task_on_types(void *arg, atw_pa at, struct search *s)
{
	_auto_free char *copy = NULL;
	struct root_task_hunt *h = arg;
	uint64_t len;

	len = search_types_length(s, at);
	if (len && h->types_tried++ == SEARCH_TYPES_TRIES)
		return ATW_E_LIMIT;
	copy = len ? malloc(len) : NULL;
	if (!copy || search_read(s, at, copy, len) != len)
		return 0;
	h->types = task_take_types(h, (struct atw_blob){copy, len});
	return h->types;
}

/* ---- the first task ---- */

static bool task_read_u64(struct atw_source *mem, uint64_t pa, uint64_t *ret)
{
	char word[8];

	if (atw_read(mem, ATW_PA(pa), word, 8, NULL) != 8)
		return false;
	*ret = get_le64(word);
	return true;
}

static void task_use(struct root_task_hunt *h, uint64_t pa, uint64_t len)
{
	h->found.used[h->found.nused].pa = pa;
	h->found.used[h->found.nused++].len = len;
}

static bool task_leads(const struct mmu_space *sp, uint64_t va, uint64_t pa)
{
	struct mmu_seen s;

	return mmu_translate(sp, ATW_VA(va), &s, NULL) == ATW_OK && !s.loss &&
	       s.kind == ATW_LEAF && s.pa.u + (va - s.va.u) == pa;
}

static void task_read_release(struct root_task_hunt *h, uint64_t task, uint64_t shift)
{
	uint64_t proxy, uts;
	char *text = h->found.release;
	ssize_t got;

	if (!h->have[NSPROXY] || !h->have[UTS_NS] || !h->have[UTS_NAME] ||
	    !h->have[RELEASE] || !task_read_u64(h->mem, task + h->off[NSPROXY], &proxy) ||
	    !task_read_u64(h->mem, proxy - shift + h->off[UTS_NS], &uts))
		return;
	got = atw_read(h->mem, ATW_PA(uts - shift + h->off[UTS_NAME] + h->off[RELEASE]), text,
		       sizeof(h->found.release) - 1, NULL);
	got = MAX(got, 0);
	text[got] = 0;
	if (text[0] < '1' || text[0] > '9')
		text[0] = 0;
	task_use(h, task + h->off[NSPROXY], 8);
	task_use(h, proxy - shift + h->off[UTS_NS], 8);
	task_use(h, uts - shift + h->off[UTS_NAME] + h->off[RELEASE], strlen(text) + 1);
}

/* One mode must map the task's virtual to its physical address. */
static bool task_find_mode(struct root_task_hunt *h, uint64_t root, uint64_t va,
			   uint64_t pa)
{
	const struct atw_paging *pg;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++) {
		struct mmu_space sp = { .mem = h->mem, .paging = *pg };

		if (pg->va_bits <= 32 ||
		    (h->family && strncmp(pg->name, h->family, strlen(h->family))) ||
		    root & (atw_table_bytes(pg, pg->nlevels - 1u) - 1))
			continue;
		sp.low = sp.high = (struct mmu_root){ ATW_PA(root), true };
		if (task_leads(&sp, va, pa)) {
			h->found.paging = *pg;
			return true;
		}
	}
	return false;
}

/* ---- init_mm, by its borders of the image ---- */

/* Limit of the distance from the task to anything in the image. */
#define REACH (UINT64_C(96) << 20)

static bool task_in_image(uint64_t va, uint64_t task)
{
	return va - (task - REACH) < 2 * REACH;
}

/*
 * `p` points to a candidate pgd; at least `before` and `after` bytes around it are valid.
 */
static bool task_looks_like_init_mm(const struct root_task_hunt *h, const char *p,
				    uint64_t task)
{
	const char *mm = p - h->off[PGD];
	uint64_t pgd = get_le64(p), start, end, data;

	/* Nearly all candidates fail this check. */
	if (!task_in_image(pgd, task) || pgd & 4095)
		return false;
	start = get_le64(mm + h->off[START_CODE]);
	end = get_le64(mm + h->off[END_CODE]);
	data = get_le64(mm + h->off[END_DATA]);
	return task_in_image(start, task) && !(start & 4095) && start < end &&
	       end < data && task_in_image(data, task);
}

static bool task_find_init_mm(struct root_task_hunt *h, uint64_t task, uint64_t va)
{
	enum { WINDOW = 1024 * 1024, AROUND = ROOT_TASK_AROUND };
	_auto_free char *window = malloc(WINDOW);
	uint64_t at = task > REACH ? (task - REACH) & ~(uint64_t)4095 : 0;
	uint64_t shift = va - task;

	if (!window || h->off[PGD] >= AROUND || h->off[START_CODE] >= AROUND ||
	    h->off[END_CODE] >= AROUND || h->off[END_DATA] >= AROUND)
		return false;
	while (at < task + REACH) {
		const char *p = memory_lent(h->mem, ATW_PA(at), WINDOW, NULL);
		ssize_t got = p ? WINDOW : atw_read(h->mem, ATW_PA(at), window, WINDOW, NULL);

		p = p ? p : window;
		for (ssize_t i = AROUND; i + AROUND <= got; i += 8) {
			uint64_t root;

			if (!task_looks_like_init_mm(h, p + i, va) || h->mms_tried++ >= MMS_TRIED)
				continue;
			/* Once: memory of a guest that runs may change. */
			root = get_le64(p + i) - shift;
			if (!task_find_mode(h, root, va, task))
				continue;
			h->found.root = ATW_PA(root);
			h->found.stext = get_le64(p + i - h->off[PGD] + h->off[START_CODE]);
			h->found.mm_at = at + (uint64_t)i;
			for (unsigned k = PGD; k <= END_DATA; k++)
				task_use(h, h->found.mm_at - h->off[PGD] + h->off[k], 8);
			return true;
		}
		at = got > 2 * AROUND ? at + (uint64_t)got - 2 * AROUND : (at | 4095) + 1;
	}
	return false;
}

static int task_on_name(void *arg, atw_pa at, struct search *s)
{
	struct root_task_hunt *h = arg;
	uint64_t task = at.u - h->off[COMM], va, leader;

	if (at.u < h->off[COMM] || !task_read_u64(h->mem, task + h->off[PARENT], &va) ||
	    !task_read_u64(h->mem, task + h->off[LEADER], &leader) || va != leader ||
	    !(va >> 63) || (va ^ task) & 4095)
		return 0;
	if (h->tasks_tried++ == TASKS_TRIED)
		return ATW_E_LIMIT;
	if (!task_find_init_mm(h, task, va))
		return 0;
	h->found.init_task = va;
	h->found.task_at = task;
	task_use(h, at.u, 16);
	task_use(h, task + h->off[PARENT], 8);
	task_use(h, task + h->off[LEADER], 8);
	task_read_release(h, task, va - task);
	return 1;
}

static struct root_task_hunt task_hunt(struct atw_source *mem)
{
	struct root_task_hunt h = { .mem = mem };
	struct atw_blob machine;

	if (atw_fact(mem, "machine", &machine) == ATW_OK && blob_is(machine, "x86_64"))
		h.family = "x86_64";
	return h;
}

int root_by_task(struct atw_source *mem, struct meter *meter, struct root_task *ret,
		 struct atw_err *err)
{
	struct root_task_hunt h = task_hunt(mem);
	int r = 0;

	search_memory(mem, meter, search_types, sizeof(search_types), SEARCH_TYPES_ALIGN,
		      task_on_types, &h);
	if (!h.types)
		return atw_err_set(err, ATW_E_MISSING, "no kernel's types (BTF) in memory");
	for (size_t i = 0; i < SEARCH_FIRST_TASKS && !r; i++)
		r = search_memory(mem, meter, search_first_task[i], SEARCH_COMM,
				  h.off[COMM] % 8 ? 1 : 8, task_on_name, &h);
	if (r <= 0)
		return atw_err_set(err, ATW_E_MISSING,
				   "no first task in memory with page tables that map it");
	*ret = h.found;
	return ATW_OK;
}

bool root_of_task(struct atw_source *mem, uint64_t task, uint64_t task_at, uint64_t pgd_at,
		  struct atw_paging *ret_paging, atw_pa *ret)
{
	struct root_task_hunt h = task_hunt(mem);
	uint64_t pgd;

	if (!task_read_u64(mem, pgd_at, &pgd) ||
	    !task_find_mode(&h, pgd - (task - task_at), task, task_at))
		return false;
	*ret_paging = h.found.paging;
	*ret = ATW_PA(pgd - (task - task_at));
	return true;
}
