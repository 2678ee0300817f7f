/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answers_folder.c - several answers in files: all of them or none. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers.h"
#include "ending.h"

bool answers_path(const struct answers *a, size_t i, const char *ending, char path[4096])
{
	const char *to = a->c->output ? a->c->output : "";
	int n = a->n == 1 ? snprintf(path, 4096, "%s", to)
			  : snprintf(path, 4096, "%s/%s.%s", to, a->v[i].name, ending);

	return n >= 0 && n < 4096;
}

/* ---- an end before the end ---- */

static const char *volatile made;        /* a folder that is empty so far; NULL: none */

/* Files have no names before they are complete, and need no removal. */
static void answers_folder_tidy(void)
{
	if (made)
		rmdir(made);
}

void answers_catch(const struct answers *a)
{
	if (a->made)
		ending_catch(answers_folder_tidy);
}

int answers_folder(struct answers *a, struct atw_err *err)
{
	sigset_t signals, were;
	struct stat st;
	int e;

	if (a->n < 2 || !a->c->output)
		return ATW_OK;
	ending_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &were);
	a->made = !mkdir(a->c->output, 0777);
	e = errno;
	if (a->made) {
		made = a->c->output;
		ending_catch(answers_folder_tidy);
	}
	sigprocmask(SIG_SETMASK, &were, NULL);
	if (!a->made && e == EEXIST && (stat(a->c->output, &st) < 0 || !S_ISDIR(st.st_mode)))
		return atw_err_set(err, ATW_E_IO, "%s: not a folder; several reports need a "
				   "folder", a->c->output);
	if (!a->made && e != EEXIST)
		return atw_err_set(err, ATW_E_IO, "%s: cannot create a folder for several "
				   "reports: %s", a->c->output, strerror(e));
	return ATW_OK;
}

/* Those that could not be drawn have none. */
int answers_name(struct answers *a, struct atw_err *err)
{
	struct outfile *all[ANSWERS];
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (a->target[i])
			all[n++] = a->target[i];
	return n ? outfile_commit_all(all, n, err) : ATW_OK;
}
