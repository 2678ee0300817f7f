/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subject.c - selected address space: --pid, --task, or the one that maps an address. */
#include "atwalk.h"
#include "base/message.h"

static int subject_failed(const struct session *s, struct atw_err *err)
{
	atw_err_wrap(err, "%s", s->name);
	return print_error(err);
}

int check_subject(const struct space_opts *space, bool guest, struct atw_err *err)
{
	const struct {
		bool given;
		const char *name;
	} selectors[] = {
		{space->pid.given, "--pid"},
		{space->task, "--task"},
		{space->cpu.given, "--cpu"},
		{space->root.given, "--root"},
	};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
		if (selectors[i].given && first)
			return atw_err_set(err, ATW_E_USAGE,
					   "%s and %s cannot be used together", first,
					   selectors[i].name);
		if (selectors[i].given)
			first = selectors[i].name;
	}
	if (space->freeze && !guest && !space->pid.given && !space->task)
		return atw_err_set(err, ATW_E_USAGE, "--freeze needs --pid or --task");
	if (space->pti && !space->pid.given && !space->task)
		return atw_err_set(err, ATW_E_USAGE, "--pti needs --pid or --task");
	return ATW_OK;
}

const char *tables_hint(const struct session *s)
{
	uint64_t cr3;

	if (!target_has(s->target, TARGET_RUNNING) &&
	    atw_fact_u64(s->target->source, "cpu0.cr3", &cr3) == ATW_OK)
		return N_("specify --pid N (a process), --cpu N (the tables a CPU was using) "
			  "or --root PHYS");
	return N_("specify --pid N (a process) or --root PHYS");
}

const struct opt_choice pti_choices[] = {
	{ "user", SUBJECT_USER }, { "kernel", SUBJECT_KERNEL }, { 0 }
};

static int cli_subject_use_task(struct session *s, const struct space_opts *space,
				const struct lnx_task *task)
{
	struct atw_err err = { 0 };

	return subject_by_task(s->target, task, space->pti, &s->subject, &err) < 0
		       ? subject_failed(s, &err)
		       : EXIT_COMPLETE;
}

/* --allow-unreadable: accept matches although some processes may not be read. */
static bool cli_subject_allow_unread(struct session *s, const struct space_opts *space,
				     const struct subject_matches *found)
{
	if (!space->allow || found->unread.status != ATW_E_PERM || found->damaged)
		return false;
	snprintf(s->unread, sizeof(s->unread), "%.*s", (int)sizeof(s->unread) - 1,
		 found->unread.text);
	return true;
}

/* Warn if the process that was found may not be the only match. */
static void cli_subject_check_unique(struct session *s, const struct space_opts *space,
				     const struct subject_matches *found)
{
	struct atw_err err = found->unread;

	if (!err.status || cli_subject_allow_unread(s, space, found))
		return;
	atw_err_wrap(&err,
		     "%s: not every process could be read; %s may not be the only match",
		     s->name, s->subject.label);
	print_error(&err);
	s->doubtful = true;
}

static const char *cli_subject_among(const struct subject_matches *found)
{
	return found->unread.status ? _(" of those that could be read: ") : "";
}

static const char *cli_subject_listed(const struct subject_matches *found)
{
	return found->list.data ? found->list.data : "";
}

static int cli_subject_select_named(struct session *s, const struct space_opts *space)
{
	struct subject_matches found;
	struct atw_err err = { 0 };
	int status = EXIT_NO;
	int r = subject_named(s->target, space->task, &found, &err);

	if (r < 0 && !found.n) {
		status = subject_failed(s, &err);
	} else if (!found.n) {
		/* In a damaged file, any process may be missing. */
		atw_err_set(&err,
			    found.unread.status || session_has_gaps(s) ? ATW_E_MISSING
								       : ATW_E_NONE,
			    "--task: there is no process named '%.64s'%s%.300s", space->task,
			    cli_subject_among(&found), found.unread.text);
		if (*space->task && !space->task[strspn(space->task, "0123456789")])
			atw_err_hint(&err, "use --pid with a process number");
		status = subject_failed(s, &err);
	} else if (found.n > 1) {
		atw_err_set(&err, ATW_E_USAGE,
			    "--task: %u processes are named '%.64s': %s", found.n,
			    space->task, cli_subject_listed(&found));
		atw_err_hint(&err, "use --pid N to select one of them");
		print_error(&err);
	} else {
		status = cli_subject_use_task(s, space, &found.first);
		if (!status)
			cli_subject_check_unique(s, space, &found);
	}
	subject_matches_deinit(&found);
	return status;
}

int select_process(struct session *s, const struct space_opts *space)
{
	struct atw_err err = { 0 };

	if (space->task)
		return cli_subject_select_named(s, space);
	return subject_by_pid(s->target, space->pid.u, space->pti, &s->subject,
			      &err) < 0
		       ? subject_failed(s, &err)
		       : EXIT_COMPLETE;
}

int select_owner(const struct common *c, struct session *s,
		 const struct space_opts *space, const char *text, uint64_t first,
		 uint64_t last, bool *unmapped)
{
	struct subject_matches found;
	struct atw_err err = { 0 };
	int status = EXIT_NO;
	int r = subject_owners(s->target, first, last, &found, &err);

	if (r < 0 && !found.n) {
		atw_err_wrap(&err,
			     "'%s' is a user-space address, and its process is not known",
			     text);
		atw_err_hint(&err, "%s", message(tables_hint(s)));
		print_error(&err);
		status = EXIT_USAGE;
	} else if (!found.n) {
		atw_err_set(&err, ATW_E_MISSING, "%s: %s: no process maps it%s%.300s",
			    s->name, text, cli_subject_among(&found), found.unread.text);
		atw_err_hint(&err, "%s", error_hint(&found.unread));
		print_error(&err);
		*unmapped = true;
		s->doubtful |=
			found.unread.status && !cli_subject_allow_unread(s, space, &found);
		status = EXIT_COMPLETE;
	} else if (found.n > 1) {
		atw_err_set(&err, ATW_E_USAGE, "%s: %s: %u processes map it: %s%s%.200s",
			    s->name, text, found.n, cli_subject_listed(&found),
			    found.unread.status ? _("; not every process could be read: ")
						: "",
			    found.unread.text);
		atw_err_remedy(&err, ATW_PARAM_PROCESS);
		print_error(&err);
	} else {
		status = cli_subject_use_task(s, space, &found.first);
		if (!status)
			cli_subject_check_unique(s, space, &found);
		if (!status && !s->doubtful && !found.unread.status)
			print_warning(c, "%s: %s is mapped only by %s", s->name, text,
				      s->subject.label);
	}
	subject_matches_deinit(&found);
	return status;
}
