/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kdump_facts.h - metadata of a kdump-compressed dump. */
#ifndef SOURCE_KDUMP_FACTS_H
#define SOURCE_KDUMP_FACTS_H

#include "source/cpu_notes.h"
#include "source/kdump_set.h"

struct kdump_facts {
	const struct kdump_header *h;    /* the first file's; parts agree */
	struct atw_blob vmcoreinfo, notes;
	void *owned[2];                  /* their copies, when in pieces */
	struct cpu_notes cpus;
	uint64_t ncpus, stored;
	char truncated[512];             /* a sentence, or empty */
};

/* Borrows from the set. Deinit is due after a failure, too. */
int kdump_facts_init(struct kdump_facts *f, const struct kdump_set *s,
		     struct atw_err *err);
void kdump_facts_deinit(struct kdump_facts *f);

/*
 * "vmcoreinfo", "release", "machine" (as uname -m), "cpus", "cpuN.prstatus",
 * "cpuN.cr0" .cr2 .cr3 .cr4 (x86 under QEMU), "truncated".
 */
int kdump_facts_get(const struct kdump_facts *f, const char *key,
		    struct atw_blob *ret);

/* "kdump-compressed v6, zlib, flattened, split, all 3 parts" */
void kdump_set_describe(const struct kdump_set *s, char *buf, size_t len);

#endif
