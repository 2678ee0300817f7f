/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/drain_own.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/io.h"

enum {
	FRAME = 8 << 20,         /* of text in a frame: what is lost at worst with a packed file */
	LAST_ROOM = 512,         /* for a line that says why there is no more */
};

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

/* ---- bytes ---- */

/* Behind the last of the first `n` bytes that no access to something before follows; 0: none. */
static bool drain_is_of_object(const struct kmap_drain *d, size_t at)
{
	/* Of comments, "# line", "# used", "# mark" and "# task" are. */
	return d->buffer[at] == ' ' ||
	       (d->buffer[at] == '#' && (at + 2 >= d->used || strchr("lumt", d->buffer[at + 2])));
}

static size_t drain_last_whole(const struct kmap_drain *d, size_t n)
{
	const char *nl;

	while (n && (nl = memrchr(d->buffer, '\n', n))) {
		size_t next = (size_t)(nl - d->buffer) + 1;

		if (next < d->used && !drain_is_of_object(d, next))
			return next;
		n = next - 1;
	}
	return 0;
}

/* The first `n` bytes are in the file, where the disk may end at any byte. */
static void drain_note_written(struct kmap_drain *d, size_t n)
{
	off_t at = d->start + (off_t)d->sum.bytes;
	size_t whole = n > LAST_ROOM ? drain_last_whole(d, n - LAST_ROOM) : 0;

	if (!whole && d->whole_soon && at + (off_t)n - d->whole_soon >= LAST_ROOM)
		d->whole = d->whole_soon;
	else if (whole)
		d->whole = at + (off_t)whole;
	if (d->whole_soon <= d->whole) {
		whole = drain_last_whole(d, n);
		d->whole_soon = whole ? at + (off_t)whole : 0;
	}
}

/* What could not be written stays, and nothing is written twice. */
static int drain_write_plainly(struct kmap_drain *d, struct atw_err *err)
{
	size_t n = io_write(d->o.fd, d->buffer, d->used);
	int r = n < d->used ? atw_err_set(err, ATW_E_IO, "writing: %s", strerror(errno)) : ATW_OK;

	if (n)
		drain_note_written(d, n);
	d->used -= n;
	d->sum.bytes += n;
	memmove(d->buffer, d->buffer + n, d->used);
	return r;
}

static int drain_put_out(struct kmap_drain *d, struct atw_err *err)
{
	int r;

	if (!d->pack)
		return drain_write_plainly(d, err);
	r = d->used ? pack_write(d->pack, d->buffer, d->used, err) : ATW_OK;
	if (r < 0)
		return r;
	d->sum.bytes += d->used;
	d->in_frame += d->used;
	d->used = 0;
	return r;
}

int kmap_drain_flush(struct kmap_drain *d, struct atw_err *err)
{
	int r = drain_put_out(d, err);

	if (r < 0 || !d->pack || !d->in_frame)
		return r;
	r = pack_end(d->pack, err);
	pack_close(d->pack);
	d->pack = NULL;
	d->in_frame = 0;
	if (r < 0)
		return r;
	d->whole = lseek(d->o.fd, 0, SEEK_CUR);
	return pack_open(d->o.fd, d->o.level, &d->pack, err);
}

static struct atw_blob drain_without(const char *s, size_t max, const char *wrong,
				     char buf[KMAP_LINE])
{
	size_t len = strnlen(s, max);

	for (size_t i = 0; i < len; i++)
		buf[i] = strchr(wrong, s[i]) ? '?' : s[i];
	return (struct atw_blob){ buf, len };
}

struct atw_blob drain_one_line(const char *s, size_t max, char buf[KMAP_LINE])
{
	return drain_without(s, max, "\n", buf);
}

/* Commas in front of a cache's name are the task's. */
static struct atw_blob drain_one_field(const char *s, size_t max, char buf[KMAP_LINE])
{
	return drain_without(s, max, "\n,", buf);
}

int drain_put(struct kmap_drain *d, const struct kmap_record *rec, struct atw_err *err)
{
	int r = ATW_OK;

	if (sizeof(d->buffer) - d->used < KMAP_LINE) {
		/* Between objects a frame may end. */
		r = rec->kind == KMAP_OBJECT && d->in_frame > FRAME
			    ? kmap_drain_flush(d, err)
			    : drain_put_out(d, err);
		if (r < 0)
			return r;
	}
	d->used += kmap_write(rec, d->o.version, d->buffer + d->used,
			      sizeof(d->buffer) - d->used);
	return r;
}

int kmap_drain_begin(struct kmap_drain *d, struct atw_err *err)
{
	return kmap_drain_header(d, err, "version", "1");
}

int kmap_drain_header(struct kmap_drain *d, struct atw_err *err, const char *key,
		      const char *fmt, ...)
{
	struct kmap_record rec = { .kind = KMAP_HEADER };
	char value[KMAP_LINE], line[KMAP_LINE];
	va_list ap;

	if (d->o.version != KMAP_V4)
		return ATW_OK;
	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	rec.u.header.key = (struct atw_blob){ key, strlen(key) };
	rec.u.header.value = drain_one_line(value, sizeof(line), line);
	return drain_put(d, &rec, err);
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

void kmap_drain_add_up(const struct kmap_drain *d, const struct kshare_object *o,
		       struct kmap_drained *sum)
{
	uint32_t n = drain_edges_of(d, o);

	for (uint32_t i = 0; i < n; i++)
		if (drain_is_access(kshare_edge(d->s, o->table + i)))
			drain_add_up(o, kshare_edge(d->s, o->table + i), sum);
}

/* Those of generations from `first` to `last`. */
static int drain_write_edges_of(struct kmap_drain *d, const struct kshare_object *o,
				unsigned first, unsigned last, struct atw_err *err)
{
	struct kmap_record rec = { .kind = KMAP_ACCESS };
	uint32_t nsites = drain_sites_of(d);
	uint32_t n = drain_edges_of(d, o);
	int r = ATW_OK;

	for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
		const struct kshare_edge e = *kshare_edge(d->s, o->table + i);

		if (!e.site || e.site >= nsites || kshare_generation(e.pid) < first ||
		    kshare_generation(e.pid) > last)
			continue;
		r = drain_put_task(d, e.pid, err);
		if (r < 0)
			return r;
		rec.u.access = (struct kmap_access){
			.ip = kmap_drain_unmoved(d, *kshare_site(d->s, e.site)), .pid = kshare_pid(e.pid),
			.writes = e.writes, .reads = e.reads, .has = KMAP_HAS_PID,
		};
		r = drain_put(d, &rec, err);
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
	unsigned last = 0;
	int r = ATW_OK;

	for (uint32_t i = 0; i < n; i++) {
		unsigned g = kshare_generation(kshare_edge(d->s, o->table + i)->pid);

		last = g > last ? g : last;
	}
	for (unsigned g = 0; g <= last && g < ALONE && r == ATW_OK; g++)
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

static int drain_write_object(struct kmap_drain *d, uint32_t id, struct atw_err *err)
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

int kmap_drain_rest(struct kmap_drain *d, struct atw_err *err)
{
	uint32_t n = atomic_load_explicit(&d->s->nobjects, memory_order_acquire);
	uint64_t most = d->sum.accesses + d->s->at.max_edges;
	int r = ATW_OK;

	for (uint32_t id = 1; id < n && id < d->s->at.max_objects && r == ATW_OK; id++) {
		const struct kshare_object *o = kshare_object(d->s, id);

		/* Skip objects that have neither an allocation nor an access. */
		if (!(o->flags & (KSHARE_LIVE | KSHARE_GENERAL)) || o->flags & KSHARE_PART ||
		    (!o->edges && (o->flags & KSHARE_GENERAL || o->type == KSHARE_T_GLOBAL)))
			continue;
		r = drain_write_object(d, id, err);
		/* Each edge is one object's. */
		if (r == ATW_OK && d->sum.accesses > most)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "the recorder's objects have more accesses than there is room for");
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

bool kmap_drain_mend(struct kmap_drain *d, const char *cut)
{
	bool packed = d->o.level;

	if (d->start < 0 || ftruncate(d->o.fd, d->whole) < 0 ||
	    lseek(d->o.fd, d->whole, SEEK_SET) < 0)
		return false;
	pack_close(d->pack);
	d->pack = NULL;
	d->used = 0;
	if (packed && pack_open(d->o.fd, d->o.level, &d->pack, NULL) < 0)
		return false;
	if (!packed)
		d->sum.bytes = (uint64_t)(d->whole - d->start);
	if (d->whole == d->start && kmap_drain_begin(d, NULL) < 0)
		return false;
	return kmap_drain_end(d, cut, NULL) == ATW_OK;
}
