// SPDX-License-Identifier: GPL-2.0-or-later
/* vmm_process.c - which processes run virtual machines, and what they cost. */
#include "host/vmm_process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "host/caps.h"
#include "host/host.h"
#include "host/host_file.h"

enum { VMM_CMDLINE_MAX = 4 << 20, VMM_ROLLUP_MAX = 1 << 16, VMM_SOCKETS_MAX = 64 << 20,
       VMM_LISTENS = 1 << 16 /* __SO_ACCEPTCON */ };

static const struct {
	const char *name, *program;
} vmm_kinds[VMM_KINDS] = {
	[VMM_NONE] = {"", ""},
	[VMM_QEMU] = {"qemu", "qemu-system-"},
	[VMM_FIRECRACKER] = {"firecracker", "firecracker"},
	[VMM_CLOUD_HYPERVISOR] = {"cloud-hypervisor", "cloud-hypervisor"},
	[VMM_CROSVM] = {"crosvm", "crosvm"},
	[VMM_KVM] = {"kvm", ""},
};

const char *vmm_kind_name(enum vmm_kind kind)
{
	return vmm_kinds[kind].name;
}

static const char *vmm_base_name(const char *path)
{
	const char *s = strrchr(path, '/');

	return s ? s + 1 : path;
}

/* By the name of the program's file, of which the folder is ignored. */
static enum vmm_kind vmm_kind_of(const char *path)
{
	struct atw_blob name = blob_of(vmm_base_name(path));

	if (vmm_arch_of(path) != VMM_ARCH_UNKNOWN)
		return VMM_QEMU;
	/* "firecracker-v1.9" and "firecracker (deleted)", too. */
	for (unsigned k = VMM_FIRECRACKER; k <= VMM_CROSVM; k++) {
		size_t n = strlen(vmm_kinds[k].program);

		if (blob_begins(name, vmm_kinds[k].program) &&
		    (name.len == n || strchr("-_. ", ((const char *)name.data)[n])))
			return (enum vmm_kind)k;
	}
	return VMM_NONE;
}

/* ---- what a process is ---- */

/* Has it a descriptor that leads to `want`? Only those that may trace it can see. */
static bool vmm_holds(uint32_t pid, const char *want)
{
	size_t len = strlen(want);
	const struct dirent *d;
	char path[64], target[64];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd", pid);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, target, sizeof(target));

		found = n == (ssize_t)len && !memcmp(target, want, len);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool vmm_process_has_kvm(uint32_t pid)
{
	return vmm_holds(pid, "anon_inode:kvm-vm");
}

bool vmm_process_has_userfaultfd(uint32_t pid)
{
	return vmm_holds(pid, "anon_inode:[userfaultfd]");
}

/* The value of a long option, in the next word or behind "="; empty: not given. */
static struct atw_blob vmm_word_behind(struct atw_blob cmdline, const char *option)
{
	const char *s = cmdline.data, *end = s + cmdline.len;
	size_t n = strlen(option);

	while (s < end) {
		const char *e = memchr(s, '\0', (size_t)(end - s));
		const char *next = e ? e + 1 : end;
		size_t dashes = end - s > 2 && s[0] == '-' && s[1] == '-' ? 2 : 0;
		struct atw_blob word = {s + dashes, (size_t)((e ? e : end) - s) - dashes};

		if (dashes && blob_is(word, option) && next < end) {
			const char *last = memchr(next, '\0', (size_t)(end - next));

			return (struct atw_blob){next, (size_t)((last ? last : end) - next)};
		}
		if (dashes && word.len > n && blob_begins(word, option) &&
		    s[dashes + n] == '=')
			return (struct atw_blob){s + dashes + n + 1, word.len - n - 1};
		s = next;
	}
	return (struct atw_blob){0};
}

/* A comma in a value is written as two. */
static void vmm_copy_name(struct atw_blob from, char *to, size_t len)
{
	const char *s = from.data;
	size_t n = 0;

	for (size_t i = 0; i < from.len && s[i] && n + 1 < len; i++) {
		to[n++] = s[i];
		i += s[i] == ',' && i + 1 < from.len && s[i + 1] == ',';
	}
	to[n] = '\0';
}

/* The command line: the guest's name, and the size of its RAM if that is there. */
static int vmm_read_words(struct vmm_process *p, struct atw_blob cmdline)
{
	_auto_free struct vmm_words *w = malloc(sizeof(*w));
	const char *option = p->kind == VMM_FIRECRACKER ? "id" : "name";
	int r;

	if (!w)
		return atw_err_nomem(&p->why_ram);
	if (p->kind != VMM_QEMU) {
		vmm_copy_name(vmm_word_behind(cmdline, option), p->name, sizeof(p->name));
		return atw_err_set(&p->why_ram, ATW_E_UNSUPPORTED,
				   "the size of its RAM is not on the command line of %s",
				   p->program);
	}
	r = vmm_words_parse(cmdline, w, &p->why_ram);
	if (r < 0)
		return r;
	vmm_copy_name(w->name, p->name, sizeof(p->name));
	p->ram = w->ram;
	p->have |= VMM_HAS_RAM;
	return ATW_OK;
}

enum vmm_arch vmm_host_arch(void)
{
	struct host_info h;
	char name[32 + sizeof(h.uts.machine)];

	host_info_init(&h);
	snprintf(name, sizeof(name), "qemu-system-%s", h.uts.machine);
	return vmm_arch_of(name);
}

void vmm_process_source(const struct vmm_process *p, char ret[32])
{
	snprintf(ret, 32, "%s:%" PRIu32, p->kind == VMM_QEMU ? "qemu" : "kvm", p->pid);
}

void vmm_process_set(struct vmm_process *p, const char *program, enum vmm_arch host,
		     struct atw_blob cmdline)
{
	p->kind = vmm_kind_of(program);
	if (p->kind == VMM_NONE)
		p->kind = VMM_KVM;
	snprintf(p->program, sizeof(p->program), "%.63s", vmm_base_name(program));
	p->arch = vmm_arch_of(program);
	if (p->kind != VMM_QEMU || p->arch == VMM_ARCH_HOST)
		p->arch = host;
	vmm_read_words(p, cmdline);
}

int vmm_process_identify(uint32_t pid, struct vmm_process *ret, struct atw_err *err)
{
	struct vmm_process p = {.pid = pid};
	struct buf cmdline = {0};
	char program[4096];
	int r = host_proc_all(pid, "cmdline", VMM_CMDLINE_MAX, &cmdline, err);

	/* Kernel threads have none. */
	if (r == ATW_OK && !cmdline.len)
		r = ATW_END;
	if (r != ATW_OK) {
		buf_deinit(&cmdline);
		return r;
	}
	/* Needs the permission to trace it; otherwise its own name for itself decides. */
	if (!host_proc_exe(pid, program, sizeof(program)))
		snprintf(program, sizeof(program), "%.*s",
			 (int)strnlen(cmdline.data, cmdline.len), cmdline.data);
	if (vmm_kind_of(program) != VMM_NONE || vmm_process_has_kvm(pid))
		vmm_process_set(&p, program, vmm_host_arch(),
				(struct atw_blob){cmdline.data, cmdline.len});
	buf_deinit(&cmdline);
	*ret = p;
	return p.kind == VMM_NONE ? ATW_END : ATW_OK;
}

/* ---- what it costs ---- */

/* "Rss:   1234 kB"; false: there is no such line. */
static bool vmm_kib(const struct buf *text, const char *key, uint64_t *sum)
{
	const char *s = host_status_field(text, key);
	uint64_t n;

	if (!num_dec(s, strspn(s, "0123456789"), &n) || n > UINT64_MAX / 1024)
		return false;
	*sum += n * 1024;
	return true;
}

static bool vmm_read_rollup(struct vmm_process *p)
{
	static const char *const large[] = {"AnonHugePages", "ShmemPmdMapped", "FilePmdMapped"};
	struct buf text = {0};
	uint64_t resident = 0, swapped = 0, hugetlb = 0, pmd = 0;
	char path[64];
	bool all;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/smaps_rollup", p->pid);
	all = host_file_all(path, VMM_ROLLUP_MAX, &text, &p->why_cost) == ATW_OK &&
	      text.len && vmm_kib(&text, "Rss", &resident) &&
	      vmm_kib(&text, "Swap", &swapped) &&
	      vmm_kib(&text, "Shared_Hugetlb", &hugetlb) &&
	      vmm_kib(&text, "Private_Hugetlb", &hugetlb);
	for (size_t i = 0; all && i < ARRAY_SIZE(large); i++)
		/* The last one exists since 5.4. */
		vmm_kib(&text, large[i], &pmd);
	if (!all && p->why_cost.status >= 0)
		atw_err_set(&p->why_cost, ATW_E_FORMAT, "%s: lacks sums", path);
	buf_deinit(&text);
	if (!all)
		return false;
	p->resident = resident + hugetlb;
	p->swapped = swapped;
	p->large = pmd + hugetlb;
	p->have |= VMM_HAS_RESIDENT | VMM_HAS_SWAPPED | VMM_HAS_LARGE;
	return true;
}

void vmm_process_measure(struct vmm_process *p)
{
	uint64_t resident = 0;
	struct buf text;
	char what[16];

	snprintf(what, sizeof(what), "%" PRIu32, p->pid);
	/* VmSwap lacks shared memory, so it is not the same sum. */
	if (vmm_read_rollup(p) || !host_status(what, &text))
		return;
	if (vmm_kib(&text, "VmRSS", &resident)) {
		vmm_kib(&text, "HugetlbPages", &resident);
		p->resident = resident;
		p->have |= VMM_HAS_RESIDENT;
	}
	buf_deinit(&text);
}

/* ---- by name ---- */

static int vmm_process_named(const char *name, bool any, uint32_t *ret, struct atw_err *err)
{
	_auto_free uint32_t *pid = NULL;
	size_t n = 0, found = 0, used = 0;
	struct vmm_process p;
	char list[160] = "";
	uint32_t one = 0;
	int r = host_check_proc(err) ?: host_numbers("/proc", &pid, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (vmm_process_identify(pid[i], &p, NULL) != ATW_OK ||
		    !(any || p.kind == VMM_QEMU) || strcmp(p.name, name) != 0)
			continue;
		if (!found++)
			one = p.pid;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used,
						 "%s%" PRIu32, used ? ", " : "", p.pid);
	}
	if (!found)
		return atw_err_set(err, ATW_E_MISSING,
				   any ? "there is no process with a guest named '%.64s'"
				       : "there is no process of QEMU with a guest named '%.64s'",
				   name);
	if (found > 1)
		return atw_err_set(err, ATW_E_USAGE,
				   "%zu guests are named '%.64s': processes %s", found, name,
				   list);
	*ret = one;
	return ATW_OK;
}

/* ---- by socket ---- */

/*
 * "0000: 00000002 00000000 00010000 0001 01 8765 /run/qemu.sock", with the flag of a listener:
 * its connections have the same path, those that it has not accepted without an inode.
 */
static bool vmm_socket_inode(const struct buf *table, const char *socket, uint64_t *ret)
{
	for (const char *s = table->data; s && *s; s = strchr(s, '\n')) {
		const char *end;
		uint64_t inode;
		unsigned flags;
		int at = 0;

		s += *s == '\n';
		end = strchrnul(s, '\n');
		if (sscanf(s, "%*[0-9a-f]: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags, &inode,
			   &at) != 2 ||
		    !at || s + at >= end || !(flags & VMM_LISTENS))
			continue;
		if ((size_t)(end - s - at) == strlen(socket) &&
		    !memcmp(s + at, socket, strlen(socket))) {
			*ret = inode;
			return true;
		}
	}
	return false;
}

static int vmm_process_listening(const char *socket, bool any, uint32_t *ret,
				 struct atw_err *err)
{
	_auto_free uint32_t *pid = NULL;
	struct buf table = {0};
	struct vmm_process p;
	uint64_t inode = 0;
	char target[64];
	bool bound;
	size_t n = 0;
	int r = host_check_proc(err) ?:
		host_file_all("/proc/net/unix", VMM_SOCKETS_MAX, &table, err) ?:
		host_numbers("/proc", &pid, &n, err);

	buf_add(&table, "", 1);
	bound = r == ATW_OK && !table.failed && vmm_socket_inode(&table, socket, &inode);
	buf_deinit(&table);
	if (r < 0)
		return r;
	if (!bound)
		return atw_err_set(err, ATW_E_MISSING,
				   "no process listens at a socket of that path");
	snprintf(target, sizeof(target), "socket:[%" PRIu64 "]", inode);
	for (size_t i = 0; i < n; i++)
		if (vmm_process_identify(pid[i], &p, NULL) == ATW_OK &&
		    (any || p.kind == VMM_QEMU) && vmm_holds(pid[i], target)) {
			*ret = pid[i];
			return ATW_OK;
		}
	atw_err_set(err, ATW_E_MISSING,
		    any ? "no process that may be examined listens at this socket"
			: "no process of QEMU that may be examined listens at this socket");
	host_hint_setcap(err, "cap_dac_read_search,cap_sys_ptrace");
	return ATW_E_MISSING;
}

/* ---- by what a user types ---- */

static int vmm_process_called(const char *word, bool any, uint32_t *ret, struct atw_err *err)
{
	int r = strchr(word, '/') ? vmm_process_listening(word, any, ret, err)
				  : vmm_process_named(word, any, ret, err);

	/* Names and paths may contain one, but a host is more likely. */
	if (r < 0 && err && !err->hint[0] && strchr(word, '@'))
		atw_err_hint(err, "a guest in the memory of another host is kvm:PID@SOURCE");
	return r;
}

int vmm_process_find(const char *word, bool any, uint32_t *ret, struct atw_err *err)
{
	uint64_t pid;

	if (!*word)
		return atw_err_set(err, ATW_E_USAGE,
				   "the PID, the name or a monitor socket of a guest is missing");
	if (word[strspn(word, "0123456789")])
		return vmm_process_called(word, any, ret, err);
	if (!num_dec(word, strlen(word), &pid) || !pid || pid > INT32_MAX)
		return atw_err_set(err, ATW_E_USAGE, "'%.64s' is not a PID", word);
	*ret = (uint32_t)pid;
	return ATW_OK;
}
