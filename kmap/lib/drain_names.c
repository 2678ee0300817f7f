/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drain_names.c - names of functions and threads, written before their first use. */
#include "kmap/lib/drain_own.h"

#include "base/digits.h"

/* ---- names of functions ---- */

int kmap_drain_functions(struct kmap_drain *d, const struct kmap_functions_of *f,
			 struct atw_err *err)
{
	/* Other versions have no place for them. */
	if (d->o.version != KMAP_V4 || kmap_named_open(&d->named, f, d->s->at.max_sites))
		return ATW_OK;
	return atw_err_nomem(err);
}

const struct kmap_functions_of *kmap_drain_known(const struct kmap_drain *d)
{
	return d->named.of;
}

void drain_forget_tasks(struct kmap_drain *d)
{
	memset(d->recent, 0, sizeof(d->recent));
	for (size_t i = 0; i < d->said.n; i++)
		((struct drain_said *)d->said.v)[i].task_id = -1;
}

void kmap_drain_anew(struct kmap_drain *d)
{
	kmap_named_forget(&d->named);
	drain_forget_tasks(d);
}

static int drain_name_one(struct kmap_drain *d, size_t i, struct atw_err *err)
{
	const struct kmap_functions_of *f = d->named.of;
	const char *name = kmap_functions_of_name(f, i);
	char value[KMAP_LINE], *p = put_hex_digits(value, f->v[i].at, 1, 'a');
	size_t len = strnlen(name, KMAP_LINE - 1 - 17);

	*p++ = ' ';
	memcpy(p, name, len);
	p[len] = '\0';
	return drain_put_header(d, "symbol", value, err);
}

static int drain_name_function(struct kmap_drain *d, uint64_t ip, struct atw_err *err)
{
	size_t i, end = kmap_named_take(&d->named, ip, &i);
	int r = ATW_OK;

	for (; i < end && r == ATW_OK; i++)
		r = drain_name_one(d, i, err);
	return r;
}

int kmap_drain_unnamed(struct kmap_drain *d, struct atw_err *err)
{
	const struct kmap_functions_of *f = d->named.of;
	int r = ATW_OK;

	if (!f)
		return ATW_OK;
	for (size_t i = 0; i < f->n && r == ATW_OK; i++)
		if (kmap_named_one(&d->named, i))
			r = drain_name_one(d, i, err);
	/* With all symbols in the file, a reader can derive the end of each. */
	return r < 0 ? r : kmap_drain_header(d, err, "symbols", "%zu", f->n);
}

int drain_name_object(struct kmap_drain *d, const struct kshare_object *o, struct atw_err *err)
{
	int r = drain_name_function(d, kmap_drain_unmoved(d, o->alloc_ip), err);

	return r < 0 || o->flags & KSHARE_PART
		       ? r : drain_name_function(d, kmap_drain_unmoved(d, o->free_ip), err);
}

static int drain_name_site(struct kmap_drain *d, uint32_t site, struct atw_err *err)
{
	return kmap_named_site(&d->named, site)
		       ? drain_name_function(d, kmap_drain_unmoved(d, *kshare_site(d->s, site)), err)
		       : ATW_OK;
}

int drain_name_sites(struct kmap_drain *d, struct atw_err *err)
{
	uint32_t nsites = d->named.of ? drain_sites_of(d) : 0;
	int r = ATW_OK;

	for (uint32_t site = 1; site < nsites && r == ATW_OK; site++)
		r = drain_name_site(d, site, err);
	return r;
}

int drain_name_code(struct kmap_drain *d, const struct kshare_object *o, struct atw_err *err)
{
	uint32_t nsites = drain_sites_of(d), n = d->named.of ? drain_edges_of(d, o) : 0;
	int r = drain_name_object(d, o, err);

	for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
		uint32_t site = kshare_edge(d->s, o->table + i)->site;

		if (site && site < nsites)
			r = drain_name_site(d, site, err);
	}
	return r;
}

/* ---- names of threads ---- */

/* Names that the recorder met since. */
static void drain_take_tasks(struct kmap_drain *d)
{
	uint32_t n = atomic_load_explicit(&d->s->ntasks, memory_order_acquire);

	for (; d->ntasks < n && d->ntasks < KSHARE_TASKS; d->ntasks++) {
		const struct kmap_key key = { (uint32_t)d->s->task[d->ntasks].task_id, 0, 0 };
		struct drain_name *name = kmap_table_elem(&d->tasks, key, NULL);

		if (name)
			name->at = d->ntasks;
	}
}

int drain_put_task_slowly(struct kmap_drain *d, int32_t task_id, struct atw_err *err)
{
	struct kmap_record rec = { .kind = KMAP_TASK, .u.task.pid = kshare_pid(task_id) };
	const struct kmap_key key = { (uint32_t)kshare_pid(task_id), 0, 0 };
	struct drain_said *said;
	char name[KMAP_LINE];
	int64_t at;
	bool fresh;

	if (d->o.version != KMAP_V4)
		return ATW_OK;
	drain_take_tasks(d);
	at = kmap_table_find(&d->tasks, (struct kmap_key){ (uint32_t)task_id, 0, 0 });
	said = at >= 0 || kmap_table_find(&d->said, key) >= 0
		       ? kmap_table_elem(&d->said, key, &fresh) : NULL;
	if (!said)
		return ATW_OK;
	d->recent[kshare_pid(task_id) & 255] = task_id + 1;
	if (!fresh && said->task_id == task_id)
		return ATW_OK;
	said->task_id = task_id;
	if (at >= 0) {
		const char *comm = d->s->task[((struct drain_name *)d->tasks.v)[at].at].comm;

		rec.u.task.name = drain_one_line(comm, KSHARE_COMM, name);
	}
	return drain_put(d, &rec, err);
}
