// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - the values of /proc/meminfo from a kernel's memory: fs/proc/meminfo.c,
 * mm/vmstat.c.
 *
 * /proc/meminfo excludes per-CPU deltas that are not yet added to the sums. Here they are
 * included, as in zone_page_state_snapshot(), because in a dump no CPU will add them. If
 * symbols do not lead to the global sums, those of zones and nodes are added up, which is
 * equal.
 */
#include "linux/machine.h"

enum {
	NODES_MAX = 1024, ZONES_MAX = 16, CPUS_MAX = 8192, BLOCK_DEVICES_MAX = 65536,
	HSTATES_MAX = 16, ORDER_MAX = 32, ITEMS_MAX = 256,
};

struct counters {
	struct atw_kernel *k;
	const struct needs *n;
	struct kmem *m;
	unsigned shift;                  /* log2 of the page size */
	uint64_t node[NODES_MAX];        /* pglist_data of each node */
	size_t nodes;
	counter_fn *fn;
	void *arg;
	int r;
	struct atw_err *err;
};

/* ---- access ---- */

static bool counters_word(const struct counters *c, uint64_t at, uint64_t *ret)
{
	return at && kmem_u64(c->m, at, ret, NULL) == ATW_OK;
}

static bool counters_half(const struct counters *c, uint64_t at, uint32_t *ret)
{
	return at && kmem_u32(c->m, at, ret, NULL) == ATW_OK;
}

static bool counters_member(const struct counters *c, uint64_t base, enum need_member id,
			    uint64_t *ret)
{
	return base && c->n->member[id] != NEED_NONE &&
	       counters_word(c, base + c->n->member[id], ret);
}

static void counters_emit(struct counters *c, const char *key, uint64_t value)
{
	if (c->r == ATW_OK)
		c->r = c->fn(c->arg, key, value, c->err);
}

static void counters_emit_pages(struct counters *c, const char *key, uint64_t pages)
{
	if (pages <= UINT64_MAX >> c->shift)
		counters_emit(c, key, (pages << c->shift) / 1024);
}

static void counters_find_nodes(struct counters *c)
{
	uint64_t data = c->n->symbol[Y_node_data], len = 64, at = 0, pages = 0;
	uint32_t id = 0;

	if (!data && c->k->have_vi)
		atw_vmcoreinfo_u64(&c->k->vi, "SYMBOL(node_data)", &data);
	if (c->k->have_vi && atw_vmcoreinfo_u64(&c->k->vi, "LENGTH(node_data)", &len) == ATW_OK &&
	    len > NODES_MAX)
		len = NODES_MAX;
	if (!data && c->n->symbol[Y_contig_page_data])
		c->node[c->nodes++] = c->n->symbol[Y_contig_page_data];
	/* Bytes behind a shorter array do not look like a node: see node.c. */
	for (uint64_t i = 0; data && i < len && counters_word(c, data + i * 8, &at); i++)
		if (at && counters_member(c, at, N_node_spanned, &pages) && pages &&
		    c->n->member[N_node_id] != NEED_NONE &&
		    counters_half(c, at + c->n->member[N_node_id], &id) && id == i)
			c->node[c->nodes++] = at;
}

/* Zone `i` of a node; 0: there is none. */
static uint64_t counters_zone_of(const struct counters *c, uint64_t node, unsigned i)
{
	uint32_t zones = 0;

	if (c->n->member[N_node_nzones] == NEED_NONE ||
	    c->n->member[N_node_zones] == NEED_NONE || !c->n->size[S_zone] ||
	    !counters_half(c, node + c->n->member[N_node_nzones], &zones) || i >= zones ||
	    i >= ZONES_MAX)
		return 0;
	return node + c->n->member[N_node_zones] + (uint64_t)i * c->n->size[S_zone];
}

/* Sums may be temporarily negative, because CPUs may apply decrements first. */
static uint64_t counters_no_less_than_0(uint64_t u)
{
	return (int64_t)u < 0 ? 0 : u;
}

/* Per-CPU deltas that are not yet added: bytes, an element for each item. */
static uint64_t counters_diffs(const struct counters *c, uint64_t base,
			       enum need_member sets, enum need_member diff, uint64_t i)
{
	uint64_t each = 0, offset = 0, sum = 0;

	if (c->n->member[diff] == NEED_NONE || !counters_member(c, base, sets, &each))
		return 0;
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		int8_t one;

		if (atw_kernel_percpu(c->k, cpu, &offset, NULL) != ATW_OK)
			break;
		if (kmem_read(c->m, each + offset + c->n->member[diff] + i, &one, 1, NULL) == ATW_OK)
			sum += (uint64_t)(int64_t)one;
	}
	return sum;
}

/* Where items are counted: in all, and in each zone or node with what CPUs have not added. */
struct counters_of {
	enum need_symbol all;
	enum need_member own, sets, diff;
	bool zones;
};

static const struct counters_of of_zones = {
	Y_zone_stat, N_zone_stat, N_zone_diffs, N_zone_diff, true,
};
static const struct counters_of of_nodes = {
	Y_node_stat, N_node_stat, N_node_diffs, N_node_diff, false,
};

static bool counters_stat(const struct counters *c, const struct counters_of *of,
			  enum need_const id, uint64_t *ret)
{
	const uint64_t i = (uint64_t)c->n->constant[id], all = c->n->symbol[of->all];
	const uint32_t own = c->n->member[of->own];
	uint64_t sum = 0, one = 0, at;

	if (!c->n->have_const[id] || i > ITEMS_MAX ||
	    (all && !counters_word(c, all + i * 8, &sum)) ||
	    (!all && (!c->nodes || own == NEED_NONE)))
		return false;
	for (size_t k = 0; k < c->nodes; k++)
		for (unsigned z = 0; z < (of->zones ? ZONES_MAX : 1); z++) {
			at = of->zones ? counters_zone_of(c, c->node[k], z) : c->node[k];
			if (!at)
				break;
			if (!all && !counters_word(c, at + own + i * 8, &one))
				return false;
			sum += one + counters_diffs(c, at, of->sets, of->diff, i);
		}
	*ret = counters_no_less_than_0(sum);
	return true;
}

/* ---- pages of block devices: nr_blockdev_pages() ---- */

static bool counters_block_devices(const struct counters *c, uint64_t *ret)
{
	const struct needs *n = c->n;
	uint64_t sb = 0, head, at = 0, inode, mapping = 0, pages = 0, sum = 0;

	if (!counters_word(c, n->symbol[Y_blockdevs], &sb) || !sb ||
	    n->member[N_sb_inodes] == NEED_NONE ||
	    n->member[N_inode_sb_list] == NEED_NONE)
		return false;
	head = sb + n->member[N_sb_inodes];
	if (!counters_word(c, head, &at))
		return false;
	for (unsigned i = 0; at != head; i++) {
		inode = at - n->member[N_inode_sb_list];
		if (i == BLOCK_DEVICES_MAX ||
		    !counters_member(c, inode, N_inode_mapping, &mapping) ||
		    !counters_member(c, mapping, N_mapping_pages, &pages) ||
		    !counters_word(c, at, &at))
			return false;
		sum += pages;
	}
	*ret = sum;
	return true;
}

/* ---- the parts of /proc/meminfo ---- */

/* Pages in the swap cache; up to 5.12 they are counted elsewhere. */
static bool counters_swap_cache(const struct counters *c, uint64_t *ret)
{
	uint64_t total = 0;

	if (c->n->have_const[C_nr_swapcache])
		return counters_stat(c, &of_nodes, C_nr_swapcache, ret);
	*ret = 0;
	return counters_word(c, c->n->symbol[Y_swap_total], &total) && !total;
}

static void counters_cached(struct counters *c)
{
	uint64_t file = 0, swap = 0, buffers = 0;

	if (counters_swap_cache(c, &swap))
		counters_emit_pages(c, "SwapCached", swap);
	else
		return;
	if (!counters_stat(c, &of_nodes, C_nr_file, &file) ||
	    !counters_block_devices(c, &buffers))
		return;
	counters_emit_pages(c, "Buffers", buffers);
	counters_emit_pages(c, "Cached",
			    file > swap + buffers ? file - swap - buffers : 0);
}

static void counters_by_table(struct counters *c)
{
	static const struct { const char *key; enum need_const id[2]; } sums[] = {
		{ "AnonPages", { C_nr_anon } }, { "Mapped", { C_nr_mapped } },
		{ "Shmem", { C_nr_shmem } }, { "Dirty", { C_nr_dirty } },
		{ "Writeback", { C_nr_writeback } },
		{ "Slab", { C_nr_slab_rec, C_nr_slab_unrec } },
		{ "SReclaimable", { C_nr_slab_rec } }, { "SUnreclaim", { C_nr_slab_unrec } },
		{ "Active(anon)", { C_nr_active_anon } }, { "Active(file)", { C_nr_active_file } },
		{ "Inactive(anon)", { C_nr_inactive_anon } },
		{ "Inactive(file)", { C_nr_inactive_file } }, { "Unevictable", { C_nr_unevictable } },
	};
	uint64_t a = 0, b, all = 0;

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		b = 0;
		if (counters_stat(c, &of_nodes, sums[i].id[0], &a) &&
		    (!sums[i].id[1] || counters_stat(c, &of_nodes, sums[i].id[1], &b)))
			counters_emit_pages(c, sums[i].key, a + b);
	}
	/*
	 * NR_PAGETABLE is an item of zones or of nodes, by release: as an item of nodes,
	 * its index is at least the number of zone items.
	 */
	if (c->n->have_const[C_nr_tables] &&
	    (c->n->constant[C_nr_tables] < c->n->constant[C_zone_items]
		     ? counters_stat(c, &of_zones, C_nr_tables, &all)
		     : counters_stat(c, &of_nodes, C_nr_tables, &all)))
		counters_emit_pages(c, "PageTables", all);
	if (counters_stat(c, &of_zones, C_nr_mlock, &all))
		counters_emit_pages(c, "Mlocked", all);
	if (counters_stat(c, &of_nodes, C_nr_stack, &all))
		counters_emit(c, "KernelStack", all);
	if (counters_word(c, c->n->symbol[Y_poisoned], &all))
		counters_emit_pages(c, "HardwareCorrupted", counters_no_less_than_0(all));
}

static bool counters_is_huge_known(const struct counters *c)
{
	return c->n->symbol[Y_hstates] && c->n->size[S_hstate] &&
	       c->n->member[N_hstate_order] != NEED_NONE;
}

/*
 * Hugetlb pages of all sizes; *ret: in base pages. The named counters are of the default
 * size.
 */
static bool counters_huge_pages(struct counters *c, uint64_t *ret)
{
	static const struct { const char *key; enum need_member id; } names[] = {
		{ "HugePages_Total", N_hstate_all }, { "HugePages_Free", N_hstate_free },
		{ "HugePages_Rsvd", N_hstate_resv }, { "HugePages_Surp", N_hstate_surplus },
	};
	uint32_t n = 0, by_default = 0, order = 0;
	uint64_t sum = 0, one = 0;

	/* Without hugetlb there are none. */
	*ret = 0;
	if (!counters_is_huge_known(c) ||
	    !counters_half(c, c->n->symbol[Y_hstates_n], &n) || n > HSTATES_MAX)
		return false;
	if (!counters_half(c, c->n->symbol[Y_hstate_default], &by_default))
		by_default = n == 1 ? 0 : UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = c->n->symbol[Y_hstates] + (uint64_t)i * c->n->size[S_hstate];

		if (!counters_half(c, at + c->n->member[N_hstate_order], &order) ||
		    order > ORDER_MAX || !counters_member(c, at, N_hstate_all, &one) ||
		    one > UINT64_MAX >> (order + c->shift + 4))
			return false;
		sum += one << order;
		for (size_t w = 0; i == by_default && w < sizeof(names) / sizeof(names[0]); w++)
			if (counters_member(c, at, names[w].id, &one))
				counters_emit(c, names[w].key, one);
		if (i == by_default)
			counters_emit_pages(c, "Hugepagesize", (uint64_t)1 << order);
	}
	counters_emit_pages(c, "Hugetlb", sum);
	*ret = sum;
	return true;
}

/* Of all CPUs, including their deltas: percpu_counter_sum_positive(). */
static bool counters_committed(const struct counters *c, uint64_t *ret)
{
	uint64_t at = c->n->symbol[Y_committed], sum = 0, each = 0, offset = 0;
	uint32_t one = 0;
	int r = ATW_OK;

	if (!counters_member(c, at, N_percpu_counter, &sum) ||
	    !counters_member(c, at, N_percpu_counters, &each))
		return false;
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		r = atw_kernel_percpu(c->k, cpu, &offset, NULL);
		if (r != ATW_OK)
			break;
		if (counters_half(c, each + offset, &one))
			sum += (uint64_t)(int64_t)(int32_t)one;
	}
	*ret = counters_no_less_than_0(sum);
	return r == ATW_END;
}

static void counters_commit(struct counters *c, bool have_huge, uint64_t huge)
{
	uint64_t all = 0, total = 0, swap = 0, limit, kbytes = 0;
	uint32_t ratio = 0;

	if (counters_committed(c, &all))
		counters_emit_pages(c, "Committed_AS", all);
	if (!have_huge || !counters_word(c, c->n->symbol[Y_totalram], &total) ||
	    total < huge || !counters_word(c, c->n->symbol[Y_swap_total], &swap) ||
	    !counters_word(c, c->n->symbol[Y_overcommit_kbytes], &kbytes) ||
	    !counters_half(c, c->n->symbol[Y_overcommit_ratio], &ratio))
		return;
	/* vm_commit_limit() */
	limit = kbytes ? kbytes >> (c->shift - 10) : (total - huge) * ratio / 100;
	counters_emit_pages(c, "CommitLimit", limit + swap);
}

/* Free pages in per-CPU lists, which MemFree excludes. */
static void counters_waiting(struct counters *c)
{
	uint64_t sets = 0, offset = 0, zone, sum = 0;
	uint32_t count = 0;
	bool any = false;

	for (size_t i = 0; i < c->nodes; i++)
		for (unsigned z = 0; (zone = counters_zone_of(c, c->node[i], z)); z++) {
			if (!counters_member(c, zone, N_zone_pcp, &sets) ||
			    c->n->member[N_pcp_count] == NEED_NONE)
				return;
			for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
				int r = atw_kernel_percpu(c->k, cpu, &offset, NULL);

				if (r == ATW_END)
					break;
				if (r < 0 ||
				    !counters_half(
					    c, sets + offset + c->n->member[N_pcp_count],
					    &count) ||
				    count > INT32_MAX)
					return;
				sum += count;
				any = true;
			}
		}
	if (any)
		counters_emit(c, "zoneinfo.count", sum);
}

int kernel_counters(struct atw_kernel *k, counter_fn *fn, void *arg, struct atw_err *err)
{
	struct counters c = {
		.k = k, .n = kernel_needs(k), .shift = k->own.paging.page_shift, .fn = fn,
		.arg = arg, .err = err,
	};
	uint64_t free_pages = 0, huge = 0, u = 0;
	bool have_huge;
	int r = needs_check(c.n, FOR_COUNTERS, err) ?: kernel_kmem(k, &c.m, err);

	if (r < 0)
		return r;
	counters_find_nodes(&c);
	/* No kernel has zero here: such bytes were left out. */
	if (!counters_stat(&c, &of_zones, C_nr_free, &free_pages) || !free_pages)
		return atw_err_set(err, ATW_E_MISSING, "the source does not have what the kernel counts");
	counters_emit_pages(&c, "MemFree", free_pages);
	counters_cached(&c);
	counters_by_table(&c);
	if (counters_word(&c, c.n->symbol[Y_swap_total], &u))
		counters_emit_pages(&c, "SwapTotal", counters_no_less_than_0(u));
	if (counters_word(&c, c.n->symbol[Y_swap_free], &u))
		counters_emit_pages(&c, "SwapFree", counters_no_less_than_0(u));
	have_huge = counters_huge_pages(&c, &huge);
	counters_commit(&c, have_huge, huge);
	counters_waiting(&c);
	return c.r;
}
