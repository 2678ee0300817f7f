/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census.h"
#include "census_jobs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "listing.h"
#include "format/capture.h"
#include "common/progress.h"
#include "base/message.h"

/* ---- what could not be read: L: lines, listed by -v ---- */

enum { LOST_SHOWN = 1000, LOST_REASONS = 16 };

struct lost {
	uint64_t n;
	struct {
		char text[200];
		uint64_t n;
	} reason[LOST_REASONS];          /* those that came first, each once */
	size_t reasons;
};

static void cli_lost_print(const struct common *c, const char *source,
			   const struct capture_lost *rec, uint32_t has, const char *reason)
{
	char process[40] = "", where[60] = "";

	if (rec->pid)
		snprintf(process, sizeof(process), _("process %" PRIu64 ": "), rec->pid);
	if (has & CAPTURE_L_START && has & CAPTURE_L_LAST)
		snprintf(where, sizeof(where), "0x%" PRIx64 " to 0x%" PRIx64 ": ", rec->start,
			 rec->last);
	else if (has & CAPTURE_L_START)
		snprintf(where, sizeof(where), "0x%" PRIx64 ": ", rec->start);
	print_warning(c, "%s: not read: %s%s%s", source, process, where, reason);
}

static void cli_lost_add(struct lost *l, const struct common *c, const char *source,
			 const struct capture_lost *rec, uint32_t has)
{
	char reason[200];
	size_t i;

	l->n++;
	if (!c->verbose)
		return;
	snprintf(reason, sizeof(reason), "%.*s: %.*s", (int)rec->what.len,
		 (const char *)rec->what.data, (int)rec->why.len, (const char *)rec->why.data);
	if (l->n <= LOST_SHOWN)
		cli_lost_print(c, source, rec, has, reason);
	for (i = 0; i < l->reasons && strcmp(l->reason[i].text, reason) != 0; i++)
		;
	if (i == LOST_REASONS)
		return;
	if (i == l->reasons) {
		l->reasons++;
		memcpy(l->reason[i].text, reason, sizeof(reason));
	}
	l->reason[i].n++;
}

static void cli_lost_sums(const struct lost *l, const struct common *c, const char *source)
{
	uint64_t others = l->n;

	if (!c->verbose || !l->n)
		return;
	if (l->n > LOST_SHOWN)
		print_warning(c, "%s: ... and %" PRIu64 " more", source, l->n - LOST_SHOWN);
	for (size_t i = 0; i < l->reasons; i++) {
		print_warning(c, "%s: not read: %" PRIu64 " time%s: %s", source, l->reason[i].n,
			      l->reason[i].n == 1 ? "" : "s", l->reason[i].text);
		others -= l->reason[i].n;
	}
	if (others)
		print_warning(c, "%s: not read: %" PRIu64 " time%s: other kinds", source, others,
			      others == 1 ? "" : "s");
}

/* 20 invalid lines of a capture, the number of further ones, and a fatal error. */
enum { DAMAGES = 24 };

struct damage {
	uint64_t pid;
	char *why;
};

/* Pass-through sink: counts the records, and remembers which side failed. */
struct cli_census_tee {
	const struct census_sink *to;
	struct census_summary summary;
	struct progress progress;
	const struct common *c;
	const char *name;            /* of the source, for messages */
	struct lost lost;
	uint64_t tasks;
	uint64_t pid, area;          /* of the last record; area: of memory */
	bool failed;                 /* the receiver */
	bool mark;                   /* nothing came yet, and it may be the paper's */
	bool keep;
	bool one, skip, found;       /* of a capture: process `only` alone; this is another */
	uint64_t only;
	struct damage damage[DAMAGES];   /* not emitted yet; never inside an area */
	unsigned damages;
};

static int cli_census_note_result(struct cli_census_tee *e, int r)
{
	e->failed |= r != ATW_OK;
	return r;
}

/*
 * Is it a process that may not be read, and that --allow-unreadable permits to be
 * missing?
 */
static bool cli_census_is_allowed(struct cli_census_tee *e,
				  const struct capture_record *rec)
{
	char what[200], why[200];

	if (!(rec->has & CAPTURE_L_DENIED))
		return false;
	if (rec->l.pid)
		snprintf(what, sizeof(what), _("process %" PRIu64), rec->l.pid);
	else
		snprintf(what, sizeof(what), "%.*s", (int)rec->l.what.len,
			 (const char *)rec->l.what.data);
	snprintf(why, sizeof(why), "%.*s", (int)rec->l.why.len, (const char *)rec->l.why.data);
	return unreadable_take(&e->summary.unreadable, e->c, e->name, what, why);
}

static int cli_census_on_record(void *arg, const struct capture_record *rec,
				struct atw_err *err)
{
	struct cli_census_tee *e = arg;

	if (rec->letter == 'L' && !cli_census_is_allowed(e, rec))
		cli_lost_add(&e->lost, e->c, e->name, &rec->l, rec->has);
	return cli_census_note_result(e, e->to->record(e->to->arg, rec, err));
}

static int cli_census_on_run(void *arg, const struct capture_run *run,
			     struct atw_err *err)
{
	struct cli_census_tee *e = arg;

	int r = e->to->run(e->to->arg, run, err);

	/* Too much for a report: the producer reports it; the receiver did not fail. */
	return r == ATW_E_LIMIT ? r : cli_census_note_result(e, r);
}

static int cli_census_on_frames(void *arg, const struct capture_frames *run,
				struct atw_err *err)
{
	struct cli_census_tee *e = arg;

	return cli_census_note_result(e, e->to->frames(e->to->arg, run, err));
}

static int cli_census_on_lines(void *arg, const char *text, size_t len,
			       const struct capture_end *count, struct atw_err *err)
{
	struct cli_census_tee *e = arg;

	return cli_census_note_result(e, e->to->lines(e->to->arg, text, len, count, err));
}

/* ---- a capture ---- */

static void cli_census_drop_damage(struct cli_census_tee *e)
{
	for (unsigned i = 0; i < e->damages; i++)
		free(e->damage[i].why);
	e->damages = 0;
}

static int cli_census_emit_damage(struct cli_census_tee *e, struct atw_err *err)
{
	int r = ATW_OK;

	for (unsigned i = 0; i < e->damages && r == ATW_OK; i++) {
		const char *why = e->damage[i].why;
		const struct capture_record rec = {
			.letter = 'L', .l = { .pid = e->damage[i].pid, .what = { "capture", 7 },
					      .why = { why, strlen(why) } },
		};

		r = cli_census_note_result(e, e->to->record(e->to->arg, &rec, err));
	}
	cli_census_drop_damage(e);
	return r;
}

/* Keep only the reason: the file name would be meaningless to a later reader. */
static void cli_census_keep_damage(struct cli_census_tee *e, const struct atw_err *err)
{
	char *why = e->keep && e->damages < DAMAGES ? strdup(atw_err_reason(err)) : NULL;

	if (why)
		e->damage[e->damages++] = (struct damage){ e->pid, why };
}

/* Is the record of a task that is not selected? */
static bool cli_census_is_others(struct cli_census_tee *e,
				 const struct capture_record *rec)
{
	if (rec->letter == 'T')
		e->skip = e->one && rec->t.pid != e->only;
	e->found |= rec->letter == 'T' && !e->skip;
	return rec->letter == 'L' ? e->one && rec->l.pid && rec->l.pid != e->only
				  : e->skip && strchr("TVP", rec->letter);
}

/* The number of tasks in a capture is not known beforehand. */
static int cli_census_on_capture(void *arg, const struct capture_record *rec,
				 struct atw_err *err)
{
	static const struct capture_record paper = {
		.letter = 'H', .h = { { "way", 3 }, { "paper", 5 } },
	};
	struct cli_census_tee *e = arg;
	int r = e->mark && rec->letter != 'H' ? cli_census_on_record(arg, &paper, err)
					      : ATW_OK;

	e->mark = false;
	if (r == ATW_OK && rec->letter != 'P')
		r = cli_census_emit_damage(e, err);
	if (r != ATW_OK)
		return r;
	if (cli_census_is_others(e, rec))
		return ATW_OK;
	if (rec->letter == 'T') {
		e->pid = rec->t.pid;
		progress_at(&e->progress, ++e->tasks, 0);
	}
	return cli_census_on_record(arg, rec, err);
}

static int cli_census_on_capture_run(void *arg, const struct capture_run *run,
				     struct atw_err *err)
{
	const struct cli_census_tee *e = arg;

	return e->skip ? ATW_OK : cli_census_on_run(arg, run, err);
}

static void cli_census_on_damage(void *arg, const struct atw_err *err)
{
	struct cli_census_tee *e = arg;

	e->summary.damaged++;
	cli_census_keep_damage(e, err);
	print_error(err);
}

/*
 * Returns the path of a capture, which its first line identifies; zstd-compressed files
 * and pipes are taken for captures as well. NULL: not a capture.
 */
static const char *cli_census_capture_path(const char *name)
{
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const char prefix[] = "capture:";
	_auto_fd int fd = -1;
	char head[4096];
	struct stat st;
	ssize_t n;

	if (!strncmp(name, prefix, sizeof(prefix) - 1))
		return name + sizeof(prefix) - 1;
	if (!strcmp(name, "-"))
		return name;
	if (stat(name, &st) < 0)
		return NULL;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return name;
	fd = S_ISREG(st.st_mode) ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	n = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);
	if (n < (ssize_t)sizeof(zstd))
		return NULL;
	return !memcmp(head, zstd, sizeof(zstd)) ||
	       capture_probe((struct atw_blob){ head, (size_t)n }) ? name : NULL;
}

/* Options of reading cannot be applied to a capture. */
static int cli_census_check_capture(const char *name, const struct common *c,
				    const struct census_source_opts *o)
{
	struct atw_err err = { 0 };
	const struct { bool given; const char *name; } table[] = {
		{ o->space.freeze, "--freeze" }, { o->frames, "--frames" },
		{ o->threads, "--threads" }, { o->cached, "--cached" }, { o->raw, "--raw" }, { o->no_refs, "--no-refs" }, { c->rate, "--rate" },
		{ o->space.root.given, "--root" }, { o->space.paging, "--paging" },
		{ o->space.pte_ext, "--pte-ext" }, { o->space.cbit.given, "--cbit" },
		{ o->space.kernel, "--kernel" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].given) {
			atw_err_set(&err, ATW_E_USAGE, "%s: %s is a capture, and taken already",
				    table[i].name, name);
			return print_error(&err);
		}
	return EXIT_COMPLETE;
}

/* The process of --task, as other commands find it. A pipe cannot be read once more. */
static int cli_census_find_task(const struct common *c, const char *path,
				const struct census_source_opts *o, struct cli_census_tee *e)
{
	const struct session named = { .name = path };
	struct session s = { 0 };
	struct atw_err err = { 0 };
	struct stat st;
	int status;

	if (!strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
		atw_err_set(&err, ATW_E_USAGE, "--task: %s is not a file, and can be read only once",
			    e->name);
		atw_err_hint(&err, "use --pid N to select a process");
		return print_error(&err);
	}
	if (session_open_again(c, &named, &o->space, NULL, &s, &err) < 0) {
		atw_err_about(&err, path);
		return print_error(&err);
	}
	status = select_process(&s, &o->space);
	e->one = true;
	e->only = s.subject.pid;
	session_close(&s);
	return status;
}

static int cli_census_from_capture(const struct common *c, const char *name,
				   const char *path, const struct census_source_opts *o,
				   struct cli_census_tee *e)
{
	struct census_read_opts ro = {.damaged = cli_census_on_damage, .arg = e};
	const struct census_sink sink = {
		.record = cli_census_on_capture, .run = cli_census_on_capture_run,
		.frames = cli_census_on_frames, .arg = e,
	};
	struct atw_err err = { 0 };
	int status = cli_census_check_capture(name, c, o) ?: check_output(c, path), r;

	if (status)
		return status;
	if (o->space.task && !e->one)
		status = cli_census_find_task(c, path, o, e);
	if (status)
		return status;
	if (!threads_to_use(c, &ro.threads, &err))
		return print_error(&err);
	progress_begin(&e->progress, c, name, "tasks");
	r = census_read(path, &ro, &sink, &err) ?: cli_census_emit_damage(e, &err);
	/* With several snapshots, the process need not be in each of them. */
	if (r == ATW_OK && e->one && !e->found && o->looks)
		print_warning(c, "%s: there is no process %" PRIu64, name, e->only);
	else if (r == ATW_OK && e->one && !e->found)
		r = atw_err_set(&err, ATW_E_NONE, "%s: there is no process %" PRIu64, name, e->only);
	cli_census_drop_damage(e);
	progress_end(&e->progress);
	if (r < 0 && e->failed && o->into)
		atw_err_wrap(&err, "%s", o->into);
	else if (r < 0 && e->failed)
		atw_err_wrap(&err, "%s", name);
	return r < 0 ? print_error(&err) : EXIT_COMPLETE;
}

/* ---- memory, or what /proc says ---- */

static int cli_census_on_memory(void *arg, const struct capture_record *rec,
				struct atw_err *err)
{
	struct cli_census_tee *e = arg;

	if (rec->letter == 'T')
		e->pid = rec->t.pid;
	if (rec->letter == 'V')
		e->area = rec->v.start;
	return cli_census_on_record(arg, rec, err);
}

/* Errors in a capture have a line number; here, add the process and the address. */
static int cli_census_on_memory_run(void *arg, const struct capture_run *run,
				    struct atw_err *err)
{
	struct cli_census_tee *e = arg;
	struct atw_err why;
	int r;

	/* Set only the status, because this is called for each run. */
	why.status = ATW_OK;
	why.text[0] = why.hint[0] = '\0';
	r = e->to->run(e->to->arg, run, &why);
	if (r == ATW_E_LIMIT) {
		atw_err_wrap(&why, "%s: process %" PRIu64 ", area at %" PRIx64, e->name, e->pid,
			     e->area);
		cli_census_on_damage(e, &why);
		return ATW_OK;
	}
	if (r != ATW_OK && err)
		*err = why;
	return cli_census_note_result(e, r);
}

/* In a later look, the process is found again, and is frozen again. */
static int cli_census_open(const struct common *c, const char *name,
			   const struct census_source_opts *o, struct session *s)
{
	int status;

	if (s->target)
		return o->space.freeze ? freeze(c, s, &o->space) :
		       s->subject.pid ? choose_again(s, &o->space) : EXIT_COMPLETE;
	status = open_frozen(c, name, &o->space, TARGET_PAGES, s);
	if (!status)
		print_defects(c, s);
	return status;
}

static int cli_census_from_memory(const struct common *c, const char *name,
				  const struct census_source_opts *o,
				  struct cli_census_tee *e)
{
	const struct census_sink sink = {
		.record = cli_census_on_memory, .run = cli_census_on_memory_run,
		.frames = cli_census_on_frames, .arg = e,
		.lines = e->to->lines ? cli_census_on_lines : NULL,
	};
	struct census_collect_opts co = {
		.frames = o->frames || o->need_frames || o->cached, .slabs = o->need_slabs,
		.threads = o->threads || o->need_threads,
		.no_areas = o->no_areas, .no_tasks = o->no_tasks,
		.refs = !o->no_refs && !o->no_count, .raw = o->raw,
		.sums = o->sums && !o->raw, .kinds = o->kinds,
		.progress = progress_at, .arg = &e->progress,
	};
	struct target_query q = { .frames = true, .flags = true, .counts = true };
	struct provider *p = NULL;
	struct session own = { 0 }, *src = o->session ? o->session : &own;
	struct census_jobs jobs = CENSUS_JOBS(.c = c, .space = &o->space, .first = src);
	struct atw_err err = { 0 };
	int status = cli_census_open(c, name, o, src), r;

	if (!status)
		status = census_jobs_find(&jobs, &co);
	if (status)
		return status;
	/* What a plugin returned is kept as a capture. */
	if (target_capture_path(src->target)) {
		e->one |= o->space.task != NULL;
		e->only = e->one ? src->subject.pid : 0;
		status = cli_census_from_capture(c, name, target_capture_path(src->target), o, e);
		if (!o->session)
			session_close(src);
		return status;
	}
	e->summary.defective = src->target->defective;
	co.pid = o->space.pid.given || o->space.task ? (uint32_t)src->subject.pid : 0;
	progress_begin(&e->progress, c, name, "processes");
	q.pid = (uint32_t)src->subject.pid;
	q.mm = src->subject.mm;
	q.pace = src->pace;
	jobs.q = q;
	r = target_provider(src->target, &q, NULL, NULL, &p, &err);
	/* Tables are written without it; with --cached, an L: line says that it is missing. */
	co.cached = o->cached || (r == ATW_OK && o->need_cached && p->ops->cached);
	if (r == ATW_OK)
		r = census_collect(p, &co, &sink, &err);
	progress_end(&e->progress);
	thaw(src);
	if (r < 0 && (!e->failed || o->into))
		atw_err_wrap(&err, "%s", e->failed ? o->into : src->name);
	status = r < 0 ? print_error(&err) : EXIT_COMPLETE;
	if (r == ATW_OK && p->lacks.status)
		warn_lacks(c, src, p);
	provider_close(p);
	census_jobs_close(&jobs);
	if (!o->session)
		session_close(src);
	return status;
}

int census_source(const struct common *c, const char *name,
		  const struct census_source_opts *o, const struct census_sink *to,
		  struct census_summary *ret)
{
	struct cli_census_tee e = {.to = to,
				   .mark = o->keep,
				   .keep = o->keep,
				   .one = o->space.pid.given,
				   .only = o->space.pid.u,
				   .c = c,
				   .name = name,
				   .summary.unreadable.allow = o->allow};
	const char *path = cli_census_capture_path(name);
	int status = path ? cli_census_from_capture(c, name, path, o, &e)
			  : cli_census_from_memory(c, name, o, &e);

	cli_lost_sums(&e.lost, c, name);
	e.summary.lost = e.lost.n;
	*ret = e.summary;
	return status;
}

int census_incomplete(const char *name, const struct census_summary *s, const char *where)
{
	if (s->lost)
		print_incomplete("%s: %" PRIu64 " read error%s%s%s", name, s->lost,
				 s->lost == 1 ? "" : "s", *where ? ": " : "", message(where));
	return s->lost || s->damaged || s->defective ? EXIT_PARTIAL : EXIT_COMPLETE;
}
