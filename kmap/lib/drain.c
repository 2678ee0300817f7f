/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drain.c - objects and what accessed them, as lines of a KMAP. */
#include "kmap/lib/drain_own.h"

#include <stdarg.h>
#include <unistd.h>

static const char *const types[] = {
	[KSHARE_UFO_HEAP] = "UFO_HEAP", [KSHARE_UFO_GLOBAL] = "UFO_GLOBAL",
	[KSHARE_UFO_NONE] = "UFO_NONE", [KSHARE_UFO_USER] = "USER",
	[KSHARE_T_KMALLOC] = "KMALLOC", [KSHARE_T_CACHE] = "KMEM_CACHE",
	[KSHARE_T_PAGES] = "ALLOC_PAGES", [KSHARE_T_VMALLOC] = "VMALLOC",
	[KSHARE_T_STACK] = "STACK_PAGE", [KSHARE_T_GLOBAL] = "GLOBAL",
	[KSHARE_T_BULK] = "KMEM_CACHE_BULK", [KSHARE_T_PERCPU] = "GEN_HEAP",
	[KSHARE_T_MEMBLOCK] = "MEMBLOCK",
};

const char *kmap_type_name(enum kshare_type type)
{
	return type < ARRAY_SIZE(types) && types[type] ? types[type] : "NONE";
}

int kmap_drain_open(struct kshare *s, const struct kmap_drain_opts *o, struct kmap_drain **ret,
		    struct atw_err *err)
{
	struct kmap_drain *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return atw_err_nomem(err);
	d->s = s;
	d->o = *o;
	d->start = d->whole = lseek(o->fd, 0, SEEK_CUR);
	kmap_table_init(&d->tasks, sizeof(struct drain_name));
	kmap_table_init(&d->said, sizeof(struct drain_said));
	r = o->level ? pack_open(o->fd, o->level, &d->pack, err) : ATW_OK;
	if (r < 0) {
		free(d);
		return r;
	}
	*ret = d;
	return ATW_OK;
}

void kmap_drain_close(struct kmap_drain *d)
{
	if (!d)
		return;
	pack_close(d->pack);
	kmap_named_close(&d->named);
	kmap_table_deinit(&d->tasks);
	kmap_table_deinit(&d->said);
	free(d);
}

void kmap_drain_slide(struct kmap_drain *d, uint64_t slide)
{
	d->o.slide = slide;
}

struct kmap_drained kmap_drain_sums(const struct kmap_drain *d)
{
	return d->sum;
}

/* ---- lines ---- */

static struct atw_blob drain_without(const char *s, size_t max, char wrong, char buf[KMAP_LINE])
{
	size_t len = strnlen(s, max);

	for (size_t i = 0; i < len; i++)
		buf[i] = s[i] == '\n' || s[i] == wrong ? '?' : s[i];
	return (struct atw_blob){ buf, len };
}

struct atw_blob drain_one_line(const char *s, size_t max, char buf[KMAP_LINE])
{
	return drain_without(s, max, '\n', buf);
}

/* Commas in front of a cache's name are the task's. */
static struct atw_blob drain_one_field(const char *s, size_t max, char buf[KMAP_LINE])
{
	return drain_without(s, max, ',', buf);
}

int kmap_drain_begin(struct kmap_drain *d, struct atw_err *err)
{
	return kmap_drain_header(d, err, "version", "1");
}

int drain_put_header(struct kmap_drain *d, const char *key, const char *value, struct atw_err *err)
{
	struct kmap_record rec = { .kind = KMAP_HEADER };
	char line[KMAP_LINE];

	if (d->o.version != KMAP_V4)
		return ATW_OK;
	rec.u.header.key = (struct atw_blob){ key, strlen(key) };
	rec.u.header.value = drain_one_line(value, sizeof(line), line);
	return drain_put(d, &rec, err);
}

int kmap_drain_header(struct kmap_drain *d, struct atw_err *err, const char *key,
		      const char *fmt, ...)
{
	char value[KMAP_LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	return drain_put_header(d, key, value, err);
}

const struct kmap_drain_opts *kmap_drain_how(const struct kmap_drain *d)
{
	return &d->o;
}

off_t kmap_drain_at(const struct kmap_drain *d, off_t *headers)
{
	off_t at = d->last_line ? d->last_line : (off_t)(d->sum.bytes + d->used);

	if (d->start < 0 || d->pack)
		return -1;
	*headers = d->start + (d->sum.objects ? d->headers : at);
	return d->start + at;
}

/* ---- objects ---- */

uint64_t kmap_drain_unmoved(const struct kmap_drain *d, uint64_t va)
{
	const struct kshare_kernel *k = &d->s->kernel;

	return va >= k->image_first && va <= k->image_last ? va - d->o.slide : va;
}

static void drain_add_up(const struct kshare_object *o, const struct kshare_edge *e,
			 struct kmap_drained *sum)
{
	uint64_t n = (uint64_t)e->writes + e->reads;

	if (o->flags & KSHARE_GENERAL)
		sum->general += n;
	else if (o->type < KSHARE_TYPES)
		sum->touched[o->type] += n;
}

static bool drain_is_access(const struct kshare_edge *e)
{
	return e->site && e->site != KSHARE_LINE;
}

void drain_add_sums(struct kmap_drained *to, const struct kmap_drained *more)
{
	to->bytes += more->bytes;
	to->objects += more->objects;
	to->accesses += more->accesses;
	to->general += more->general;
	for (unsigned i = 0; i < KSHARE_TYPES; i++)
		to->touched[i] += more->touched[i];
}

void kmap_drain_add_up(const struct kmap_drain *d, const struct kshare_object *o,
		       struct kmap_drained *sum)
{
	uint32_t n = drain_edges_of(d, o);

	for (uint32_t i = 0; i < n; i++)
		if (drain_is_access(kshare_edge(d->s, o->table + i)))
			drain_add_up(o, kshare_edge(d->s, o->table + i), sum);
}

static int drain_write_edge(struct kmap_drain *d, const struct kshare_edge *e,
			    struct kmap_record *rec, struct atw_err *err)
{
	struct kmap_access *a = &rec->u.access;
	int r = drain_put_task(d, e->pid, err);

	if (r < 0)
		return r;
	a->ip = kmap_drain_unmoved(d, *kshare_site(d->s, e->site));
	a->pid = kshare_pid(e->pid);
	a->writes = e->writes;
	a->reads = e->reads;
	return drain_put(d, rec, err);
}

/* Those of generations from `first` to `last`. */
static int drain_write_edges_of(struct kmap_drain *d, const struct kshare_object *o,
				unsigned first, unsigned last, struct atw_err *err)
{
	struct kmap_record rec = { .kind = KMAP_ACCESS, .u.access.has = KMAP_HAS_PID };
	uint32_t nsites = drain_sites_of(d);
	uint32_t n = drain_edges_of(d, o);
	int r = ATW_OK;

	for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
		const struct kshare_edge e = *kshare_edge(d->s, o->table + i);
		unsigned generation = kshare_generation(e.pid);

		if (!e.site || e.site >= nsites || generation < first || generation > last)
			continue;
		r = drain_write_edge(d, &e, &rec, err);
		d->sum.accesses++;
		drain_add_up(o, &e, &d->sum);
	}
	return r;
}

/* The first few generations one by one: names need not be said again and again. */
enum { ALONE = 4 };

static int drain_write_edges(struct kmap_drain *d, const struct kshare_object *o,
			     struct atw_err *err)
{
	uint32_t n = drain_edges_of(d, o);
	unsigned last = 0, alone = 0;    /* `alone`: a bit for each of those that there is */
	int r = ATW_OK;

	for (uint32_t i = 0; i < n; i++) {
		const struct kshare_edge *e = kshare_edge(d->s, o->table + i);
		unsigned g = kshare_generation(e->pid);

		last = g > last ? g : last;
		alone |= e->site && g < ALONE ? 1u << g : 0;
	}
	for (unsigned g = 0; alone >> g && r == ATW_OK; g++)
		if (alone >> g & 1)
			r = drain_write_edges_of(d, o, g, g, err);
	return r < 0 || last < ALONE ? r : drain_write_edges_of(d, o, ALONE, last, err);
}

/* The accessed lines of the object and the times of access; behind its accesses. */
static int drain_write_detail(struct kmap_drain *d, const struct kshare_object *o,
			      struct atw_err *err)
{
	struct kmap_record rec = { .kind = KMAP_LINE_HEAT };
	uint32_t n = d->s->detail & KSHARE_LINES ? drain_edges_of(d, o) : 0;
	int r = ATW_OK;

	for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
		const struct kshare_edge *e = kshare_edge(d->s, o->table + i);

		if (e->site != KSHARE_LINE)
			continue;
		rec.u.access = (struct kmap_access){
			.line = (uint32_t)e->pid, .writes = e->writes, .reads = e->reads,
			.has = KMAP_HAS_LINE,
		};
		r = drain_put(d, &rec, err);
	}
	if (r < 0 || !o->first_use || o->last_use < o->first_use)
		return r;
	rec.kind = KMAP_USED;
	rec.u.used.first = o->first_use;
	rec.u.used.last = o->last_use;
	return drain_put(d, &rec, err);
}

static int drain_write_marks(struct kmap_drain *d, const struct kshare_object *o,
			     struct atw_err *err)
{
	bool before = o->flags & KSHARE_BEFORE || o->type == KSHARE_T_GLOBAL;
	struct kmap_record rec = {
		.kind = KMAP_MARK,
		.u.marks = (before ? KMAP_BEFORE : 0) | (o->flags & KSHARE_WATCHED ? KMAP_WATCHED : 0),
	};

	return rec.u.marks && d->o.version == KMAP_V4 ? drain_put(d, &rec, err) : ATW_OK;
}

int drain_write_object(struct kmap_drain *d, uint32_t id, struct atw_err *err)
{
	/* The copy is checked and used: another process may write to the original. */
	const struct kshare_object here = *kshare_object(d->s, id), *o = &here;
	const char *name = o->name < d->s->at.max_names ? kshare_name(d->s, o->name) : "";
	const char *type = kmap_type_name(o->type);
	struct kmap_record rec = { .kind = KMAP_OBJECT };
	char task[KMAP_LINE], cache[KMAP_LINE];
	int r = ATW_OK;

	if (!d->sum.objects)
		d->headers = (off_t)(d->sum.bytes + d->used);
	if (d->named.of)
		r = drain_name_code(d, o, err);
	if (r < 0)
		return r;
	rec.u.object = (struct kmap_object){
		.alloc_ip = kmap_drain_unmoved(d, o->alloc_ip),
		.va = kmap_drain_unmoved(d, o->va), .size = o->size,
		.alloc_time = o->alloc_time,
		.free_time = o->flags & KSHARE_PART ? 0 : o->free_time,
		.free_ip = o->flags & KSHARE_PART ? 0 : kmap_drain_unmoved(d, o->free_ip),
		.pid = o->pid,
		.has = KMAP_HAS_TYPE | KMAP_HAS_CACHE | KMAP_HAS_NEW_TYPE,
		.type = {type, strlen(type)},
		.task = drain_one_line(o->comm, sizeof(o->comm), task),
		.cache = drain_one_field(*name ? name : "NULL", 256, cache),
		.new_type = {"NONE", 4},
	};
	r = drain_put(d, &rec, err);
	d->sum.objects++;
	if (r == ATW_OK)
		r = drain_write_edges(d, o, err);
	if (r == ATW_OK && d->s->detail)
		r = drain_write_detail(d, o, err);
	return r < 0 ? r : drain_write_marks(d, o, err);
}

int kmap_drain_some(struct kmap_drain *d, unsigned max, unsigned *ret_n, struct atw_err *err)
{
	unsigned n = 0;
	uint32_t id;
	int r = ATW_OK;

	if (atomic_load(&d->s->done.head) - atomic_load(&d->s->done.tail) > KSHARE_QUEUE)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the recorder handed over more objects than there is room for");
	while (n < max && r == ATW_OK && (id = kshare_take(&d->s->done))) {
		if (id >= d->s->at.max_objects)
			return atw_err_set(err, ATW_E_DAMAGED, "the recorder handed over object %u", id);
		r = drain_write_object(d, id, err);
		n++;
		/* There is always room: what is on its way was taken from there. */
		kshare_put(&d->s->back, id);
	}
	*ret_n = n;
	return r;
}

int drain_too_many(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_DAMAGED,
			   "the recorder's objects have more accesses than there is room for");
}

/* Not if it has neither an allocation nor an access. */
bool drain_is_left(const struct kmap_drain *d, uint32_t id)
{
	const struct kshare_object *o = kshare_object(d->s, id);

	return o->flags & (KSHARE_LIVE | KSHARE_GENERAL) && !(o->flags & KSHARE_PART) &&
	       (o->edges || !(o->flags & KSHARE_GENERAL || o->type == KSHARE_T_GLOBAL));
}

int kmap_drain_rest(struct kmap_drain *d, struct atw_err *err)
{
	uint32_t n = atomic_load_explicit(&d->s->nobjects, memory_order_acquire);
	uint64_t most = d->sum.accesses + d->s->at.max_edges;
	int r = ATW_OK;

	n = n < d->s->at.max_objects ? n : d->s->at.max_objects;
	if (d->o.jobs)
		return drain_rest_by_jobs(d, n, most, err);
	for (uint32_t id = 1; id < n && r == ATW_OK; id++) {
		if (!drain_is_left(d, id))
			continue;
		r = drain_write_object(d, id, err);
		/* Each edge is one object's. */
		if (r == ATW_OK && d->sum.accesses > most)
			return drain_too_many(err);
	}
	return r;
}

int kmap_drain_calls(struct kmap_drain *d, struct atw_err *err)
{
	struct kmap_record rec = { .kind = KMAP_CALL };
	int r = ATW_OK;

	for (uint32_t i = 0; i < d->s->at.max_calls && r == ATW_OK; i++) {
		const struct kshare_pair *c = kshare_pair(d->s, i);

		if (!c->from || !c->count)
			continue;
		rec.u.call = (struct kmap_call){
			kmap_drain_unmoved(d, c->from), kmap_drain_unmoved(d, c->to), c->count,
		};
		r = drain_put(d, &rec, err);
	}
	return r;
}

int kmap_drain_end(struct kmap_drain *d, const char *cut, struct atw_err *err)
{
	const struct kshare_counts *c = &d->s->count;
	struct kmap_record rec = { .kind = KMAP_END };
	int r = ATW_OK;

	d->last_line = (off_t)(d->sum.bytes + d->used);
	if (cut) {
		r = kmap_drain_header(d, err, "cut", "%s", cut);
	} else if (d->o.version == KMAP_V4) {
		rec.u.end.objects = d->o.objects + d->sum.objects;
		rec.u.end.accesses = d->o.accesses + d->sum.accesses;
		rec.u.end.lost = kshare_lost(c);
		r = drain_put(d, &rec, err);
	}
	if (r == ATW_OK)
		r = drain_put_out(d, err);
	return r < 0 || !d->pack ? r : pack_end(d->pack, err);
}
