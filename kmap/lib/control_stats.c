/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_stats.c - show_stats, in the order and the words of Memorizer's, for its users
 * and their scripts. What is not counted here is n/a.
 */
#include "kmap/lib/control_own.h"

static const enum kshare_type single[] = {
	KSHARE_T_STACK, KSHARE_T_GLOBAL, KSHARE_T_KMALLOC, KSHARE_T_CACHE, KSHARE_T_VMALLOC,
	KSHARE_T_PAGES, KSHARE_T_BULK, KSHARE_T_PERCPU, KSHARE_T_MEMBLOCK,
};

static void control_stats_line(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, "  %-14s%16" PRIu64 "\n", name, n);
}

static void control_stats_unknown(FILE *f, const char *name)
{
	fprintf(f, "  %-14s%16s\n", name, "n/a");
}

/* What was written down, and what is still here; of that, single objects that were allocated. */
static struct kmap_drained control_stats_all_touched(const struct kmap_controls *c,
						     uint64_t *ret_live)
{
	struct kmap_drained sum = kmap_drain_sums(c->d);
	uint64_t live = 0;
	uint32_t n = atomic_load(&c->s->nobjects);

	for (uint32_t id = 1; id < n && id < c->s->at.max_objects; id++) {
		const struct kshare_object here = *kshare_object(c->s, id), *o = &here;

		if (!(o->flags & (KSHARE_LIVE | KSHARE_GENERAL)) || o->flags & KSHARE_PART)
			continue;
		live += !(o->flags & KSHARE_GENERAL) && o->type != KSHARE_T_GLOBAL;
		kmap_drain_add_up(c->d, o, &sum);
	}
	*ret_live = live;
	return sum;
}

static void control_stats_accesses(FILE *f, const struct kshare_counts *n,
				   const struct kmap_drained *sum)
{
	uint64_t hit = 0;

	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		hit += sum->touched[single[i]];
	fprintf(f, "------- Memory Accesses -------\n");
	control_stats_line(f, "Tracked:", hit);
	control_stats_line(f, "Missing:", sum->general);
	control_stats_line(f, "Induced:", n->induced);
	control_stats_line(f, "Disabled:", n->disabled + n->unfiltered);
	fprintf(f, "    ---------------------------\n");
	control_stats_line(f, "Total Obs:",
			   hit + sum->general + n->induced + n->disabled + n->unfiltered);
	fprintf(f, "------- Per Object Access Count (hit/miss) -------\n");
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		fprintf(f, "   %-15s: %16" PRIu64 ", %16d\n", kmap_type_name(single[i]),
			sum->touched[single[i]], 0);
	fprintf(f, "   %-15s: %16d, %16" PRIu64 "\n", "NONE", 0, sum->general);
	fprintf(f, "    ---------------------------\n");
	fprintf(f, "   %-15s: %16" PRIu64 ", %16" PRIu64 " --- %" PRIu64 "%% hit rate\n", "Total", hit,
		sum->general, hit ? 100 * hit / (hit + sum->general) : 0);
	fprintf(f, "------- Per Object Bytes Accessed (hit/miss) -------\n");
	fprintf(f, "   %-15s: %16s, %16s\n", "Total", "n/a", "n/a");
}

static void control_stats_objects(FILE *f, const struct kshare_counts *n, bool by_site,
				  uint64_t live)
{
	fprintf(f, "------- Tracked Memory Allocations -------\n");
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		fprintf(f, "   %-15s: %16" PRIu64 "\n", kmap_type_name(single[i]),
			n->allocs[single[i]]);
	fprintf(f, "        ------\n");
	control_stats_line(f, "Total:", n->objects);
	if (by_site) {
		/* One that stands for others is never over. */
		control_stats_unknown(f, "Frees:");
		control_stats_unknown(f, "Live Now:");
	} else {
		control_stats_line(f, "Frees:", n->objects - live);
		control_stats_line(f, "Live Now:", live);
	}
	fprintf(f, "------- Missing Allocs -------\n");
	control_stats_line(f, "Mem disabled:", n->disabled_allocs);
	control_stats_unknown(f, "Allocs(InMem):");
	control_stats_unknown(f, "Frees(InMem):");
	control_stats_line(f, "Frees(NoObj):", n->strange_frees);
	control_stats_line(f, "kobj fails:", n->lost_objects);
	fprintf(f, "------- Internal Allocs -------\n");
	fprintf(f, "  Live KOBJs: %10" PRIu64 " * %zu B = %6" PRIu64 " MB\n", n->objects_used,
		sizeof(struct kshare_object), n->objects_used * sizeof(struct kshare_object) >> 20);
	fprintf(f, "  Total Edges: %10" PRIu64 " * %zu B = %6" PRIu64 " MB\n", n->edges_used,
		sizeof(struct kshare_edge), n->edges_used * sizeof(struct kshare_edge) >> 20);
	fprintf(f, "------- Memorizer LT Stats -------\n");
	fprintf(f, "  L3: n/a\n  L2: n/a\n  L1: n/a\n");
}

char *control_stats(struct kmap_controls *c)
{
	uint64_t live;
	struct kmap_drained sum = control_stats_all_touched(c, &live);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	bool failed;

	if (!f)
		return NULL;
	control_stats_accesses(f, &c->s->count, &sum);
	control_stats_objects(f, &c->s->count, c->s->by_site, live);
	failed = ferror(f);
	if (fclose(f) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
