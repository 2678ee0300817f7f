/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_show.c - the objects of a KMAP and who touched them, as rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "kmap.h"

struct show_opts {
	const char *rows;
	bool progress;
};

static const struct opt options[] = {
	{ 0, "rows", OPT_CHOICE, offsetof(struct show_opts, rows), "WHAT",
	  "what a row is; in CSV an access, else an object", "objects|accesses" },
	{ 0, "progress", OPT_FLAG, offsetof(struct show_opts, progress), NULL,
	  "say how far it is, even if standard error is no terminal", NULL },
	{ 0 }
};

/* ---- columns ---- */

enum fate { FATE_LIVE, FATE_FREED, FATE_MISSED, FATE_NESTED };
static const char *const fates[] = {
	[FATE_LIVE] = "live", [FATE_FREED] = "freed", [FATE_MISSED] = "missed",
	[FATE_NESTED] = "nested",
};
static const struct atw_names fate_names = { ARRAY_SIZE(fates), fates, NULL };

/* Of an object; both kinds of rows begin with them. */
#define OBJECT_COLUMNS \
	[C_ALLOC_IP] = { .key = "alloc_ip", .type = ATW_T_VA, \
			 .help = "who allocated it: address of the code" }, \
	[C_PID] = { .key = "pid", .type = ATW_T_COUNT, .width = 6, \
		    .help = "thread that it was allocated for" }, \
	[C_ADDRESS] = { .key = "address", .type = ATW_T_VA, .help = "where it was" }, \
	[C_SIZE] = { .key = "size", .type = ATW_T_BYTES, .width = 6, .help = "its bytes" }, \
	[C_ALLOC_TIME] = { .key = "alloc_time", .type = ATW_T_COUNT, \
			   .help = "when, by the recorder's clock" }, \
	[C_FREE_TIME] = { .key = "free_time", .type = ATW_T_COUNT, \
			  .help = "when it was freed, if that was seen" }, \
	[C_FREE_IP] = { .key = "free_ip", .type = ATW_T_VA, \
			.help = "who freed it, or Memorizer's code for what became of it" }, \
	[C_FATE] = { .key = "fate", .type = ATW_T_ENUM, .names = &fate_names, .hidden = true, \
		     .help = "live, freed, missed (another came over it), nested" }, \
	[C_TYPE] = { .key = "type", .type = ATW_T_TEXT, .width = 13, \
		     .help = "which allocator it is of" }, \
	[C_NEW_TYPE] = { .key = "new_type", .type = ATW_T_TEXT, .width = 13, .hidden = true, \
			 .help = "allocator of the objects in it, fate nested" }, \
	[C_NAME] = { .key = "name", .type = ATW_T_TEXT, .hidden = true, \
		     .help = "compressed form: what stands for alloc_ip" }, \
	[C_TASK] = { .key = "task", .type = ATW_T_TEXT, .width = 15, \
		     .help = "name of that thread" }, \
	[C_CACHE] = { .key = "cache", .type = ATW_T_TEXT, \
		      .help = "slab cache it is from" }

enum col {
	C_ALLOC_IP, C_PID, C_ADDRESS, C_SIZE, C_ALLOC_TIME, C_FREE_TIME, C_FREE_IP, C_FATE,
	C_TYPE, C_NEW_TYPE, C_NAME, C_TASK, C_CACHE,
	C_OBJECT,                        /* so many are of the object */
	/* rows of objects */
	C_ACCESSES = C_OBJECT, C_SUM_WRITES, C_SUM_READS, C_SUM_FREES, C_HEAT,
	C_FIRST_USE, C_LAST_USE, C_OBJECTS,
	/* rows of accesses */
	C_IP = C_OBJECT, C_ACCESS_PID, C_WRITES, C_READS, C_FREES, C_CALLER, C_ALL,
};

enum { L_IP, L_PID, L_WRITES, L_READS, L_COUNT };
static const struct atw_column access_columns[L_COUNT] = {
	[L_IP] = { .key = "ip", .type = ATW_T_VA },
	[L_PID] = { .key = "pid", .type = ATW_T_COUNT },
	[L_WRITES] = { .key = "writes", .type = ATW_T_COUNT },
	[L_READS] = { .key = "reads", .type = ATW_T_COUNT },
};
static const struct atw_schema access_list = { "accesses", access_columns, L_COUNT };

enum { H_LINE, H_WRITES, H_READS, H_COUNT };
static const struct atw_column heat_columns[H_COUNT] = {
	[H_LINE] = { .key = "line", .type = ATW_T_COUNT },
	[H_WRITES] = { .key = "writes", .type = ATW_T_COUNT },
	[H_READS] = { .key = "reads", .type = ATW_T_COUNT },
};
static const struct atw_schema heat_list = { "heat", heat_columns, H_COUNT };

static const struct atw_column by_object[C_OBJECTS] = {
	OBJECT_COLUMNS,
	[C_ACCESSES] = { .key = "accesses", .type = ATW_T_LIST, .of = &access_list,
			 .help = "who touched it; JSON: a list of ip, pid, writes, reads" },
	[C_SUM_WRITES] = { .key = "writes", .type = ATW_T_COUNT, .help = "times it was written" },
	[C_SUM_READS] = { .key = "reads", .type = ATW_T_COUNT, .help = "times it was read" },
	[C_SUM_FREES] = { .key = "frees", .type = ATW_T_COUNT, .hidden = true,
			  .help = "compressed form: times one was freed" },
	[C_HEAT] = { .key = "heat", .type = ATW_T_LIST, .of = &heat_list, .hidden = true,
		     .help = "of its parts of 64 bytes; JSON: a list of line, writes, reads" },
	[C_FIRST_USE] = { .key = "first_use", .type = ATW_T_COUNT, .hidden = true,
			  .help = "when it was accessed first, where that was recorded" },
	[C_LAST_USE] = { .key = "last_use", .type = ATW_T_COUNT, .hidden = true,
			 .help = "when it was accessed last" },
};
static const struct atw_schema objects_schema = { "kmap show", by_object, C_OBJECTS };

static const struct atw_column by_access[C_ALL] = {
	OBJECT_COLUMNS,
	[C_IP] = { .key = "ip", .type = ATW_T_VA, .help = "code that touched it" },
	[C_ACCESS_PID] = { .key = "access_pid", .type = ATW_T_COUNT,
			   .help = "thread that it ran for" },
	[C_WRITES] = { .key = "writes", .type = ATW_T_COUNT, .help = "times it wrote" },
	[C_READS] = { .key = "reads", .type = ATW_T_COUNT, .help = "times it read" },
	[C_FREES] = { .key = "frees", .type = ATW_T_COUNT, .hidden = true,
		      .help = "compressed form: times it freed one" },
	[C_CALLER] = { .key = "caller", .type = ATW_T_VA, .hidden = true,
		       .help = "who called that code, where that was recorded" },
};
static const struct atw_schema accesses_schema = { "kmap show", by_access, C_ALL };

/* ---- one object ---- */

/* So many are one row at most; what an object has more is a further row of it. */
enum { MOST = 65536 };

struct list {
	union atw_value *v;
	uint64_t *have;
	size_t n, cap_v, cap_have, ncols;
};

struct show {
	struct atw_output *out;
	struct kmap_told told;
	bool by_access;
	bool open, any;                  /* an object is being told; it had an access */
	union atw_value v[C_ALL > C_OBJECTS ? C_ALL : C_OBJECTS];
	uint64_t have;
	struct list accesses, heat;
	char names[KMAP_LINE + 8];       /* of the object */
};

/* Room for one more; NULL: no memory. */
static union atw_value *add(struct list *l, uint64_t have)
{
	if (!array_reserve((void **)&l->v, &l->cap_v, (l->n + 1) * l->ncols, sizeof(*l->v)) ||
	    !array_reserve((void **)&l->have, &l->cap_have, l->n + 1, sizeof(*l->have)))
		return NULL;
	l->have[l->n] = have;
	return l->v + l->n++ * l->ncols;
}

static void set(struct show *s, enum col c, uint64_t u)
{
	s->v[c].u = u;
	s->have |= (uint64_t)1 << c;
}

static void set_list(struct show *s, enum col c, const struct list *l, struct atw_list *at)
{
	*at = (struct atw_list){ l->n, l->v, l->have };
	s->v[c].list = at;
	s->have |= (uint64_t)1 << c;
}

static int put(struct show *s, struct atw_err *err)
{
	const struct atw_row row = { s->v, s->have };

	return atw_output_row(s->out, &row, err);
}

/* What was told of the object so far is a row. */
static int end_object(struct show *s, struct atw_err *err)
{
	struct atw_list accesses, heat;
	int r;

	if (!s->open || (s->by_access && s->any))
		return ATW_OK;
	if (!s->by_access) {
		set_list(s, C_ACCESSES, &s->accesses, &accesses);
		if (s->heat.n)
			set_list(s, C_HEAT, &s->heat, &heat);
	}
	r = put(s, err);
	s->accesses.n = s->heat.n = 0;
	if (!s->by_access) {
		s->have &= ~((uint64_t)1 << C_HEAT | (uint64_t)1 << C_FIRST_USE |
			     (uint64_t)1 << C_LAST_USE);
		set(s, C_SUM_WRITES, 0);
		set(s, C_SUM_READS, 0);
		s->have &= ~((uint64_t)1 << C_SUM_FREES);
	}
	return r;
}

static void keep_name(struct show *s, enum col c, bool known, struct atw_blob b, char **to)
{
	if (!known || !b.data)
		return;
	memcpy(*to, b.data, b.len);
	(*to)[b.len] = '\0';
	s->v[c].s = *to;
	s->have |= (uint64_t)1 << c;
	*to += b.len + 1;
}

static enum fate fate_of(const struct kmap_object *o)
{
	switch (o->free_ip) {
	case KMAP_FREE_LOST:
		return FATE_MISSED;
	case KMAP_FREE_NESTED:
		return FATE_NESTED;
	case KMAP_FREE_NEVER:
		return o->free_time ? FATE_FREED : FATE_LIVE;
	default:
		return FATE_FREED;
	}
}

static int on_object(struct show *s, const struct kmap_object *o, struct atw_err *err)
{
	/* There, these fields are filled with zeroes. */
	bool comp = s->told.version == KMAP_COMPRESSED;
	char *names = s->names;
	int r = end_object(s, err);

	s->open = true;
	s->any = false;
	s->have = 0;
	if (!(o->has & KMAP_HAS_NAME))
		set(s, C_ALLOC_IP, o->alloc_ip);
	if (o->pid >= 0 && !comp)
		set(s, C_PID, (uint64_t)o->pid);
	set(s, C_ADDRESS, o->va);
	set(s, C_SIZE, o->size);
	if (!comp)
		set(s, C_ALLOC_TIME, o->alloc_time);
	if (o->free_time)
		set(s, C_FREE_TIME, o->free_time);
	if (o->free_ip)
		set(s, C_FREE_IP, o->free_ip);
	if (!comp)
		set(s, C_FATE, fate_of(o));
	keep_name(s, C_TYPE, o->has & KMAP_HAS_TYPE, o->type, &names);
	keep_name(s, C_NEW_TYPE, o->has & KMAP_HAS_NEW_TYPE, o->new_type, &names);
	keep_name(s, C_NAME, o->has & KMAP_HAS_NAME, o->name, &names);
	keep_name(s, C_TASK, true, o->task, &names);
	keep_name(s, C_CACHE, o->has & KMAP_HAS_CACHE, o->cache, &names);
	if (!s->by_access) {
		set(s, C_SUM_WRITES, 0);
		set(s, C_SUM_READS, 0);
	}
	return r;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* A row of its own. */
static int put_access(struct show *s, const struct kmap_access *a, struct atw_err *err)
{
	const uint64_t of_object = s->have;
	int r;

	s->any = true;
	set(s, C_IP, a->ip);
	if (a->has & KMAP_HAS_PID && a->pid >= 0)
		set(s, C_ACCESS_PID, (uint64_t)a->pid);
	set(s, C_WRITES, a->writes);
	set(s, C_READS, a->reads);
	if (a->has & KMAP_HAS_FREES)
		set(s, C_FREES, a->frees);
	if (a->has & KMAP_HAS_CALLER)
		set(s, C_CALLER, a->caller);
	r = put(s, err);
	s->have = of_object;
	return r;
}

static int on_access(struct show *s, const struct kmap_access *a, struct atw_err *err)
{
	bool pid = a->has & KMAP_HAS_PID && a->pid >= 0;
	union atw_value *v;
	int r = ATW_OK;

	if (s->by_access)
		return put_access(s, a, err);
	if (s->accesses.n == MOST)
		r = end_object(s, err);
	v = add(&s->accesses, ((1u << L_COUNT) - 1) & ~((uint64_t)!pid << L_PID));
	if (!v)
		return atw_err_set(err, ATW_E_NOMEM, "not enough memory for the accesses of an object");
	v[L_IP].u = a->ip;
	v[L_PID].u = pid ? (uint64_t)a->pid : 0;
	v[L_WRITES].u = a->writes;
	v[L_READS].u = a->reads;
	set(s, C_SUM_WRITES, sum(s->v[C_SUM_WRITES].u, a->writes));
	set(s, C_SUM_READS, sum(s->v[C_SUM_READS].u, a->reads));
	if (a->has & KMAP_HAS_FREES)
		set(s, C_SUM_FREES, sum(s->have >> C_SUM_FREES & 1 ? s->v[C_SUM_FREES].u : 0,
					a->frees));
	return r;
}

static int on_heat(struct show *s, const struct kmap_access *a, struct atw_err *err)
{
	union atw_value *v;
	int r = ATW_OK;

	if (s->by_access)
		return ATW_OK;
	if (s->heat.n == MOST)
		r = end_object(s, err);
	v = add(&s->heat, (1u << H_COUNT) - 1);
	if (!v)
		return atw_err_set(err, ATW_E_NOMEM, "not enough memory for the heat of an object");
	v[H_LINE].u = a->line;
	v[H_WRITES].u = a->writes;
	v[H_READS].u = a->reads;
	return r;
}

static int on_used(struct show *s, uint64_t first, uint64_t last)
{
	bool more = s->have >> C_LAST_USE & 1;

	if (s->by_access)
		return ATW_OK;
	set(s, C_FIRST_USE, more && s->v[C_FIRST_USE].u < first ? s->v[C_FIRST_USE].u : first);
	set(s, C_LAST_USE, more && s->v[C_LAST_USE].u > last ? s->v[C_LAST_USE].u : last);
	return ATW_OK;
}

static int on_record(void *arg, const struct kmap_record *rec, struct atw_err *err)
{
	switch (rec->kind) {
	case KMAP_OBJECT:
		return on_object(arg, &rec->u.object, err);
	case KMAP_ACCESS:
		return on_access(arg, &rec->u.access, err);
	case KMAP_LINE_HEAT:
		return on_heat(arg, &rec->u.access, err);
	case KMAP_USED:
		return on_used(arg, rec->u.used.first, rec->u.used.last);
	default:
		return ATW_OK;
	}
}

static void notes(struct show *s)
{
	const struct kmap_told *t = &s->told;

	atw_output_note(s->out, "%" PRIu64 " object%s, %" PRIu64 " access%s: %s%s", t->objects,
			t->objects == 1 ? "" : "s", t->accesses, t->accesses == 1 ? "" : "es",
			kmap_version_name(t->version), t->ours ? ", of atwalk's own" : "");
	if (t->calls)
		atw_output_note(s->out, "%" PRIu64 " call%s shown: no row is one", t->calls,
				t->calls == 1 ? " is not" : "s are not");
}

static int run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct show_opts *o = opts;
	struct show *s;
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status, r;

	if (argc != 1)
		return complain_usage("kmap show", argc ? "one FILE is enough" : "FILE is missing");
	status = check_output(c, argv[0]);
	if (status)
		return status;
	s = calloc(1, sizeof(*s));
	if (!s) {
		atw_err_set(&err, ATW_E_NOMEM, "out of memory");
		return complain(&err);
	}
	s->accesses.ncols = L_COUNT;
	s->heat.ncols = H_COUNT;
	s->by_access = o->rows ? *o->rows == 'a' : c->format && !strcmp(c->format, "csv");
	output_opts(c, NULL, &oo);
	r = atw_output_open(&oo, s->by_access ? &accesses_schema : &objects_schema, &s->out,
			    &err);
	if (r < 0) {
		status = complain(&err);
	} else {
		const struct kmap_sink sink = { on_record, s };

		status = kmap_source(c, argv[0], o->progress, &sink, NULL, &s->told);
		if (status == EXIT_COMPLETE || status == EXIT_PARTIAL) {
			r = end_object(s, &err);
			notes(s);
			status = output_end(s->out, r, status, &err);
		} else {
			atw_output_close(s->out);
		}
	}
	free(s->accesses.v);
	free(s->accesses.have);
	free(s->heat.v);
	free(s->heat.have);
	free(s);
	return status;
}

const struct command kmap_show = {
	"kmap show", "FILE", "its objects and who touched them",
	"Shows what is in a KMAP: a row for each object, with how often it was touched, by\n"
	"how many pieces of code; in JSON with a list of these. In CSV, and with\n"
	"--rows accesses, a row is what one of them did to one object.",
	options, sizeof(struct show_opts), run,
};
