// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.c - lines of perf script.
 *
 *	 true 21386 [001] 34969.610090:   1 page-faults:  7ffc11e67939 [unknown] ([stack]) ffffffff81b75d98 _copy_to_user+0x28 ([kernel.kallsyms])
 *	 mcf  1774 [002] 546.882384: 10000 cpu/mem-loads,ldlat=30/P:  7ffdf1391b0c  10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A  5  7fad7c47425d f+0x1 (/usr/bin/mcf)  1234b0c 4K
 *
 * A line has no names of its fields, but their order is fixed (process_event() of perf's
 * builtin-script.c): command, process, CPU, time, period, event; then address, data
 * source, weights, instruction, symbol, object; then physical address and page sizes.
 * The first part ends at the time and the event, which have a colon. Of the rest, numbers
 * are hexadecimal and right aligned to 16 columns, weights decimal.
 */
#include "trace/parsers.h"
#include "trace/perf_line.h"

static const struct {
	const char *name;
	uint32_t field;
} perf_fields[] = {
	{ "comm", TRACE_FIELD_HEAD },
	{ "tid", TRACE_FIELD_TID },
	{ "pid", TRACE_FIELD_PID },
	{ "time", TRACE_FIELD_TIME },
	{ "cpu", TRACE_FIELD_CPU },
	{ "misc", TRACE_FIELD_HEAD },
	{ "event", TRACE_FIELD_EVENT },
	{ "period", TRACE_FIELD_PERIOD },
	{ "addr", TRACE_FIELD_ADDR },
	{ "data_src", TRACE_FIELD_DATA_SRC },
	{ "weight", TRACE_FIELD_WEIGHT },
	{ "ins_lat", TRACE_FIELD_INS_LAT },
	{ "retire_lat", TRACE_FIELD_RETIRE_LAT },
	{ "ip", TRACE_FIELD_IP },
	{ "sym", TRACE_FIELD_SYM },
	{ "symoff", TRACE_FIELD_SYM },
	{ "dso", TRACE_FIELD_SYM },
	{ "phys_addr", TRACE_FIELD_PHYS_ADDR },
	{ "data_page_size", TRACE_FIELD_DATA_PAGE_SIZE },
	{ "code_page_size", TRACE_FIELD_CODE_PAGE_SIZE },
};

static void perf_split(struct atw_blob line, struct perf_line *ret)
{
	const char *at = line.data;

	ret->n = 0;
	ret->end = at + line.len;
	ret->event = (struct atw_blob){ 0 };
	while (ret->n < PERF_WORDS) {
		struct atw_blob w = words_next(&at, ret->end);

		if (!w.len)
			break;
		ret->word[ret->n++] = w;
	}
}

/* ---- the first part ---- */

/* "34969.610090:", with six decimals or nine */
static bool perf_is_time(struct atw_blob w)
{
	const char *s = w.data, *dot = w.len ? memchr(s, '.', w.len) : NULL;
	size_t decimals;

	if (!dot || perf_last(w) != ':')
		return false;
	decimals = w.len - (size_t)(dot - s) - 2;
	return (decimals == 6 || decimals == 9) &&
	       words_digits((struct atw_blob){ s, (size_t)(dot - s) }) &&
	       words_digits((struct atw_blob){ dot + 1, decimals });
}

static bool perf_is_cpu(struct atw_blob w)
{
	const char *s = w.data;

	return w.len > 2 && s[0] == '[' && s[w.len - 1] == ']' &&
	       words_digits((struct atw_blob){ s + 1, w.len - 2 });
}

/* "1234" or "1234/1235" */
static bool perf_is_task(struct atw_blob w)
{
	const char *s = w.data, *slash = memchr(s, '/', w.len);

	if (!slash)
		return words_digits(w);
	return words_digits((struct atw_blob){ s, (size_t)(slash - s) }) &&
	       words_digits((struct atw_blob){ slash + 1, w.len - (size_t)(slash - s) - 1 });
}

static int perf_task(const struct trace_parser *p, struct atw_blob w, struct trace_ref *ret,
		     struct atw_err *err)
{
	const char *s = w.data, *slash = memchr(s, '/', w.len);
	struct atw_blob tid = w;
	int r = ATW_OK;

	if (slash) {
		tid = (struct atw_blob){ slash + 1, w.len - (size_t)(slash - s) - 1 };
		w.len = (size_t)(slash - s);
		r = words_to_u32(p, w, "the number of a process", &ret->pid, err);
		ret->has |= TRACE_HAS_PID;
	} else if ((p->fields & (TRACE_FIELD_PID | TRACE_FIELD_TID)) == TRACE_FIELD_PID) {
		ret->has |= TRACE_HAS_PID;
		return words_to_u32(p, w, "the number of a process", &ret->pid, err);
	}
	ret->has |= TRACE_HAS_TID;
	return r < 0 ? r : words_to_u32(p, tid, "the number of a thread", &ret->tid, err);
}

/* Words [0, n): command, process, CPU. */
static int perf_start(const struct trace_parser *p, const struct perf_line *l, unsigned n,
		      struct trace_ref *ret, struct atw_err *err)
{
	unsigned task = n;
	int r;

	for (unsigned i = 0; i < n; i++) {
		struct atw_blob w = l->word[i];

		if (perf_is_cpu(w)) {
			const struct atw_blob cpu = { (const char *)w.data + 1, w.len - 2 };

			r = words_to_u32(p, cpu, "the number of a CPU", &ret->cpu, err);
			if (r < 0)
				return r;
			ret->has |= TRACE_HAS_CPU;
		} else if (perf_is_task(w)) {
			/* A command can have numbers in it: the last one counts. */
			task = i;
		}
	}
	if (task < n) {
		r = perf_task(p, l->word[task], ret, err);
		if (r < 0)
			return r;
	}
	if (task && n && !perf_is_cpu(l->word[0])) {
		const char *from = l->word[0].data;
		struct atw_blob last = l->word[(task < n ? task : 1) - 1];

		ret->task = (struct atw_blob){
			from, (size_t)((const char *)last.data + last.len - from) };
	}
	return ATW_OK;
}

/* Without a time and an event: the word behind the CPU, the process or the command. */
static unsigned perf_first(const struct trace_parser *p, const struct perf_line *l)
{
	unsigned comm = p->fields & TRACE_FIELD_HEAD && l->n ? 1 : 0;

	for (unsigned i = comm; i < l->n; i++) {
		if (p->fields & TRACE_FIELD_CPU) {
			if (perf_is_cpu(l->word[i]))
				return i + 1;
		} else if (!(p->fields & (TRACE_FIELD_PID | TRACE_FIELD_TID))) {
			break;
		} else if (perf_is_task(l->word[i])) {
			return i + 1;
		}
	}
	return comm;
}

/*
 * Parse the words up to the event. *first becomes the word behind it. ATW_END: the line is
 * an event of perf's own.
 */
static int perf_head(const struct trace_parser *p, struct perf_line *l,
		     struct trace_ref *ret, unsigned *first, struct atw_err *err)
{
	unsigned time = l->n, event = l->n, at;
	int r = ATW_OK;

	for (unsigned i = 0; i < l->n && time == l->n; i++)
		if (perf_is_time(l->word[i]))
			time = i;
	at = time < l->n ? time + 1 : 0;
	if (at < l->n && words_begins(l->word[at], "PERF_RECORD_"))
		return ATW_END;
	/* Behind the time at most a period precedes the event. */
	for (unsigned i = at; i < l->n && event == l->n; i++) {
		if (time < l->n && i > at + 1)
			break;
		/* Objects and data sources begin behind the event. */
		if (words_begins(l->word[i], "(") || words_begins(l->word[i], "|"))
			break;
		if (perf_last(l->word[i]) == ':' && l->word[i].len > 1)
			event = i;
	}
	*first = at;
	if (event < l->n) {
		*first = event + 1;
		l->event = l->word[event];
		l->event.len--;
		if (event > at && words_digits(l->word[event - 1]) &&
		    (time < l->n || p->fields & TRACE_FIELD_PERIOD)) {
			event--;
			r = num_dec(l->word[event].data, l->word[event].len, &ret->count)
				    ? ATW_OK
				    : words_bad(p, l->word[event], "a period", err);
		}
	} else if (p->fields & TRACE_FIELD_PERIOD && at < l->n) {
		/* Without an event the period is the word behind the time. */
		*first = at + 1;
		if (time < l->n && words_digits(l->word[at]) &&
		    !num_dec(l->word[at].data, l->word[at].len, &ret->count))
			r = words_bad(p, l->word[at], "a period", err);
	}
	if (p->fields && time == l->n && event == l->n)
		*first = perf_first(p, l);
	/* perf counts what has no period as one, too. */
	ret->count = ret->count ? ret->count : 1;
	if (r == ATW_OK && time < l->n) {
		struct atw_blob w = l->word[time];

		w.len--;
		ret->has |= TRACE_HAS_TIME;
		r = words_to_time(p, w, &ret->time, err);
	}
	if (r == ATW_OK)
		r = perf_start(p, l, time < l->n ? time : event < l->n ? event : *first, ret,
			       err);
	return r;
}

/* ---- a line ---- */

static bool perf_nothing(struct atw_blob line)
{
	const char *s = line.data;

	/* An entry of a call chain begins with a tab. */
	return !line.len || s[0] == '\t' || s[0] == '#';
}

int perf_parse(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
	       struct atw_err *err)
{
	struct perf_line l;
	unsigned first;
	int r;

	if (perf_nothing(line))
		return ATW_END;
	perf_split(line, &l);
	if (!l.n)
		return ATW_END;
	r = perf_head(p, &l, ret, &first, err);
	if (r == ATW_OK)
		r = perf_tail(p, &l, first, ret, err);
	if (r < 0 || r == ATW_END)
		return r;
	if (ret->kind == TRACE_KIND_UNKNOWN && words_find(l.event, "load"))
		ret->kind = TRACE_KIND_READ;
	else if (ret->kind == TRACE_KIND_UNKNOWN && words_find(l.event, "store"))
		ret->kind = TRACE_KIND_WRITE;
	return ret->has ? ATW_OK : ATW_END;
}

/* A line with a time or an event, or nothing but numbers of the length of addresses. */
static bool perf_looks(struct atw_blob line)
{
	struct trace_parser p = { 0 };
	struct trace_ref ref = { 0 };
	struct perf_line l;
	unsigned first;

	if (perf_nothing(line))
		return false;
	perf_split(line, &l);
	if (!l.n)
		return false;
	for (unsigned i = 0; i < l.n; i++)
		if (perf_is_time(l.word[i]))
			return true;
	if (words_hex(l.word[0]) && l.word[0].len > PERF_SHORT)
		return true;
	return perf_head(&p, &l, &ref, &first, NULL) == ATW_OK && l.event.len &&
	       ref.has & TRACE_HAS_TID && first < l.n;
}

bool perf_detect(const struct atw_blob *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (perf_looks(line[i]))
			return true;
	return false;
}

static uint32_t perf_field(struct atw_blob name)
{
	for (size_t i = 0; i < sizeof(perf_fields) / sizeof(perf_fields[0]); i++)
		if (words_is(name, perf_fields[i].name))
			return perf_fields[i].field;
	return 0;
}

int perf_init(struct trace_parser *p, const struct trace_options *opts,
	      const struct atw_blob *line, size_t n, struct atw_err *err)
{
	const char *s = opts->fields;

	if (opts->address && !strcmp(opts->address, "ip"))
		p->code = true;
	else if (opts->address && strcmp(opts->address, "addr"))
		return atw_err_set(err, ATW_E_USAGE,
				   "perf script has no addresses in the field '%.60s': expected addr or ip",
				   opts->address);
	while (s) {
		const char *comma = strchrnul(s, ',');
		struct atw_blob name = { s, (size_t)(comma - s) };
		uint32_t field = perf_field(name);

		if (!field)
			return atw_err_set(err, ATW_E_USAGE,
					   "unknown field '%.*s' of perf script",
					   name.len < 60 ? (int)name.len : 60, s);
		p->fields |= field;
		s = *comma ? comma + 1 : NULL;
	}
	if (p->fields && !(p->fields & (p->code ? TRACE_FIELD_IP : TRACE_FIELD_ADDR)))
		return atw_err_set(err, ATW_E_MISSING, "the fields have no %s",
				   p->code ? "ip" : "addr");
	return ATW_OK;
}
