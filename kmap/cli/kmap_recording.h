/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_recording.h - state of a running recording, shared by its files. */
#pragma once

#include <pthread.h>

#include "kmap.h"
#include "kmap/lib/control.h"
#include "output/outfile.h"

/* ---- a command line of QEMU, and the options that recording adds to it ---- */

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

/* ---- the recording ---- */

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
	uint64_t ahead;          /* bytes of edges that are there, or need not be */
	struct kshare *s;
	int share_fd, ram_fd, out_fd;
	struct atw_source *ram;          /* the guest's; NULL: not opened yet */
	struct outfile target;    /* where out_fd goes, until it has begun */
	pid_t child;             /* QEMU, or what is recorded; 0: it has ended, or there is none */
	int status;              /* of it, when it ended */
	struct running *running; /* the running kernel's; NULL: a guest's */
	struct kmap_drain *drain;        /* while others control: with their lock */
	struct kmap_controls *controls;  /* NULL: there are none */
	struct kmap_folder *folder;
	struct kmap_socket *socket;
	struct kmap_functions_of functions;      /* of the kernel, if names are wanted */
	struct atw_kernel *kernel;       /* the guest's, once it was found */
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
 * Replies to a request of the recorder, which is stopped until then: which kernel runs, or
 * where its struct pages are. true: the kernel was found now, and is to be described.
 */
bool recording_answer(struct recording *r);
/* Is something recorded? QEMU may end before. */
bool recording_has_begun(const struct recording *r);
/* The kernel gives the recorder's memory here, ahead of it: there the guest would wait. */
void recording_go_ahead(struct recording *r);
/* Nothing more is asked. */
void recording_leave_guest(struct recording *r);
/* Sets the filters that --site asks for. */
void recording_find_sites(struct recording *r, struct atw_kernel *k);
/* Writes the header lines about a kernel that was found. */
int recording_describe(struct recording *r, struct atw_kernel *k, struct atw_err *err);

/* Name of the output, for messages. */
const char *recording_output(const struct recording *r);
/* What of the guest or the kernel is in it: all, or a sample of accesses at least. */
int recording_write_mode(struct recording *r, bool sampled, struct atw_err *err);
/* Write the filters to the file, so that its readers know what was left out. */
int recording_write_filters(struct recording *r, struct atw_err *err);

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

/* ---- access to the controls, through a folder or a socket ---- */

/*
 * _open() takes the name, and says what is wrong with it; _start() answers from then on,
 * in threads of its own; _close() ends that, and leaves nothing behind. NULL is fine for
 * the last two.
 */
struct kmap_folder;
int kmap_folder_open(const char *dir, struct kmap_folder **ret, struct atw_err *err);
int kmap_folder_start(struct kmap_folder *f, const struct common *c,
		      struct kmap_controls *controls, struct atw_err *err);
/* false: someone is still in it, and what was handed to it must stay. */
bool kmap_folder_close(struct kmap_folder *f);

/*
 * The protocol of the socket. Requests are the lines "read NAME", "write NAME VALUE" and
 * "list"; each line of the list is "NAME rw", "NAME r" or "NAME w". A reply is any
 * number of "data N" lines, each followed by N bytes, and then "end". In place of any of
 * these there may be "error ERRNO SENTENCE".
 */
struct kmap_socket;
int kmap_socket_open(const char *path, struct kmap_socket **ret, struct atw_err *err);
int kmap_socket_start(struct kmap_socket *s, struct kmap_controls *controls,
		      struct atw_err *err);
void kmap_socket_close(struct kmap_socket *s);

/* Threads of ours take no signals, but `but` if it is not 0. */
int kmap_thread(pthread_t *ret, int but, void *(*run)(void *arg), void *arg, struct atw_err *err);
