/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_recording.h - a recording that runs: what its two files share. */
#ifndef CLI_KMAP_RECORDING_H
#define CLI_KMAP_RECORDING_H

#include "kmap.h"
#include "kmap/drain.h"
#include "kmap_machine.h"
#include "kmap_serve.h"

struct record_opts {
	const char *plugin, *mode, *mem, *to, *range, *control, *control_socket;
	struct opt_number sample, task_pid;
	struct opt_list caches, sites;
	bool bare, off, zstd, no_symbols;
};

struct recording {
	const struct common *c;
	const struct record_opts *o;
	struct kmap_machine machine;
	struct kshare *s;
	int share_fd, ram_fd, out_fd;
	pid_t qemu;
	int status;              /* of QEMU, when it ended */
	struct kmap_drain *drain;        /* while others control: with their lock */
	struct kmap_controls *controls;  /* NULL: there are none */
	struct kmap_folder *folder;
	struct kmap_socket *socket;
	bool introduced;
	bool told;               /* QEMU, that it is to end */
	struct atw_err failed;   /* of writing */
	bool mended;             /* and the file says so */
	struct atw_err no_kernel;
	struct atw_err refused;  /* what was wished for, once the kernel was known */
};

/* Memory that both share, and the guest's; what is wished for, told to the recorder. */
int recording_make(struct recording *r, uint64_t bytes, struct atw_err *err);
int recording_run_qemu(struct recording *r, struct atw_err *err);
/* The recorder stands still and asks: who the kernel is, or where its struct pages are. */
void recording_answer(struct recording *r);

#endif
