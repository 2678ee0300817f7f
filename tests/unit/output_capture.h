/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_capture.h - rows in, the exact bytes of a format out. */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "record/record.h"

#include "test.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define U(x) { .u = (x) }
#define S(x) { .s = (x) }

static char capture_text[1 << 16];
static struct atw_err capture_err;
/* What an error is the fault of. */
static const char *const capture_param[ATW_PARAMS] = {
	[ATW_PARAM_FORMAT] = "format: ", [ATW_PARAM_COLUMNS] = "columns: ",
	[ATW_PARAM_FILTER] = "filter: ", [ATW_PARAM_SORT] = "sort: ",
	[ATW_PARAM_GROUP] = "group: ",
};

static const char *capture_read(int fd)
{
	ssize_t n = pread(fd, capture_text, sizeof(capture_text) - 1, 0);

	capture_text[n < 0 ? 0 : n] = '\0';
	return capture_text;
}

/* What the rows look like, or "error: ..." as soon as something fails. */
static const char *capture_note(struct atw_output_opts o,
				const struct atw_schema *sc,
				const struct atw_row *rows, size_t n,
				const char *note)
{
	struct atw_output *out = NULL;
	char path[32];
	int fd = memfd_create("capture", MFD_CLOEXEC);
	int rc;

	capture_err = (struct atw_err){ 0 };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	rc = atw_output_open(&o, sc, &out, &capture_err);
	for (size_t i = 0; rc == ATW_OK && i < n; i++)
		rc = atw_output_row(out, &rows[i], &capture_err);
	if (rc == ATW_OK && note)
		rc = atw_output_note(out, "%s", note);
	if (rc == ATW_OK)
		rc = atw_output_commit(out, &capture_err);
	atw_output_close(out);
	if (rc == ATW_OK)
		capture_read(fd);
	else
		snprintf(capture_text, sizeof(capture_text), "error: %s%s",
			 capture_param[capture_err.param] ? capture_param[capture_err.param] : "",
			 capture_err.text);
	close(fd);
	return capture_text;
}

static inline const char *capture(struct atw_output_opts o,
				  const struct atw_schema *sc,
				  const struct atw_row *rows, size_t n)
{
	return capture_note(o, sc, rows, n, NULL);
}
