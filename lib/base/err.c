/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.c - one sentence about what went wrong, built from the inside out. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <atwalk/base.h>

#include "base/version.h"

int atw_err_set(struct atw_err *err, int status, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return status;
	err->status = status;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return status;
}

int atw_err_wrap(struct atw_err *err, const char *fmt, ...)
{
	char prefix[sizeof(err->text)];
	va_list ap;
	size_t n, keep;

	if (!err)
		return ATW_E_IO;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix) - 2, fmt, ap);
	va_end(ap);
	n = strlen(prefix);
	memcpy(prefix + n, ": ", 3);
	n += 2;

	/* What was said first is the cause: the end is cut, never the start. */
	keep = strlen(err->text);
	if (keep > sizeof(err->text) - 1 - n)
		keep = sizeof(err->text) - 1 - n;
	memmove(err->text + n, err->text, keep);
	memcpy(err->text, prefix, n);
	err->text[n + keep] = '\0';
	return err->status;
}

void atw_err_hint(struct atw_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

const char *atw_version(void)
{
	return ATWALK_VERSION;
}
