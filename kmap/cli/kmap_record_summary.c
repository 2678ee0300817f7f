/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_record_summary.c - summary and errors at the end of a recording. */
#include <sys/wait.h>

#include "kmap_recording.h"

const char *recording_cut_by(const struct recording *r, char *buf, size_t len)
{
	if (r->failed.status < 0)
		return r->failed.text;
	if (r->running)
		return NULL;     /* a request ended it: not cut */
	if (WIFSIGNALED(r->status))
		snprintf(buf, len, "QEMU was killed by signal %d", WTERMSIG(r->status));
	else if (atomic_load(&r->s->failed))
		snprintf(buf, len, "the recorder gave up: %.*s", (int)sizeof(r->s->why), r->s->why);
	else
		return NULL;
	return buf;
}

static void record_print_sums(const struct recording *r)
{
	const struct kshare_counts *c = &r->s->count;
	struct kmap_drained d = kmap_drain_sums(r->drain);

	print_warning(r->c, "%" PRIu64 " objects, %" PRIu64 " freed; %" PRIu64 " reads and %" PRIu64
		      " writes; %" PRIu64 " lines of %" PRIu64 " bytes", c->objects, c->frees, c->reads,
		      c->writes, d.objects + d.accesses, d.bytes);
	if (!c->objects && (r->o->caches.n || r->o->sites.n) && r->refused.status == ATW_OK)
		print_warning(r->c, "no object matches --cache and --site");
	if (!r->c->verbose)
		return;
	print_warning(r->c, "events: kmalloc %" PRIu64 ", kmem_cache_alloc %" PRIu64 ", kfree %" PRIu64
		      ", kmem_cache_free %" PRIu64 ", mm_page_alloc %" PRIu64 ", mm_page_free %" PRIu64
		      ", alloc_vmap_area %" PRIu64 ", free_vmap_area_noflush %" PRIu64 "; undecodable %" PRIu64, c->event[KSHARE_KMALLOC], c->event[KSHARE_CACHE_ALLOC],
		      c->event[KSHARE_KFREE], c->event[KSHARE_CACHE_FREE], c->event[KSHARE_PAGE_ALLOC],
		      c->event[KSHARE_PAGE_FREE], c->event[KSHARE_VMAP_ALLOC],
		      c->event[KSHARE_VMAP_FREE], c->undecodable);
	print_warning(r->c, "calls: kmem_cache_alloc_bulk %" PRIu64 ", kmem_cache_free_bulk %" PRIu64
		      ", vmalloc %" PRIu64 ", vfree %" PRIu64 ", pcpu_alloc %" PRIu64 ", free_percpu %" PRIu64
		      ", memblock_alloc %" PRIu64 ", memblock_free %" PRIu64 "; without an end %" PRIu64
		      ", unreadable %" PRIu64, c->call[KSHARE_BULK_ALLOC], c->call[KSHARE_BULK_FREE],
		      c->call[KSHARE_VMALLOC], c->call[KSHARE_VFREE], c->call[KSHARE_PERCPU_ALLOC],
		      c->call[KSHARE_PERCPU_FREE], c->call[KSHARE_MEMBLOCK_ALLOC],
		      c->call[KSHARE_MEMBLOCK_FREE], c->endless, c->unread);
	print_warning(r->c, "missed frees: %" PRIu64 "; frees of unknown objects: %" PRIu64
		      "; accesses by the tracing itself, left out: %" PRIu64 "; accesses to no single object: %" PRIu64
		      "; task switches: %" PRIu64, c->overlaps, c->strange_frees, c->induced,
		      d.general, c->switches);
	print_warning(r->c, "peak: %" PRIu64 " objects, room for %" PRIu64 " edges; %" PRIu64
		      " objects written in parts; waited %" PRIu64 " times for the writer",
		      c->objects_peak, c->edges_peak, c->parts, c->waits);
}

int recording_summarize(struct recording *r, const char *cut)
{
	const struct kshare_counts *c = &r->s->count;
	struct atw_err err = { 0 };

	record_print_sums(r);
	if (r->running && r->failed.status == ATW_OK && r->refused.status == ATW_OK)
		return recording_live_summarize(r);
	if (!r->running && WIFEXITED(r->status) && WEXITSTATUS(r->status) && !r->introduced &&
	    !(r->o->bare && atomic_load(&r->s->attached)))
		atw_err_set(&err, ATW_E_IO, "%s ended with status %d before anything was recorded",
			    r->machine.argv[0], WEXITSTATUS(r->status));
	else if (!r->running && !atomic_load(&r->s->attached))
		atw_err_set(&err, ATW_E_IO, "%s did not load the recorder", r->machine.argv[0]);
	else if (r->failed.status < 0)
		atw_err_set(&err, ATW_E_IO, "%s: %s%s", recording_output(r), r->failed.text,
			    r->mended ? "; the file ends there and is marked as cut off" : "");
	else if (!r->running && !r->o->bare && !r->introduced)
		atw_err_set(&err, ATW_E_MISSING, "no kernel was found in the guest: %s",
			    r->no_kernel.status < 0 ? r->no_kernel.text : "none of its code ran");
	if (r->refused.status < 0)
		return usage_error("kmap record", "%s", r->refused.text);
	if (err.status < 0) {
		print_error(&err);
		return EXIT_SOURCE;
	}
	if (cut) {
		print_incomplete("%s: the file ends there and is marked as cut off", cut);
		return EXIT_PARTIAL;
	}
	if (c->lost_objects || c->lost_accesses)
		print_incomplete("no room for %" PRIu64 " objects and %" PRIu64
				 " accesses, which are not in the file; use a larger --mem",
				 c->lost_objects, c->lost_accesses);
	if (c->lost_calls)
		print_incomplete("no room for %" PRIu64 " calls, which are not in the file; use a larger --mem",
				 c->lost_calls);
	return kshare_lost(c) ? EXIT_PARTIAL : EXIT_COMPLETE;
}
