/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_recording.h - state of a running recording, shared by its files. */
#ifndef KMAP_CLI_RECORDING_H
#define KMAP_CLI_RECORDING_H

#include "kmap.h"
#include "kmap/lib/drain.h"
#include "kmap_machine.h"
#include "kmap_serve.h"
#include "output/outfile.h"

enum record_mode { RECORD_INSTANCE, RECORD_SITE, RECORD_SAMPLE };

struct record_opts {
	const char *plugin, *mem, *range, *control, *control_socket;
	enum record_mode mode;
	enum kmap_version to;            /* KMAP_UNKNOWN: not given, version 4 */
	struct opt_number sample, task_pid, pid, seconds, watch;
	struct opt_list caches, sites;
	bool bare, off, zstd, no_symbols, live, times, lines, calls;
};

struct recording {
	const struct common *c;
	const struct record_opts *o;
	struct kmap_machine machine;
	struct kshare *s;
	int share_fd, ram_fd, out_fd;
	struct outfile target;    /* where out_fd goes, until it has begun */
	pid_t child;             /* QEMU, or what is recorded; 0: it has ended, or there is none */
	int status;              /* of it, when it ended */
	struct running *running; /* the running kernel's; NULL: a guest's */
	struct kmap_drain *drain;        /* while others control: with their lock */
	struct kmap_controls *controls;  /* NULL: there are none */
	struct kmap_folder *folder;
	struct kmap_socket *socket;
	struct kmap_functions_of functions;      /* of the kernel, if names are wanted */
	bool introduced;
	bool child_signaled;     /* the child, that it is to end */
	struct atw_err failed;   /* of writing */
	bool mended;             /* and the file says so */
	struct atw_err no_kernel;
	struct atw_err refused;  /* what was wished for, once the kernel was known */
};

/* Create the memory shared with the recorder and the guest's; pass on the options. */
int recording_make(struct recording *r, uint64_t bytes, struct atw_err *err);
int recording_run_qemu(struct recording *r, struct atw_err *err);
/*
 * Replies to a request of the recorder: which kernel runs, or where its struct pages are.
 */
void recording_answer(struct recording *r);
/* Writes the header lines about a kernel that was found. */
int recording_describe(struct recording *r, struct atw_kernel *k, struct atw_err *err);

/* Name of the output, for messages. */
const char *recording_output(const struct recording *r);
/* What of the guest or the kernel is in it: all, or a sample of accesses at least. */
int recording_write_mode(struct recording *r, bool sampled, struct atw_err *err);
/* Write the filters to the file, so that its readers know what was left out. */
int recording_write_filters(struct recording *r, struct atw_err *err);

/* ---- kmap_record_summary.c ---- */

/* Returns why the recording is truncated, possibly in `buf`; NULL: it is complete. */
const char *recording_cut_by(const struct recording *r, char *buf, size_t len);
/* Prints sums and errors; returns the exit status. */
int recording_summarize(struct recording *r, const char *cut);

/* ---- kmap_recording_live.c ---- */

/* Begin with the command in `argv`; NULL: record what runs already. */
int recording_run_live(struct recording *r, char **argv, struct atw_err *err);
/* More of it; *ret_n: how many events there were. */
int recording_live_work(struct recording *r, unsigned *ret_n, struct atw_err *err);
/* Stops recording after a write error. */
void recording_live_stop(struct recording *r);
/* Have all recorded processes ended, or is the time over? */
bool recording_live_over(struct recording *r);
/* Writes what is left, and the lines about the scale of a sample. */
int recording_live_end(struct recording *r, struct atw_err *err);
/* EXIT_PARTIAL if something was lost. */
int recording_live_summarize(struct recording *r);
void recording_live_close(struct recording *r);

#endif
