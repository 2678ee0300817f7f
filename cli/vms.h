/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vms.h - rows of `atwalk vms`: machines of this host (cmd_vms.c), and machines in the memory
 * of a host (vms_host.c).
 */
#pragma once

#include "atwalk.h"
#include "host/vmm_process.h"
#include "target/guest.h"

enum {
	V_PID, V_NAME, V_VMM, V_ARCH, V_RAM, V_RESIDENT, V_SWAPPED, V_LARGE, V_TASKS,
	V_UPTIME, V_HOSTNAME, V_RELEASE, V_PROGRAM, V_STAGE2, V_S2_ROOT, V_COUNT,
};

struct vms {
	const struct common *c;
	bool allow;              /* --allow-unreadable */
	struct atw_output *out;
	bool inside;             /* columns about the guest are wanted */
	bool stage2;             /* those of stage 2 are */
	struct session host;     /* its memory; not opened if it is not needed */
	uint64_t machines;       /* with a row: --filter leaves out others */
	uint64_t incomplete;
};

/* A machine, and what only the kernel of its host has. */
struct vms_machine {
	struct vmm_process p;
	char source[512];        /* of the guest */
	struct kvm_stage2 stage2;
	bool has_stage2;
	struct atw_err why_stage2;       /* status < 0: the reason */
};

/* Columns that are not hidden are shown unless others are chosen. */
bool vms_wants(const struct common *c, unsigned col);
/* Why something about this machine is not known. Printed as an error, with its hint. */
void vms_missing(struct vms *x, const struct vmm_process *p, const char *what,
		 const struct atw_err *why);
/* An argument that is a PID. */
uint32_t vms_pid(const char *word);
/* Is the PID of argv[i] one of those before it? A guest has one row. */
bool vms_had(char **argv, int i);
int vms_put(struct vms *x, const struct vms_machine *m, struct atw_err *err);

/* ---- vms_host.c ---- */

/* What KVM has of a machine, if it is one of KVM; its process is in x->host. */
void vms_read_kvm(struct vms *x, const struct lnx_task *t, struct vms_machine *m);
/* Those of x->host with these PIDs; none: all. */
int vms_put_hosted(struct vms *x, char **argv, int argc, struct atw_err *err);
