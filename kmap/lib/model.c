/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model.c - a KMAP's records, added up. */
#include "kmap/lib/model.h"

#include "base/bytes.h"
#include "base/num.h"
#include "kmap/lib/objects.h"

enum { LOWEST_CODE = 4096 };             /* smaller alloc_ips are codes of Memorizer's */

int kmap_model_open(size_t top, struct kmap_model **ret, struct atw_err *err)
{
	struct kmap_model *m = calloc(1, sizeof(*m));

	if (!m)
		return atw_err_nomem(err);
	m->first = UINT64_MAX;
	m->top = top ? top : KMAP_TOP;
	kmap_table_init(&m->cache, sizeof(struct kmap_cache));
	kmap_table_init(&m->time, sizeof(struct kmap_time));
	kmap_table_init(&m->site, sizeof(struct kmap_site));
	kmap_table_init(&m->code, sizeof(struct kmap_code));
	kmap_table_init(&m->edge, sizeof(struct kmap_edge));
	kmap_table_init(&m->call, sizeof(struct kmap_call_edge));
	kmap_table_init(&m->line, sizeof(struct kmap_line));
	kmap_table_init(&m->process, sizeof(struct kmap_process));
	kmap_table_init(&m->touch, sizeof(struct kmap_touch));
	kmap_table_init(&m->current, sizeof(struct kmap_current));
	if (kmap_objects_init(m) < 0) {
		kmap_model_close(m);
		return atw_err_nomem(err);
	}
	*ret = m;
	return ATW_OK;
}

void kmap_model_close(struct kmap_model *m)
{
	if (!m)
		return;
	kmap_objects_deinit(m);
	kmap_table_deinit(&m->cache);
	kmap_table_deinit(&m->time);
	kmap_table_deinit(&m->site);
	kmap_table_deinit(&m->code);
	kmap_table_deinit(&m->edge);
	kmap_table_deinit(&m->call);
	kmap_table_deinit(&m->line);
	kmap_table_deinit(&m->process);
	kmap_table_deinit(&m->touch);
	kmap_table_deinit(&m->current);
	kmap_series_deinit(&m->series);
	intern_deinit(&m->texts);
	buf_deinit(&m->symbols.text);
	free(m);
}

/* ---- processes and places ---- */

/* "(null)" is what printk makes of no text. */
static bool kmap_model_is_known(struct atw_blob *b)
{
	const char *s = b->data;

	while (b->len && s[b->len - 1] == ' ')
		b->len--;
	return b->len && !(b->len == 6 && !memcmp(s, "(null)", 6));
}

static int kmap_model_text(struct kmap_model *m, struct atw_blob b, const char **ret)
{
	*ret = NULL;
	if (!b.data || !kmap_model_is_known(&b))
		return ATW_OK;
	*ret = intern_text(&m->texts, b.data, b.len);
	return *ret ? ATW_OK : ATW_E_NOMEM;
}

static int64_t kmap_model_cache_of(struct kmap_model *m, const struct kmap_object *o)
{
	const char *name = NULL, *type = NULL;
	bool fresh;
	int64_t i;

	/* "no-slab" is uSCOPE's word for none. */
	if ((o->has & KMAP_HAS_CACHE && !blob_is(o->cache, "no-slab") &&
	     !blob_is(o->cache, "NULL") &&
	     kmap_model_text(m, kmap_plain_cache(o->cache), &name) < 0) ||
	    (o->has & KMAP_HAS_TYPE && kmap_model_text(m, o->type, &type) < 0))
		return -1;
	i = kmap_table_get(&m->cache, (struct kmap_key){ (uintptr_t)name, (uintptr_t)type, 0 },
			   &fresh);
	if (i >= 0 && fresh) {
		kmap_cache(m, (size_t)i)->name = name;
		kmap_cache(m, (size_t)i)->type = type;
	}
	return i;
}

int64_t kmap_code_of(struct kmap_model *m, uint64_t ip)
{
	return kmap_table_get(&m->code, (struct kmap_key){ ip, 0, 0 }, NULL);
}

bool kmap_is_code(uint64_t ip)
{
	return ip >= LOWEST_CODE && ip != KMAP_ALLOC_EARLY && ip != KMAP_FREE_LOST &&
	       ip != KMAP_FREE_NESTED;
}

static int64_t kmap_model_site_of(struct kmap_model *m, const struct kmap_object *o)
{
	int64_t cache = kmap_model_cache_of(m, o), i, code;
	const char *name = NULL;
	struct kmap_site *s;
	bool fresh;

	if (cache < 0 ||
	    (o->has & KMAP_HAS_NAME && kmap_model_text(m, o->name, &name) < 0))
		return -1;
	i = kmap_table_get(&m->site, (struct kmap_key){ o->alloc_ip, (uint64_t)cache,
			   (uintptr_t)name }, &fresh);
	if (i < 0 || !fresh)
		return i;
	code = kmap_is_code(o->alloc_ip) ? kmap_code_of(m, o->alloc_ip) : KMAP_NONE;
	s = kmap_site(m, (size_t)i);
	s->name = name;
	s->cache = (uint32_t)cache;
	s->code = code < 0 ? KMAP_NONE : (uint32_t)code;
	return code < 0 ? -1 : i;
}

struct kmap_edge *kmap_edge_of(struct kmap_model *m, uint64_t site, uint64_t code)
{
	return kmap_table_elem(&m->edge, (struct kmap_key){ site, code, 0 }, NULL);
}

/* ---- records ---- */

static void kmap_model_clocked(struct kmap_model *m, uint64_t time)
{
	if (!time)
		return;
	m->first = MIN(m->first, time);
	m->last = MAX(m->last, time);
}

static int kmap_model_on_object(struct kmap_model *m, const struct kmap_object *o,
				struct atw_err *err)
{
	int64_t site = kmap_model_site_of(m, o), i;
	struct kmap_process *p;
	const char *task;
	bool fresh;

	if (site < 0 || kmap_model_text(m, o->task, &task) < 0)
		return atw_err_nomem(err);
	kmap_model_clocked(m, o->alloc_time);
	kmap_model_clocked(m, kmap_objects_free_time(m, o->free_time));
	if (kmap_objects_begin(m, o, (uint64_t)site, task, &fresh) < 0)
		return atw_err_nomem(err);
	i = kmap_processes_get(m, o->pid, task);
	if (i < 0 || (!m->has_tasks && task && kmap_processes_name(m, o->pid, task) < 0))
		return atw_err_nomem(err);
	p = kmap_process(m, (size_t)i);
	if (fresh) {
		p->objects++;
		kmap_add(&p->bytes, o->size);
	}
	return ATW_OK;
}

static int kmap_model_on_access(struct kmap_model *m, const struct kmap_access *a,
				struct atw_err *err)
{
	const struct kmap_open *now = &m->now;
	struct kmap_edge *e;
	int64_t code;

	if (!m->bound) {
		m->unbound++;
		return ATW_OK;
	}
	code = kmap_code_of(m, a->ip);
	e = code < 0 ? NULL : kmap_edge_of(m, now->site, (uint64_t)code);
	if (!e)
		return atw_err_nomem(err);
	m->accesses++;
	kmap_add(&e->reads, a->reads);
	kmap_add(&e->writes, a->writes);
	kmap_add(&kmap_code(m, (size_t)code)->reads, a->reads);
	kmap_add(&kmap_code(m, (size_t)code)->writes, a->writes);
	if (a->has & KMAP_HAS_FREES) {
		m->compressed = m->has_frees = true;
		kmap_add(&e->frees, a->frees);
		kmap_add(&kmap_code(m, (size_t)code)->frees, a->frees);
	}
	kmap_objects_access(m, a);
	if (a->has & KMAP_HAS_PID && kmap_processes_access(m, a, now->site) < 0)
		return atw_err_nomem(err);
	return ATW_OK;
}

static int kmap_model_on_line(struct kmap_model *m, const struct kmap_access *a,
			      struct atw_err *err)
{
	const struct kmap_open *now = &m->now;
	struct kmap_line *l;

	if (!m->bound) {
		m->unbound++;
		return ATW_OK;
	}
	l = kmap_table_elem(&m->line, (struct kmap_key){ kmap_site(m, now->site)->cache, a->line, 0 },
			    NULL);
	if (!l)
		return atw_err_nomem(err);
	kmap_add(&l->reads, a->reads);
	kmap_add(&l->writes, a->writes);
	l->objects++;
	return ATW_OK;
}

static int kmap_model_on_call(struct kmap_model *m, const struct kmap_call *c,
			      struct atw_err *err)
{
	int64_t from = kmap_code_of(m, c->from), to = from < 0 ? -1 : kmap_code_of(m, c->to);
	const struct kmap_key key = { (uint64_t)from, (uint64_t)to, 0 };
	struct kmap_call_edge *e = to < 0 ? NULL : kmap_table_elem(&m->call, key, NULL);

	if (!e)
		return atw_err_nomem(err);
	kmap_add(&e->count, c->count);
	kmap_add(&kmap_code(m, (size_t)from)->calls, c->count);
	return ATW_OK;
}

static int kmap_model_on_header(struct kmap_model *m, struct atw_blob key,
				struct atw_blob value, struct atw_err *err)
{
	const struct { const char *word; const char **to; } words[] = {
		{ "mode", &m->mode }, { "clock", &m->clock }, { "kernel", &m->release },
		{ "machine", &m->machine }, { "sampling", &m->sampling },
	};

	if (!kmap_own_symbols_header(&m->symbols, key, value))
		return atw_err_nomem(err);
	if (blob_is(key, "scale")) {
		num_dec(value.data, value.len, &m->scale);
		/* Of accesses it is known behind all of them, and not before. */
		m->whole = !m->site.n;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (blob_is(key, words[i].word)) {
			*words[i].to = intern_text(&m->texts, value.data, value.len);
			if (!*words[i].to)
				return atw_err_nomem(err);
		}
	if (m->mode && !strcmp(m->mode, "site"))
		m->compressed = true;
	return ATW_OK;
}

static int kmap_model_on_task(struct kmap_model *m, int64_t pid, struct atw_blob name,
			      struct atw_err *err)
{
	const char *task;

	m->has_tasks = true;
	return kmap_model_text(m, name, &task) < 0 ||
			       kmap_processes_name(m, pid, task) < 0
		       ? atw_err_nomem(err)
		       : ATW_OK;
}

/* uSCOPE's smaller form says of itself that it is one. */
static void kmap_model_on_comment(struct kmap_model *m, struct atw_blob b)
{
	static const char words[] = "This is a compressed .cmap";

	if (memmem(b.data, b.len, words, sizeof(words) - 1))
		m->compressed = true;
}

int kmap_model_record(struct kmap_model *m, const struct kmap_record *r, struct atw_err *err)
{
	switch (r->kind) {
	case KMAP_OBJECT:
		return kmap_model_on_object(m, &r->u.object, err);
	case KMAP_ACCESS:
		return kmap_model_on_access(m, &r->u.access, err);
	case KMAP_LINE_HEAT:
		return kmap_model_on_line(m, &r->u.access, err);
	case KMAP_USED:
		m->has_used = true;
		if (m->bound)
			kmap_objects_used(m, r->u.used.last);
		return ATW_OK;
	case KMAP_TASK:
		return kmap_model_on_task(m, r->u.task.pid, r->u.task.name, err);
	case KMAP_MARK:
		if (m->bound)
			m->now.marks |= r->u.marks;
		return ATW_OK;
	case KMAP_CALL:
		return kmap_model_on_call(m, &r->u.call, err);
	case KMAP_HEADER:
		return kmap_model_on_header(m, r->u.header.key, r->u.header.value, err);
	case KMAP_COMMENT:
		kmap_model_on_comment(m, r->u.comment);
		return ATW_OK;
	case KMAP_END:
	case KMAP_BLANK:
		break;
	}
	return ATW_OK;
}

int kmap_model_end(struct kmap_model *m, struct atw_err *err)
{
	return kmap_objects_end(m) < 0 || kmap_processes_end(m) < 0
		       ? atw_err_nomem(err)
		       : ATW_OK;
}

/* ---- what it comes to ---- */

bool kmap_sampled(const struct kmap_model *m)
{
	return m->mode && !strcmp(m->mode, "sample");
}

bool kmap_accesses_sampled(const struct kmap_model *m)
{
	return kmap_sampled(m) && !m->whole;
}

bool kmap_watch_sampled(const struct kmap_model *m)
{
	return kmap_accesses_sampled(m) && !(m->sampling && !strcmp(m->sampling, "rate"));
}

bool kmap_accesses_known(const struct kmap_model *m, const struct kmap_sums *s)
{
	return s->watched || !kmap_watch_sampled(m);
}

uint64_t kmap_weight(const struct kmap_model *m, const struct kmap_site *s)
{
	unsigned __int128 span = m->last - m->first, mean;

	if (!kmap_timed(m))
		return s->s.bytes;
	/* Rounded, and not beyond the end of the numbers. */
	mean = s->s.stay / span + (s->s.stay % span >= span - span / 2);
	mean = mean > UINT64_MAX ? mean : mean + s->s.always;
	return mean > UINT64_MAX ? UINT64_MAX : (uint64_t)mean;
}

const char *kmap_cache_word(const struct kmap_cache *c, char buf[80])
{
	if (c->name)
		return c->name;
	if (!c->type)
		return "?";
	snprintf(buf, 80, "[%s]", c->type);
	return buf;
}

/* ---- totals of all accesses estimated from a sample ---- */

/* Rounded up. */
static uint64_t model_root(unsigned __int128 n)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if ((unsigned __int128)mid * mid < n)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint64_t model_at_most(unsigned __int128 n)
{
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

/*
 * Where words are watched, hits of one come together, so it is words that were drawn by
 * chance: the variance of a sum of heaps of which there is a Poisson number is the sum
 * of their squares. Where the CPU takes one of so many, each hit is a heap. Of none at
 * all there may have been 3, with that confidence.
 */
bool kmap_estimate(const struct kmap_model *m, const struct kmap_sums *s, uint64_t *accesses,
		   uint64_t *error)
{
	uint64_t hits = s->reads + s->writes < s->reads ? UINT64_MAX : s->reads + s->writes;
	unsigned __int128 squares = kmap_watch_sampled(m) ? s->squares : hits;

	if (!kmap_accesses_sampled(m) || !m->scale || !kmap_accesses_known(m, s))
		return false;
	*accesses = model_at_most((unsigned __int128)hits * m->scale);
	if (!hits)
		*error = model_at_most((unsigned __int128)3 * m->scale);
	else    /* 1.96 of them */
		*error = model_at_most(((unsigned __int128)model_at_most((unsigned __int128)model_root(squares) *
							       m->scale) * 49 + 24) / 25);
	return true;
}
