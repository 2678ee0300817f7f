/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_vms.c - virtual machines of this host: their cost, and what runs in them. */
#include "vms.h"
#include "host/host.h"
#include "host/host_file.h"
#include "linux/machine.h"
#include "linux/tasks.h"
#include "base/message.h"

#define V_BIT(c) (UINT64_C(1) << (c))

static const struct atw_column columns[V_COUNT] = {
	[V_PID] = COLUMN("pid", COUNT, 7, "number of the process that runs the machine"),
	[V_NAME] = COLUMN("name", TEXT, 15, "name of the machine; n/a: it has none"),
	[V_VMM] = COLUMN("vmm", TEXT, 6,
			 "qemu, firecracker, cloud-hypervisor, crosvm, or kvm: another program"),
	[V_ARCH] = COLUMN("arch", TEXT, 7, "architecture of the machine"),
	[V_RAM] = COLUMN("ram", BYTES, 6, "its RAM", .sum = true),
	[V_RESIDENT] = COLUMN("resident", BYTES, 8,
			      "memory of the process, with hugetlb pages", .sum = true),
	[V_SWAPPED] = COLUMN("swapped", BYTES, 7, "of the process, on swap", .sum = true),
	[V_LARGE] = COLUMN("large", BYTES, 6, "of resident, in large pages", .sum = true),
	[V_TASKS] = COLUMN("tasks", COUNT, 5,
			   "processes and kernel threads of the guest", .sum = true),
	[V_UPTIME] = COLUMN("uptime", SECONDS, 10, "seconds since the guest was booted"),
	[V_HOSTNAME] = COLUMN("hostname", TEXT, 15, "uname -n of the guest"),
	[V_RELEASE] = COLUMN("release", TEXT, 18, "release of the guest's kernel"),
	[V_PROGRAM] = HIDDEN_COLUMN("program", TEXT, 18, "name of the process's program"),
	[V_STAGE2] = HIDDEN_COLUMN("stage2", TEXT, 16,
				   "paging mode of stage 2; or none, empty, shadow"),
	[V_S2_ROOT] = HIDDEN_COLUMN("s2_root", PA, 0, "physical address of its root in the host"),
};
static const struct atw_schema schema = { "vms", columns, V_COUNT };
/* Those that need the guest's memory. */
static const unsigned inside[] = { V_TASKS, V_UPTIME, V_HOSTNAME, V_RELEASE };

struct vms_opts {
	bool allow;
};

static const struct opt options[] = {
	OPT_ALLOW(struct vms_opts, allow),
	{ 0 }
};

struct vms_row {
	union atw_value v[V_COUNT];
	uint64_t have;
	char hostname[65], release[96];
};

static void vms_set(struct vms_row *r, unsigned col, uint64_t u)
{
	r->v[col].u = u;
	r->have |= V_BIT(col);
}

static void vms_set_text(struct vms_row *r, unsigned col, const char *s)
{
	r->v[col].s = s;
	if (*s)
		r->have |= V_BIT(col);
}

bool vms_wants(const struct common *c, unsigned col)
{
	bool usual = !c->columns || c->columns[0] == '+';

	return (usual && !columns[col].hidden) || asks_for(c, columns[col].key);
}

void vms_missing(struct vms *x, const struct vmm_process *p, const char *what,
		 const struct atw_err *why)
{
	struct atw_err e = *why;

	atw_err_wrap(&e, "process %" PRIu32 " (%s): %s", p->pid, p->program, what);
	print_error(&e);
	x->incomplete += !(x->allow && why->status == ATW_E_PERM);
}

/* ---- the guest ---- */

static int vms_count_tasks(struct session *s, uint64_t *ret, struct atw_err *err)
{
	struct target_tasks tasks;
	struct target_task t;
	uint64_t n = 0;
	int r = target_tasks_open(s->target, &tasks, err);

	if (r < 0)
		return r;
	while ((r = target_tasks_next(&tasks, &t, err)) == ATW_OK)
		n += t.task.leader;
	target_tasks_close(&tasks);
	if (r != ATW_END)
		return r;
	*ret = n;
	return ATW_OK;
}

static void vms_ask_guest(struct vms *x, const struct vmm_process *p, struct session *s,
			  struct vms_row *row)
{
	struct atw_kernel *k = s->target->kernel;
	struct atw_err err = { 0 };
	struct kernel_clock clock = { 0 };
	const char *release = atw_kernel_release(k);
	uint64_t n;

	snprintf(row->release, sizeof(row->release), "%s", release ? release : "");
	vms_set_text(row, V_RELEASE, row->release);
	if (!row->release[0] && vms_wants(x->c, V_RELEASE)) {
		atw_err_set(&err, ATW_E_MISSING, "the kernel was found without VMCOREINFO");
		vms_missing(x, p, "release", &err);
	}
	if (vms_count_tasks(s, &n, &err) == ATW_OK)
		vms_set(row, V_TASKS, n);
	else if (vms_wants(x->c, V_TASKS))
		vms_missing(x, p, "tasks", &err);
	if (kernel_clock(k, &clock, &err) == ATW_OK)
		vms_set(row, V_UPTIME, clock.up * 1000);
	else if (vms_wants(x->c, V_UPTIME))
		vms_missing(x, p, "uptime", &err);
	if (kernel_node_name(k, row->hostname, sizeof(row->hostname), &err) == ATW_OK)
		vms_set_text(row, V_HOSTNAME, row->hostname);
	else if (vms_wants(x->c, V_HOSTNAME))
		vms_missing(x, p, "hostname", &err);
}

static void vms_look_inside(struct vms *x, const struct vms_machine *m, struct vms_row *row)
{
	static const struct space_opts usual = { .task = NULL };
	struct session s = { 0 };
	uint64_t ram;

	if (open_session(x->c, m->source, &usual, TARGET_TASKS, &s)) {
		x->incomplete++;
		return;
	}
	if (!(row->have & V_BIT(V_RAM)) && atw_fact_u64(s.target->source, "ram", &ram) == ATW_OK)
		vms_set(row, V_RAM, ram);
	vms_ask_guest(x, &m->p, &s, row);
	session_close(&s);
}

/* ---- rows ---- */

static const char *vms_arch(enum vmm_arch arch)
{
	return arch == VMM_ARCH_X86_64    ? "x86_64"
	       : arch == VMM_ARCH_ARM64   ? "arm64"
	       : arch == VMM_ARCH_RISCV64 ? "riscv64"
					  : "";
}

uint32_t vms_pid(const char *word)
{
	return (uint32_t)strtoul(word, NULL, 10);
}

bool vms_had(char **argv, int i)
{
	for (int j = 0; j < i; j++)
		if (vms_pid(argv[j]) == vms_pid(argv[i]))
			return true;
	return false;
}

int vms_put(struct vms *x, const struct vms_machine *m, struct atw_err *err)
{
	const struct vmm_process *p = &m->p;
	const uint64_t before = atw_output_rows(x->out);
	struct vms_row r = { .have = 0 };
	int failed;
	const struct { uint32_t has; unsigned column; uint64_t u; } known[] = {
		{ VMM_HAS_RAM, V_RAM, p->ram }, { VMM_HAS_RESIDENT, V_RESIDENT, p->resident },
		{ VMM_HAS_SWAPPED, V_SWAPPED, p->swapped }, { VMM_HAS_LARGE, V_LARGE, p->large },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (p->have & known[i].has)
			vms_set(&r, known[i].column, known[i].u);
	vms_set(&r, V_PID, p->pid);
	vms_set_text(&r, V_NAME, p->name);
	vms_set_text(&r, V_VMM, vmm_kind_name(p->kind));
	vms_set_text(&r, V_ARCH, vms_arch(p->arch));
	vms_set_text(&r, V_PROGRAM, p->program);
	if (p->why_cost.status < 0 &&
	    (vms_wants(x->c, V_SWAPPED) || vms_wants(x->c, V_LARGE)))
		vms_missing(x, p, _("memory on swap and in large pages"), &p->why_cost);
	/* The reason was printed, and the guest's would be the same. */
	if (x->inside && !(x->allow && p->why_cost.status == ATW_E_PERM))
		vms_look_inside(x, m, &r);
	if (m->has_stage2)
		vms_set_text(&r, V_STAGE2, kvm_stage2_word(&m->stage2));
	if (m->has_stage2 && m->stage2.kind == KVM_STAGE2_TABLES)
		vms_set(&r, V_S2_ROOT, m->stage2.space.low.pa.u);
	if (x->stage2 && m->why_stage2.status < 0)
		vms_missing(x, p, _("stage 2"), &m->why_stage2);
	if (p->why_ram.status < 0 && !(r.have & V_BIT(V_RAM)) && vms_wants(x->c, V_RAM))
		vms_missing(x, p, "RAM", &p->why_ram);
	failed = atw_output_row(x->out, &(struct atw_row){ r.v, r.have }, err);
	x->machines += failed == ATW_OK && atw_output_rows(x->out) != before;
	return failed;
}

static int vms_put_one(struct vms *x, uint32_t pid, bool asked, struct atw_err *err)
{
	struct vms_machine m = { .has_stage2 = false };
	struct atw_err why = { 0 };
	struct lnx_task t;
	int r = vmm_process_identify(pid, &m.p, &why);

	if (r == ATW_OK) {
		vmm_process_measure(&m.p);
		vmm_process_source(&m.p, m.source);
		if (x->stage2 &&
		    guest_process(x->host.target->kernel, pid, &t, &m.why_stage2) == ATW_OK)
			vms_read_kvm(x, &t, &m);
		return vms_put(x, &m, err);
	}
	if (!asked)
		return ATW_OK;
	if (r == ATW_E_MISSING)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu32, pid);
	return r < 0 ? atw_err_give(err, r, &why)
		     : atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu32 " does not run a virtual machine", pid);
}

static int vms_put_all(struct vms *x, char **argv, int argc, struct atw_err *err)
{
	_auto_free uint32_t *pid = NULL;
	size_t n = 0;
	int r = host_check_proc(err);

	for (int i = 0; r == ATW_OK && i < argc; i++)
		if (!vms_had(argv, i))
			r = vms_put_one(x, vms_pid(argv[i]), true, err);
	if (r < 0 || argc)
		return r;
	r = host_numbers("/proc", &pid, &n, err);
	for (size_t i = 0; r == ATW_OK && i < n; i++)
		r = vms_put_one(x, pid[i], false, err);
	return r;
}

static bool vms_is_pid(const char *word)
{
	uint64_t n;

	return num_dec(word, strlen(word), &n) && n && n <= INT32_MAX;
}

/* The memory of a host that is given, or of this one for what only its kernel has. */
static int vms_open_host(struct vms *x, const char *name)
{
	static const struct space_opts usual = { .task = NULL };

	if (!name && !x->stage2)
		return EXIT_COMPLETE;
	return open_session(x->c, name ? name : "live", &usual,
			    TARGET_MEMORY | TARGET_SYMBOLS | TARGET_TASKS, &x->host);
}

static int vms_list(struct vms *x, const char *host, int argc, char **argv)
{
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE, r;
	char how[32];

	output_opts(x->c, host ? &x->host : NULL, &oo);
	r = atw_output_open(&oo, &schema, &x->out, &err);
	if (r == ATW_OK)
		r = host ? vms_put_hosted(x, argv, argc, &err) : vms_put_all(x, argv, argc, &err);
	if (r == ATW_OK)
		atw_output_note(x->out, "%" PRIu64 " virtual machine%s", x->machines,
				x->machines == 1 ? "" : "s");
	if (r == ATW_OK && !argc && !host && host_hides_processes(how, sizeof(how))) {
		print_incomplete("processes of other users are hidden: /proc is mounted with %s",
				 how);
		status = EXIT_PARTIAL;
	}
	if (x->incomplete)
		status = EXIT_PARTIAL;
	return output_end(x->out, r, status, &err);
}

static int vms_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct vms x = { .c = c, .allow = ((const struct vms_opts *)opts)->allow };
	const char *host = argc && argv[0][strspn(argv[0], "0123456789")] ? argv[0] : NULL;
	int status;

	for (int i = host ? 1 : 0; i < argc; i++)
		if (!vms_is_pid(argv[i]))
			return usage_error("vms", "'%.64s' is not a process number", argv[i]);
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
		x.inside |= vms_wants(c, inside[i]);
	x.stage2 = vms_wants(c, V_STAGE2) || vms_wants(c, V_S2_ROOT);
	if (host && !strcmp(host, "live")) {
		argv++;
		argc--;
		host = NULL;
	}
	status = vms_open_host(&x, host);
	if (!status)
		status = vms_list(&x, host, argc - (host ? 1 : 0), argv + (host ? 1 : 0));
	session_close(&x.host);
	return status;
}

const struct command cmd_vms = {
	.name = "vms",
	.args = "[SOURCE] [PID...]",
	.summary = "list virtual machines of this host, or of the host in SOURCE",
	.about =
		"Lists the processes that run virtual machines, or those given by PID: memory of\n"
		"each on the host, and kernel, tasks and uptime of the guest, which is neither\n"
		"stopped nor changed. With SOURCE, such as a dump, the machines of KVM in it.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_UNITS | OPT_COMMON_PLUGINS | OPT_COMMON_VERBOSE |
		  OPT_COMMON_PROGRESS,
	.options = options,
	.opts_size = sizeof(struct vms_opts),
	.run = vms_run,
};
