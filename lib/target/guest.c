/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target/guest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "host/vmm_process.h"
#include "linux/kernel.h"
#include "source/open.h"

const char *guest_word(const char *name)
{
	size_t len = strlen(source_kvm.name);

	return name && !strncmp(name, source_kvm.name, len) && name[len] == ':' ? name + len + 1
										: NULL;
}

/* A name of a guest may have a '@' in it, but a number has none. */
static bool guest_in_host(const char *name, uint64_t *pid, const char **host)
{
	const char *word = guest_word(name), *at = word ? strchr(word, '@') : NULL;

	if (!at || !num_dec(word, (size_t)(at - word), pid))
		return false;
	*host = at + 1;
	return true;
}

const char *guest_host(const char *name)
{
	const char *host = NULL;
	uint64_t pid;

	return guest_in_host(name, &pid, &host) ? host : NULL;
}

int guest_process(struct atw_kernel *k, uint32_t pid, struct lnx_task *ret, struct atw_err *err)
{
	struct lnx_tasks *tasks = NULL;
	uint64_t mm;
	int r = atw_source_mm_of(atw_kernel_space(k)->mem, pid, &mm, err);

	/* By /proc/kcore or in a dump: not in such a namespace, then. */
	if (r == ATW_END)
		r = lnx_task_by_pid(k, pid, ret, err);
	else if (r == ATW_OK && (r = lnx_tasks_open(k, &tasks, err)) == ATW_OK)
		do {
			r = lnx_tasks_next(tasks, ret, err);
		} while (r == ATW_OK && (ret->mm != mm || !ret->leader));
	lnx_tasks_close(tasks);
	if (r == ATW_END || r == ATW_E_NONE)
		return atw_err_set(err, ATW_E_MISSING, "there is no process %" PRIu32, pid);
	return r;
}

static int guest_slots(uint32_t pid, struct vmm_slot **ret, size_t *n, struct vmm_privacy *privacy,
		       struct atw_err *err)
{
	struct atw_source *live = NULL;
	struct atw_kernel *k = NULL;
	struct lnx_task t;
	int r = atw_source_open("live", NULL, 0, &live, err) ?:
		atw_kernel_open(live, NULL, &k, err) ?:
		guest_process(k, pid, &t, err) ?:
		kvm_slots(k, &t, ret, n, err) ?:
		kvm_privacy(k, &t, *ret, *n, privacy, err);

	atw_kernel_close(k);
	atw_source_close(live);
	return r;
}

int guest_by_slots(uint32_t pid, struct vmm *ret, struct atw_err *err)
{
	struct vmm_slot *slot = NULL;
	struct vmm_privacy privacy;
	size_t n = 0;
	int r = guest_slots(pid, &slot, &n, &privacy, err) ?:
		vmm_open_slots(pid, slot, n, ret, err);

	if (r == ATW_OK)
		ret->privacy = privacy;
	free(slot);
	return r;
}

/* Of this machine. */
static int guest_open_here(const char *name, const struct atw_source_spec *given,
			   struct atw_source **ret, struct atw_err *err)
{
	struct vmm guest;
	uint32_t pid = 0;
	int r = given->nparts ? atw_err_set(err, ATW_E_USAGE, "a process has no further parts")
			      : vmm_process_find(guest_word(name), true, &pid, err);

	if (r == ATW_OK)
		r = (given->layout ? vmm_open_layout(pid, given->layout, &guest, err)
				   : guest_by_slots(pid, &guest, err)) ?:
		    source_of_guest(&guest, ret, err);
	return r;
}

/* `other`: captures, which have nothing of a guest. */
static int guest_open_host(const char *name, const struct atw_source_spec *given,
			   const struct source_format *other, struct atw_source **ret,
			   struct atw_err *err)
{
	const struct atw_source_spec parts = { .parts = given->parts, .nparts = given->nparts };
	struct source_input in;
	int r = source_input_open(name, &parts, other, NULL, &in, err);

	if (r < 0)
		return r;
	r = in.kind ? source_open_input(&in, ret, err)
		    : atw_err_set(err, ATW_E_UNSUPPORTED,
				  "%s is a capture: it records only which pages processes had",
				  name);
	source_input_close(&in);
	return r;
}

static int guest_open_in_host(uint64_t pid, const char *name, const struct atw_source_spec *given,
			      const struct source_format *other, struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *host = NULL;
	int r;

	if (!pid || pid > INT32_MAX)
		return atw_err_set(err, ATW_E_USAGE, "'%" PRIu64 "' is not a PID", pid);
	if (!*name)
		return atw_err_set(err, ATW_E_USAGE, "the SOURCE of the host is missing");
	if (given->layout)
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_LAYOUT,
					 "it is read from the kernel of the host");
	r = guest_open_host(name, given, other, &host, err);
	if (r < 0)
		return r;
	r = guest_hosted_open(host, (uint32_t)pid, name, ret, err);
	if (r < 0)
		atw_source_close(host);
	return r;
}

int guest_open(const char *name, const struct atw_source_spec *given,
	       const struct source_format *other, struct atw_source **ret, struct atw_err *err)
{
	const char *host = NULL;
	uint64_t pid = 0;
	int r = guest_in_host(name, &pid, &host) ? guest_open_in_host(pid, host, given, other, ret, err)
						 : guest_open_here(name, given, ret, err);

	/* The source cannot be used: that is more than an answer of no. */
	if (r == ATW_E_NONE)
		r = err ? (err->status = ATW_E_MISSING) : ATW_E_MISSING;
	if (r < 0 && (!err || err->param == ATW_PARAM_NONE))
		atw_err_about(err, name);
	return r;
}
