/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_machine.h - a command line of QEMU, and the options that recording adds to it. */
#ifndef KMAP_CLI_MACHINE_H
#define KMAP_CLI_MACHINE_H

#include "paging/paging.h"

#include "kmap/lib/share.h"

struct kmap_machine {
	enum atw_family family;
	uint64_t ram;                    /* bytes */
	uint32_t nrams;
	struct kshare_ram ram_at[KSHARE_RAMS];
	char **argv;                     /* the command to run, terminated by NULL */
	size_t argc, room;
	bool has_kernel;                 /* -kernel is given: extend -append */
	bool threads;                    /* every CPU has one: see kmap/qemu/recorder.h */
	bool no_cx16;                    /* its CMPXCHG16B is wrong: the guest must not use it */
};

/* Parses the command line; ATW_E_USAGE: it has options that cannot be recorded. */
int kmap_machine_read(struct kmap_machine *ret, int argc, char **argv, struct atw_err *err);
/*
 * Adds RAM as a shared file (descriptor `ram`), one thread for all CPUs, the tracepoints
 * and the recorder, and masks CMPXCHG16B where QEMU has it wrong. `bare`: there is no
 * kernel, nothing is traced.
 */
int kmap_machine_add(struct kmap_machine *m, const char *plugin, int share, int ram, bool bare,
		     struct atw_err *err);
/*
 * The recorder for the QEMU that is to run, as a file: the one that is given, that of a
 * build beside this program, or the one that is installed.
 */
int kmap_machine_plugin(struct kmap_machine *m, const char *given, char *ret, size_t len,
			struct atw_err *err);
void kmap_machine_free(struct kmap_machine *m);

#endif
