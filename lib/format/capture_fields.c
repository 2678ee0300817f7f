/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_fields.c - tables of the fields of each line of atwalk-capture(5). */
#include "format/capture_fields.h"

#define COUNT(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))
#define AT(of, m) offsetof(struct capture_##of, m)
#define FORM(letter, fields, table) { letter, fields, COUNT(table), table }

static const struct capture_field header[] = {
	{ "key", CAPTURE_NAME, AT(header, key), 0 },
	{ "value", CAPTURE_NAME, AT(header, value), 0 },
};

static const struct capture_field ram[] = {
	{ "start", CAPTURE_HEX8, AT(ram, start), 0 },
	{ "last", CAPTURE_HEX8, AT(ram, last), 0 },
	{ "name", CAPTURE_NAME, AT(ram, name), 0 },
	{ "node", CAPTURE_DEC, AT(ram, node), CAPTURE_R_NODE },
	{ "zone", CAPTURE_NAME, AT(ram, zone), CAPTURE_R_ZONE },
};

static const struct capture_field swap[] = {
	{ "type", CAPTURE_HEX, AT(swap, type), 0 },
	{ "pages", CAPTURE_DEC, AT(swap, pages), 0 },
	{ "used", CAPTURE_DEC, AT(swap, used), 0 },
	{ "name", CAPTURE_NAME, AT(swap, name), 0 },
};

static const struct capture_field file[] = {
	{ "dev", CAPTURE_PAIR, AT(file, dev), 0 },
	{ "inode", CAPTURE_DEC, AT(file, inode), 0 },
	{ "name", CAPTURE_NAME, AT(file, name), 0 },
	{ "build", CAPTURE_BYTES, AT(file, build), CAPTURE_U_BUILD },
	{ "loads", CAPTURE_LOADS, AT(file, loads), CAPTURE_U_LOADS },
};

static const struct capture_field task[] = {
	{ "name", CAPTURE_NAME, AT(task, name), 0 },
	{ "pid", CAPTURE_DEC, AT(task, pid), 0 },
	{ "mm", CAPTURE_HEX8, AT(task, mm), 0 },
	{ "cpu", CAPTURE_DEC, AT(task, cpu), CAPTURE_T_CPU },
	{ "minor", CAPTURE_DEC, AT(task, minor), CAPTURE_T_FAULTS },
	{ "major", CAPTURE_DEC, AT(task, major), CAPTURE_T_FAULTS },
	{ "child minor", CAPTURE_DEC, AT(task, child_minor), CAPTURE_T_FAULTS },
	{ "child major", CAPTURE_DEC, AT(task, child_major), CAPTURE_T_FAULTS },
	{ "user", CAPTURE_DEC, AT(task, user), CAPTURE_T_TIMES },
	{ "system", CAPTURE_DEC, AT(task, system), CAPTURE_T_TIMES },
	{ "tgid", CAPTURE_DEC, AT(task, tgid), CAPTURE_T_TGID },
	{ "ppid", CAPTURE_DEC, AT(task, ppid), CAPTURE_T_PPID },
	{ "uid", CAPTURE_DEC, AT(task, uid), CAPTURE_T_UID },
	{ "start", CAPTURE_DEC, AT(task, start), CAPTURE_T_START },
	{ "cgroup", CAPTURE_NAME, AT(task, cgroup), CAPTURE_T_CGROUP },
	{ "exe", CAPTURE_NAME, AT(task, exe), CAPTURE_T_EXE },
	{ "code", CAPTURE_PAIR, AT(task, code), CAPTURE_T_CODE },
	{ "data", CAPTURE_PAIR, AT(task, data), CAPTURE_T_DATA },
	{ "brk", CAPTURE_PAIR, AT(task, brk), CAPTURE_T_BRK },
	{ "stack", CAPTURE_HEX, AT(task, stack), CAPTURE_T_STACK },
	{ "threads", CAPTURE_DEC, AT(task, threads), CAPTURE_T_THREADS },
	{ "kthread", CAPTURE_DEC, AT(task, kthread), CAPTURE_T_KTHREAD },
};

static const struct capture_field area[] = {
	{ "start", CAPTURE_HEX8, AT(area, start), 0 },
	{ "last", CAPTURE_HEX8, AT(area, last), 0 },
	{ "size", CAPTURE_HEX8, AT(area, size), 0 },
	{ "resident", CAPTURE_HEX8, AT(area, resident), 0 },
	{ "prot", CAPTURE_HEX8, AT(area, prot), CAPTURE_V_PROT },
	{ "flags", CAPTURE_HEX8, AT(area, flags), CAPTURE_V_FLAGS },
	{ "name", CAPTURE_NAME, AT(area, name), 0 },
	{ "dev", CAPTURE_PAIR, AT(area, dev), CAPTURE_V_DEV },
	{ "inode", CAPTURE_DEC, AT(area, inode), CAPTURE_V_INODE },
	{ "offset", CAPTURE_HEX, AT(area, offset), CAPTURE_V_OFFSET },
	{ "build", CAPTURE_BYTES, AT(area, build), CAPTURE_V_BUILD },
	{ "page", CAPTURE_DEC, AT(area, page), CAPTURE_V_PAGE },
	{ "shared", CAPTURE_DEC, AT(area, shared), CAPTURE_V_SHARED },
	{ "more", CAPTURE_DEC, AT(area, more), CAPTURE_V_MORE },
};

static const struct capture_field sums[] = {
	{ "user", CAPTURE_DEC, AT(sums, user), 0 },
	{ "executable", CAPTURE_DEC, AT(sums, exec), 0 },
	{ "read-only", CAPTURE_DEC, AT(sums, readonly), 0 },
	{ "single", CAPTURE_DEC, AT(sums, single), 0 },
	{ "shared", CAPTURE_DEC, AT(sums, shared), 0 },
	{ "swap", CAPTURE_DEC, AT(sums, swap), CAPTURE_P_SWAP },
	{ "anon", CAPTURE_DEC, AT(sums, anon), CAPTURE_P_ANON },
	{ "file", CAPTURE_DEC, AT(sums, file), CAPTURE_P_FILE },
	{ "huge", CAPTURE_DEC, AT(sums, huge), CAPTURE_P_HUGE },
};

static const struct capture_field cached[] = {
	{ "dev", CAPTURE_PAIR, AT(cached, dev), 0 },
	{ "inode", CAPTURE_DEC, AT(cached, inode), 0 },
	{ "pages", CAPTURE_DEC, AT(cached, pages), 0 },
	{ "dirty", CAPTURE_DEC, AT(cached, dirty), 0 },
	{ "name", CAPTURE_NAME, AT(cached, name), 0 },
	{ "node", CAPTURE_DEC, AT(cached, node), CAPTURE_C_NODE },
	{ "cgroup", CAPTURE_NAME, AT(cached, cgroup), CAPTURE_C_CGROUP },
};

static const struct capture_field lost[] = {
	{ "pid", CAPTURE_DEC, AT(lost, pid), 0 },
	{ "what", CAPTURE_NAME, AT(lost, what), 0 },
	{ "why", CAPTURE_NAME, AT(lost, why), 0 },
	{ "start", CAPTURE_HEX, AT(lost, start), CAPTURE_L_START },
	{ "last", CAPTURE_HEX, AT(lost, last), CAPTURE_L_LAST },
	{ "denied", CAPTURE_DEC, AT(lost, denied), CAPTURE_L_DENIED },
};

static const struct capture_field end[] = {
	{ "lines", CAPTURE_DEC, AT(end, lines), 0 },
	{ "tasks", CAPTURE_DEC, AT(end, tasks), 0 },
	{ "areas", CAPTURE_DEC, AT(end, areas), 0 },
	{ "lost", CAPTURE_DEC, AT(end, lost), 0 },
};

static const struct capture_field run[] = {
	{ "entry", CAPTURE_HEX8, AT(run, entry), 0 },
	{ "count", CAPTURE_DEC, AT(run, count), CAPTURE_M_COUNT },
	{ "flags", CAPTURE_HEX8, AT(run, flags), CAPTURE_M_FLAGS },
	{ "refs", CAPTURE_DEC, AT(run, refs), CAPTURE_M_REFS },
	{ "order", CAPTURE_DEC, AT(run, order), CAPTURE_M_ORDER },
	{ "folio", CAPTURE_DEC, AT(run, folio), CAPTURE_M_FOLIO },
	{ "swap", CAPTURE_PAIR, AT(run, swap), CAPTURE_M_SWAP },
	{ "state", CAPTURE_WORD, AT(run, state), CAPTURE_M_STATE },
	{ "map", CAPTURE_HEX, AT(run, map), CAPTURE_M_MAP },
	{ "raw", CAPTURE_HEX, AT(run, raw), CAPTURE_M_RAW },
	{ "same", CAPTURE_DEC, AT(run, same), CAPTURE_M_SAME },
	{ "noframe", CAPTURE_DEC, AT(run, noframe), CAPTURE_M_NOFRAME },
};

const struct capture_form capture_forms[] = {
	FORM('H', 2, header), FORM('R', 3, ram), FORM('S', 4, swap), FORM('U', 3, file),
	FORM('T', 10, task), FORM('V', 7, area), FORM('P', 5, sums), { 'M', 0, 0, NULL },
	{ 'F', 0, 0, NULL }, FORM('C', 5, cached), FORM('L', 3, lost), FORM('E', 4, end), { 0 },
};

const struct capture_form capture_run_form = FORM('M', 3, run);

static const struct capture_field frames[] = {
	{ "use", CAPTURE_USE, offsetof(struct capture_frames_fields, use), 0 },
	{ "host", CAPTURE_HOST, offsetof(struct capture_frames_fields, host), CAPTURE_F_HOST },
	{ "node", CAPTURE_DEC, offsetof(struct capture_frames_fields, node), CAPTURE_F_NODE },
	{ "clean", CAPTURE_DEC, offsetof(struct capture_frames_fields, clean), CAPTURE_F_CLEAN },
};
const struct capture_form capture_frames_form = FORM('F', 1, frames);

const char *const capture_states[CAPTURE_STATES] = {
	[CAPTURE_PLAIN] = "plain", [CAPTURE_GUARD] = "guard", [CAPTURE_MARKER] = "marker",
	[CAPTURE_MIGRATION] = "migration", [CAPTURE_POISON] = "poison",
	[CAPTURE_PRIVATE] = "private", [CAPTURE_DEVICE] = "device",
	[CAPTURE_ZERO] = "zero",
};

const char *const capture_hosts[CAPTURE_HOSTS] = {
	[CAPTURE_HOST_UNKNOWN] = "unknown", [CAPTURE_HOST_BACKED] = "backed",
	[CAPTURE_HOST_SWAPPED] = "swapped", [CAPTURE_HOST_ABSENT] = "absent",
	[CAPTURE_HOST_LARGE] = "large", [CAPTURE_HOST_SMALL] = "small",
	[CAPTURE_HOST_UNMERGED] = "unmerged", [CAPTURE_HOST_KSM] = "ksm",
	[CAPTURE_HOST_ZERO] = "zero",
};

const char *const capture_uses[CAPTURE_USES] = {
	[CAPTURE_FREE] = "free", [CAPTURE_ANON] = "anon", [CAPTURE_FILE] = "file",
	[CAPTURE_SHMEM] = "shmem", [CAPTURE_SLAB] = "slab", [CAPTURE_PGTABLE] = "pgtable",
	[CAPTURE_HUGETLB] = "hugetlb", [CAPTURE_KSM] = "ksm", [CAPTURE_ZEROES] = "zero",
	[CAPTURE_KERNEL] = "kernel", [CAPTURE_RESERVED] = "reserved",
	[CAPTURE_OFFLINE] = "offline", [CAPTURE_HWPOISON] = "hwpoison",
	[CAPTURE_UNKNOWN] = "unknown",
};

const struct capture_form *capture_form(char letter)
{
	const struct capture_form *f = capture_forms;

	while (f->letter && f->letter != letter)
		f++;
	return f->letter ? f : NULL;
}

enum capture_task_kind capture_task_kind(const struct capture_task *t, uint32_t has, bool again)
{
	/* The LPMA format has no tgid: threads are tasks of an earlier address space. */
	if (has & CAPTURE_T_TGID ? t->tgid != t->pid : again)
		return CAPTURE_TASK_THREAD;
	if (t->mm || (has & CAPTURE_T_KTHREAD && !t->kthread))
		return CAPTURE_TASK_PROCESS;
	/* Without a word about it, the task may as well have ended. */
	return has & CAPTURE_T_KTHREAD || !(has & CAPTURE_T_TGID) ? CAPTURE_TASK_KTHREAD
								  : CAPTURE_TASK_UNKNOWN;
}

bool capture_task_idle(uint64_t pid, uint32_t has)
{
	return !pid && has & CAPTURE_T_TGID;
}
