/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "language.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "host/host.h"

#if HAVE_GETTEXT

static bool language_plain_now;
static char language_name[256]; /* of LC_MESSAGES; empty: the messages are not translated */

/* Can only root change what lies in this folder, or put another one in its place? */
static bool language_is_roots(const char *folder)
{
	char path[PATH_MAX];
	size_t n = strlen(folder);
	struct stat st;

	if (*folder != '/' || n >= sizeof(path))
		return false;
	for (size_t i = 1; i <= n; i++) {
		if (folder[i] != '/' && folder[i])
			continue;
		memcpy(path, folder, i);
		path[i] = '\0';
		if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid || st.st_mode & 022)
			return false;
	}
	return !stat("/", &st) && !st.st_uid && !(st.st_mode & 022);
}

/*
 * Installed below the same prefix as the program, or beside it. A catalogue has formats of
 * printf(3), so one of another user is as bad as a library. In a program with more rights
 * than its caller (AT_SECURE), glibc ignores LOCPATH and paths in LANGUAGE; but a hard link
 * gives such a program a folder of the caller's choice.
 */
static bool language_folder(char *ret, size_t len)
{
	static const char *const folders[] = { "/../share/locale", "/locale" };
	char own[PATH_MAX - 32];

	if (!host_program_folder(own, sizeof(own)))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(ret, len, "%s%s", own, folders[i]);
		if (!access(ret, X_OK))
			return !getauxval(AT_SECURE) || language_is_roots(ret);
	}
	return false;
}

/* C.UTF-8 has no messages of its own, but LANGUAGE may name a language. */
static bool language_is_none(const char *name)
{
	const char *list = getenv("LANGUAGE");

	return !strcmp(name, "C") || !strcmp(name, "POSIX") ||
	       (!strncmp(name, "C.", 2) && (!list || !*list));
}

/*
 * All texts are UTF-8, in the catalogues as in the files that are read, and so is what is
 * written: in a locale of another character set messages stay in English.
 */
void language_begin(void)
{
	char folder[PATH_MAX];
	const char *name;

	if (!setlocale(LC_CTYPE, ""))
		return;
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
		setlocale(LC_CTYPE, "C");
		return;
	}
	name = setlocale(LC_MESSAGES, "");
	if (!name || language_is_none(name) || strlen(name) >= sizeof(language_name))
		return;
	snprintf(language_name, sizeof(language_name), "%s", name);
	/* Without a folder none is used, and not the one that libc was built with. */
	bindtextdomain(MESSAGE_DOMAIN, language_folder(folder, sizeof(folder)) ? folder : "/nonexistent");
}

void language_plain(bool plain)
{
	if (*language_name && plain != language_plain_now)
		setlocale(LC_MESSAGES, plain ? "C" : language_name);
	language_plain_now = plain;
}

bool language_is_plain(void)
{
	return language_plain_now;
}

#else

void language_begin(void)
{
}

void language_plain(bool plain)
{
}

bool language_is_plain(void)
{
	return true;
}

#endif
