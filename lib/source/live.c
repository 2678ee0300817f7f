// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live.c - the running kernel, by the best way that is open.
 *
 *   kcore    /proc/kcore: needs neither types nor a search
 *   bpf      a BPF program that copies memory
 *   pagemap  no memory at all; lib/target/procfs_vmas.c answers for processes out
 *            of /proc, which needs no permission
 *
 * Whichever it is, only RAM is ever read, and nothing is written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kinds.h"
#include "source/live_bpf.h"
#include "host/host.h"
#include "source/live_kcore.h"

static int live_probe(struct atw_blob head, const char *path)
{
	(void)head;
	(void)path;
	return 0;                /* no file is a running kernel */
}

/* ---- no memory ---- */

struct no_memory {
	struct host_info host;
	struct atw_err why;      /* if the user did not choose it, else status 0 */
};

static void live_none_close(struct atw_source *s)
{
	free(s->impl);
	s->impl = NULL;
}

static ssize_t live_none_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			      struct atw_err *err)
{
	(void)s, (void)pa, (void)buf, (void)len, (void)err;
	return 0;
}

static int live_none_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	(void)s, (void)pa, (void)ret;
	return ATW_END;
}

static int live_none_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	const struct no_memory *n = s->impl;

	if (!strcmp(key, "way"))
		*ret = (struct atw_blob){ "pagemap", 7 };
	else if (!strcmp(key, "memory.why") && n->why.status)
		*ret = (struct atw_blob){ n->why.text, strlen(n->why.text) };
	else if (!strcmp(key, "memory.hint") && n->why.hint[0])
		*ret = (struct atw_blob){ n->why.hint, strlen(n->why.hint) };
	else
		return host_info_fact(&n->host, key, ret);
	return ATW_OK;
}

static void live_none_describe(struct atw_source *s, char *buf, size_t len)
{
	(void)s;
	snprintf(buf, len, "running kernel, processes as /proc reports them");
}

static int live_open_none(struct atw_source *s, const struct atw_err *why,
			  struct atw_err *err)
{
	struct no_memory *n;

	if (host_check_proc(err) < 0) {  /* then there is no way at all */
		if (!why)
			return ATW_E_MISSING;
		if (err)
			*err = *why;
		return why->status;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return atw_err_nomem(err);
	host_info_init(&n->host);
	if (why)
		n->why = *why;
	s->impl = n;
	return ATW_OK;
}

/* ---- which way ---- */

static int live_open_kcore(struct atw_source *s, struct atw_err *err)
{
	struct atw_blob b;
	int r = live_kcore_open(s, err);

	if (r < 0 || atw_fact(s, "vmcoreinfo", &b) == ATW_OK)
		return r;
	s->ops->close(s);
	s->ops = &source_live;
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "/proc/kcore: has no VMCOREINFO (Linux 4.19 has, with CONFIG_VMCORE_INFO)");
}

/*
 * /proc/kcore first. But in a PID namespace only BPF knows processes by the
 * numbers they have there.
 */
static int live_open_best(struct atw_source *s, struct atw_err *err)
{
	bool inside = !host_first_pid_namespace();
	struct atw_err kcore = { 0 }, bpf = { 0 };
	int r;

	if (!inside && live_open_kcore(s, &kcore) == ATW_OK)
		return ATW_OK;
	r = live_bpf_open(s, &bpf);
	if (r == ATW_OK || (inside && live_open_kcore(s, &kcore) == ATW_OK))
		return ATW_OK;
	if (r == ATW_E_NOMEM)
		return atw_err_set(err, r, "%s", bpf.text);
	/* What a permission would change is the better one to hear of. */
	return live_open_none(
		s, kcore.status == ATW_E_PERM && r != ATW_E_PERM ? &kcore : &bpf, err);
}

static int live_open(struct atw_source *s, const struct atw_source_spec *spec,
		     struct atw_err *err)
{
	const char *way = spec->path;

	if (*way && strcmp(way, "kcore") && strcmp(way, "bpf") && strcmp(way, "pagemap")) {
		atw_err_set(err, ATW_E_USAGE, "'%s' is no way to read the running kernel", way);
		atw_err_hint(err, "live, live:kcore, live:bpf or live:pagemap; a dump called live is ./live");
		return ATW_E_USAGE;
	}
	if (spec->nparts)
		return atw_err_set(err, ATW_E_USAGE, "a running kernel has no further parts");
	return !*way         ? live_open_best(s, err)
	       : *way == 'k' ? live_open_kcore(s, err)
	       : *way == 'b' ? live_bpf_open(s, err)
			     : live_open_none(s, NULL, err);
}

/* Ways that read memory have operations of their own. */
const struct atw_source_ops source_live = {
	.size = sizeof(struct atw_source_ops),
	.name = "live",
	.help = "the running kernel; live:kcore, live:bpf and live:pagemap say by which "
		"way",
	.probe = live_probe,
	.open = live_open,
	.close = live_none_close,
	.read = live_none_read,
	.extent = live_none_extent,
	.fact = live_none_fact,
	.describe = live_none_describe,
	.live = true,
};
