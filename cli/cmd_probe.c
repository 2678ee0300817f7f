/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_probe.c - check of the data sources of this machine and their requirements. */
#include <fcntl.h>

#include "atwalk.h"
#include "host/caps.h"
#include "target/procfs.h"
#include "host/host_file.h"
#include "host/host.h"
#include "host/references.h"
#include "probe.h"
#include "base/message.h"

struct probe_opts {
	struct opt_number pid, vm;
};

static const struct opt options[] = {
	{ 0, "pid", OPT_NUMBER, offsetof(struct probe_opts, pid), "N",
	  "check access to process N only", NULL },
	{ 0, "vm", OPT_NUMBER, offsetof(struct probe_opts, vm), "N",
	  "check access to the virtual machine of process N only", NULL },
	{ 0 }
};

enum { C_CAPABILITY, C_ALLOWED, C_WHY, C_COMMAND, C_GIVES, COLUMNS };

static const char *const answers[] = { "no", "yes" };
static const struct atw_names answer_names = { 2, answers, NULL };

static const struct atw_column columns[] = {
	[C_CAPABILITY] = COLUMN("capability", TEXT, 15, "what may be allowed"),
	[C_ALLOWED] = { .key = "allowed", .type = ATW_T_ENUM, .width = 7,
			.names = &answer_names, .help = "to this process, here and now" },
	[C_WHY] = COLUMN("why", TEXT, 40, "why not, or what was tried"),
	[C_COMMAND] = COLUMN("command", TEXT, 0,
			     "what would allow it; n/a: no command on this machine"),
	[C_GIVES] = HIDDEN_COLUMN("gives", TEXT, 30, "what it is good for"),
};
static const struct atw_schema schema = { "probe", columns, COLUMNS };

/* The command out of a hint. A hint that has none is part of why. */
static void probe_from_hint(const struct atw_err *err, struct probe_answer *a)
{
	size_t n = strlen(a->why);

	a->hinted = err->hint[0];
	if (err->command)
		snprintf(a->command, sizeof(a->command), "%s", err->hint + err->command);
	else if (err->hint[0])
		snprintf(a->why + n, sizeof(a->why) - n, "%s%s", n ? "; " : "", err->hint);
}

void probe_needs(struct probe_answer *a, const char *caps)
{
	struct atw_err err = { 0 };

	host_hint_setcap(&err, caps);
	probe_from_hint(&err, a);
}

/* Where there is no /proc, nothing that it does not say is so. */
static bool probe_is_there(int (*check)(struct atw_err *err), struct probe_answer *a)
{
	struct atw_err err = { 0 };
	bool yes = check(&err) == ATW_OK;

	snprintf(a->why, sizeof(a->why), "%s", err.text);
	return yes;
}

/* May this file be opened to be read? */
static bool probe_readable(const char *path, struct probe_answer *a, const char *caps)
{
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int why = errno;

	a->yes = fd >= 0;
	if (!a->yes && why == ENOENT && !probe_is_there(host_check_proc_files, a))
		return false;
	if (a->yes)
		snprintf(a->why, sizeof(a->why), _("%s can be read"), path);
	else
		snprintf(a->why, sizeof(a->why), "%s: %s", path, strerror(why));
	if (!a->yes && (why == EACCES || why == EPERM))
		probe_needs(a, caps);
	return a->yes;
}

/* ---- the questions ---- */

static void probe_memory_by(const char *way, struct probe_answer *a)
{
	struct atw_source *s = NULL;
	struct atw_err err = { 0 };

	a->yes = atw_source_open(way, NULL, 0, &s, &err) == ATW_OK;
	if (a->yes)
		s->ops->describe(s, a->why, sizeof(a->why));
	else
		snprintf(a->why, sizeof(a->why), "%s", atw_err_reason(&err));
	if (!a->yes)
		probe_from_hint(&err, a);
	atw_source_close(s);
}

/* A process that may be looked at as a debugger may. */
static void probe_one_process(struct probe_answer *a, uint64_t pid)
{
	struct atw_err err = { 0 };
	struct proc_stat st;
	uint32_t tgid;
	int r = pid > UINT32_MAX
		? atw_err_set(&err, ATW_E_NONE, "there is no process %" PRIu64, pid)
		: proc_tgid((uint32_t)pid, &tgid, &err);

	if (r == ATW_OK)
		r = proc_stat(tgid, &st, &err) ?: proc_allowed(st.thread, &err);
	a->yes = r == ATW_OK;
	if (r == ATW_OK)
		snprintf(a->why, sizeof(a->why), _("process %" PRIu64 " may be read"), pid);
	else
		snprintf(a->why, sizeof(a->why), "%s", err.text);
	if (r == ATW_E_PERM)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

static void probe_others(struct probe_answer *a, const struct probe_opts *o)
{
	_auto_free uint32_t *pid = NULL;
	size_t n = 0, yes = 0, no = 0;
	struct atw_err err = { 0 };
	char how[32] = "";
	bool hidden;

	if (!probe_is_there(host_check_proc, a))
		return;
	if (o->pid.given) {
		probe_one_process(a, o->pid.u);
		return;
	}
	if (proc_pids(&pid, &n, &err) < 0) {
		snprintf(a->why, sizeof(a->why), "%s", err.text);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct proc_stat st;
		int r;

		if (proc_stat(pid[i], &st, NULL) < 0 || st.kernel)
			continue;
		r = proc_allowed(st.thread, NULL);
		yes += r == ATW_OK;
		no += r == ATW_E_PERM;
	}
	hidden = host_hides_processes(how, sizeof(how));
	a->yes = !no && !hidden;
	if (hidden)
		snprintf(a->why, sizeof(a->why),
			 _("%zu of %zu processes may be read, and /proc is mounted with %s, which hides those of others"),
			 yes, yes + no, how);
	else
		snprintf(a->why, sizeof(a->why), _("%zu of %zu processes may be read"), yes,
			 yes + no);
	if (!a->yes)
		probe_needs(a, "cap_dac_read_search,cap_sys_ptrace");
}

/*
 * A process with file capabilities cannot open its own /proc files: a second capability
 * is needed.
 */
static void probe_frame_numbers(struct probe_answer *a, const struct probe_opts *o)
{
	if (!probe_is_there(host_check_proc, a))
		return;
	a->yes = !proc_hides_frames();
	snprintf(a->why, sizeof(a->why), "%s",
		 a->yes ? _("/proc/self/pagemap shows them")
			: _("/proc/self/pagemap shows 0 instead: CAP_SYS_ADMIN is missing"));
	if (!a->yes)
		probe_needs(a, "cap_dac_read_search,cap_sys_admin");
}

static void probe_holes(struct probe_answer *a, const struct probe_opts *o)
{
	if (!probe_is_there(host_check_proc, a))
		return;
	a->yes = proc_scans();
	snprintf(a->why, sizeof(a->why), "%s",
		 a->yes ? _("PAGEMAP_SCAN is supported")
			: _("this kernel has no PAGEMAP_SCAN (added in v6.7)"));
}

/* The line at *text, which goes on behind it. */
static char *probe_next_line(char **text)
{
	char *line = *text, *end = strchrnul(line, '\n');

	*text = *end ? end + 1 : end;
	*end = '\0';
	return line;
}

/*
 * Run by atwalk-kmap, because its file has its own capabilities: see kmap/cli/main.c.
 */
static void probe_breakpoints(struct probe_answer *a, const struct probe_opts *o)
{
	struct atw_err err = { 0 };
	char reply[2048], *text = reply;
	const char *hint, *command;

	if (external_query(&cmd_kmap, "--breakpoints", NULL, reply, sizeof(reply), &err) < 0) {
		snprintf(a->why, sizeof(a->why), "%s", err.text);
		return;
	}
	a->yes = !strcmp(probe_next_line(&text), "yes");
	snprintf(a->why, sizeof(a->why),
		 a->yes ? _("%s words at once can be watched on each CPU") : "%s",
		 probe_next_line(&text));
	hint = probe_next_line(&text);
	command = probe_next_line(&text);
	if (*command)
		atw_err_hint_command(&err, "", "%s", command);
	else if (*hint)
		atw_err_hint(&err, "%s", hint);
	probe_from_hint(&err, a);
}

/* Answered by opening a source or a file, or else by a function. */
static const struct question {
	const char *name, *gives, *source, *file;
	void (*check)(struct probe_answer *a, const struct probe_opts *o);
} questions[] = {
	{ "kcore", N_("live, live:kcore: every command, the kernel's addresses, entries"),
	  .source = "live:kcore" },
	{ "bpf", N_("the same, and processes by the numbers of a PID namespace: live, live:bpf"),
	  .source = "live:bpf" },
	{ "own processes", N_("live:pagemap: present pages of your own processes"),
	  .file = "/proc/self/pagemap" },
	{ "all processes", N_("live:pagemap: the same for all processes; with --pid, for that one"),
	  .check = probe_others },
	{ "frame numbers", N_("live:pagemap: physical, count"), .check = probe_frame_numbers },
	{ "frame flags", N_("live:pagemap: pageflags, head, order"), .file = "/proc/kpageflags" },
	{ "frame counts", N_("live:pagemap: kcount"), .file = "/proc/kpagecount" },
	{ "frame cgroups", N_("live:pagemap: cgroup"), .file = "/proc/kpagecgroup" },
	{ "holes", N_("live:pagemap: large pages, and large empty areas at once"),
	  .check = probe_holes },
	{ "breakpoints", N_("kmap record --live: accesses to kernel objects"),
	  .check = probe_breakpoints },
};

static void probe_answer_to(const struct question *q, struct probe_answer *a,
			    const struct probe_opts *o)
{
	if (q->source)
		probe_memory_by(q->source, a);
	else if (q->file)
		probe_readable(q->file, a, "cap_dac_read_search");
	else
		q->check(a, o);
}

/* A recorder of references; what it lacks is no capability. */
static void probe_recorder(const struct references_backend *b, struct probe_answer *a)
{
	const struct references_options o = { .nranges = 0 };
	struct atw_err err = { 0 };

	a->yes = b->probe(&o, &err) == ATW_OK;
	if (a->yes)
		snprintf(a->why, sizeof(a->why), "%s", message(b->needs));
	else
		snprintf(a->why, sizeof(a->why), "%s", err.text);
	probe_from_hint(&err, a);
	a->hinted = false;
}

int probe_put_row(struct atw_output *out, const char *name, const char *gives,
		  const struct probe_answer *a, struct atw_err *err)
{
	union atw_value v[COLUMNS] = {
		[C_CAPABILITY] = { .s = name }, [C_ALLOWED] = { .u = a->yes }, [C_WHY] = { .s = a->why },
		[C_COMMAND] = { .s = a->command }, [C_GIVES] = { .s = message(gives) },
	};
	struct atw_row row = { v, (1u << COLUMNS) - 1 };

	if (!a->command[0])
		row.have &= ~(uint64_t)(1u << C_COMMAND);
	return atw_output_row(out, &row, err);
}

static int probe_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct probe_opts *o = opts;
	struct atw_output *out = NULL;
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	struct probe_answer all = {0};
	size_t no = 0;
	int r;

	if (argc)
		return usage_error("probe", "'%.64s': probe takes no SOURCE", argv[0]);
	if (o->vm.given && o->pid.given)
		return usage_error("probe", "--pid and --vm cannot be combined");
	output_opts(c, NULL, &oo);
	r = atw_output_open(&oo, &schema, &out, &err);
	if (r == ATW_OK && o->vm.given) {
		r = probe_machine(out, o->vm.u, &err);
		return output_end(out, r, EXIT_COMPLETE, &err);
	}
	for (size_t i = 0; r == ATW_OK && i < ARRAY_SIZE(questions); i++) {
		struct probe_answer a = {0};

		probe_answer_to(&questions[i], &a, opts);
		no += !a.yes && a.hinted;
		r = probe_put_row(out, questions[i].name, questions[i].gives, &a, &err);
	}
	for (size_t i = 0; r == ATW_OK && i < references_nbackends; i++) {
		struct probe_answer a = {0};
		char name[32];

		snprintf(name, sizeof(name), "lines by %s", references_backends[i]->name);
		probe_recorder(references_backends[i], &a);
		r = probe_put_row(out, name, references_backends[i]->gives, &a, &err);
	}
	if (r == ATW_OK && no > 1) {
		probe_needs(&all, "cap_bpf,cap_perfmon,cap_dac_read_search,cap_sys_admin,"
				  "cap_sys_ptrace");
		if (all.command[0])
			atw_output_note(out, "each command replaces the capabilities of the one before; all at once: %s",
					all.command);
		else if (!host_in_user_namespace())
			atw_output_note(out, "all at once: %s", all.why);
	}
	return output_end(out, r, EXIT_COMPLETE, &err);
}

const struct command cmd_probe = {
	.name = "probe",
	.args = "",
	.summary = "check which data sources are available and what each one requires",
	.about =
		"Tries each data source of the running machine and reports whether this process\n"
		"may use it, the reason if not, and the command that would allow it. Nothing is\n"
		"changed, and no data of other processes is read.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_SENTENCES,
	.options = options,
	.opts_size = sizeof(struct probe_opts),
	.run = probe_run,
};
