/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.c - error messages of one sentence, to which each layer prepends its context. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <atwalk/base.h>

#include "base/message.h"
#include "base/text.h"
#include "base/version.h"

/* No character is cut in its middle. */
static void err_print(char *ret, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(ret, size, message(fmt), ap);

	if (n > 0 && (size_t)n >= size)
		ret[text_whole(ret, size - 1)] = '\0';
}

static void err_begin(struct atw_err *err, int status, enum atw_param param,
		      const char *fmt, va_list ap)
{
	if (!err)
		return;
	err->status = status;
	err->param = param;
	err->remedy = ATW_PARAM_NONE;
	err->subject = 0;
	err->command = 0;
	err->hint[0] = '\0';
	err_print(err->text, sizeof(err->text), fmt, ap);
}

int atw_err_set(struct atw_err *err, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_begin(err, status, ATW_PARAM_NONE, fmt, ap);
	va_end(ap);
	return status;
}

int atw_err_set_param(struct atw_err *err, int status, enum atw_param param,
		      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_begin(err, status, param, fmt, ap);
	va_end(ap);
	return status;
}

int atw_err_nomem(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_NOMEM, "out of memory");
}

int atw_err_give(struct atw_err *err, int status, const struct atw_err *why)
{
	if (status < 0 && err)
		*err = *why;
	return status;
}

void atw_err_param(struct atw_err *err, enum atw_param param)
{
	if (err)
		err->param = param;
}

void atw_err_remedy(struct atw_err *err, enum atw_param param)
{
	if (err)
		err->remedy = param;
}

/* Between what a sentence is about and the sentence. */
static const char *err_colon(void)
{
	return _(": ");
}

int atw_err_wrap(struct atw_err *err, const char *fmt, ...)
{
	char prefix[sizeof(err->text)];
	const char *colon = err_colon();
	size_t n, keep, len = strlen(colon);
	va_list ap;

	if (!err)
		return ATW_E_IO;
	va_start(ap, fmt);
	err_print(prefix, sizeof(prefix) - len, fmt, ap);
	va_end(ap);
	n = strlen(prefix);
	memcpy(prefix + n, colon, len + 1);
	n += len;

	/* The innermost message is the cause, so the end is cut and never the start. */
	keep = strlen(err->text);
	if (keep > sizeof(err->text) - 1 - n)
		keep = text_whole(err->text, sizeof(err->text) - 1 - n);
	memmove(err->text + n, err->text, keep);
	memcpy(err->text, prefix, n);
	err->text[n + keep] = '\0';
	err->subject = 0;
	return err->status;
}

void atw_err_about(struct atw_err *err, const char *subject)
{
	size_t n = strlen(subject), all = n + strlen(err_colon());

	if (!err || (err->subject == all && !memcmp(err->text, subject, n)))
		return;
	atw_err_wrap(err, "%s", subject);
	/* A name that does not fit is cut, together with the text around it. */
	err->subject = all < sizeof(err->text) ? (unsigned)all : 0;
}

const char *atw_err_reason(const struct atw_err *err)
{
	return err->text + err->subject;
}

void atw_err_hint(struct atw_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	err->command = 0;
	va_start(ap, fmt);
	err_print(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

void atw_err_hint_command(struct atw_err *err, const char *what, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!err)
		return;
	n = snprintf(err->hint, sizeof(err->hint), "%s%s", message(what), err_colon());
	err->command = n > 0 && (size_t)n < sizeof(err->hint) ? (unsigned)n : 0;
	if (!err->command)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint + n, sizeof(err->hint) - (size_t)n, fmt, ap);
	va_end(ap);
}

const char *atw_version(void)
{
	return ATWALK_VERSION;
}
