/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_crash.c - the machine of a dump: its name, its clock, its crash and its log. */
#include <time.h>

#include "info.h"
#include "linux/machine.h"
#include "linux/tasks.h"

struct log_scan {
	struct printk_ring ring;
	struct printk_record rec;
	char crash[PRINTK_TEXT + 1];     /* the most specific line, or empty */
	int how;
	uint64_t last;                   /* when the last line was written, ns */
	uint64_t lines;
	uint64_t damaged;
	struct atw_err why;              /* of the first that is damaged */
};

/* Of each line of a record, until it fails. */
typedef void log_line_fn(void *arg, const struct printk_record *rec, const char *line);

static void crash_each_line(struct printk_record *rec, log_line_fn *fn, void *arg)
{
	char *line = rec->text, *end;

	do {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		fn(arg, rec, line);
		line = end ? end + 1 : NULL;
	} while (line);
}

static void crash_look_at_line(void *arg, const struct printk_record *rec,
			       const char *line)
{
	struct log_scan *s = arg;
	const char *words;
	int how = log_is_crash(line, &words);

	s->last = rec->time;
	s->lines++;
	/* What comes first is the cause; that the kernel gave up goes before that. */
	if (how > s->how) {
		s->how = how;
		snprintf(s->crash, sizeof(s->crash), "%s", words);
	}
}

static void crash_look_at_all(struct log_scan *s)
{
	for (uint64_t i = 0; i < s->ring.count; i++) {
		struct atw_err err = { 0 };
		int r = printk_record(&s->ring, i, &s->rec, &err);

		if (r == ATW_OK)
			crash_each_line(&s->rec, crash_look_at_line, s);
		else if (r != ATW_E_NONE && !s->damaged++)
			s->why = err;
	}
}

/* ---- rows ---- */

struct log_rows {
	struct facts *f;
	uint64_t skip;
};

static void crash_put_line(void *arg, const struct printk_record *rec, const char *line)
{
	struct log_rows *r = arg;

	if (r->skip)
		r->skip--;
	else
		fact(r->f, "log", "[%5" PRIu64 ".%06" PRIu64 "] %s", rec->time / 1000000000,
		     rec->time / 1000 % 1000000, line);
}

static void crash_log_facts(struct facts *f, struct log_scan *s, uint64_t wanted)
{
	struct log_rows rows = { f, s->lines > wanted ? s->lines - wanted : 0 };

	for (uint64_t i = 0; i < s->ring.count && wanted; i++)
		if (printk_record(&s->ring, i, &s->rec, NULL) == ATW_OK)
			crash_each_line(&s->rec, crash_put_line, &rows);
	if (wanted && s->lines > wanted)
		fact(f, "log", "%" PRIu64 " lines, of which the last %" PRIu64
		     " are listed; --log LINES lists more", s->lines, wanted);
	if (s->damaged)
		fact(f, "log", "%" PRIu64 " record%s cannot be read: %s", s->damaged,
		     s->damaged == 1 ? "" : "s", s->why.text);
}

static void crash_clock_facts(struct facts *f, struct atw_kernel *k,
			      const struct log_scan *s)
{
	struct atw_err err = { 0 };
	struct kernel_clock c = { 0 };
	char text[40] = "";
	struct tm tm;
	time_t t;

	if (kernel_clock(k, &c, &err) == ATW_OK)
		fact(f, "uptime", "%" PRIu64 " s (%" PRIu64 " days %02" PRIu64 ":%02" PRIu64 ":%02"
		     PRIu64 ")", c.up, c.up / 86400, c.up / 3600 % 24, c.up / 60 % 60, c.up % 60);
	else if (s->lines)
		fact(f, "uptime", "%" PRIu64 " s or more: the time of the last line of the log; %s",
		     s->last / 1000000000, err.text);
	else
		fact(f, "uptime", "not known: %s", err.text);
	t = (time_t)c.now;
	if (c.now && c.now < UINT64_C(1) << 38 && gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fact(f, "time", "%s UTC", text);
}

static void crash_cpu_fact(struct facts *f, struct atw_kernel *k)
{
	struct atw_err err = { 0 };
	struct lnx_task t;
	unsigned cpu;
	int r = kernel_crash_cpu(k, &cpu, &err);

	if (r == ATW_E_NONE)
		fact(f, "crash cpu", "none: no CPU has crashed");
	else if (r < 0)
		fact(f, "crash cpu", "not known: %s", err.text);
	else
		fact(f, "crash cpu", "%u", cpu);
	if (r < 0)
		return;
	r = cpu_task(k, cpu, &t, &err);
	if (r < 0)
		fact(f, "crash task", "not known: %s", err.text);
	else if (t.pid == t.tgid)
		fact(f, "crash task", "%" PRIu32 " (%s)", t.pid, t.name);
	else
		fact(f, "crash task", "%" PRIu32 " (%s), a thread of process %" PRIu32, t.pid, t.name,
		     t.tgid);
}

void crash_facts(struct facts *f, struct atw_kernel *k, const struct opt_number *lines)
{
	_auto_free struct log_scan *s = calloc(1, sizeof(*s));
	struct atw_err err = { 0 };
	char name[65];
	bool have;

	if (!s)
		return;
	if (kernel_node_name(k, name, sizeof(name), &err) == ATW_OK)
		fact(f, "host", "%s", name);
	else
		fact(f, "host", "not known: %s", err.text);
	have = kernel_log(k, &s->ring, &err) == ATW_OK;
	if (have)
		crash_look_at_all(s);
	crash_clock_facts(f, k, s);
	if (have)
		fact(f, "panic", "%s", s->how ? s->crash : "none: no line of the log is about a crash");
	else
		fact(f, "panic", "not known: %s", err.text);
	crash_cpu_fact(f, k);
	if (have)
		crash_log_facts(f, s, lines->given ? lines->u : INFO_LOG_LINES);
	else
		fact(f, "log", "cannot be read: %s", err.text);
}
