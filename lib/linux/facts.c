/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts.c - attributes of a kernel: banner, command line, per-CPU offsets. */
#include <stdio.h>
#include <string.h>

#include "linux/kernel.h"
#include "linux/search.h"

/* ---- the banner: init/version.c, "Linux version ..." ---- */

static const char begins[] = "Linux version ";

struct facts_hunt {
	const struct atw_kernel *k;
	char *buf;
	size_t len;
};

/* One line, up to its end. */
static void facts_cut_line(char *text)
{
	text[strcspn(text, "\n")] = 0;
}

/* The format string is in memory, too; a banner contains the release of this kernel. */
static int facts_on_banner(void *arg, atw_pa at, struct search *s)
{
	struct facts_hunt *h = arg;
	const char *release = h->k->release;
	char text[512];
	size_t got = search_read(s, at, text, sizeof(text) - 1);

	text[got] = 0;
	if (got <= sizeof(begins) ||
	    strncmp(text + sizeof(begins) - 1, release, strlen(release)))
		return 0;
	facts_cut_line(text);
	snprintf(h->buf, h->len, "%s", text);
	return 1;
}

int atw_kernel_banner(struct atw_kernel *k, char *buf, size_t len, struct atw_err *err)
{
	struct facts_hunt h = {k, buf, len};
	struct kmem *m;
	uint64_t at;

	if (kernel_kmem(k, &m, NULL) == ATW_OK &&
	    kernel_symbol(k, "linux_banner", &at, NULL) == ATW_OK &&
	    kmem_text(m, at, buf, len, NULL) == ATW_OK &&
	    !strncmp(buf, begins, sizeof(begins) - 1)) {
		facts_cut_line(buf);
		return ATW_OK;
	}
	if (k->release[0] &&
	    search_kernel(k, begins, sizeof(begins) - 1, 1, facts_on_banner, &h) > 0)
		return ATW_OK;
	return atw_err_set(err, ATW_E_MISSING, "no banner was found");
}

/* ---- the command line: saved_command_line, a pointer (init/main.c) ---- */

int atw_kernel_command_line(struct atw_kernel *k, char *buf, size_t len,
			    struct atw_err *err)
{
	struct kmem *m;
	uint64_t at;
	int r = kernel_kmem(k, &m, err) ?:
		kernel_symbol(k, "saved_command_line", &at, err) ?:
		kmem_u64(m, at, &at, err) ?:
		kmem_text(m, at, buf, len, err);

	if (r == ATW_OK)
		facts_cut_line(buf);
	return r;
}

/*
 * ---- per-CPU offsets: __per_cpu_offset[] (mm/percpu.c); impossible CPUs have the value
 * of the image, or 0 ----
 */

enum { CPUS_MAX = 65536 };       /* NR_CPUS is 8192 at most */

static int facts_find_percpu(struct atw_kernel *k, struct kmem *m, struct atw_err *err)
{
	uint64_t at = 0, ids;
	uint32_t count = 0;
	int r = kernel_symbol(k, "__per_cpu_offset", &at, err) ?:
		kernel_symbol(k, "nr_cpu_ids", &ids, err) ?:
		kmem_u32(m, ids, &count, err);

	if (r < 0)
		return r;
	if (count > CPUS_MAX)
		return atw_err_set(err, ATW_E_DAMAGED, "nr_cpu_ids is %u", count);
	k->percpu_at = at;
	k->percpu_n = count;
	return ATW_OK;
}

int atw_kernel_cpu_node(struct atw_kernel *k, unsigned cpu, uint32_t *ret,
			struct atw_err *err)
{
	uint64_t offset, at = 0;
	struct kmem *m;
	int r = atw_kernel_percpu(k, cpu, &offset, err) ?:
		kernel_symbol(k, "numa_node", &at, err) ?:
		kernel_kmem(k, &m, err);

	return r == ATW_OK ? kmem_u32(m, at + offset, ret, err) : r;
}

int atw_kernel_percpu(struct atw_kernel *k, unsigned cpu, uint64_t *ret,
		      struct atw_err *err)
{
	uint64_t offset;
	struct kmem *m;
	int r = kernel_kmem(k, &m, err);

	if (r == ATW_OK && !k->percpu_at)
		r = facts_find_percpu(k, m, err);
	if (r < 0)
		return r;
	if (cpu >= k->percpu_n)
		return ATW_END;
	r = kmem_u64(m, k->percpu_at + (uint64_t)cpu * 8, &offset, err);
	if (r == ATW_OK)
		*ret = offset;
	return r;
}
