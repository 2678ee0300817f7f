/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message.h - messages in the language of the reader.
 *
 * Texts that a person reads are translated where they are composed, by functions that take
 * a format, such as atw_err_set(), or where they are printed, such as the help of options.
 * tools/check-messages lists these functions. What programs read is never translated: keys,
 * values, formats, and commands that can be pasted into a shell.
 *
 * The program selects the language (cli/common/language.h). The library only looks a
 * message up; until a program has called setlocale(3), each is returned as it is.
 */
#pragma once

#if HAVE_GETTEXT
#include <libintl.h>
#endif

#define MESSAGE_DOMAIN "atwalk"

/* The translation of `id`, or `id`. */
__attribute__((format_arg(1))) static inline const char *message(const char *id)
{
#if HAVE_GETTEXT
	/* gettext has its own use for the empty message. */
	return *id ? dgettext(MESSAGE_DOMAIN, id) : id;
#else
	return id;
#endif
}

/* A text that is translated here, and is in no list of tools/check-messages otherwise. */
#define _(id) message(id)
/* A text that is translated where it is used. */
#define N_(id) id
