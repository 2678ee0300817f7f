/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_rows.c - kmap as two tables, allocations and accesses, joined by the time of
 * allocation; a table of the variables of the kernel; and show_stats, with the words of
 * Memorizer's, for its users and their scripts.
 */
#include <errno.h>

#include "base/text.h"
#include "kmap/lib/control_own.h"

enum {
	IN = KMAP_LOOK + KMAP_LINE,
	AT_ONCE = 1 << 16,               /* bytes of rows that are made before any are handed out */
	NAME = 512,                      /* no variable's is longer */
};

/*
 * Rows are made from kmap's text on demand. A reader that seeks backwards gets the same
 * text again, generated from its beginning: rare, but allowed.
 */
struct control_rows {
	pthread_mutex_t lock;            /* of one that is open several threads may read */
	bool accesses;
	control_source source;
	void *arg;
	uint64_t freed;                  /* bytes of kmap up to what lives */
	struct kmap_reader reader;
	uint64_t in_at;                  /* where in kmap `in` begins */
	size_t in_len, in_pos;
	bool in_end;
	struct buf out;
	uint64_t out_at;                 /* where in the rows that begins */
	uint64_t alloc_time;             /* of the object that accesses are of */
	char in[IN];
};

/* Memorizer's; its rows of the first have a field more, the task, before the slab. */
static const char *const heads[] = {
	"alloc_ip,pid,ptr,size,alloc_serial,free_serial,free_ip,type,slab,new_type\n",
	"alloc_index,access_ip,pid,writes,reads\n",
};

int control_rows_open(bool accesses, uint64_t freed, control_source source, void *arg,
		      struct control_rows **ret)
{
	struct control_rows *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	t->accesses = accesses;
	t->freed = freed;
	t->source = source;
	t->arg = arg;
	kmap_init(&t->reader);
	buf_str(&t->out, heads[accesses]);
	*ret = t;
	return 0;
}

void control_rows_close(struct control_rows *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	buf_deinit(&t->out);
	free(t);
}

static void control_rows_begin_again(struct control_rows *t)
{
	kmap_init(&t->reader);
	t->in_at = t->out_at = 0;
	t->in_len = t->in_pos = t->out.len = 0;
	t->in_end = false;
	buf_str(&t->out, heads[t->accesses]);
}

/* ---- rows ---- */

static void control_rows_name(struct buf *b, struct atw_blob of)
{
	char text[KMAP_LINE];

	if (!of.data)
		return;
	memcpy(text, of.data, of.len);
	text[of.len] = '\0';
	text_csv(b, text);
}

/*
 * What was freed is in front; what has no free there is a part of an object, which
 * comes again behind it.
 */
static void control_rows_object(struct control_rows *t, const struct kmap_object *o)
{
	t->alloc_time = o->alloc_time;
	if (t->accesses || (!o->free_time && t->in_at + t->in_pos <= t->freed))
		return;
	buf_printf(&t->out, "%016" PRIx64 ",%" PRId64 ",%016" PRIx64 ",%" PRIu64 ",%" PRIu64
		   ",%" PRIu64 ",%016" PRIx64 ",", o->alloc_ip, o->pid, o->va, o->size,
		   o->alloc_time, o->free_time, o->free_ip);
	control_rows_name(&t->out, o->type);
	buf_char(&t->out, ',');
	control_rows_name(&t->out, o->cache);
	buf_char(&t->out, ',');
	control_rows_name(&t->out, o->new_type);
	buf_char(&t->out, '\n');
}

static void control_rows_access(struct control_rows *t, const struct kmap_access *a)
{
	if (t->accesses)
		buf_printf(&t->out, "%" PRIu64 ",%016" PRIx64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n",
			   t->alloc_time, a->ip, a->pid, a->writes, a->reads);
}

static int control_rows_refill(struct control_rows *t)
{
	ssize_t n;

	memmove(t->in, t->in + t->in_pos, t->in_len - t->in_pos);
	t->in_at += t->in_pos;
	t->in_len -= t->in_pos;
	t->in_pos = 0;
	n = t->source(t->arg, t->in + t->in_len, IN - t->in_len, t->in_at + t->in_len);
	if (n < 0)
		return (int)n;
	t->in_end = !n;
	t->in_len += (size_t)n;
	return 0;
}

/* One more record of kmap; *end: there is none. */
static int control_rows_take(struct control_rows *t, bool *end)
{
	struct kmap_record rec;
	int r = kmap_next(&t->reader, (struct atw_blob){ t->in, t->in_len }, t->in_end, &t->in_pos,
			  &rec, NULL);

	*end = r == ATW_END && t->in_end;
	if (r == ATW_END)
		return *end ? 0 : control_rows_refill(t);
	/* All of it was written here. */
	if (r < 0)
		return -EIO;
	if (rec.kind == KMAP_OBJECT)
		control_rows_object(t, &rec.u.object);
	else if (rec.kind == KMAP_ACCESS)
		control_rows_access(t, &rec.u.access);
	return t->out.failed ? -ENOMEM : 0;
}

/* With the lock. */
static ssize_t control_rows_read_rows(struct control_rows *t, char *buf, size_t len,
				      uint64_t at)
{
	size_t done = 0;
	bool end = false;

	if (at < t->out_at)
		control_rows_begin_again(t);
	while (done < len) {
		uint64_t in = at + done - t->out_at;
		size_t n;
		int r;

		if (in < t->out.len) {
			n = t->out.len - (size_t)in < len - done ? t->out.len - (size_t)in : len - done;
			memcpy(buf + done, t->out.data + in, n);
			done += n;
			continue;
		}
		if (end)
			break;
		t->out_at += t->out.len;
		t->out.len = 0;
		for (r = 0; r == 0 && !end && t->out.len < AT_ONCE;)
			r = control_rows_take(t, &end);
		if (r < 0)
			return r;
	}
	return (ssize_t)done;
}

ssize_t control_rows_read(struct control_rows *t, char *buf, size_t len, uint64_t at)
{
	ssize_t n;

	pthread_mutex_lock(&t->lock);
	n = control_rows_read_rows(t, buf, len, at);
	pthread_mutex_unlock(&t->lock);
	return n;
}

/* ---- variables ---- */

/* Its fields are parted by blanks, and no kernel has one in a name. */
static void control_rows_variable(struct buf *b, const char *s)
{
	if (!*s)
		buf_str(b, "(null)");
	for (size_t i = 0; i < NAME && s[i]; i++)
		buf_char(b, s[i] == ' ' || s[i] == '\n' ? '?' : s[i]);
}

/* "%lx %lx %ld": from, to, how often. */
char *control_graph(const struct kmap_controls *c)
{
	struct buf b = { 0 };

	buf_str(&b, "");
	for (uint32_t i = 0; i < c->s->at.max_calls; i++) {
		const struct kshare_pair *call = kshare_pair(c->s, i);

		if (call->from && call->count)
			buf_printf(&b, "%" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				   kmap_drain_unmoved(c->d, call->from),
				   kmap_drain_unmoved(c->d, call->to), call->count);
	}
	if (b.failed) {
		buf_deinit(&b);
		return NULL;
	}
	return b.data;
}

char *control_globals(const struct kmap_controls *c)
{
	const struct kshare_kernel *k = &c->s->kernel;
	uint32_t end = k->globals + k->nglobals;
	struct buf b = { 0 };

	buf_str(&b, "");
	for (uint32_t id = k->globals; id < end && id < c->s->at.max_objects; id++) {
		const struct kshare_object *o = kshare_object(c->s, id);

		buf_printf(&b, "%016" PRIx64 " %" PRIu64 " ", kmap_drain_unmoved(c->d, o->va), o->size);
		control_rows_variable(&b, o->name < c->s->at.max_names
						  ? kshare_name(c->s, o->name)
						  : "");
		buf_str(&b, " (null)\n");
	}
	if (b.failed) {
		buf_deinit(&b);
		return NULL;
	}
	return b.data;
}

/* ---- show_stats: what is not counted here is n/a ---- */

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
