/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_show.c - the objects of a KMAP and their accesses, as rows. */
#include "base/bytes.h"
#include "base/message.h"
#include "kmap_functions.h"
#include "kmap.h"

struct show_opts {
	enum { ROWS_USUAL, ROWS_OBJECTS, ROWS_ACCESSES } rows;
	struct kmap_symbols_opts symbols;
	struct opt_number limit;
};

static const struct opt_choice rows_choices[] = {
	{ "objects", ROWS_OBJECTS }, { "accesses", ROWS_ACCESSES }, { 0 }
};

static const struct opt options[] = {
	{ 0, "rows", OPT_CHOICE, offsetof(struct show_opts, rows), "WHAT",
	  "print one row per object or per access; default in CSV: accesses", rows_choices },
	{ 0, "symbols", OPT_TEXT, offsetof(struct show_opts, symbols.symbols), "FILE",
	  "show functions, named by FILE (System.map, kallsyms or vmlinux)", NULL },
	{ 0, "limit", OPT_NUMBER, offsetof(struct show_opts, limit), "N",
	  "print only the first N rows and the number of those left out", NULL },
	{ 0 }
};

/* ---- columns: of objects, and of accesses ---- */

enum origin { ORIGIN_RECORDED, ORIGIN_BEFORE };
enum fate { FATE_LIVE, FATE_FREED, FATE_MISSED, FATE_NESTED };

/* Both kinds of rows begin with those of an object. */
enum kmap_col {
	K_ALLOC_IP, K_PID, K_ADDRESS, K_SIZE, K_ALLOC_TIME, K_FREE_TIME, K_FREE_IP, K_FATE,
	K_TYPE, K_NEW_TYPE, K_NAME, K_TASK, K_CACHE, K_ALLOC_FUNCTION,
	K_OBJECT,                        /* so many are of the object */
	/* rows of objects */
	K_ACCESSES = K_OBJECT, K_SUM_WRITES, K_SUM_READS, K_SUM_FREES, K_HEAT,
	K_FIRST_USE, K_LAST_USE, K_ORIGIN, K_OBJECTS,
	/* rows of accesses */
	K_IP = K_OBJECT, K_ACCESS_PID, K_WRITES, K_READS, K_FREES, K_CALLER, K_FUNCTION, K_ALL,
};

#define COL(c) ((uint64_t)1 << (c))

/* Of the lists of an object's row: accesses, heat. */
enum { L_IP, L_PID, L_WRITES, L_READS, L_COUNT };
enum { H_LINE, H_WRITES, H_READS, H_COUNT };

static const char *const fates[] = {
	[FATE_LIVE] = "live", [FATE_FREED] = "freed", [FATE_MISSED] = "missed",
	[FATE_NESTED] = "nested",
};
static const char *const origins[] = {
	[ORIGIN_RECORDED] = "recorded", [ORIGIN_BEFORE] = "before",
};
static const struct atw_names origin_names = { ARRAY_SIZE(origins), origins, NULL };
static const struct atw_names fate_names = { ARRAY_SIZE(fates), fates, NULL };

/* Of an object; both kinds of rows begin with them. */
#define OBJECT_COLUMNS \
	[K_ALLOC_IP] = COLUMN("alloc_ip", VA, 0, \
			      "address of the code that allocated it"), \
	[K_PID] = COLUMN("pid", COUNT, 6, "thread that allocated it"), \
	[K_ADDRESS] = COLUMN("address", VA, 0, "where it was"), \
	[K_SIZE] = COLUMN("size", BYTES, 6, "its bytes"), \
	[K_ALLOC_TIME] = COLUMN("alloc_time", COUNT, 0, \
				"when, by the recorder's clock"), \
	[K_FREE_TIME] = COLUMN("free_time", COUNT, 0, \
			       "when it was freed, if that was seen"), \
	[K_FREE_IP] = COLUMN("free_ip", VA, 0, \
			     "code that freed it, or a special value of Memorizer"), \
	[K_FATE] = { .key = "fate", .type = ATW_T_ENUM, .names = &fate_names, .hidden = true, \
		     .help = "live, freed, missed (another object overlaps it), nested" }, \
	[K_TYPE] = COLUMN("type", TEXT, 13, "its allocator"), \
	[K_NEW_TYPE] = HIDDEN_COLUMN("new_type", TEXT, 13, \
				     "allocator of the objects in it, fate nested"), \
	[K_NAME] = HIDDEN_COLUMN("name", TEXT, 0, \
				 "compressed form: name in place of alloc_ip"), \
	[K_TASK] = COLUMN("task", TEXT, 15, "name of that thread"), \
	[K_CACHE] = COLUMN("cache", TEXT, 0, "slab cache it is from"), \
	[K_ALLOC_FUNCTION] = HIDDEN_COLUMN("alloc_function", TEXT, 20, \
					   "function of alloc_ip")

static const struct atw_column access_columns[L_COUNT] = {
	[L_IP] = { .key = "ip", .type = ATW_T_VA },
	[L_PID] = { .key = "pid", .type = ATW_T_COUNT },
	[L_WRITES] = { .key = "writes", .type = ATW_T_COUNT },
	[L_READS] = { .key = "reads", .type = ATW_T_COUNT },
};
static const struct atw_schema access_list = { "accesses", access_columns, L_COUNT };

static const struct atw_column heat_columns[H_COUNT] = {
	[H_LINE] = { .key = "line", .type = ATW_T_COUNT },
	[H_WRITES] = { .key = "writes", .type = ATW_T_COUNT },
	[H_READS] = { .key = "reads", .type = ATW_T_COUNT },
};
static const struct atw_schema heat_list = { "heat", heat_columns, H_COUNT };

static const struct atw_column by_object[K_OBJECTS] = {
	OBJECT_COLUMNS,
	[K_ACCESSES] = { .key = "accesses", .type = ATW_T_LIST, .of = &access_list,
			 .help = "number of accessors; JSON: a list of ip, pid, writes, reads" },
	[K_SUM_WRITES] = COLUMN("writes", COUNT, 0, "times it was written"),
	[K_SUM_READS] = COLUMN("reads", COUNT, 0, "times it was read"),
	[K_SUM_FREES] = HIDDEN_COLUMN("frees", COUNT, 0,
				      "compressed form: times one was freed"),
	[K_HEAT] = { .key = "heat", .type = ATW_T_LIST, .of = &heat_list, .hidden = true,
		     .help = "of its parts of 64 bytes; JSON: a list of line, writes, reads" },
	[K_FIRST_USE] = HIDDEN_COLUMN("first_use", COUNT, 0,
				      "when it was accessed first, where that was recorded"),
	[K_LAST_USE] = HIDDEN_COLUMN("last_use", COUNT, 0, "when it was accessed last"),
	[K_ORIGIN] = { .key = "origin", .type = ATW_T_ENUM, .names = &origin_names,
		       .hidden = true,
		       .help = "recorded, or before: it is older than the recording" },
};
static const struct atw_schema kmap_objects_schema = { "kmap show", by_object, K_OBJECTS };

static const struct atw_column by_access[K_ALL] = {
	OBJECT_COLUMNS,
	[K_IP] = COLUMN("ip", VA, 0, "code that accessed it"),
	[K_ACCESS_PID] = COLUMN("access_pid", COUNT, 0, "thread that accessed it"),
	[K_WRITES] = COLUMN("writes", COUNT, 0, "times it wrote"),
	[K_READS] = COLUMN("reads", COUNT, 0, "times it read"),
	[K_FREES] = HIDDEN_COLUMN("frees", COUNT, 0,
				  "compressed form: times it freed one"),
	[K_CALLER] = HIDDEN_COLUMN("caller", VA, 0,
				   "caller of that code, where recorded"),
	[K_FUNCTION] = HIDDEN_COLUMN("function", TEXT, 20, "function of ip"),
};
static const struct atw_schema kmap_accesses_schema = { "kmap show", by_access, K_ALL };

/* ---- one object ---- */

/* Accesses in one row; an object with more has further rows. */
enum { MOST = 65536 };

struct show_list {
	union atw_value *v;
	uint64_t *have;
	size_t n, cap_v, cap_have, ncols;
};

struct show {
	struct atw_output *out;
	struct kmap_summary summary;
	bool by_access;
	struct kmap_functions functions;
	bool open, any;                  /* an object is being read; it has an access */
	bool sampled, rate;              /* accesses are; of all objects alike */
	uint32_t marks;                  /* of the object */
	union atw_value v[K_ALL > K_OBJECTS ? K_ALL : K_OBJECTS];
	uint64_t have;
	struct show_list accesses, heat;
	char names[KMAP_LINE + 8];       /* of the object */
};

/* Room for one more; NULL: no memory. */
static union atw_value *show_add(struct show_list *l, uint64_t have)
{
	if (!array_reserve((void **)&l->v, &l->cap_v, (l->n + 1) * l->ncols, sizeof(*l->v)) ||
	    !array_reserve((void **)&l->have, &l->cap_have, l->n + 1, sizeof(*l->have)))
		return NULL;
	l->have[l->n] = have;
	return l->v + l->n++ * l->ncols;
}

static void show_set(struct show *s, enum kmap_col c, uint64_t u)
{
	s->v[c].u = u;
	s->have |= COL(c);
}

/* The same if the value is known. */
static void show_set_if(struct show *s, bool known, enum kmap_col c, uint64_t u)
{
	if (known)
		show_set(s, c, u);
}

static void show_count(struct show *s, enum kmap_col c, uint64_t more)
{
	uint64_t sum = s->have & COL(c) ? s->v[c].u : 0;

	sum_u64(&sum, more);
	show_set(s, c, sum);
}

static void show_text(struct show *s, enum kmap_col c, const char *text)
{
	s->v[c].s = text;
	s->have |= COL(c);
}

static void show_set_list(struct show *s, enum kmap_col c, const struct show_list *l,
			  struct atw_list *at)
{
	*at = (struct atw_list){ l->n, l->v, l->have };
	s->v[c].list = at;
	s->have |= COL(c);
}

static int show_put(struct show *s, struct atw_err *err)
{
	const struct atw_row row = { s->v, s->have };

	return atw_output_row(s->out, &row, err);
}

/* The object is complete: emit its row. */
static int show_end_object(struct show *s, struct atw_err *err)
{
	struct atw_list accesses, heat;
	int r;

	if (!s->open || (s->by_access && s->any))
		return ATW_OK;
	if (!s->by_access && s->marks & KMAP_BEFORE) {
		show_set(s, K_ORIGIN, ORIGIN_BEFORE);
		s->have &= ~COL(K_ALLOC_TIME);
	}
	/* The object was not watched: its accesses are not known. */
	if (!s->by_access && s->sampled && !s->rate && !(s->marks & KMAP_WATCHED) && !s->accesses.n) {
		s->have &= ~(COL(K_SUM_WRITES) | COL(K_SUM_READS) | COL(K_ACCESSES));
	} else if (!s->by_access) {
		show_set_list(s, K_ACCESSES, &s->accesses, &accesses);
		if (s->heat.n)
			show_set_list(s, K_HEAT, &s->heat, &heat);
	}
	r = show_put(s, err);
	s->accesses.n = s->heat.n = 0;
	if (!s->by_access) {
		s->have &= ~(COL(K_HEAT) | COL(K_FIRST_USE) | COL(K_LAST_USE) | COL(K_SUM_FREES));
		show_set(s, K_SUM_WRITES, 0);
		show_set(s, K_SUM_READS, 0);
	}
	return r;
}

static void show_set_function(struct show *s, enum kmap_col c, uint64_t ip)
{
	const char *name = kmap_functions_name(&s->functions, ip);

	if (name)
		show_text(s, c, name);
}

static void show_keep_name(struct show *s, enum kmap_col c, bool known, struct atw_blob b,
			   char **to)
{
	if (!known || !b.data)
		return;
	memcpy(*to, b.data, b.len);
	(*to)[b.len] = '\0';
	show_text(s, c, *to);
	*to += b.len + 1;
}

static enum fate show_fate_of(const struct kmap_object *o)
{
	return o->free_ip == KMAP_FREE_LOST   ? FATE_MISSED :
	       o->free_ip == KMAP_FREE_NESTED ? FATE_NESTED :
	       o->free_ip == KMAP_FREE_NEVER && !o->free_time ? FATE_LIVE : FATE_FREED;
}

static int show_on_object(struct show *s, const struct kmap_object *o,
			  struct atw_err *err)
{
	/* In the compressed format, these fields are zeroes. */
	bool comp = s->summary.version == KMAP_COMPRESSED;
	char *names = s->names;
	int r = show_end_object(s, err);

	/* The symbols of an object precede it in the file. */
	if (r == ATW_OK)
		r = kmap_functions_ready(&s->functions, false, err);
	s->open = true;
	s->any = false;
	s->have = 0;
	s->marks = 0;
	if (!(o->has & KMAP_HAS_NAME)) {
		show_set(s, K_ALLOC_IP, o->alloc_ip);
		show_set_function(s, K_ALLOC_FUNCTION, o->alloc_ip);
	}
	show_set_if(s, o->pid >= 0 && !comp, K_PID, (uint64_t)o->pid);
	show_set(s, K_ADDRESS, o->va);
	show_set(s, K_SIZE, o->size);
	show_set_if(s, !comp, K_ALLOC_TIME, o->alloc_time);
	show_set_if(s, o->free_time, K_FREE_TIME, o->free_time);
	show_set_if(s, o->free_ip, K_FREE_IP, o->free_ip);
	show_set_if(s, !comp, K_FATE, show_fate_of(o));
	show_keep_name(s, K_TYPE, o->has & KMAP_HAS_TYPE, o->type, &names);
	show_keep_name(s, K_NEW_TYPE, o->has & KMAP_HAS_NEW_TYPE, o->new_type, &names);
	show_keep_name(s, K_NAME, o->has & KMAP_HAS_NAME, o->name, &names);
	show_keep_name(s, K_TASK, true, o->task, &names);
	show_keep_name(s, K_CACHE, o->has & KMAP_HAS_CACHE, o->cache, &names);
	if (!s->by_access) {
		show_set(s, K_SUM_WRITES, 0);
		show_set(s, K_SUM_READS, 0);
		show_set_if(s, o->alloc_time, K_ORIGIN, ORIGIN_RECORDED);
	}
	return r;
}

/* A row of its own. */
static int show_put_access(struct show *s, const struct kmap_access *a,
			   struct atw_err *err)
{
	const uint64_t of_object = s->have;
	int r;

	s->any = true;
	show_set(s, K_IP, a->ip);
	show_set_function(s, K_FUNCTION, a->ip);
	show_set_if(s, a->has & KMAP_HAS_PID && a->pid >= 0, K_ACCESS_PID, (uint64_t)a->pid);
	show_set(s, K_WRITES, a->writes);
	show_set(s, K_READS, a->reads);
	show_set_if(s, a->has & KMAP_HAS_FREES, K_FREES, a->frees);
	show_set_if(s, a->has & KMAP_HAS_CALLER, K_CALLER, a->caller);
	r = show_put(s, err);
	s->have = of_object;
	return r;
}

static int show_on_access(struct show *s, const struct kmap_access *a,
			  struct atw_err *err)
{
	bool pid = a->has & KMAP_HAS_PID && a->pid >= 0;
	union atw_value *v;
	int r = ATW_OK;

	if (s->by_access)
		return show_put_access(s, a, err);
	if (s->accesses.n == MOST)
		r = show_end_object(s, err);
	v = show_add(&s->accesses, ((1u << L_COUNT) - 1) & ~((uint64_t)!pid << L_PID));
	if (!v)
		return atw_err_set(err, ATW_E_NOMEM, "not enough memory for the accesses of an object");
	v[L_IP].u = a->ip;
	v[L_PID].u = pid ? (uint64_t)a->pid : 0;
	v[L_WRITES].u = a->writes;
	v[L_READS].u = a->reads;
	show_count(s, K_SUM_WRITES, a->writes);
	show_count(s, K_SUM_READS, a->reads);
	if (a->has & KMAP_HAS_FREES)
		show_count(s, K_SUM_FREES, a->frees);
	return r;
}

static int show_on_heat(struct show *s, const struct kmap_access *a, struct atw_err *err)
{
	union atw_value *v;
	int r = ATW_OK;

	if (s->by_access)
		return ATW_OK;
	if (s->heat.n == MOST)
		r = show_end_object(s, err);
	v = show_add(&s->heat, (1u << H_COUNT) - 1);
	if (!v)
		return atw_err_set(err, ATW_E_NOMEM, "not enough memory for the heat of an object");
	v[H_LINE].u = a->line;
	v[H_WRITES].u = a->writes;
	v[H_READS].u = a->reads;
	return r;
}

static int show_on_used(struct show *s, uint64_t first, uint64_t last)
{
	bool more = s->have & COL(K_LAST_USE);

	if (s->by_access)
		return ATW_OK;
	show_set(s, K_FIRST_USE,
		 more && s->v[K_FIRST_USE].u < first ? s->v[K_FIRST_USE].u : first);
	show_set(s, K_LAST_USE,
		 more && s->v[K_LAST_USE].u > last ? s->v[K_LAST_USE].u : last);
	return ATW_OK;
}

static void show_on_header(struct show *s, struct atw_blob key, struct atw_blob value)
{
	if (blob_is(key, "mode"))
		s->sampled = blob_is(value, "sample");
	/* Before all objects it is these that are sampled, with all of their accesses. */
	if (blob_is(key, "scale") && !s->open)
		s->sampled = false;
	if (blob_is(key, "sampling"))
		s->rate = blob_is(value, "rate");
}

static int show_on_record(void *arg, const struct kmap_record *rec, struct atw_err *err)
{
	struct show *s = arg;

	switch (rec->kind) {
	case KMAP_OBJECT:
		return show_on_object(arg, &rec->u.object, err);
	case KMAP_ACCESS:
		return show_on_access(arg, &rec->u.access, err);
	case KMAP_LINE_HEAT:
		return show_on_heat(arg, &rec->u.access, err);
	case KMAP_USED:
		return show_on_used(arg, rec->u.used.first, rec->u.used.last);
	case KMAP_MARK:
		s->marks |= rec->u.marks;
		return ATW_OK;
	case KMAP_HEADER:
		show_on_header(s, rec->u.header.key, rec->u.header.value);
		return kmap_functions_header(&s->functions, rec, err);
	default:
		return ATW_OK;
	}
}

static void show_notes(struct show *s)
{
	const struct kmap_summary *t = &s->summary;

	atw_output_note(s->out, "%" PRIu64 " object%s, %" PRIu64 " access%s: %s%s", t->objects,
			t->objects == 1 ? "" : "s", t->accesses, t->accesses == 1 ? "" : "es",
			kmap_version_name(t->version), t->ours ? _(", of atwalk's own") : "");
	if (t->calls)
		atw_output_note(s->out, "%" PRIu64 " call%s shown: calls have no rows", t->calls,
				t->calls == 1 ? " is not" : "s are not");
}

static void show_free(struct show *s)
{
	kmap_functions_deinit(&s->functions);
	free(s->accesses.v);
	free(s->accesses.have);
	free(s->heat.v);
	free(s->heat.have);
	free(s);
}

static int show_open(struct show *s, const struct common *c, const struct show_opts *o,
		     struct atw_err *err)
{
	bool functions = o->symbols.symbols || asks_for(c, "function") ||
			 asks_for(c, "alloc_function");
	struct atw_output_opts oo;
	int r = kmap_functions_init(&s->functions, &o->symbols, functions, err);

	s->accesses.ncols = L_COUNT;
	s->heat.ncols = H_COUNT;
	s->by_access = o->rows == ROWS_ACCESSES ||
		       (o->rows == ROWS_USUAL && c->format == FORMAT_CSV);
	rows_opts(c, &oo);
	oo.limit = o->limit.u;
	/* Show functions by default if --symbols is given. */
	if (o->symbols.symbols && !oo.columns)
		oo.columns = s->by_access ? "+alloc_function,function" : "+alloc_function";
	return r < 0 ? r : atw_output_open(&oo, s->by_access ? &kmap_accesses_schema :
					   &kmap_objects_schema, &s->out, err);
}

static int show_show(struct show *s, const struct common *c, const char *name)
{
	const struct kmap_sink sink = {show_on_record, s};
	struct atw_err err = { 0 };
	int status = kmap_source(c, name, &sink, NULL, &s->summary);
	bool plain = c->format == FORMAT_PLAIN;
	uint64_t left_out;
	int r;

	if (status != EXIT_COMPLETE && status != EXIT_PARTIAL) {
		atw_output_close(s->out);
		return status;
	}
	if (s->functions.wanted && s->summary.objects && !kmap_functions_any(&s->functions))
		kmap_warn_no_symbols(c, name);
	r = show_end_object(s, &err) ?: kmap_functions_ready(&s->functions, true, &err);
	show_notes(s);
	left_out = atw_output_left_out(s->out);
	status = output_end(s->out, r, status, &err);
	if (left_out && !plain)
		print_warning(c, "kmap show: --limit leaves out %" PRIu64 " rows", left_out);
	return status;
}

static int show_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct show_opts *o = opts;
	struct atw_err err = { 0 };
	struct show *s;
	int status;

	if (argc != 1)
		return usage_error("kmap show", argc ? "too many arguments; expected one FILE" : "FILE is missing");
	if (o->limit.given && !o->limit.u)
		return usage_error("kmap show", "--limit must be at least 1");
	status = check_output(c, argv[0]);
	if (status)
		return status;
	s = calloc(1, sizeof(*s));
	if (!s) {
		atw_err_nomem(&err);
		return print_error(&err);
	}
	status = show_open(s, c, o, &err) < 0 ? print_error(&err) : show_show(s, c, argv[0]);
	show_free(s);
	return status;
}

const struct command kmap_show = {
	.name = "kmap show",
	.args = "FILE",
	.summary = "list objects and the code that accessed them",
	.about =
		"Lists the objects of a KMAP, one row each, with the number of accesses and of\n"
		"the instructions that made them; JSON has these as a list. In CSV, and with\n"
		"--rows accesses, each row is the accesses of one instruction to one object.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_UNITS | OPT_COMMON_PLUGINS | OPT_COMMON_PROGRESS,
	.options = options,
	.opts_size = sizeof(struct show_opts),
	.run = show_run,
};
