/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs.c - commands of others: programs atwalk-NAME in the folders of PATH. */
#include "programs.h"

#include <dirent.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include "base/message.h"

#define PREFIX "atwalk-"

/* Letters, digits and "-", as commands have them. */
static bool programs_is_name(const char *name)
{
	return *name && *name != '-' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] == '\0';
}

static const struct command *(*programs_own)(const char *name);

void programs_begin(const struct command *(*own)(const char *name))
{
	programs_own = own;
}

struct programs_search {
	programs_fn *fn;
	void *arg;
	char **seen;             /* names of those before */
	size_t n, cap;
};

/* Why it is not run, or NULL. */
static const char *programs_why(const struct programs_search *s, const char *name,
				const char *path)
{
	struct stat st;

	if (programs_own(name))
		return _("atwalk has a command of this name");
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->seen[i], name))
			return _("another one is in front of it in PATH");
	if (stat(path, &st) < 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return _("it is no file");
	return access(path, X_OK) < 0 ? _("it may not be executed") : NULL;
}

static int programs_is_one(const struct dirent *e)
{
	return !strncmp(e->d_name, PREFIX, strlen(PREFIX)) &&
	       programs_is_name(e->d_name + strlen(PREFIX));
}

static int programs_folder(struct programs_search *s, const char *folder, struct atw_err *err)
{
	struct dirent **v = NULL;
	int n = scandir(folder, &v, programs_is_one, alphasort), r = 0;

	for (int i = 0; i < n; i++) {
		struct buf path = { 0 };
		struct plugin_program p = { .name = v[i]->d_name + strlen(PREFIX) };

		buf_printf(&path, "%s/%s", folder, v[i]->d_name);
		if (path.failed || !array_reserve((void **)&s->seen, &s->cap, s->n + 1, sizeof(*s->seen)))
			r = r ? r : atw_err_nomem(err);
		if (!r) {
			p.path = path.data;
			p.why = programs_why(s, p.name, p.path);
			if (!p.why && (s->seen[s->n] = strdup(p.name)))
				s->n++;
			r = s->fn(s->arg, &p);
		}
		buf_deinit(&path);
		free(v[i]);
	}
	free(v);
	return r;
}

int programs_each(programs_fn *fn, void *arg, struct atw_err *err)
{
	struct programs_search s = { .fn = fn, .arg = arg };
	const char *list = getenv("PATH");
	int r = 0;

	if (getauxval(AT_SECURE))
		return atw_err_set(err, ATW_E_PERM,
				   "programs in PATH are not used: this one has more rights than its caller");
	while (!r && list && *list) {
		size_t n = strcspn(list, ":");
		char *folder = strndup(list, n);

		r = !folder ? atw_err_nomem(err) : *folder == '/' ? programs_folder(&s, folder, err) : 0;
		free(folder);
		list += n + (list[n] == ':');
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.seen[i]);
	free(s.seen);
	return r;
}

struct programs_wanted {
	const char *name;
	char *ret;
	size_t len;
};

static int programs_is_wanted(void *arg, const struct plugin_program *p)
{
	const struct programs_wanted *w = arg;

	if (p->why || strcmp(p->name, w->name) != 0 || strlen(p->path) >= w->len)
		return 0;
	snprintf(w->ret, w->len, "%s", p->path);
	return 1;
}

bool programs_find(const char *name, char *ret, size_t len)
{
	struct programs_wanted w = { name, ret, len };

	return programs_is_name(name) && programs_each(programs_is_wanted, &w, NULL) == 1;
}
