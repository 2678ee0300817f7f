/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subject.h - selection of the address space of a command. */
#ifndef TARGET_SUBJECT_H
#define TARGET_SUBJECT_H

#include "base/buf.h"
#include "target/target.h"

/* Of page-table isolation's two copies. */
enum subject_half { SUBJECT_BOTH, SUBJECT_USER, SUBJECT_KERNEL };

struct subject {
	struct mmu_space space;
	bool given;       /* chosen explicitly: it is the space of user addresses */
	char label[48];   /* "process 7 (init)"; empty: the kernel */
	uint64_t pid, mm; /* of a process; mm 0: not known, or none */
	char task[17];    /* its name; empty: not known */
};

/* Without a choice: the kernel's, or that of the root or CPU given at opening. */
void subject_default(const struct target *t, struct subject *ret);

/* By number. ATW_E_NONE: there is no such process, or it has no memory. */
int subject_by_pid(struct target *t, uint64_t pid, unsigned half, struct subject *ret,
		   struct atw_err *err);
int subject_by_task(struct target *t, const struct lnx_task *task, unsigned half,
		    struct subject *ret, struct atw_err *err);

/* Processes that fit a description. */
struct subject_matches {
	unsigned n;
	struct lnx_task first;
	struct buf list;       /* "7 (init), 12 (sh)": the first dozen */
	struct atw_err unread; /* of a process that could not be asked: why */
	bool damaged;          /* not only for lack of permission */
};
void subject_matches_deinit(struct subject_matches *m);
int subject_named(struct target *t, const char *name, struct subject_matches *ret,
		  struct atw_err *err);
/* Those that map any of first..last; TARGET_OWNER. */
int subject_owners(struct target *t, uint64_t first, uint64_t last,
		   struct subject_matches *ret, struct atw_err *err);

/* For backends: a process of which no page tables are known. */
void subject_set_process(struct subject *s, uint64_t pid, const char *name);

#endif
