/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_frames.c - /proc/kpageflags, kpagecount and kpagecgroup, of the frames
 * that a window of words leads to, all at once.
 */
#include "source/live_ram.h"
#include "target/procfs_vmas.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "linux/kpf.h"
#include "target/procfs.h"
#include "target/frame_use.h"
#include "host/host.h"

static const char *const frame_files[KFILES] = {
	"/proc/kpageflags", "/proc/kpagecount", "/proc/kpagecgroup",
};

/* ---- opening ---- */

void pagemap_frames_open(struct pagemap *m)
{
	const char *lacking = NULL;
	bool absent = false;

	m->hidden = proc_hides_frames();
	for (unsigned f = 0; f < KFILES; f++) {
		m->file[f] = -1;
		if (m->hidden || !(f == KCGROUPS ? m->o.cgroups :
				   f == KCOUNTS ? m->o.counts : m->o.flags))
			continue;
		m->file[f] = open(frame_files[f], O_RDONLY | O_CLOEXEC);
		/* Kernels without memory cgroups have no such file. */
		if (m->file[f] < 0 && errno != ENOENT && !lacking)
			lacking = frame_files[f];
		absent |= m->file[f] < 0 && errno == ENOENT;
	}
	if (m->hidden)
		atw_err_set(&m->p.lacks, ATW_E_PERM,
			    "/proc/PID/pagemap hides frame numbers from this process: physical addresses and all that is known of frames are n/a");
	else if (lacking)
		atw_err_set(&m->p.lacks, ATW_E_PERM,
			    "%s is not for this process to read: what it says is n/a", lacking);
	if (m->p.lacks.status)
		proc_hint(&m->p.lacks);
	else if (absent && host_check_proc_files(&m->p.lacks) < 0)
		atw_err_wrap(&m->p.lacks, "kpageflags, kpagecount and kpagecgroup are not there, and what they say is n/a");
	if (m->file[KFLAGS] >= 0)
		m->ksm_broken = proc_ksm_is_broken(m->file[KFLAGS]);
	m->ksm_unused = proc_ksm_is_unused();
	sys_nodes_read("", &m->nodes);
}

void pagemap_frames_close(struct pagemap *m)
{
	for (unsigned f = 0; f < KFILES; f++)
		if (m->file[f] >= 0)
			close(m->file[f]);
	extents_deinit(&m->ram);
	sys_late_deinit(&m->late);
	sys_nodes_deinit(&m->nodes);
}

/* ---- facts ---- */

static bool procfs_is_ram(struct procfs_pages *c, uint64_t pfn)
{
	if (!c->m->ram_tried) {
		c->m->ram_tried = true;
		live_ram(&c->m->ram, NULL);
	}
	return !c->m->ram.n || extents_find(&c->m->ram, pfn << c->cur.p->page_shift);
}

/*
 * Its entry says already that it is mapped once: half of what is there to ask.
 * Of parts of larger folios some kernels only estimate how often; those are asked.
 */
static inline bool procfs_is_once(const struct procfs_pages *c, size_t i)
{
	const uint64_t other = kpf(KPF_COMPOUND_HEAD) | kpf(KPF_COMPOUND_TAIL) | frame_types();

	return c->word[i] & PAGEMAP_EXCLUSIVE &&
	       (c->fact[KFLAGS][i] & (other | kpf(KPF_MMAP))) == kpf(KPF_MMAP);
}

/* The first of words i to c->n with a frame to look up; or c->n. */
static size_t procfs_next_asked(const struct procfs_pages *c, size_t i, bool uncounted)
{
	if (!uncounted)
		return pagemap_there(c, i, c->n);
	while (i < c->n && (!(c->word[i] & PAGEMAP_PRESENT) || procfs_is_once(c, i)))
		i++;
	return i;
}

/*
 * How many words from i on, at most FRAMES_RUN, lead to frames that are each `step`
 * behind the one before.
 */
static size_t procfs_in_a_row(const struct procfs_pages *c, size_t i, uint64_t step,
			      bool uncounted)
{
	const uint64_t which = PAGEMAP_PRESENT | PAGEMAP_FRAME;
	uint64_t want = c->word[i] & which;
	size_t k = i + 1, end = c->n - i < FRAMES_RUN ? c->n : i + FRAMES_RUN;

	for (; k < end; k++) {
		want += step;
		if (c->huge[k] || (c->word[k] & which) != want ||
		    (uncounted && procfs_is_once(c, k)))
			break;
	}
	return k - i;
}

/*
 * Collect the frames of the loaded words. Of a large page only the first frame is needed.
 * `uncounted`: only frames with an unknown mapcount.
 */
static void procfs_gather(struct procfs_pages *c, bool uncounted)
{
	size_t large = c->pmd / c->page, len;

	frames_clear(&c->frames);
	for (size_t i = 0; (i = procfs_next_asked(c, i, uncounted)) < c->n; i += len) {
		uint64_t pfn = c->word[i] & PAGEMAP_FRAME;

		len = 1;
		if (!(c->word[i] & PAGEMAP_PRESENT))
			continue;
		if (c->huge[i] && !c->cur.q.each) {
			frames_add(&c->frames, pfn, i, 1);
			len = large;
			continue;
		}
		len = procfs_in_a_row(c, i, 1, uncounted);
		if (len > 1) {
			frames_add(&c->frames, pfn, i, len);
			continue;
		}
		len = procfs_in_a_row(c, i, UINT64_MAX, uncounted);
		frames_add_down(&c->frames, pfn - (len - 1), i + (len - 1), len);
	}
	frames_sort(&c->frames);
}

static int procfs_load_file(struct procfs_pages *c, unsigned f, struct atw_err *err)
{
	return c->m->file[f] < 0 ? ATW_OK
	       : frames_read(&c->frames, c->m->file[f], frame_files[f], UINT64_MAX, c->fact[f], err);
}

/* Facts of all frames in the words at hand. */
static int procfs_load_facts(struct procfs_pages *c, struct atw_err *err)
{
	int r;

	procfs_gather(c, false);
	r = procfs_load_file(c, KFLAGS, err) ?:
	    procfs_load_file(c, KCGROUPS, err);
	if (r == ATW_OK && c->m->file[KFLAGS] >= 0 && c->m->file[KCOUNTS] >= 0)
		procfs_gather(c, true);
	if (r == ATW_OK)
		r = procfs_load_file(c, KCOUNTS, err);
	c->facts = r == ATW_OK;
	c->alike_end = 0;
	c->facts_each = c->cur.q.each;
	return r;
}

uint64_t pagemap_true_flags(const struct pagemap *m, uint64_t u)
{
	return proc_true_flags(m->ksm_broken, m->ksm_unused, u);
}

/* Is what was read for word `at` of this frame? */
static bool procfs_is_loaded(const struct procfs_pages *c, uint64_t at, uint64_t pfn)
{
	uint64_t tail = ((c->base >> c->cur.p->page_shift) + at) & ((c->pmd >> c->cur.p->page_shift) - 1);

	if (at >= c->n || ((c->word[at] ^ (PAGEMAP_PRESENT | pfn)) &
			   (PAGEMAP_PRESENT | PAGEMAP_FRAME)))
		return false;
	return c->facts_each || !tail || tail > at || !c->huge[at - tail];
}

/* What was loaded of file f for word i. */
static uint64_t procfs_loaded_fact(const struct procfs_pages *c, unsigned f, size_t i)
{
	return f == KCOUNTS && c->m->file[KFLAGS] >= 0 && procfs_is_once(c, i)
		       ? 1
		       : c->fact[f][i];
}

/* The first word behind `at` that has not the same facts. */
static size_t procfs_alike_end(const struct procfs_pages *c, size_t at)
{
	const uint64_t *flags = c->fact[KFLAGS], *counts = c->fact[KCOUNTS];
	const uint64_t *cgroups = c->m->file[KCGROUPS] >= 0 ? c->fact[KCGROUPS] : NULL;
	const uint64_t which = PAGEMAP_PRESENT | PAGEMAP_EXCLUSIVE;
	bool counted = c->m->file[KFLAGS] < 0 || !procfs_is_once(c, at);
	size_t k = at + 1;

	while (k < c->n && flags[k] == flags[at] && !((c->word[k] ^ c->word[at]) & which) &&
	       (!counted || counts[k] == counts[at]) && (!cgroups || cgroups[k] == cgroups[at]))
		k++;
	return k;
}

/*
 * How many pages behind that of word `at` have the same facts. What is loaded is so for
 * all words of a run that was given out of them.
 */
static uint32_t procfs_alike(struct procfs_pages *c, const struct page_run *r,
			     uint32_t i, uint64_t off, size_t at)
{
	uint64_t left = r->slot > c->page ? (r->slot - off) / c->page : r->count - i;

	if (!c->facts_each || r->pa != c->pa)
		return 0;
	/* The run is compared once, not for each page that is looked up. */
	if (at < c->alike || at >= c->alike_end) {
		c->alike = at;
		c->alike_end = procfs_alike_end(c, at);
	}
	return (uint32_t)((left < c->alike_end - at ? left : c->alike_end - at) - 1);
}

/* Does the process still have this page there? It may have got the same one once more. */
static bool procfs_still_there(struct procfs_pages *c, uint64_t va, uint64_t pfn,
			       uint64_t flags)
{
	const uint64_t which = PAGEMAP_PRESENT | PAGEMAP_FRAME;
	uint64_t word, now;

	return pagemap_word(c, va, &word) &&
	       (word & which) == (PAGEMAP_PRESENT | pfn) &&
	       pace_pread(c->m->o.pace, c->m->file[KFLAGS], &now, 8, (off_t)(pfn * 8)) == 8 &&
	       now == flags;
}

int pagemap_facts(struct page_cursor *cur, const struct page_run *r, uint32_t i, uint64_t off,
		  uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	struct procfs_pages *c = procfs_pages_of(cur);
	unsigned shift = cur->p->page_shift;
	uint64_t pfn = (r->pa[i] + off) >> shift, f[KFILES];
	uint64_t at = (r->va + i * r->slot + off - c->base) >> shift;
	const uint64_t compound = kpf(KPF_COMPOUND_HEAD) | kpf(KPF_COMPOUND_TAIL);
	bool loaded;

	if (c->m->file[KFLAGS] < 0 && c->m->file[KCOUNTS] < 0 && c->m->file[KCGROUPS] < 0)
		return ATW_E_UNSUPPORTED;
	ret->have = ret->alike = 0;
	if (!c->facts && procfs_load_facts(c, NULL) < 0)
		return ATW_E_MISSING;
	loaded = procfs_is_loaded(c, at, pfn);
	for (unsigned k = 0; k < KFILES; k++) {
		if (loaded)
			f[k] = procfs_loaded_fact(c, k, at);
		else if (c->m->file[k] < 0 || pace_pread(c->m->o.pace, c->m->file[k], &f[k], 8,
						   (off_t)(pfn * 8)) != 8)
			f[k] = UINT64_MAX;
	}
	/* Names of caches are no words of these files, and long. */
	memset(ret, 0, offsetof(struct frame_facts, page.cache));
	ret->page.cache[0] = '\0';
	ret->cgroup = 0;
	ret->alike = loaded ? procfs_alike(c, r, i, off, at) : 0;
	ret->page.pfn = pfn;
	/* Holes read as 0 since 6.18; they were NOPAGE before. */
	if (c->m->file[KFLAGS] >= 0 &&
	    (f[KFLAGS] == UINT64_MAX || f[KFLAGS] & kpf(KPF_NOPAGE) ||
	     (!f[KFLAGS] && !procfs_is_ram(c, pfn)))) {
		ret->have = FACT_NO_PAGE;
		ret->alike = 0;
		return ATW_E_MISSING;
	}
	if (c->m->file[KFLAGS] >= 0) {
		ret->have |= FACT_FLAGS;
		ret->page.flags = pagemap_true_flags(c->m, f[KFLAGS]);
		if (f[KFLAGS] & kpf(KPF_COMPOUND_HEAD) || !(f[KFLAGS] & compound)) {
			ret->have |= FACT_HEAD;
			ret->page.head = pfn;
		}
		if (!(f[KFLAGS] & (compound | kpf(KPF_BUDDY))))
			ret->have |= FACT_ORDER;
	}
	if (c->m->file[KCOUNTS] >= 0 && f[KCOUNTS] != UINT64_MAX) {
		ret->have |= FACT_COUNT;
		ret->page.count = f[KCOUNTS];
	}
	if (c->m->file[KCGROUPS] >= 0 && f[KCGROUPS] != UINT64_MAX) {
		ret->have |= FACT_CGROUP;
		ret->cgroup = f[KCGROUPS];
	}
	/* Frames that are no memory of any node were recognised by their flags above. */
	if (c->m->file[KFLAGS] >= 0 &&
	    sys_nodes_find(&c->m->nodes, pfn << shift, &ret->page.node))
		ret->have |= FACT_NODE;
	if (provider_doubts(r, ret))
		provider_settle(ret, procfs_still_there(c, r->va + i * r->slot + off, pfn,
							f[KFLAGS]));
	return ATW_OK;
}
