/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - one pass over a capture, and the files of its tables. */
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fleet/table.h"
#include "output/number.h"
#include "output/outfile.h"
#include "output/sink.h"
#include "report/looks.h"

static const struct census_report *const tables[] = {
#define FLEET(name) &fleet_##name,
#include "fleet/fleet.def"
#undef FLEET
};
enum { TABLES = ARRAY_SIZE(tables), HOST = 256, PATH = 4096 };

struct fleet {
	const struct fleet_opts *o;
	void *state[TABLES];
	struct census_model *model;
	struct census_sink to;           /* of the model */

	/* The first columns of all rows. */
	char host[HOST];
	uint64_t time;                   /* us since 1970 */
	bool timed;
	char name[HOST + NUMBER_MAX];    /* of the capture; empty until host and time are known */

	struct atw_output *out[TABLES];
	struct outfile *file[TABLES];
	char **made;                     /* folders, as they were created */
	size_t nmade, made_cap;
};

/* ---- which capture ---- */

static void fleet_on_header(struct fleet *f, const struct capture_header *h)
{
	if (blob_is(h->key, "host") && !f->o->host)
		snprintf(f->host, HOST, "%.*s", (int)(h->value.len < HOST ? h->value.len : HOST - 1),
			 (const char *)h->value.data);
	if (blob_is(h->key, "begun") && !f->o->time)
		f->timed = looks_fraction(h->value, 6, &f->time);
}

static int fleet_check(struct fleet *f, struct atw_err *err)
{
	char text[NUMBER_MAX];
	int r = ATW_OK;

	if (!*f->host)
		r = atw_err_set(err, ATW_E_USAGE, "the name of the machine is not recorded");
	else if (!f->timed)
		r = atw_err_set(err, ATW_E_USAGE, "the time is not recorded");
	if (r < 0) {
		atw_err_remedy(err, *f->host ? ATW_PARAM_TIME : ATW_PARAM_HOST);
		return r;
	}
	*put_time(text, f->time) = '\0';
	snprintf(f->name, sizeof(f->name), "%s/%s", f->host, text);
	return ATW_OK;
}

/* ---- the pass ---- */

static int fleet_on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct fleet *f = arg;
	int r = ATW_OK;

	if (rec->letter == 'H')
		fleet_on_header(f, &rec->h);
	else if (!*f->name)
		r = fleet_check(f, err);
	return r ?: f->to.record(f->to.arg, rec, err);
}

static int fleet_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	const struct fleet *f = arg;

	return f->to.run(f->to.arg, run, err);
}

static int fleet_on_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	const struct fleet *f = arg;

	return f->to.frames(f->to.arg, run, err);
}

struct census_sink fleet_sink(struct fleet *f)
{
	return (struct census_sink){
		.record = fleet_on_record, .run = fleet_on_run,
		.frames = fleet_on_frames, .arg = f,
	};
}

/* ---- folders ---- */

/* Creates a folder if it does not exist. */
static int fleet_make(struct fleet *f, const char *path, struct atw_err *err)
{
	struct stat st;

	if (mkdir(path, 0777) < 0) {
		if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			return ATW_OK;
		if (errno == EEXIST)
			return atw_err_set(err, ATW_E_IO, "%s: not a folder", path);
		return atw_err_set(err, ATW_E_IO, "%s: cannot create the folder: %m", path);
	}
	if (!ARRAY_ROOM(f->made, f->nmade, f->made_cap) || !(f->made[f->nmade] = strdup(path))) {
		rmdir(path);
		return atw_err_nomem(err);
	}
	f->nmade++;
	return ATW_OK;
}

/* Those that are still empty are removed. */
static void fleet_unmake(struct fleet *f)
{
	while (f->nmade) {
		rmdir(f->made[--f->nmade]);
		free(f->made[f->nmade]);
	}
}

/* A host as part of a path, as Hive and its readers have it: others are %XX. */
static void fleet_add_host(struct buf *b, const char *host)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	for (const char *s = host; *s; s++) {
		if (strchr(plain, *s) && (*s != '.' || s != host))
			buf_char(b, *s);
		else
			buf_printf(b, "%%%02X", (unsigned)(uint8_t)*s);
	}
}

/* Creates the folders of FOLDER/TABLE/date=.../host=.../HHMMSS.FORMAT. */
static int fleet_place(struct fleet *f, const char *table, char path[PATH], struct atw_err *err)
{
	const time_t seconds = (time_t)(f->time / 1000000);
	struct buf b = { 0 };
	struct tm tm = { 0 };
	int r = ATW_OK;

	gmtime_r(&seconds, &tm);
	buf_printf(&b, "%s/%s/date=%04d-%02d-%02d/host=", f->o->folder, table, tm.tm_year + 1900,
		   tm.tm_mon + 1, tm.tm_mday);
	fleet_add_host(&b, f->host);
	buf_printf(&b, "/%02d%02d%02d.%s", tm.tm_hour, tm.tm_min, tm.tm_sec, f->o->format);
	if (b.failed)
		r = atw_err_nomem(err);
	else if (b.len >= PATH)
		r = atw_err_set(err, ATW_E_USAGE, "%.64s: the name of the folder is too long", f->o->folder);
	else
		memcpy(path, b.data, b.len + 1);
	buf_deinit(&b);
	for (char *s = path + strlen(f->o->folder) + 1; r == ATW_OK && (s = strchr(s, '/')); s++) {
		*s = '\0';
		r = fleet_make(f, path, err);
		*s = '/';
	}
	return r;
}

/* ---- tables ---- */

struct fleet_rows {
	const struct fleet *f;
	struct atw_output *out;
	size_t ncols;
};

static int fleet_row(void *arg, const struct atw_row *from, struct atw_err *err)
{
	const struct fleet_rows *t = arg;
	union atw_value v[ARRAY_SIZE(((struct report_row *)0)->v)];

	memcpy(v, from->v, t->ncols * sizeof(*v));
	v[F_CAPTURE].s = t->f->name;
	v[F_HOST].s = t->f->host;
	v[F_TIME].u = t->f->time;
	return atw_output_row(t->out, &(struct atw_row){ v, from->have | 1 << F_CAPTURE |
					 1 << F_HOST | 1 << F_TIME }, err);
}

static int fleet_write_table(struct fleet *f, size_t i, struct atw_err *err)
{
	struct fleet_rows rows = { .f = f, .ncols = tables[i]->schema->ncols };
	struct atw_output_opts oo = { .format = f->o->format, .private = true };
	char path[PATH];
	int r = fleet_place(f, tables[i]->name, path, err);

	oo.path = path;
	r = r ?: atw_output_open(&oo, tables[i]->schema, &f->out[i], err);
	rows.out = f->out[i];
	return r ?: report_rows_of(tables[i], f->state[i], fleet_row, &rows, err) ?:
	       output_ready(f->out[i], &f->file[i], err);
}

int fleet_write(struct fleet *f, struct atw_err *err)
{
	int r = *f->name ? ATW_OK : fleet_check(f, err);

	if (r == ATW_OK)
		r = census_model_end(f->model, err);
	if (r == ATW_OK)
		r = fleet_make(f, f->o->folder, err);
	for (size_t i = 0; i < TABLES && r == ATW_OK; i++)
		r = fleet_write_table(f, i, err);
	if (r == ATW_OK)
		r = outfile_commit_all(f->file, TABLES, err);
	for (size_t i = 0; i < TABLES; i++) {
		atw_output_close(f->out[i]);
		f->out[i] = NULL;
	}
	if (r < 0)
		fleet_unmake(f);
	return r;
}

/* ---- opening ---- */

/* Before the pass, which may be long. */
static int fleet_check_folder(const char *folder, struct atw_err *err)
{
	struct stat st;

	if (stat(folder, &st) < 0)
		return errno == ENOENT ? ATW_OK
				       : atw_err_set(err, ATW_E_IO, "%s: cannot be used: %m", folder);
	if (!S_ISDIR(st.st_mode))
		return atw_err_set(err, ATW_E_IO, "%s: not a folder", folder);
	if (access(folder, W_OK | X_OK) < 0)
		return atw_err_set(err, ATW_E_IO, "%s: cannot write: %m", folder);
	return ATW_OK;
}

int fleet_open(const struct fleet_opts *o, struct fleet **ret, struct atw_err *err)
{
	struct fleet *f = *ret = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return atw_err_nomem(err);
	f->o = o;
	if (o->host && (!*o->host || strlen(o->host) >= HOST / 4))
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_HOST,
					 "the name must have 1 to %d characters", HOST / 4 - 1);
	if (o->host)
		snprintf(f->host, HOST, "%s", o->host);
	if (o->time) {
		f->timed = looks_fraction((struct atw_blob){ o->time, strlen(o->time) }, 6, &f->time);
		if (!f->timed)
			return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_TIME,
						 "'%.40s' is no number of seconds", o->time);
	}
	r = fleet_check_folder(o->folder, err);
	for (size_t i = 0; i < TABLES && r == ATW_OK; i++)
		r = census_report_start(tables[i], &(struct census_report_opts){ 0 }, &f->state[i], err);
	r = r ?: census_model_open(tables, f->state, TABLES, &f->model, err);
	if (r == ATW_OK)
		f->to = census_model_sink(f->model);
	return r;
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < TABLES; i++)
		census_report_drop(tables[i], f->state[i]);
	census_model_close(f->model);
	while (f->nmade)
		free(f->made[--f->nmade]);
	free(f->made);
	free(f);
}
