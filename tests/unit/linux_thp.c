/* SPDX-License-Identifier: GPL-2.0-or-later */
/* THP settings of the system and of a process are read from kernel memory. */
#include "linux/thp.h"

#include <sys/stat.h>
#include <unistd.h>

#include "kernel_memory.h"
#include "test.h"

static char root[] = "/tmp/atwalk-thp.XXXXXX";

static void put(const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/kernel/mm/transparent_hugepage/%s", root, file);
	f = fopen(path, "w");
	if (!f)
		abort();
	fprintf(f, "%s\n", text);
	fclose(f);
}

static struct thp_settings set(const char *all, const char *one, const char *shmem,
			       const char *shmem_one)
{
	struct thp_settings t;

	put("enabled", all);
	put("hugepages-2048kB/enabled", one);
	put("shmem_enabled", shmem);
	put("hugepages-2048kB/shmem_enabled", shmem_one);
	thp_of_system(root, 2 << 20, &t);
	return t;
}

TEST(what_the_system_says)
{
	static const char *const dirs[] = {
		"/sys", "/sys/kernel", "/sys/kernel/mm", "/sys/kernel/mm/transparent_hugepage",
		"/sys/kernel/mm/transparent_hugepage/hugepages-2048kB",
	};
	char path[256];
	struct thp_settings t;

	CHECK(mkdtemp(root));
	thp_of_system(root, 2 << 20, &t);
	CHECK_EQ(t.anon, THP_UNKNOWN);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		CHECK(mkdir(path, 0700) == 0);
	}
	thp_of_system(root, 2 << 20, &t);
	CHECK_EQ(t.anon, THP_NEVER);     /* built without */
	CHECK_EQ(t.tmpfs, THP_NEVER);
	CHECK_EQ(t.anon_by, THP_BY_CONFIG);
	for (unsigned i = 3; i < 5; i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		CHECK(mkdir(path, 0700) == 0);
	}
	t = set("always [madvise] never", "always [inherit] madvise never",
		"always within_size advise [never] deny force",
		"always [inherit] within_size advise never");
	CHECK_EQ(t.anon, THP_ADVISED);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.tmpfs, THP_UNKNOWN);
	CHECK_EQ(t.anon_by, THP_BY_ENABLED);
	CHECK_EQ(t.shmem_by, THP_BY_SHMEM);
	t = set("[always] madvise never", "always inherit madvise [never]",
		"always within_size advise [never] deny force",
		"always inherit within_size [advise] never");
	CHECK_EQ(t.anon, THP_NEVER);
	CHECK_EQ(t.shmem, THP_ADVISED);
	CHECK_EQ(t.anon_by, THP_BY_SIZE_ENABLED);
	CHECK_EQ(t.shmem_by, THP_BY_SIZE_SHMEM);
	t = set("[always] madvise never", "[always] inherit madvise never",
		"always within_size advise never [deny] force",
		"[always] inherit within_size advise never");
	CHECK_EQ(t.anon, THP_ALWAYS);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.tmpfs, THP_NEVER);
	CHECK_EQ(t.shmem_by, THP_BY_SHMEM_DENY);
	/* Before each size had its own. */
	thp_of_system(root, 4 << 20, &t);
	CHECK_EQ(t.anon, THP_ALWAYS);
	snprintf(path, sizeof(path), "rm -r '%s'", root);
	CHECK(system(path) == 0);
}

TEST(what_a_process_was_told)
{
	CHECK_EQ(thp_of_mm_flags(0, true), THP_UNKNOWN);
	CHECK_EQ(thp_of_mm_flags(0x800000cd, true), THP_ALWAYS);
	CHECK_EQ(thp_of_mm_flags(0x810000cd, true), THP_NEVER);
	CHECK_EQ(thp_of_mm_flags(0x808000cd, true), THP_ADVISED);
	/* Before 6.18 that bit spoke of pages of zeroes. */
	CHECK_EQ(thp_of_mm_flags(0x808000cd, false), THP_ALWAYS);
}

enum {
	FLAGS = 0x100, SHMEM = 0x108, ALWAYS = 0x110, ADVISE = 0x118, INHERIT = 0x120,
	WITHIN = 0x128, ANON_ALWAYS = 0x130, ANON_ADVISE = 0x138, ANON_INHERIT = 0x140,
	SCAN = 0x148,
};

static struct thp_settings settings(struct kmemory *k)
{
	struct atw_kernel *kernel = calloc(1, sizeof(*kernel));
	struct thp_settings t;

	kernel->mem = &k->s;
	kernel->own = kernel->space = k->space;
	kernel->kmem = k->m;
	kernel->sought_kmem.done = true;
	kernel->needs = k->n;
	kernel->needs_done = kernel->symbols_done = true;
	thp_of_kernel(kernel, &t);
	free(kernel);
	return t;
}

static struct kmemory *kernel_with_settings(void)
{
	struct kmemory *k = kmemory_new();

	k->n.symbol[Y_thp_flags] = KBASE + FLAGS;
	k->n.symbol[Y_shmem_huge] = KBASE + SHMEM;
	k->n.constant[C_thp_always] = 1;
	k->n.constant[C_thp_madvise] = 2;
	k->n.have_const[C_thp_always] = k->n.have_const[C_thp_madvise] = true;
	return k;
}

/* hugepage_init() clears all flags of a machine of less than 512 MiB. */
TEST(all_flags_are_clear)
{
	struct kmemory *k = kernel_with_settings();
	struct thp_settings t;

	k->n.symbol[Y_thp_scan] = KBASE + SCAN;
	kput(k, SCAN, 4096, 4);
	t = settings(k);
	CHECK_EQ(t.anon, THP_NEVER);
	CHECK_EQ(t.anon_by, THP_BY_ENABLED);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.shmem_by, THP_BY_SHMEM);
	/* The large size inherits that. */
	k->n.symbol[Y_anon_always] = KBASE + ANON_ALWAYS;
	k->n.symbol[Y_anon_madvise] = KBASE + ANON_ADVISE;
	k->n.symbol[Y_anon_inherit] = KBASE + ANON_INHERIT;
	kput64(k, ANON_INHERIT, 1 << 9);
	t = settings(k);
	CHECK_EQ(t.anon, THP_NEVER);
	CHECK_EQ(t.anon_by, THP_BY_ENABLED);
	kput64(k, ANON_ADVISE, 1 << 9);
	t = settings(k);
	CHECK_EQ(t.anon, THP_ADVISED);
	CHECK_EQ(t.anon_by, THP_BY_SIZE_ENABLED);
	/* Neither the symbol nor its memory: unknown. */
	k->hole_at = FLAGS;
	k->hole_len = 8;
	t = settings(k);
	CHECK_EQ(t.anon, THP_UNKNOWN);
	CHECK_EQ(t.shmem, THP_NEVER);
	k->hole_len = 0;
	k->n.symbol[Y_thp_flags] = 0;
	CHECK_EQ(settings(k).anon, THP_UNKNOWN);
	kmemory_free(k);
}

/*
 * Bytes that an extract left out are zero as well. It keeps all settings or none, and one of
 * them is never 0.
 */
TEST(all_flags_were_left_out)
{
	struct kmemory *k = kernel_with_settings();
	struct thp_settings t = settings(k);

	CHECK_EQ(t.anon, THP_UNKNOWN);
	CHECK_EQ(t.shmem, THP_UNKNOWN);
	k->n.symbol[Y_thp_scan] = KBASE + SCAN;
	t = settings(k);
	CHECK_EQ(t.anon, THP_UNKNOWN);
	CHECK_EQ(t.shmem, THP_UNKNOWN);
	k->hole_at = SCAN;
	k->hole_len = 4;
	t = settings(k);
	CHECK_EQ(t.anon, THP_UNKNOWN);
	CHECK_EQ(t.shmem, THP_UNKNOWN);
	k->hole_len = 0;
	kput(k, SCAN, 1, 4);
	t = settings(k);
	CHECK_EQ(t.anon, THP_NEVER);
	CHECK_EQ(t.shmem, THP_NEVER);
	kmemory_free(k);
}

TEST(what_a_kernel_was_set_to)
{
	struct kmemory *k = kernel_with_settings();
	struct thp_settings t;

	kput64(k, FLAGS, 0x104);
	t = settings(k);
	CHECK_EQ(t.anon, THP_ADVISED);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.shmem_by, THP_BY_SHMEM);
	CHECK_EQ(t.tmpfs, THP_UNKNOWN);
	kput(k, SHMEM, 3, 4);
	CHECK_EQ(settings(k).shmem, THP_ADVISED);
	kput(k, SHMEM, (uint32_t)-1, 4);
	t = settings(k);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.tmpfs, THP_NEVER);
	CHECK_EQ(t.shmem_by, THP_BY_SHMEM_DENY);
	/* Since 6.12 the size of a large page has a bit in one of four words. */
	k->n.symbol[Y_shmem_always] = KBASE + ALWAYS;
	k->n.symbol[Y_shmem_madvise] = KBASE + ADVISE;
	k->n.symbol[Y_shmem_inherit] = KBASE + INHERIT;
	k->n.symbol[Y_shmem_within] = KBASE + WITHIN;
	kput(k, SHMEM, 0, 4);
	kput64(k, INHERIT, 1 << 9);
	t = settings(k);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.shmem_by, THP_BY_SHMEM);
	kput64(k, INHERIT, 0);
	t = settings(k);
	CHECK_EQ(t.shmem, THP_NEVER);
	CHECK_EQ(t.shmem_by, THP_BY_SIZE_SHMEM);
	kput64(k, ADVISE, 1 << 9);
	CHECK_EQ(settings(k).shmem, THP_ADVISED);
	kput64(k, ADVISE, 0);
	kput64(k, WITHIN, 1 << 9);
	CHECK_EQ(settings(k).shmem, THP_ALWAYS);
	kmemory_free(k);
}
