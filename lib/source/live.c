// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live.c - the running kernel, by the best way that is open.
 *
 *   kcore    /proc/kcore: needs neither types nor a search
 *   bpf      a BPF program that copies memory
 *
 * Whichever it is, only RAM is ever read, and nothing is written.
 */
#include <string.h>

#include "source/source.h"
#include "source/live_bpf.h"
#include "host/host.h"
#include "source/live_kcore.h"

static int live_probe(struct atw_blob head, const char *path)
{
	return 0;                /* no file is a running kernel */
}

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
static int live_open_best(struct atw_source *s, const char *remember, struct atw_err *err)
{
	bool inside = !host_first_pid_namespace();
	struct atw_err kcore = { 0 }, bpf = { 0 };
	const struct atw_err *why;
	int r;

	if (!inside && live_open_kcore(s, &kcore) == ATW_OK)
		return ATW_OK;
	r = live_bpf_open(s, remember, &bpf);
	if (r == ATW_OK || (inside && live_open_kcore(s, &kcore) == ATW_OK))
		return ATW_OK;
	if (r == ATW_E_NOMEM)
		return atw_err_set(err, r, "%s", bpf.text);
	/* The reason that a permission would remove is more useful. */
	why = kcore.status == ATW_E_PERM && r != ATW_E_PERM ? &kcore : &bpf;
	return atw_err_give(err, why->status, why);
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
	if (*way == 'p')
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "/proc/PID/pagemap leads to no memory that can be read");
	if (*way)
		return *way == 'k' ? live_open_kcore(s, err)
				   : live_bpf_open(s, spec->remember, err);
	return live_open_best(s, spec->remember, err);
}

/* Each way has operations of its own, which replace these. */
const struct atw_source_ops source_live = {
	.name = "live",
	.help = "the running kernel; live:kcore and live:bpf choose the way",
	.probe = live_probe,
	.open = live_open,
	.live = true,
	.here = true,
};
