/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemap.c - pages as /proc of the running kernel tells them: maps for areas,
 * pagemap and PAGEMAP_SCAN for pages, kpageflags and its like for frames. Each is
 * of a moment of its own.
 */
#include <atwalk/record.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "format/pagemap.h"
#include "format/procmaps.h"
#include "kernel/kpf.h"
#include "kernel/soft.h"
#include "provider/frames.h"
#include "provider/proc.h"
#include "provider/provider.h"
#include "source/live_file.h"

#define FLAG_BITS (PAGEMAP_SOFT_DIRTY | PAGEMAP_EXCLUSIVE | PAGEMAP_UFFD_WP | PAGEMAP_FILE)

enum {
	WORDS = 32768,           /* looked up together: neighbours are among them */
	PIECE = 4096,            /* words read at once: more is no faster */
	SMALL_GAP = 64,          /* pages not there that are read all the same */
	SPARSE = 10,             /* fewer than one page in so many: ask for holes */
};

struct area {
	uint64_t start, end;
	uint8_t rights;          /* ATW_UR ... */
	bool device;             /* PAGEMAP_SCAN may keep silent about it */
};

enum { FLAGS, COUNTS, CGROUPS, FILES };
static const char *const frame_files[FILES] = {
	"/proc/kpageflags", "/proc/kpagecount", "/proc/kpagecgroup",
};

struct pagemap {
	struct provider p;
	struct pagemap_provider_opts o;
	const struct atw_paging *mode;   /* NULL: a machine that has none here */
	struct atw_soft_abi soft;
	bool soft_known, has_swap;
	bool hidden;                     /* frame numbers read as 0 */
	int file[FILES];
	bool ksm_broken, ksm_none, one_node, no_scan;
	struct extents ram;
	bool ram_tried;
	uint64_t page, pmd;              /* bytes */

	/* The process that is being read. */
	uint32_t pid;
	int fd;
	struct buf maps;
	size_t maps_at;                  /* next line for areas_next() */
	struct area *area;
	size_t nareas, areas_cap;

	/* The listing under way. */
	uint64_t at, last;
	bool ended;
	size_t now;                      /* the area that `at` is in or before */
	uint64_t base;                   /* address of word[0] */
	size_t n;
	bool sparse, dense;              /* ask for holes; the last answer had few */
	struct pagescan_region region[PAGESCAN_REGIONS];
	size_t nregions, next_region;
	uint64_t scanned;                /* regions are known up to here */
	struct page_run run;
	bool facts;                      /* flags[] and so on are those of word[] */

	uint64_t word[FRAMES_MAX], pa[FRAMES_MAX], pfn[FRAMES_MAX];
	uint64_t fact[FILES][FRAMES_MAX];
	bool huge[FRAMES_MAX];           /* of the first page of each large one */
	struct frames frames;
};

static struct pagemap *of(struct provider *p)
{
	return (struct pagemap *)p;
}

/* ---- tasks ---- */

static int add_task(struct pagemap *m, uint32_t pid, const struct proc_stat *st,
		    struct atw_err *err)
{
	struct page_task *t = provider_add_task(&m->p);

	if (!t)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	t->pid = pid;
	memcpy(t->name, st->name, sizeof(t->name));
	return ATW_OK;
}

static int one_task(struct pagemap *m, struct atw_err *err)
{
	struct proc_stat st;
	uint32_t pid;
	int r = proc_tgid(m->o.only, &pid, err);

	if (r == ATW_OK)
		r = proc_stat(pid, &st, err);
	if (r == ATW_OK && st.kernel)
		r = atw_err_set(err, ATW_E_MISSING,
				"process %" PRIu32 " is a kernel thread or has ended: it has no address space of its own",
				pid);
	if (r == ATW_OK) {
		r = proc_allowed(pid, err);
		if (r == ATW_E_PERM)
			proc_hint(err);
	}
	return r < 0 ? r : add_task(m, pid, &st, err);
}

static int pagemap_tasks(struct provider *p, struct atw_err *err)
{
	struct pagemap *m = of(p);
	_auto_free uint32_t *pid = NULL;
	size_t n, denied = 0;
	struct atw_err why = { 0 };
	char what[64];
	int r;

	if (m->o.only)
		return one_task(m, err);
	r = proc_pids(&pid, &n, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		struct proc_stat st;
		int ok;

		if (proc_stat(pid[i], &st, NULL) < 0 || st.kernel)
			continue;
		ok = proc_allowed(pid[i], NULL);
		if (ok == ATW_OK)
			r = add_task(m, pid[i], &st, err);
		denied += ok == ATW_E_PERM;
	}
	if (r == ATW_OK && denied) {
		atw_err_set(&why, ATW_E_PERM, "this process may not read them");
		proc_hint(&why);
		snprintf(what, sizeof(what), "%zu of %zu processes", denied, denied + p->ntasks);
		provider_cannot(p, what, &why);
	}
	return r;
}

static int pagemap_find(struct provider *p, uint32_t pid, size_t *ret, struct atw_err *err)
{
	uint32_t tgid;
	int r = proc_tgid(pid, &tgid, err);

	for (size_t i = 0; r == ATW_OK && i < p->ntasks; i++)
		if (p->task[i].pid == tgid) {
			*ret = i;
			return ATW_OK;
		}
	return r < 0 ? r : atw_err_set(err, ATW_E_MISSING, "process %" PRIu32 " cannot be read", pid);
}

/* ---- areas ---- */

static bool starts(struct atw_blob name, const char *with)
{
	return name.len >= strlen(with) && !memcmp(name.data, with, strlen(with));
}

/* Mapped by frame numbers, perhaps: PAGEMAP_SCAN leaves such areas out. */
static bool is_device(struct atw_blob name)
{
	return (starts(name, "/dev/") && !starts(name, "/dev/shm/") &&
		!starts(name, "/dev/zero")) || starts(name, "/sys/") ||
	       starts(name, "/proc/") || starts(name, "anon_inode:");
}

static void leave_process(struct pagemap *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	m->pid = 0;
	buf_deinit(&m->maps);
	m->maps = (struct buf){ 0 };
	m->nareas = m->maps_at = 0;
}

/* What is listed of it is what it has now. */
static int enter_process(struct pagemap *m, uint32_t pid, struct atw_err *err)
{
	struct procmaps_area a;
	char path[48];
	size_t pos = 0;
	int r;

	leave_process(m);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", pid);
	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return atw_err_set(err, errno == ENOENT || errno == ESRCH ? ATW_E_MISSING :
				   errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
				   "%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	r = live_file_all(path, 1 << 30, &m->maps, err);
	while (r == ATW_OK) {
		r = procmaps_next((struct atw_blob){ m->maps.data, m->maps.len }, &pos, &a);
		if (r == ATW_E_FORMAT)
			atw_err_set(err, r, "%s: a line is not what it should be", path);
		if (r != ATW_OK)
			break;
		/* An area that moved while the file was read may be told twice. */
		if (m->nareas && a.start < m->area[m->nareas - 1].end)
			continue;
		if (!array_reserve((void **)&m->area, &m->areas_cap, m->nareas + 1, sizeof(*m->area)))
			return atw_err_set(err, ATW_E_NOMEM, "out of memory");
		m->area[m->nareas++] = (struct area){
			a.start, a.end,
			(uint8_t)((a.read ? ATW_UR : 0) | (a.write ? ATW_UW : 0) |
				  (a.exec ? ATW_UX : 0)), is_device(a.name),
		};
	}
	if (r < 0)
		return r;
	m->pid = pid;
	return ATW_OK;
}

static int pagemap_areas_open(struct provider *p, size_t task, struct atw_err *err)
{
	struct pagemap *m = of(p);

	return enter_process(m, p->task[task].pid, err);
}

static int pagemap_areas_next(struct provider *p, struct atw_area *ret, struct atw_err *err)
{
	struct pagemap *m = of(p);
	struct procmaps_area a;
	int r;

	(void)err;
	do
		r = procmaps_next((struct atw_blob){ m->maps.data, m->maps.len }, &m->maps_at, &a);
	while (r == ATW_E_FORMAT);
	if (r != ATW_OK)
		return r;
	ret->at = ret->flags = 0;
	ret->start = ATW_VA(a.start);
	ret->end = ATW_VA(a.end);
	ret->read = a.read;
	ret->write = a.write;
	ret->exec = a.exec;
	ret->shared = a.shared;
	ret->offset = a.offset;
	ret->major = a.major;
	ret->minor = a.minor;
	ret->inode = a.inode;
	ret->file = a.inode != 0;
	ret->unread = false;
	procmaps_name(a.name, ret->name, sizeof(ret->name));
	return ATW_OK;
}

/* ---- words ---- */

static int scan(struct pagemap *m, struct pagescan_arg *a, struct pagescan_region *v, size_t len)
{
	int n;

	a->size = sizeof(*a);
	a->vec = (uint64_t)(uintptr_t)v;
	a->vec_len = len;
	do
		n = ioctl(m->fd, PAGESCAN_IOCTL, a);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		m->no_scan = true;       /* older than 6.7 */
	return n;
}

/* Where pages are, from m->at on: regions of the area up to m->scanned. */
static bool find_regions(struct pagemap *m)
{
	uint64_t end = m->area[m->now].end, pages = 0;
	struct pagescan_arg a = {
		.start = m->at & ~(m->page - 1), .max_pages = PIECE,
		.category_anyof_mask = PAGESCAN_PRESENT | PAGESCAN_SWAPPED,
		.return_mask = PAGESCAN_PRESENT | PAGESCAN_SWAPPED,
	};
	int n;

	a.end = end - 1 > m->last ? (m->last | (m->page - 1)) + 1 : end;
	n = scan(m, &a, m->region, PAGESCAN_REGIONS);
	if (n < 0)
		return false;
	m->nregions = pagescan_check(&a, m->region, (size_t)n, m->page, &m->scanned);
	m->next_region = 0;
	if (m->scanned <= m->at)
		return false;
	for (size_t i = 0; i < m->nregions; i++)
		pages += (m->region[i].end - m->region[i].start) / m->page;
	m->dense = pages * SPARSE >= (m->scanned - m->at) / m->page;
	return true;
}

static bool is_there(uint64_t word)
{
	return word & (PAGEMAP_PRESENT | PAGEMAP_SWAP);
}

/* All of a large page's words, as they would be if it were one. */
static bool may_be_huge(const struct pagemap *m, size_t i, size_t n)
{
	uint64_t first = m->word[i], step = m->hidden ? 0 : 1;
	uint64_t frame = first & PAGEMAP_FRAME, flags;

	if (!(first & PAGEMAP_PRESENT) || (!m->hidden && frame & (n - 1)))
		return false;
	for (size_t k = 1; k < n; k++)
		if (((m->word[i + k] ^ first) & PAGEMAP_PRESENT) ||
		    (m->word[i + k] & PAGEMAP_FRAME) != frame + k * step)
			return false;
	/* Small pages in a row are no rare thing: ask their first one. */
	return m->file[FLAGS] < 0 || pread(m->file[FLAGS], &flags, 8, (off_t)(frame * 8)) != 8 ||
	       flags & (kpf(KPF_THP) | kpf(KPF_HUGE) | kpf(KPF_ZERO_PAGE));
}

static void find_huge(struct pagemap *m)
{
	size_t n = m->pmd / m->page, i = (-m->base & (m->pmd - 1)) / m->page;
	struct pagescan_region v[2];

	for (; i + n <= m->n; i += n) {
		struct pagescan_arg a = {
			.start = m->base + i * m->page, .end = m->base + (i + n) * m->page,
			.category_mask = PAGESCAN_HUGE, .return_mask = PAGESCAN_HUGE,
		};

		if (m->no_scan || !may_be_huge(m, i, n))
			continue;
		m->huge[i] = scan(m, &a, v, 2) == 1 && v[0].start == a.start && v[0].end == a.end;
	}
}

/* Words from `first` on, up to `end`, as many as there is room for. */
static int fill(struct pagemap *m, uint64_t first, uint64_t end, struct atw_err *err)
{
	uint64_t room = m->pmd > WORDS * m->page ? m->pmd : WORDS * m->page;
	uint64_t border = (first & ~(room - 1)) + room, there = 0;
	ssize_t got;

	if (border && border < end)
		end = border;
	/* The first words of a large area show whether there is much in it. */
	if (first == m->area[m->now].start && end - first > PIECE * m->page &&
	    PIECE * m->page >= m->pmd)
		end = ((first + PIECE * m->page) & ~(m->pmd - 1));
	m->n = 0;
	m->base = first;
	for (size_t n = (end - first) / m->page; m->n < n; m->n += (size_t)got / 8) {
		size_t piece = n - m->n < PIECE ? n - m->n : PIECE;

		do
			got = pread(m->fd, m->word + m->n, piece * 8,
				    (off_t)((first / m->page + m->n) * 8));
		while (got < 0 && errno == EINTR);
		if (got < 8 && m->n)
			break;
		if (got < 8)
			return atw_err_set(err, got < 0 ? ATW_E_IO : ATW_E_MISSING,
					   "/proc/%" PRIu32 "/pagemap: %s", m->pid,
					   got < 0 ? strerror(errno) : "the process has ended");
	}
	m->facts = false;
	memset(m->huge, 0, m->n * sizeof(m->huge[0]));
	for (size_t i = 0; i < m->n; i++)
		there += is_there(m->word[i]);
	if (!m->sparse && !m->no_scan && !m->area[m->now].device && m->n >= PIECE / 8 &&
	    there * SPARSE < m->n) {
		m->sparse = true;
		m->scanned = 0;
		m->dense = false;
	}
	if (there >= m->pmd / m->page)
		find_huge(m);
	return ATW_OK;
}

/* Small areas close to each other are one read. */
static uint64_t cluster_end(const struct pagemap *m)
{
	uint64_t end = m->area[m->now].end;

	for (size_t i = m->now + 1; i < m->nareas && !m->area[i].device; i++) {
		if (m->area[i].start - end > SMALL_GAP * m->page || m->area[i].end > m->p.user_last)
			break;
		end = m->area[i].end;
	}
	return end;
}

/* ---- runs ---- */

static int give(struct pagemap *m, const struct page_run **ret, uint64_t end)
{
	m->run.size = end - m->run.va;
	if (!m->run.slot)
		m->run.slot = m->run.size;
	if (!end || end - 1 >= m->last)
		m->ended = true;
	m->at = end;
	*ret = &m->run;
	return ATW_OK;
}

static int give_absent(struct pagemap *m, const struct page_run **ret, uint64_t end)
{
	m->run = (struct page_run){ .va = m->at, .count = 1, .state = PAGE_ABSENT };
	return give(m, ret, end);
}

/* Four bits of the word, as the numbers of their names. */
static uint64_t flags_of(uint64_t word)
{
	return (word & PAGEMAP_SOFT_DIRTY ? 1u : 0) | (word & PAGEMAP_EXCLUSIVE ? 2u : 0) |
	       (word & PAGEMAP_FILE ? 4u : 0) | (word & PAGEMAP_UFFD_WP ? 8u : 0);
}

static const char *const flag_names[] = { "soft-dirty", "exclusive", "file", "uffd-wp" };
static const struct atw_names names = { 4, flag_names, NULL };

/* What a word stands for that is neither present nor absent. */
static void soft_run(struct pagemap *m, struct page_run *r, uint64_t word)
{
	struct atw_soft_word s;

	r->state = PAGE_SWAP;
	if (word & PAGEMAP_GUARD) {
		r->state = PAGE_GUARD;
		return;
	}
	if (!(word & PAGEMAP_FRAME) && m->hidden) {
		/* It may be a marker; and it surely is none of swap without any. */
		if (!m->has_swap)
			r->have |= RUN_STATE_HIDDEN;
		return;
	}
	/* Symbols are many, and types that are no devices few. */
	if (!m->soft_known && m->mode && pagemap_swap_type(word) >= m->soft.poison) {
		m->soft_known = true;
		proc_soft_abi(m->mode, &m->soft);
	}
	r->have |= RUN_SWAP;
	r->swap_type = (uint8_t)pagemap_swap_type(word);
	r->swap_offset = pagemap_swap_offset(word);
	if (!m->mode)
		return;
	s = soft_swap(&m->soft, m->mode, r->swap_type, r->swap_offset);
	r->state = (uint8_t)provider_soft_state(s.what);
	r->guess = s.guess && r->state != PAGE_SWAP;
	if (s.pa.u) {
		m->pa[0] = s.pa.u;
		r->pa = m->pa;
	}
}

static int give_words(struct pagemap *m, const struct page_run **ret, uint64_t end)
{
	const struct area *a = &m->area[m->now];
	size_t i = (m->at - m->base) / m->page, n, large = m->pmd / m->page;
	size_t stop = (end - m->base) / m->page;
	size_t block = (m->at & ~(m->pmd - 1)) >= m->base
		? ((m->at & ~(m->pmd - 1)) - m->base) / m->page : i;
	const uint64_t same = PAGEMAP_PRESENT | PAGEMAP_SWAP | PAGEMAP_GUARD | FLAG_BITS;
	uint64_t word = m->word[i];
	struct page_run *r = &m->run;

	if (!is_there(word)) {
		for (n = i + 1; n < stop && !is_there(m->word[n]); n++)
			;
		return give_absent(m, ret, m->base + n * m->page);
	}
	*r = (struct page_run){
		.va = m->at, .slot = m->page, .flags = flags_of(word),
		.have = RUN_FLAGS | RUN_RIGHTS, .rights = a->rights,
	};
	if (!(word & PAGEMAP_PRESENT)) {
		r->have = RUN_FLAGS;
		r->count = 1;
		soft_run(m, r, word);
		for (n = i + 1; r->state == PAGE_GUARD && n < stop && m->word[n] == word; n++)
			r->count++;
		return give(m, ret, r->va + r->count * m->page);
	}
	r->state = a->rights ? PAGE_PRESENT : PAGE_PROTNONE;
	if (!a->rights)
		r->have &= ~(uint32_t)RUN_RIGHTS;
	if (m->huge[block] && block + large <= stop) {
		r->va = m->base + block * m->page;
		r->slot = m->pmd;
		for (n = block; n < stop && m->huge[n] && !((m->word[n] ^ word) & same); n += large)
			m->pa[r->count++] = (m->word[n] & PAGEMAP_FRAME) << m->p.page_shift;
	} else {
		for (n = i; n < stop && !((m->word[n] ^ word) & same) &&
		     (n == i || !m->huge[n]); n++)
			m->pa[r->count++] = (m->word[n] & PAGEMAP_FRAME) << m->p.page_shift;
	}
	if (!m->hidden)
		r->pa = m->pa;
	return give(m, ret, r->va + r->count * r->slot);
}

static bool in_buffer(const struct pagemap *m)
{
	return m->n && m->at >= m->base && m->at - m->base < m->n * m->page;
}

/* Words for m->at; or, where nothing is for a while, up to *hole. */
static int more_words(struct pagemap *m, uint64_t *hole, struct atw_err *err)
{
	const struct area *a = &m->area[m->now];
	uint64_t end = cluster_end(m), first = m->at & ~(m->pmd - 1);

	*hole = 0;
	if (m->sparse && m->at >= m->scanned && (m->dense || !find_regions(m)))
		m->sparse = false;
	if (m->sparse) {
		const struct pagescan_region *v = m->region;
		size_t i = m->next_region;

		while (i < m->nregions && v[i].end <= m->at)
			i++;
		m->next_region = i;
		if (i == m->nregions || v[i].start > m->at) {
			*hole = i == m->nregions ? m->scanned : v[i].start;
			return ATW_OK;
		}
		for (end = v[i].end; i + 1 < m->nregions &&
		     v[i + 1].start - end <= SMALL_GAP * m->page; i++)
			end = v[i + 1].end;
	}
	/* A large page is seen as one from its beginning only. */
	if (first < a->start)
		first = m->at;
	if (end - 1 > m->last)
		end = (m->last | (m->pmd - 1)) + 1 < end && (m->last | (m->pmd - 1)) + 1
			? (m->last | (m->pmd - 1)) + 1 : end;
	return fill(m, first, end, err);
}

static int pagemap_pages_next(struct provider *p, const struct page_run **ret,
			      struct atw_err *err)
{
	struct pagemap *m = of(p);
	const struct area *a;
	uint64_t end, hole;
	int r;

	if (m->ended)
		return ATW_END;
	for (; m->now < m->nareas && m->area[m->now].end <= m->at; m->now++)
		m->sparse = false;
	a = &m->area[m->now];
	if (m->now == m->nareas || a->start > m->last)
		return give_absent(m, ret, m->last + 1);
	if (a->start > m->at)
		return give_absent(m, ret, a->start);
	if (!in_buffer(m)) {
		r = more_words(m, &hole, err);
		if (r < 0)
			return r;
		if (hole)
			return give_absent(m, ret, hole);
		if (!in_buffer(m))
			return atw_err_set(err, ATW_E_IO, "/proc/%" PRIu32 "/pagemap: ends at 0x%" PRIx64,
					   m->pid, m->at);
	}
	end = m->base + m->n * m->page;
	return give_words(m, ret, a->end < end ? a->end : end);
}

static void pagemap_pages_close(struct provider *p)
{
	of(p)->ended = true;
}

static void begin(struct pagemap *m, uint64_t first, uint64_t last)
{
	m->at = first;
	m->last = last < m->p.user_last ? last : m->p.user_last;
	m->ended = first > m->last;
	m->now = m->n = 0;
	m->sparse = false;
	m->nregions = 0;
}

static int pagemap_pages_open(struct provider *p, size_t task, uint64_t first, uint64_t last,
			      struct atw_err *err)
{
	struct pagemap *m = of(p);
	int r = m->pid == p->task[task].pid ? ATW_OK : enter_process(m, p->task[task].pid, err);

	if (r == ATW_OK)
		begin(m, first, last);
	return r;
}

/* ---- frames ---- */

static bool is_ram(struct pagemap *m, uint64_t pfn)
{
	if (!m->ram_tried) {
		m->ram_tried = true;
		live_ram(&m->ram, NULL);
	}
	return !m->ram.n || extents_find(&m->ram, pfn << m->p.page_shift);
}

/* Facts of all frames in the words at hand; of large pages, of their first. */
static int load_facts(struct pagemap *m, struct atw_err *err)
{
	size_t large = m->pmd / m->page;
	int r = ATW_OK;

	for (size_t i = 0; i < m->n; i++) {
		m->pfn[i] = m->word[i] & PAGEMAP_PRESENT ? m->word[i] & PAGEMAP_FRAME : UINT64_MAX;
		if (m->huge[i] && !m->p.each) {
			for (size_t k = 1; k < large && i + k < m->n; k++)
				m->pfn[i + k] = UINT64_MAX;
			i += large - 1;
		}
	}
	frames_sort(&m->frames, m->pfn, m->n);
	for (unsigned f = 0; f < FILES && r == ATW_OK; f++)
		if (m->file[f] >= 0)
			r = frames_read(&m->frames, m->file[f], frame_files[f], UINT64_MAX,
					m->fact[f], err);
	m->facts = r == ATW_OK;
	return r;
}

/* Bits that the kernel's file says without meaning them. */
static uint64_t true_flags(const struct pagemap *m, uint64_t u)
{
	const uint64_t typed = kpf(KPF_SLAB) | kpf(KPF_BUDDY) | kpf(KPF_OFFLINE) | kpf(KPF_PGTABLE);

	/* Where types lie, others have the mapping. */
	if (u & typed)
		u &= ~(kpf(KPF_ANON) | kpf(KPF_KSM) | kpf(KPF_MMAP));
	/* A page that only one may write was not merged. */
	if (m->ksm_broken && (m->ksm_none || u & kpf(KPF_OWNER_2) || !(u & kpf(KPF_ANON))))
		u &= ~kpf(KPF_KSM);
	return u;
}

static int pagemap_facts(struct provider *p, const struct page_run *r, uint32_t i, uint64_t off,
			 uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	struct pagemap *m = of(p);
	uint64_t pfn = (r->pa[i] + off) >> p->page_shift, f[FILES];
	uint64_t at = (r->va + i * r->slot + off - m->base) / m->page;
	const uint64_t compound = kpf(KPF_COMPOUND_HEAD) | kpf(KPF_COMPOUND_TAIL);

	(void)mapped;
	(void)err;
	if (m->file[FLAGS] < 0 && m->file[COUNTS] < 0 && m->file[CGROUPS] < 0)
		return ATW_E_UNSUPPORTED;
	if (!m->facts && load_facts(m, NULL) < 0)
		return ATW_E_MISSING;
	for (unsigned k = 0; k < FILES; k++) {
		if (at < m->n && m->pfn[at] == pfn)
			f[k] = m->fact[k][at];
		else if (m->file[k] < 0 || pread(m->file[k], &f[k], 8, (off_t)(pfn * 8)) != 8)
			f[k] = UINT64_MAX;
	}
	*ret = (struct frame_facts){ .page = { .pfn = pfn } };
	/* Holes read as 0 since 6.18; they were NOPAGE before. */
	if (m->file[FLAGS] >= 0 && (f[FLAGS] == UINT64_MAX || f[FLAGS] & kpf(KPF_NOPAGE) ||
				    (!f[FLAGS] && !is_ram(m, pfn))))
		return ATW_E_MISSING;
	if (m->file[FLAGS] >= 0) {
		ret->have |= FACT_FLAGS;
		ret->page.flags = true_flags(m, f[FLAGS]);
		if (f[FLAGS] & kpf(KPF_COMPOUND_HEAD) || !(f[FLAGS] & compound)) {
			ret->have |= FACT_HEAD;
			ret->page.head = pfn;
		}
		if (!(f[FLAGS] & (compound | kpf(KPF_BUDDY))))
			ret->have |= FACT_ORDER;
	}
	if (m->file[COUNTS] >= 0 && f[COUNTS] != UINT64_MAX) {
		ret->have |= FACT_COUNT;
		ret->page.count = f[COUNTS];
	}
	if (m->file[CGROUPS] >= 0 && f[CGROUPS] != UINT64_MAX) {
		ret->have |= FACT_CGROUP;
		ret->cgroup = f[CGROUPS];
	}
	/* What is no memory of any node was told from it by its flags. */
	if (m->one_node && m->file[FLAGS] >= 0)
		ret->have |= FACT_NODE;
	return ATW_OK;
}

static int count_one(struct pagemap *m, struct atw_err *err)
{
	const struct page_run *r = NULL;
	int rc;

	begin(m, 0, UINT64_MAX);
	while ((rc = pagemap_pages_next(&m->p, &r, err)) == ATW_OK) {
		if (!r || !r->pa || (r->state != PAGE_PRESENT && r->state != PAGE_PROTNONE))
			continue;
		for (uint32_t i = 0; i < r->count; i++)
			if (!counts_add(&m->p.counts, r->pa[i] >> m->p.page_shift,
					r->slot >> m->p.page_shift))
				return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	}
	return rc == ATW_E_NOMEM ? rc : ATW_OK;
}

/* Processes that end meanwhile, or that are not for us, count nothing. */
static int pagemap_count(struct provider *p, struct atw_err *err)
{
	struct pagemap *m = of(p);
	_auto_free uint32_t *pid = NULL;
	size_t n = 0;
	int r = m->hidden ? ATW_END : proc_pids(&pid, &n, err);

	if (r != ATW_OK)
		return r < 0 ? r : ATW_OK;
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		if (enter_process(m, pid[i], NULL) == ATW_OK)
			r = count_one(m, err);
	leave_process(m);
	p->counted = r == ATW_OK;
	return r;
}

/* The kernel does not list what is being taken off, and that is no fault. */
static int pagemap_swap(struct provider *p, unsigned type, struct atw_swap *ret,
			struct atw_err *err)
{
	(void)p;
	(void)err;
	return proc_swap(type, ret) == ATW_OK ? ATW_OK : ATW_E_UNSUPPORTED;
}

/* ---- all of it ---- */

static void pagemap_close(struct provider *p)
{
	struct pagemap *m = of(p);

	leave_process(m);
	for (unsigned f = 0; f < FILES; f++)
		if (m->file[f] >= 0)
			close(m->file[f]);
	extents_deinit(&m->ram);
	free(m->area);
	free(m);
}

static const struct provider_ops pagemap_ops = {
	.name = "pagemap",
	.tasks = pagemap_tasks,
	.find = pagemap_find,
	.areas_open = pagemap_areas_open,
	.areas_next = pagemap_areas_next,
	.pages_open = pagemap_pages_open,
	.pages_next = pagemap_pages_next,
	.pages_close = pagemap_pages_close,
	.facts = pagemap_facts,
	.count = pagemap_count,
	.swap = pagemap_swap,
	.close = pagemap_close,
};

static bool says(const char *path, const char *what)
{
	char text[64];

	return live_file_text(path, text, sizeof(text)) && !strcmp(text, what);
}

static void open_frames(struct pagemap *m)
{
	const char *lacking = NULL;

	m->hidden = proc_hides_frames();
	for (unsigned f = 0; f < FILES; f++) {
		if (m->hidden || !(f == CGROUPS ? m->o.cgroups : f == COUNTS ? m->o.counts
									 : m->o.flags))
			continue;
		m->file[f] = open(frame_files[f], O_RDONLY | O_CLOEXEC);
		/* Kernels without memory cgroups have no such file. */
		if (m->file[f] < 0 && errno != ENOENT && !lacking)
			lacking = frame_files[f];
	}
	if (m->hidden)
		atw_err_set(&m->p.lacks, ATW_E_PERM,
			    "/proc/PID/pagemap hides frame numbers from this process: physical addresses and all that is known of frames are n/a");
	else if (lacking)
		atw_err_set(&m->p.lacks, ATW_E_PERM,
			    "%s is not for this process to read: what it says is n/a", lacking);
	if (m->p.lacks.status)
		proc_hint(&m->p.lacks);
	if (m->file[FLAGS] >= 0)
		m->ksm_broken = proc_ksm_is_broken(m->file[FLAGS]);
	m->ksm_none = says("/sys/kernel/mm/ksm/pages_shared", "0");
	m->one_node = says("/sys/devices/system/node/online", "0");
}

int pagemap_provider_open(const struct pagemap_provider_opts *o, provider_cannot_fn *cannot,
			  void *arg, struct provider **ret, struct atw_err *err)
{
	struct pagemap *m = calloc(1, sizeof(*m));

	if (!m)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	m->page = (uint64_t)sysconf(_SC_PAGESIZE);
	m->pmd = m->page * (m->page / 8);
	m->p = (struct provider){
		.ops = &pagemap_ops, .flags = &names, .cannot = cannot, .arg = arg,
		.page_shift = (unsigned)__builtin_ctzll(m->page), .user_last = INT64_MAX,
	};
	m->o = *o;
	m->fd = -1;
	for (unsigned f = 0; f < FILES; f++)
		m->file[f] = -1;
	m->mode = proc_paging();
	if (m->mode)
		m->soft = atw_soft_abi_for(m->mode, NULL);
	m->has_swap = proc_has_swap();
	open_frames(m);
	*ret = &m->p;
	return ATW_OK;
}
