/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_types.h - what live_bpf.c needs of the running kernel's types: few members, which
 * are kept for the next command, and all of BTF when it is asked for.
 */
#pragma once

#include "host/bpf_task.h"
#include "host/host_file.h"

struct live_types {
	struct bpf_types of_tasks;
	uint32_t pptrs;          /* of bpf_array; 0: this kernel has none */
	bool recalled;           /* from the file of an earlier command */
	bool read;               /* the rest is there */
	struct host_btf file;
	struct btf btf;
};

/* `folder`: see runtime_folder.h; `name` of the file. NULL: nothing is recalled. */
int live_types_find(struct live_types *t, const char *folder, const char *name,
		    struct atw_err *err);
/* Anew, where what was recalled proves wrong. */
int live_types_find_again(struct live_types *t, struct atw_err *err);
/* Keeps what was found, once it has proved right. */
void live_types_keep(const struct live_types *t, const char *folder, const char *name);

/* All types: valid until live_types_close(). */
int live_types_read(struct live_types *t, struct atw_err *err);
void live_types_close(struct live_types *t);
