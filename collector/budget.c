/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget.c - memory limit of the collector, and its cost. */
#include "budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "format/capture.h"
#include "host/host_file.h"

/*
 * Without --mem. Areas are written whole up to so many runs; counting takes up to 6
 * bytes a page of RAM (walk/counts.h), and some more for memory that is not RAM.
 */
enum { RUNS = 65536, COUNTS_PAGE = 8, COUNTS_MORE = 4 << 20 };
/* As the manual page says, and the test of it adds up. */
_Static_assert(RUNS * sizeof(struct capture_run) <= 9 << 20, "runs take up to 9 MiB");

/*
 * With it. FIXED: windows of words and their state, some 4 MiB; the output buffer; the
 * program; the areas of one process, of which there are up to 65530 unless
 * vm.max_map_count was changed.
 */
enum { FIXED = 14 << 20, LEAST = 16 << 20 };

static int budget_keep_to(const char *mem, struct budget *c, struct atw_err *err)
{
	struct rlimit most;
	uint64_t bytes;

	if (!num_size(mem, strlen(mem), &bytes) || bytes < LEAST)
		return atw_err_set(err, ATW_E_USAGE,
				   "--mem: '%s' is not a number of bytes of at least 16M", mem);
	/* Arrays double as they grow. */
	c->runs = 1024;
	while (c->runs < RUNS && 2 * c->runs * sizeof(struct capture_run) <= (bytes - FIXED) / 2)
		c->runs *= 2;
	c->counts = bytes - FIXED - c->runs * sizeof(struct capture_run);
	getrlimit(RLIMIT_AS, &most);
	if (bytes < most.rlim_cur)
		most.rlim_cur = (rlim_t)bytes;
	if (setrlimit(RLIMIT_AS, &most) < 0)
		return atw_err_set(err, ATW_E_IO, "--mem: cannot set the limit: %m");
	return ATW_OK;
}

int budget_begin(const char *mem, struct budget *ret, struct atw_err *err)
{
	struct budget c = { .runs = RUNS, .began = now() };
	int r = ATW_OK;

	if (mem)
		r = budget_keep_to(mem, &c, err);
	else
		c.counts = (uint64_t)sysconf(_SC_PHYS_PAGES) * COUNTS_PAGE + COUNTS_MORE;
	if (r == ATW_OK)
		*ret = c;
	return r;
}

/* Not getrusage(2): its maximum includes the process before execve(2). */
static bool budget_peak(uint64_t *ret)
{
	struct buf text;
	const char *kib;
	bool known;

	if (!host_status("self", &text))
		return false;
	kib = host_status_field(&text, "VmHWM");
	known = num_dec(kib, strcspn(kib, " "), ret);
	buf_deinit(&text);
	return known;
}

void budget_print(const struct budget *c, const struct pace *pace)
{
	uint64_t ms = (now() - c->began) / 1000000, kib = 0;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	fprintf(stderr, "atwalk-collect: cost: %" PRIu64 ".%03" PRIu64 " s, %ld.%03ld s of CPU; "
		"%" PRIu64 " bytes of /proc in %" PRIu64 " calls; ", ms / 1000, ms % 1000,
		(long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec +
		       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000000),
		(long)((u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000 % 1000),
		pace->proc.bytes, pace->proc.calls);
	if (budget_peak(&kib))
		fprintf(stderr, "at most %" PRIu64 " KiB of memory\n", kib);
	else
		fputs("peak memory is not known\n", stderr);
}
