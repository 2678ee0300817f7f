// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * thp.c - THP settings: transparent_hugepage_flags and shmem_huge; since 3485b88390b0
 * (6.8) and e7a2ab7b3bb5 (6.12) each page size has its own, which may inherit those. The
 * running system's are read from /sys, because few kernels have symbols of data.
 */
#include "linux/thp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "linux/kernel.h"
#include "host/host_file.h"

/* ---- /sys ---- */

/* The word in brackets: "always [madvise] never". */
static bool thp_chosen(const char *root, const char *file, char *ret, size_t len)
{
	char path[256], text[128], *from, *to;

	snprintf(path, sizeof(path), "%s/sys/kernel/mm/transparent_hugepage/%s", root, file);
	if (!host_file_text(path, text, sizeof(text)))
		return false;
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to || (size_t)(to - from) > len)
		return false;
	memcpy(ret, from + 1, (size_t)(to - from - 1));
	ret[to - from - 1] = '\0';
	return true;
}

static enum thp_when thp_parse_when(const char *word)
{
	if (!strcmp(word, "always") || !strcmp(word, "within_size") || !strcmp(word, "force"))
		return THP_ALWAYS;
	if (!strcmp(word, "madvise") || !strcmp(word, "advise"))
		return THP_ADVISED;
	return !strcmp(word, "never") || !strcmp(word, "deny") ? THP_NEVER : THP_UNKNOWN;
}

/* The setting of a size, or the inherited one; *by is advanced if it has its own. */
static enum thp_when thp_of_size(const char *root, uint64_t bytes, const char *file,
				 const char *inherited, enum thp_knob own,
				 enum thp_knob *by)
{
	char path[80], word[24];

	snprintf(path, sizeof(path), "hugepages-%" PRIu64 "kB/%s", bytes / 1024, file);
	if (!thp_chosen(root, path, word, sizeof(word)) || !strcmp(word, "inherit"))
		return thp_parse_when(inherited);
	*by = own;
	return thp_parse_when(word);
}

void thp_of_system(const char *root, uint64_t bytes, struct thp_settings *ret)
{
	char path[256], word[24];

	*ret = (struct thp_settings){ 0 };
	if (!thp_chosen(root, "enabled", word, sizeof(word))) {
		/* A kernel without THP lacks this folder. */
		snprintf(path, sizeof(path), "%s/sys/kernel/mm", root);
		if (access(path, F_OK) == 0)
			*ret = (struct thp_settings){ THP_NEVER, THP_NEVER, THP_NEVER,
						      THP_BY_CONFIG, THP_BY_CONFIG };
		return;
	}
	ret->anon_by = THP_BY_ENABLED;
	ret->anon = thp_of_size(root, bytes, "enabled", word, THP_BY_SIZE_ENABLED,
				&ret->anon_by);
	if (!thp_chosen(root, "shmem_enabled", word, sizeof(word)))
		return;
	/* These two apply to all sizes, and to mounts as well. */
	ret->shmem_by = !strcmp(word, "deny") ? THP_BY_SHMEM_DENY : THP_BY_SHMEM;
	if (!strcmp(word, "deny") || !strcmp(word, "force"))
		ret->shmem = ret->tmpfs = thp_parse_when(word);
	else
		ret->shmem = thp_of_size(root, bytes, "shmem_enabled", word,
					 THP_BY_SIZE_SHMEM, &ret->shmem_by);
}

/* ---- kernel memory ---- */

/*
 * One of the words has the bit of a size, the last one marks sizes that inherit `old`; if
 * the kernel has no such words, all sizes inherit.
 */
static enum thp_when thp_by_size(struct kmem *m, const struct needs *n,
				 const enum need_symbol at[3], unsigned order,
				 enum thp_when old, enum thp_knob own, enum thp_knob *by)
{
	static const enum thp_when means[2] = { THP_ALWAYS, THP_ADVISED };
	uint64_t word;

	if (!n->symbol[at[2]])
		return old;
	for (unsigned i = 0; i < 3; i++) {
		if (!n->symbol[at[i]] || kmem_u64(m, n->symbol[at[i]], &word, NULL) < 0)
			return THP_UNKNOWN;
		if (!(word >> order & 1))
			continue;
		if (i == 2)
			return old;
		*by = own;
		return means[i];
	}
	*by = own;
	return THP_NEVER;
}

/*
 * Bytes that an extract left out are zero and look like "never". It keeps all settings or
 * none, so flags of 0 are valid if khugepaged_pages_to_scan, which is never 0, was kept.
 */
static bool thp_are_kept(struct kmem *m, const struct needs *n)
{
	uint64_t flags;
	uint32_t scan;

	return (n->symbol[Y_thp_flags] &&
		kmem_u64(m, n->symbol[Y_thp_flags], &flags, NULL) == ATW_OK && flags) ||
	       (n->symbol[Y_thp_scan] &&
		kmem_u32(m, n->symbol[Y_thp_scan], &scan, NULL) == ATW_OK && scan);
}

static enum thp_when thp_anon_of(struct kmem *m, const struct needs *n)
{
	uint64_t flags;

	if (!n->symbol[Y_thp_flags] || !n->have_const[C_thp_always] ||
	    !n->have_const[C_thp_madvise] ||
	    kmem_u64(m, n->symbol[Y_thp_flags], &flags, NULL) < 0)
		return THP_UNKNOWN;
	return flags >> n->constant[C_thp_always] & 1 ? THP_ALWAYS :
	       flags >> n->constant[C_thp_madvise] & 1 ? THP_ADVISED : THP_NEVER;
}

/*
 * mm/shmem.c: -2 force, -1 deny, 0 never; 1 to 3 are always, within_size, advise. Since
 * e7a2ab7b3bb5 (6.12) each size has a bit in one of four words.
 */
static void thp_shmem_of(struct kmem *m, const struct needs *n, uint32_t huge,
			 unsigned order, bool kept, struct thp_settings *t)
{
	static const enum need_symbol at[3] = {
		Y_shmem_always, Y_shmem_madvise, Y_shmem_inherit,
	};
	const enum thp_when old = !huge ? THP_NEVER : huge == 3 ? THP_ADVISED : THP_ALWAYS;
	uint64_t within;

	t->shmem_by = THP_BY_SHMEM;
	if (huge >= UINT32_MAX - 1) {
		t->shmem_by = huge == UINT32_MAX ? THP_BY_SHMEM_DENY : THP_BY_SHMEM;
		t->shmem = t->tmpfs = huge == UINT32_MAX ? THP_NEVER : THP_ALWAYS;
	} else if (huge <= 3 && kept) {
		t->shmem = thp_by_size(m, n, at, order, old, THP_BY_SIZE_SHMEM,
				       &t->shmem_by);
		if (n->symbol[Y_shmem_within] &&
		    kmem_u64(m, n->symbol[Y_shmem_within], &within, NULL) == ATW_OK &&
		    within >> order & 1)
			t->shmem = THP_ALWAYS;
	}
}

void thp_of_kernel(struct atw_kernel *k, struct thp_settings *ret)
{
	static const enum need_symbol anon[] = {
		Y_anon_always, Y_anon_madvise, Y_anon_inherit,
	};
	const struct atw_paging *pg = &k->own.paging;
	const struct needs *n = kernel_needs(k);
	struct thp_settings t = { 0 };
	struct kmem *m;
	uint32_t shmem;
	unsigned order;
	bool kept;

	*ret = t;
	if (pg->nlevels < 2 || kernel_kmem(k, &m, NULL) < 0)
		return;
	/* hugepage_init() clears all flags of a machine of less than 512 MiB. */
	kept = thp_are_kept(m, n);
	t.anon = kept ? thp_anon_of(m, n) : THP_UNKNOWN;
	t.anon_by = THP_BY_ENABLED;
	order = pg->level[1].shift - pg->page_shift;
	if (t.anon != THP_UNKNOWN)
		t.anon = thp_by_size(m, n, anon, order, t.anon, THP_BY_SIZE_ENABLED,
				     &t.anon_by);
	if (n->symbol[Y_shmem_huge] &&
	    kmem_u32(m, n->symbol[Y_shmem_huge], &shmem, NULL) == ATW_OK)
		thp_shmem_of(m, n, shmem, order, kept, &t);
	*ret = t;
}

enum thp_when thp_of_mm_flags(uint64_t flags, bool advised)
{
	enum { EXCEPT_ADVISED = 23, COMPLETELY = 24 };

	/* mm->flags contain the coredump filter, which is hardly ever empty. */
	if (!flags)
		return THP_UNKNOWN;
	return flags >> COMPLETELY & 1 ? THP_NEVER :
	       advised && flags >> EXCEPT_ADVISED & 1 ? THP_ADVISED : THP_ALWAYS;
}

enum thp_when thp_of_mm(struct atw_kernel *k, uint64_t mm)
{
	struct members v = { .n = kernel_needs(k) };
	uint64_t flags;

	if (kernel_kmem(k, &v.m, NULL) < 0 || member_get(&v, mm, N_mm_flags, &flags, NULL) < 0)
		return THP_UNKNOWN;
	/* Added in 6.18, together with the type of the word. */
	return thp_of_mm_flags(flags, member_have(&v, N_mm_flags_bits));
}
