/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complain.c - the one place that writes to standard error. */
#include <stdarg.h>
#include <stdio.h>

#include "atwalk.h"
#include "base/text.h"

int exit_status(int status)
{
	switch (status) {
	case ATW_E_USAGE:
		return EXIT_USAGE;
	case ATW_E_LIMIT:
		return EXIT_PARTIAL;
	case ATW_E_NONE:
		return EXIT_NO;
	default:
		return EXIT_SOURCE;
	}
}

/* Names in files are not ours: nothing of them may steer a terminal. */
static void put_text(const char *s)
{
	struct buf b = { 0 };

	text_plain(&b, s);
	fputs(b.failed ? "out of memory" : b.data, stderr);
	fputc('\n', stderr);
	buf_deinit(&b);
}

int complain(const struct atw_err *err)
{
	fputs("atwalk: ", stderr);
	put_text(err->text);
	if (err->hint[0]) {
		fputs("        ", stderr);
		put_text(err->hint);
	}
	return exit_status(err->status);
}

/* One line, with what the program is called in front. */
static void put_line(const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	fputs("atwalk: ", stderr);
	put_text(text);
}

int complain_usage(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(fmt, ap);
	va_end(ap);
	fprintf(stderr, "        see: atwalk %s --help\n", command);
	return EXIT_USAGE;
}

void complain_part(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(fmt, ap);
	va_end(ap);
}

void remark(const struct common *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	put_line(fmt, ap);
	va_end(ap);
}
