/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_head.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "report/report.h"

struct head {
	char host[128], machine[64], release[128];
	uint64_t first, last;            /* seconds since 1970, of the first look and the last */
	uint64_t looks;                  /* that say when */
};

/* Of several snapshots the last one is shown: they are of one machine. */
static void report_head_keep(char *to, size_t room, struct atw_blob text)
{
	size_t len = text.len < room ? text.len : room - 1;

	if (len)
		memcpy(to, text.data, len);
	to[len] = '\0';
	if (len < text.len)
		memcpy(to + len - 3, "...", 3);
}

static int report_head_feed(void *state, const struct census_event *ev,
			    struct atw_err *err)
{
	const struct capture_header *h = ev->header;
	const char *point = memchr(h->value.data, '.', h->value.len);
	struct head *s = state;
	uint64_t seconds;

	if (blob_is(h->key, "host"))
		report_head_keep(s->host, sizeof(s->host), h->value);
	else if (blob_is(h->key, "machine"))
		report_head_keep(s->machine, sizeof(s->machine), h->value);
	else if (blob_is(h->key, "release"))
		report_head_keep(s->release, sizeof(s->release), h->value);
	else if (blob_is(h->key, "begun") &&
		 num_dec(h->value.data, point ? (size_t)(point - (const char *)h->value.data)
					      : h->value.len, &seconds)) {
		s->first = s->looks++ ? s->first : seconds;
		s->last = seconds;
	}
	return ATW_OK;
}

static int report_head_finish(void *state, const struct census_out *out,
			      struct atw_err *err)
{
	return ATW_OK;
}

static void report_head_put_time(struct buf *b, uint64_t seconds)
{
	char text[40];
	time_t t = (time_t)seconds;
	struct tm tm;

	if (seconds <= INT64_MAX && gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		buf_str(b, text);
	else
		buf_str(b, "at an invalid time");
}

void report_head_text(const void *state, char *const *source, size_t n, struct buf *b)
{
	const struct head *s = state;

	buf_str(b, source[0]);
	if (n > 1)
		buf_printf(b, " to %s, %zu sources", source[n - 1], n);
	buf_printf(b, "; host %s", *s->host ? s->host : "unknown");
	buf_printf(b, "; %s%s, %s; ", *s->release ? "Linux " : "release ",
		   *s->release ? s->release : "unknown", *s->machine ? s->machine : "machine unknown");
	if (!s->looks) {
		buf_str(b, "time unknown");
		return;
	}
	report_head_put_time(b, s->first);
	if (s->looks > 1) {
		buf_str(b, " to ");
		report_head_put_time(b, s->last);
		buf_printf(b, ", %" PRIu64 " looks", s->looks);
	}
}

const struct census_report report_head = {
	.name = "head",
	.looks = true,
	.on = CENSUS_ON(HEADER),
	.state = sizeof(struct head),
	.feed = report_head_feed,
	.finish = report_head_finish,
};
